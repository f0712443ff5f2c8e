"""ODP: the pages of an OpenDocument presentation, in the order in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from ingest_svc.readers import filetypes
from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table
from ingest_svc.readers.heads import names_columns
from ingest_svc.readers.limits import check
from ingest_svc.readers.open_document import attribute, facts_of, local_name, paragraph_text
from ingest_svc.readers.room import Room
from ingest_svc.readers.sheets.ods_cells import cells_of
from ingest_svc.readers.slides.deck import Deck, Slide
from ingest_svc.readers.slides.drawing import length
from ingest_svc.readers.slides.order import in_reading_order
from ingest_svc.readers.xml_parts import parsed_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.source import Source
    from ingest_svc.readers.xml_parts import Element

_CONTENT = "content.xml"
_FURNITURE = ("header", "footer", "date-time", "page-number")
_NO_SHAPES = ("notes", "forms", "par", "animations", "annotation")
_FAR = 1 << 40


def read_odp(source: Source) -> ParsedFile:
    """Return the pages of a presentation.

    Raises:
        DamagedFile: its content is missing or no XML.
        TooLarge: it unpacks to too much, has too many pages or cells.
    """
    archive = Archive(source)
    content = parsed_xml(archive.read(_CONTENT), _CONTENT)
    pages = list(content.iterfind("{*}body/{*}presentation/{*}page"))
    check(source.limits, "max_pages", len(pages))
    hidden = _hidden_styles(content)
    reader = _Reader(Deck(source.options.include_hidden), Room(source))
    for number, page in enumerate(pages, 1):
        slide = Slide(number, is_hidden=attribute(page, "style-name") in hidden)
        if not reader.deck.leaves_out(slide):
            reader.read(page, slide)
            reader.deck.add(slide)
    return reader.deck.parsed(filetypes.ODP.media_type, len(pages), facts_of(archive))


def _hidden_styles(content: Element) -> frozenset[str]:
    return frozenset(
        attribute(style, "name")
        for style in content.iterfind("{*}automatic-styles/{*}style")
        if any(
            attribute(properties, "visibility") == "hidden"
            for properties in style.iterchildren("{*}drawing-page-properties")
        )
    )


@dataclass(slots=True)
class _Reader:
    deck: Deck
    room: Room

    def read(self, page: Element, slide: Slide) -> None:
        """Put what is on a page into its slide."""
        for shape in _shapes(page):
            kind = attribute(shape, "class")
            if kind in _FURNITURE:
                continue
            if kind == "title" and not slide.title:
                texts = [block.text for block in _paragraphs(shape, slide.number)]
                slide.title = " ".join(" ".join(texts).split())
            else:
                self._shape(shape, slide)
        for notes in page.iterchildren("{*}notes"):
            for shape in _shapes(notes):
                if attribute(shape, "class") not in _FURNITURE:
                    slide.notes += _paragraphs(shape, slide.number)

    def _shape(self, shape: Element, slide: Slide) -> None:
        page = slide.number
        held = [local_name(part) for part in shape]
        if "table" in held:
            for table in shape.iterchildren("{*}table"):
                slide.blocks += self._table(table, page)
            return
        slide.blocks += _paragraphs(shape, page)
        if "object" in held or "object-ole" in held:
            self.deck.unread += 1
        elif "image" in held:
            slide.pictures += 1
        alt = _alt(shape)
        if alt and "text-box" not in held:
            slide.blocks.append(Block(BlockKind.IMAGE, alt, 0, page, page))

    def _table(self, element: Element, page: int) -> list[Block]:
        rows = []
        for row in element.iterdescendants("{*}table-row"):
            cells, _ = cells_of(row, self.room)
            self.room.take(len(cells))
            rows.append(cells)
        columns = sorted({column for cells in rows for column in cells})
        self.room.take(len(columns) * len(rows) - sum(map(len, rows)))
        grid = [[cells.get(column, "") for column in columns] for cells in rows if cells]
        if not grid:
            return []
        has_names = len(grid) > 1 and names_columns(grid[0], grid[1:])
        table = Table(grid[0], grid[1:]) if has_names else Table([""] * len(columns), grid)
        return [Block(BlockKind.TABLE, page_start=page, page_end=page, table=table)]


def _shapes(page: Element) -> Iterator[Element]:
    """Yield the shapes of a page in reading order, a group whole at its place."""
    waiting = _in_order(page)[::-1]
    while waiting:
        shape = waiting.pop()
        if local_name(shape) in ("g", "a"):
            waiting += _in_order(shape)[::-1]
        else:
            yield shape


def _in_order(holder: Element) -> list[Element]:
    return in_reading_order(
        (_place(shape), shape) for shape in holder if local_name(shape) not in _NO_SHAPES
    )


def _place(shape: Element) -> tuple[int, int]:
    """Return top and left of a shape, of a group those of its uppermost and leftmost one."""
    tops, lefts = [], []
    for element in shape.iter("{*}*"):
        if attribute(element, "y"):
            tops.append(length(attribute(element, "y")))
            lefts.append(length(attribute(element, "x")))
        if local_name(shape) not in ("g", "a"):
            break
    return min(tops, default=_FAR), min(lefts, default=_FAR)


def _paragraphs(shape: Element, page: int) -> list[Block]:
    """Return the paragraphs of a shape, those in lists as items."""
    blocks = []
    depth = 0
    walk = etree.iterwalk(shape, events=("start", "end"))
    for event, element in walk:
        name = local_name(element)
        if name == "list":
            depth += 1 if event == "start" else -1
        elif event == "start" and name in ("p", "h"):
            walk.skip_subtree()
            text = paragraph_text(element)
            kind = BlockKind.LIST_ITEM if depth else BlockKind.PARAGRAPH
            if text:
                blocks.append(Block(kind, text, depth, page, page))
    return blocks


def _alt(shape: Element) -> str:
    for name in ("desc", "title"):
        for element in shape.iterchildren(f"{{*}}{name}"):
            return " ".join("".join(map(str, element.itertext())).split())
    return ""
