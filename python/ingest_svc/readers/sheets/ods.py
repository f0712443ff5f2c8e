"""ODS: the tables of an OpenDocument spreadsheet, streamed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.open_document import attribute, facts_of, local_name
from ingest_svc.readers.room import Room
from ingest_svc.readers.sheets.ods_cells import cells_of, repeated
from ingest_svc.readers.sheets.sheet import Area, Book, Sheet
from ingest_svc.readers.sheets.xml_stream import elements

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source
    from ingest_svc.readers.xml_parts import Element

_CONTENT = "content.xml"
_NAMES = ("style", "table-column", "table-row", "table")
_HIDDEN = ("collapse", "filter")


def ods_book(source: Source, room: Room) -> Book:
    """Return the sheets of an OpenDocument spreadsheet.

    Raises:
        DamagedFile: its content is missing or no XML.
        TooLarge: it unpacks to too much, or has too many cells.
    """
    archive = Archive(source)
    facts = facts_of(archive)
    book = Book(
        filetypes.ODS.media_type, title=facts.title, metadata=facts.metadata, dates=facts.dates
    )
    content = _Content(book, room, source.options.include_hidden)
    for name, element in elements(archive.read(_CONTENT), _CONTENT, _NAMES):
        content.take(name, element)
    return book


@dataclass(slots=True)
class _Content:
    """Takes the elements of the content in order."""

    book: Book
    room: Room
    hidden_too: bool
    _hidden_styles: set[str] = field(default_factory=set)
    _table: Element | None = None
    """The table that is being read, the last sheet of the book."""
    _row: int = 0
    _column: int = 0

    def take(self, name: str, element: Element) -> None:
        if name == "style":
            for properties in element.iterchildren("{*}table-properties"):
                if attribute(properties, "display") == "false":
                    self._hidden_styles.add(attribute(element, "name"))
            return
        table = _table_of(element)
        if table is None:
            return  # of a table inside a cell
        if table is not self._table:
            self._begin(table)
        sheet = self.book.sheets[-1]
        if name == "table-column":
            self._columns(sheet, element)
        elif name == "table-row":
            self._rows(sheet, element)

    def _begin(self, table: Element) -> None:
        hidden = attribute(table, "style-name") in self._hidden_styles
        self.book.sheets.append(Sheet(attribute(table, "name"), hidden=hidden))
        self._table, self._row, self._column = table, 0, 0

    def _columns(self, sheet: Sheet, element: Element) -> None:
        count = repeated(element, "number-columns-repeated")
        if attribute(element, "visibility") in _HIDDEN:
            sheet.hidden_columns.append((self._column, self._column + count - 1))
        self._column += count

    def _rows(self, sheet: Sheet, element: Element) -> None:
        first, count = self._row, repeated(element, "number-rows-repeated")
        self._row += count
        if sheet.hidden and not self.hidden_too:
            return
        if attribute(element, "visibility") in _HIDDEN:
            sheet.hidden_rows.append((first, first + count - 1))
        cells, spans = cells_of(element, self.room)
        if not cells:
            return
        self.room.take(len(cells) * count, sum(map(len, cells.values())) * (count - 1))
        for row in range(first, first + count):
            sheet.cells[row] = dict(cells)
        for column, columns, rows in spans:
            sheet.merged.append(Area(first, column, first + rows - 1, column + columns - 1))


def _table_of(element: Element) -> Element | None:
    """Return the sheet that an element belongs to; None where it is deeper inside."""
    at: Element | None = element
    while at is not None and local_name(at) != "table":
        at = at.getparent()
    parent = at.getparent() if at is not None else None
    return at if parent is not None and local_name(parent) == "spreadsheet" else None
