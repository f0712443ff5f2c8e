"""The walk over a document's body: paragraphs, lists, tables and what stands beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.docx.inline import Inline, Note, Words
from ingest_svc.readers.docx.names import (
    child,
    choice,
    is_on,
    name_of,
    number,
    relation_of,
    shown,
    value,
)
from ingest_svc.readers.docx.numbering import Item, Numbering
from ingest_svc.readers.docx.styles import (
    NO_LIST,
    ParagraphStyle,
    Styles,
    level_of,
    list_of,
)
from ingest_svc.readers.limits import ReaderLimits, check
from ingest_svc.readers.prose.pieces import Piece
from ingest_svc.readers.prose.style_names import Role
from ingest_svc.readers.prose.tables import Cell, Row, lays_out, table_of

if TYPE_CHECKING:
    from ingest_svc.readers.block import Table
    from ingest_svc.readers.docx.drawings import Found
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.xml_parts import Element

_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"})
_GONE = ("del", "moveFrom")
_WIDEST_SPAN = 1000


@dataclass(frozen=True, slots=True)
class Parts:
    """What the walk asks for of other parts of the file."""

    note: Callable[[Note], Element | None]
    """The footnote or endnote."""
    graphic: Callable[[Found], list[Block]]
    """What a chart or a diagram says."""
    chunk: Callable[[str], list[Block]]
    """The blocks of another file that is put in here, by its relation."""


@dataclass(frozen=True, slots=True)
class _Properties:
    style: ParagraphStyle
    level: int
    """Of a heading, from 1; else 0."""
    list_id: str = ""
    list_level: int = 0
    mark_is_gone: bool = False
    """The paragraph's end was deleted: the next one goes on in it."""


