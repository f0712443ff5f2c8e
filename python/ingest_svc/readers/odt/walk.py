"""The walk over a text's body: paragraphs, lists, tables and what stands beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.limits import ReaderLimits, check
from ingest_svc.readers.odt.drawings import Found, found_in
from ingest_svc.readers.odt.inline import Inline, Words
from ingest_svc.readers.odt.lists import LEVELS, Counts, ListStyles
from ingest_svc.readers.odt.names import children, name_of, number, stated
from ingest_svc.readers.odt.tables import rows_of
from ingest_svc.readers.prose.pieces import Piece
from ingest_svc.readers.prose.style_names import Role
from ingest_svc.readers.prose.tables import lays_out, table_of

if TYPE_CHECKING:
    from ingest_svc.readers.odt.styles import ParagraphStyle, Styles
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.xml_parts import Element

_INDEXES = frozenset(
    {
        *("text:table-of-content", "text:illustration-index", "text:table-index"),
        *("text:object-index", "text:user-index", "text:alphabetical-index", "text:bibliography"),
        *("text:index-body", "text:index-title", "text:page-sequence", "text:note-body"),
    }
)
"""Elements that only hold paragraphs."""
_LONGEST_ITEM = 4_000
"""Further paragraphs of a longer item stand on their own: whole chapters are put in items, too."""


@dataclass(slots=True)
class _OpenList:
    counts: Counts
    style: str
    level: int


@dataclass(slots=True)
class BodyWalk:
    """Walks bodies and collects pieces."""

    inline: Inline
    styles: Styles
    list_styles: ListStyles
    room: Room
    limits: ReaderLimits
    pieces: list[Piece] = field(default_factory=list)
    pictures: int = 0
    unread: int = 0
    """Objects that are not read."""
    _outline: Counts = field(init=False)
    _by_id: dict[str, Counts] = field(default_factory=dict)
    _by_style: dict[str, Counts] = field(default_factory=dict)
    _added: int = 0
    _in_note: bool = False
    _boxes: int = 0

    def __post_init__(self) -> None:
        """Begin to count headings."""
        self._outline = Counts(self.list_styles.outline)

    def take(self, element: Element) -> None:
        """Add what an element of a body holds."""
        name = name_of(element)
        if name in ("text:p", "text:h"):
            self._paragraph(element, name)
        elif name == "text:list":
            self._list(element, None)
        elif name == "table:table":
            self._table(element)
        elif name == "text:section":
            self._section(element)
        elif name in _INDEXES:
            self._all_of(element)
        elif name == "text:numbered-paragraph":
            self._numbered(element)
        elif name.startswith("draw:"):
            self._drawing(element)

    def _all_of(self, element: Element) -> None:
        for part in element:
            self.take(part)

    def _apart(self, element: Element) -> list[Piece]:
        """Return the pieces of a cell, a text box or a note."""
        outside, self.pieces = self.pieces, []
        self._all_of(element)
        found, self.pieces = self.pieces, outside
        return found

    def _section(self, element: Element) -> None:
        if stated(element, "text:display") == "none" and not self.inline.hidden_too:
            self.inline.hidden += 1
            return
        self._all_of(element)

    def _paragraph(self, element: Element, name: str, item: tuple[int, str] | None = None) -> None:
        """Add a paragraph, of a list where its level and its number are given."""
        style = self.styles.paragraph(stated(element, "text:style-name") or "")
        level, marker = 0, item[1] if item is not None else ""
        if name == "text:h":
            level = max(number(element, "text:outline-level", 1), 1)
            marker = self._heading_number(element, level, style, marker)
        elif item is None and not self._in_note:
            level = style.level
        words = Words()
        self.inline.read(element, words, style.look)
        if words.is_hidden and not self.inline.hidden_too:
            self.inline.hidden += 1
            return
        text = words.verbatim if style.role is Role.CODE else words.text
        if text.strip() or self._goes_on(style.role):
            block = self._block(text, style.role, level, marker, item)
            self._add(
                Piece(
                    block,
                    role=style.role,
                    sequence=words.sequence,
                    size=words.size,
                    is_bold=0 < words.characters == words.bold,
                )
            )
        for part in words.aside:
            self._aside(part)

    def _heading_number(
        self, element: Element, level: int, style: ParagraphStyle, marker: str
    ) -> str:
        if stated(element, "text:is-list-header") == "true" or style.is_unnumbered:
            return marker
        start = None
        if stated(element, "text:restart-numbering") == "true":
            start = number(element, "text:start-value", 1)
        counted = self._outline.next(min(level, LEVELS), start)
        return marker or counted

    def _block(
        self, text: str, role: Role, level: int, marker: str, item: tuple[int, str] | None
    ) -> Block:
        if level and not self._in_note and role is not Role.TITLE:
            level = min(level, self.limits.max_nesting)
            return Block(BlockKind.HEADING, " ".join(text.split()), level, marker=marker)
        if role is Role.CODE:
            return Block(BlockKind.CODE, text)
        if item is not None:
            return Block(BlockKind.LIST_ITEM, text, item[0], marker=marker)
        kind = BlockKind.QUOTE if role is Role.QUOTE else BlockKind.PARAGRAPH
        return Block(kind, text)

    def _goes_on(self, role: Role) -> bool:
        """Tell whether an empty paragraph is an empty line of a program."""
        return role is Role.CODE and bool(self.pieces) and self.pieces[-1].role is Role.CODE

    def _add(self, piece: Piece) -> None:
        piece.is_note |= self._in_note
        piece.is_aside |= self._boxes > 0
        self.pieces.append(piece)
        self._added += 1
        check(self.limits, "max_nodes", self._added)

    def _list(self, element: Element, around: _OpenList | None) -> None:
        style = stated(element, "text:style-name") or (around.style if around is not None else "")
        if around is None:
            opened = _OpenList(self._counts(element, style), style, 1)
        else:
            opened = _OpenList(around.counts, style, min(around.level + 1, self.limits.max_nesting))
            if style != around.style:
                opened.counts = Counts(self.list_styles.levels(style))
            if stated(element, "text:continue-numbering") != "true":
                opened.counts.restart(opened.level)
        for part in element:
            if name_of(part) in ("text:list-item", "text:list-header"):
                self._item(part, opened)

    def _counts(self, element: Element, style: str) -> Counts:
        """Return the counts of a list: those of the one that it goes on with, else new ones."""
        counts = None
        continued = stated(element, "text:continue-list")
        if continued is not None:
            counts = self._by_id.get(continued)
        elif stated(element, "text:continue-numbering") == "true":
            counts = self._by_style.get(style)
        if counts is None:
            counts = Counts(self.list_styles.levels(style))
        self._by_style[style] = counts
        if name := stated(element, "xml:id"):
            self._by_id[name] = counts
        return counts

    def _item(self, element: Element, opened: _OpenList) -> None:
        """Add an item: its first paragraph, those below as further lines of it, lists in it."""
        is_header = name_of(element) == "text:list-header"
        first = len(self.pieces)
        is_first = not is_header
        for part in element:
            name = name_of(part)
            if name == "text:list":
                if is_first:  # an item that is there only for the list in it
                    is_first = False
                self._list(part, opened)
            elif name in ("text:p", "text:h") and is_first:
                start = number(element, "text:start-value", -1)
                marker = opened.counts.next(opened.level, start if start >= 0 else None)
                self._paragraph(part, name, (opened.level, marker))
                is_first = False
            elif name == "text:p" and self._continues(first):
                self._further_line(part)
            else:
                self.take(part)

    def _continues(self, first: int) -> bool:
        """Tell whether the last piece is the beginning of the item that is being read."""
        if len(self.pieces) != first + 1:
            return False
        block = self.pieces[-1].block
        return block.kind is BlockKind.LIST_ITEM and len(block.text) < _LONGEST_ITEM

    def _further_line(self, element: Element) -> None:
        item = self.pieces[-1]
        for piece in self._apart_of([element]):
            if piece.block.kind is BlockKind.PARAGRAPH and not piece.is_note:
                text = f"{item.block.text}\n{piece.block.text}"
                item.block = msgspec.structs.replace(item.block, text=text)
            else:
                self.pieces.append(piece)

    def _apart_of(self, elements: list[Element]) -> list[Piece]:
        outside, self.pieces = self.pieces, []
        for element in elements:
            self.take(element)
        found, self.pieces = self.pieces, outside
        return found

    def _numbered(self, element: Element) -> None:
        """Add a paragraph that is numbered without being in a list."""
        style = stated(element, "text:style-name") or ""
        name = stated(element, "text:list-id") or style
        counts = self._by_id.setdefault(name, Counts(self.list_styles.levels(style)))
        level = min(max(number(element, "text:level", 1), 1), LEVELS)
        for part in element:
            if name_of(part) in ("text:p", "text:h"):
                start = number(element, "text:start-value", -1)
                marker = counts.next(level, start if start >= 0 else None)
                self._paragraph(part, name_of(part), (level, marker))

    def _aside(self, element: Element) -> None:
        """Add what belongs behind a paragraph."""
        if name_of(element) == "text:note":
            self._note(element)
        else:
            self._drawing(element)

    def _note(self, element: Element) -> None:
        was_in_note, self._in_note = self._in_note, True
        for body in children(element, "text:note-body"):
            self.pieces += self._apart(body)
        self._in_note = was_in_note

    def _drawing(self, element: Element) -> None:
        for found in found_in(element):
            if found.kind == "box":
                self._boxes += 1
                self.pieces += self._apart(found.element)
                self._boxes -= 1
            elif found.kind == "picture":
                self.pictures += 1
                self._add(Piece(Block(BlockKind.IMAGE, found.alt)))
            else:
                self._object(found)

    def _object(self, found: Found) -> None:
        text = self.inline.object_text(found.href)
        if text:
            self._add(Piece(Block(BlockKind.PARAGRAPH, text)))
            return
        self.unread += 1
        if found.alt:
            self._add(Piece(Block(BlockKind.IMAGE, found.alt)))

    def _table(self, element: Element) -> None:
        rows, inside = rows_of(element, self._apart, self.room)
        if lays_out(rows, inside):
            for pieces in inside:
                self.pieces += pieces
            return
        behind = [piece for pieces in inside for piece in pieces if piece.stands_alone]
        if any(cell.text for row in rows for cell in row.cells):
            self._add(Piece(Block(BlockKind.TABLE, table=table_of(rows, self.room))))
        self.pieces += behind