@dataclass(slots=True)
class BodyWalk:
    """Walks bodies and collects pieces."""

    inline: Inline
    styles: Styles
    numbering: Numbering
    parts: Parts
    room: Room
    limits: ReaderLimits
    pieces: list[Piece] = field(default_factory=list)
    pictures: int = 0
    _open: Words | None = None
    """Words of a paragraph whose end was deleted."""
    _added: int = 0
    _in_note: bool = False
    _boxes: int = 0
    """Text boxes around what is read."""

    def take(self, element: Element) -> None:
        """Add what an element of a body holds."""
        name = name_of(element)
        if name == "p":
            self._paragraph(element)
        elif name == "tbl":
            self._end_open()
            self._table(element)
        elif name in _WRAPPERS:
            self._all_of(element)
        elif name == "mc:AlternateContent":
            chosen = choice(element)
            if chosen is not None:
                self._all_of(chosen)
        elif name == "altChunk":
            self._end_open()
            self._add_blocks(self.parts.chunk(relation_of(element)))
        elif name in ("m:oMathPara", "m:oMath", "r"):
            self._loose(element)

    def end(self) -> None:
        """Finish what is open at the end of a body, a cell, a text box or a note."""
        self._end_open()

    def _all_of(self, element: Element) -> None:
        for part in element:
            self.take(part)

    def _apart(self, element: Element) -> list[Piece]:
        """Return the pieces of a cell, a text box or a note, which begins and ends on its own."""
        outside, opened = self.pieces, self._open
        self.pieces, self._open = [], None
        self._all_of(element)
        self._end_open()
        found, self.pieces, self._open = self.pieces, outside, opened
        return found

    def _loose(self, element: Element) -> None:
        """Read what stands in a body as if it were a paragraph."""
        words = Words()
        properties = _Properties(self.styles.paragraph(""), 0)
        self.inline.read_part(element, words, properties.style.look)
        self._emit(properties, words)

    def _paragraph(self, paragraph: Element) -> None:
        properties = self._properties(child(paragraph, "pPr"))
        words = self._open or Words()
        self._open = None
        self.inline.read(paragraph, words, properties.style.look)
        if properties.mark_is_gone:
            self._open = words
            return
        self._emit(properties, words)

    def _end_open(self) -> None:
        if self._open is not None:
            words, self._open = self._open, None
            self._emit(_Properties(self.styles.paragraph(""), 0), words)

    def _properties(self, stated: Element | None) -> _Properties:
        facts = {name_of(part): part for part in stated} if stated is not None else {}
        style = self.styles.paragraph((value(facts["pStyle"]) or "") if "pStyle" in facts else "")
        level = level_of(number(facts["outlineLvl"])) if "outlineLvl" in facts else style.level
        gone = "rPr" in facts and any(name_of(part) in _GONE for part in facts["rPr"])
        found = _Properties(style, 0 if style.role is Role.TITLE else level, mark_is_gone=gone)
        list_id, list_level = list_of(facts.get("numPr"))
        return self._with_list(found, list_id, list_level)

    def _with_list(self, found: _Properties, list_id: str | None, level: int | None) -> _Properties:
        style = found.style
        used = style.list_id if list_id is None else list_id
        if not used or used == NO_LIST:
            return found
        if level is None:
            level = style.list_level
        if level is None:
            level = self.numbering.level_of_style(used, style.list_style)
        return _Properties(style, found.level, used, level, found.mark_is_gone)

    def _emit(self, properties: _Properties, words: Words) -> None:
        item = None
        if properties.list_id:
            item = self.numbering.next(properties.list_id, properties.list_level)
        style = properties.style
        text = words.verbatim if style.role is Role.CODE else words.text
        if text.strip() or self._goes_on(style.role):
            self._add(
                Piece(
                    self._block(properties, item, text),
                    role=style.role,
                    sequence=words.sequence,
                    size=words.size,
                    is_bold=0 < words.characters == words.bold,
                )
            )
        for found in words.aside:
            self._aside(found)

    def _goes_on(self, role: Role) -> bool:
        """Tell whether an empty paragraph is an empty line of a program."""
        return role is Role.CODE and bool(self.pieces) and self.pieces[-1].role is Role.CODE

    def _block(self, properties: _Properties, item: Item | None, text: str) -> Block:
        marker = item.marker if item is not None else ""
        role = properties.style.role
        if properties.level and not self._in_note:
            level = min(properties.level, self.limits.max_nesting)
            return Block(BlockKind.HEADING, " ".join(text.split()), level, marker=marker)
        if role is Role.CODE:
            return Block(BlockKind.CODE, text)
        if role is Role.QUOTE and item is None:
            return Block(BlockKind.QUOTE, text)
        if item is not None and role is not Role.CAPTION:
            return Block(BlockKind.LIST_ITEM, text, item.level + 1, marker=marker)
        return Block(BlockKind.PARAGRAPH, f"{marker} {text}" if marker else text)

    def _add(self, piece: Piece) -> None:
        piece.is_note |= self._in_note
        piece.is_aside |= self._boxes > 0
        self.pieces.append(piece)
        self._added += 1
        check(self.limits, "max_nodes", self._added)

    def _add_blocks(self, blocks: list[Block]) -> None:
        for block in blocks:
            self._add(Piece(block))

    def _aside(self, found: Note | Found) -> None:
        """Add what belongs behind a paragraph."""
        if isinstance(found, Note):
            self._note(found)
        elif found.kind == "box":
            self._boxes += 1
            self.pieces += self._apart(found.element)
            self._boxes -= 1
        elif found.kind == "picture":
            self.pictures += 1
            self._add(Piece(Block(BlockKind.IMAGE, found.alt)))
        elif found.kind == "graphic":
            self._add_blocks(self.parts.graphic(found))
        elif found.kind == "art":
            self._add(Piece(Block(BlockKind.PARAGRAPH, found.alt)))
        else:
            self.inline.unread += 1

    def _note(self, note: Note) -> None:
        if self._in_note:
            return  # a note within a note may lead back to itself
        element = self.parts.note(note)
        if element is None:
            return
        self._in_note = True
        self.pieces += self._apart(element)
        self._in_note = False

    def _table(self, table: Element) -> None:
        inside: list[list[Piece]] = []
        rows = [
            self._row(element, inside)
            for element in shown(table, _WRAPPERS)
            if name_of(element) == "tr" and not _is_deleted(child(element, "trPr"), "del")
        ]
        if lays_out(rows, inside):
            for pieces in inside:
                self.pieces += pieces
            return
        behind = [piece for pieces in inside for piece in pieces if piece.stands_alone]
        if any(cell.text for row in rows for cell in row.cells):
            block = Block(BlockKind.TABLE, table=self._grid(table, rows))
            self._add(Piece(block))
        self.pieces += behind

    def _row(self, element: Element, inside: list[list[Piece]]) -> Row:
        row = Row()
        properties = child(element, "trPr")
        for part in properties if properties is not None else ():
            match name_of(part):
                case "tblHeader":
                    row.is_head = is_on(part)
                case "gridBefore":
                    row.before = _span(part, least=0)
                case "gridAfter":
                    row.after = _span(part, least=0)
        for cell in shown(element, _WRAPPERS):
            if name_of(cell) == "tc" and not _is_deleted(child(cell, "tcPr"), "cellDel"):
                row.cells.append(self._cell(cell, inside))
        return row

    def _cell(self, element: Element, inside: list[list[Piece]]) -> Cell:
        properties = child(element, "tcPr")
        columns, merge = child(properties, "gridSpan"), child(properties, "vMerge")
        merged = child(properties, "hMerge")
        continues = merge is not None and (value(merge) or "continue") == "continue"
        covered = merged is not None and (value(merged) or "continue") == "continue"
        pieces = self._apart(element)
        inside.append(pieces)
        told = [piece for piece in pieces if not piece.stands_alone and piece.block.text]
        return Cell(
            text="" if covered else "\n".join(piece.told for piece in told),
            columns=_span(columns) if columns is not None else 1,
            continues=continues,
            is_bold=bool(told) and all(piece.is_bold for piece in told),
        )

    def _grid(self, table: Element, rows: list[Row]) -> Table:
        properties = child(table, "tblPr")
        look, named = child(properties, "tblLook"), child(properties, "tblStyle")
        first_row = None if look is None else _first_row(look)
        style_id = (value(named) or "") if named is not None else ""
        stands_out = first_row is True and self.styles.heads_first_row(style_id)
        return table_of(rows, self.room, first_row_stands_out=stands_out, may_have_head=first_row)


def _is_deleted(properties: Element | None, mark: str) -> bool:
    return child(properties, mark) is not None


def _span(element: Element, least: int = 1) -> int:
    return min(max(number(element) or least, least), _WIDEST_SPAN)


def _first_row(look: Element) -> bool:
    """Tell whether a table's look has a first row of its own; old files say it by a bit."""
    stated = value(look, "firstRow")
    if stated is not None:
        return stated.lower() in ("1", "true", "on")
    bits = value(look) or "0020"
    try:
        return bool(int(bits, 16) & 0x0020)
    except ValueError:
        return True
