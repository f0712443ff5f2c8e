"""Workbooks: the order of things, the same for every format.

Read the sheets, leave out what is hidden, lay out what shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Warning
from ingest_svc.readers.room import Room
from ingest_svc.readers.sheets.layout import blocks_of
from ingest_svc.readers.sheets.ods import ods_book
from ingest_svc.readers.sheets.sheet import Book, Sheet
from ingest_svc.readers.sheets.shown import shown
from ingest_svc.readers.sheets.xls import xls_book
from ingest_svc.readers.sheets.xlsb import xlsb_book
from ingest_svc.readers.sheets.xlsx import xlsx_book

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest_svc.readers.source import Source

_MOST_NAMES = 20
_LONGEST_NAME = 200


def read_xlsx(source: Source) -> ParsedFile:
    """Return an Excel workbook; errors as those of `xlsx_book`."""
    return _read(source, xlsx_book)


def read_xlsb(source: Source) -> ParsedFile:
    """Return a binary Excel workbook; errors as those of `xlsb_book`."""
    return _read(source, xlsb_book)


def read_xls(source: Source) -> ParsedFile:
    """Return an old Excel workbook; errors as those of `xls_book`."""
    return _read(source, xls_book)


def read_ods(source: Source) -> ParsedFile:
    """Return an OpenDocument spreadsheet; errors as those of `ods_book`."""
    return _read(source, ods_book)


@dataclass(slots=True)
class _Left:
    """What was left out."""

    hidden: list[str] = field(default_factory=list)
    """Names of sheets."""
    unread: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Sheets with hidden rows or columns, and how many."""
    count: int = 0

    def warnings(self) -> list[Warning]:
        """Return a warning for each kind."""
        kinds = (
            ("hidden sheets are left out", self.hidden),
            ("sheets without cells, charts and the like, are not read", self.unread),
            ("hidden rows and columns are left out", self.lines),
        )
        return [
            Warning("SKIPPED_PART", f"{what}: {_named(names)}") for what, names in kinds if names
        ]


def _read(source: Source, book_of: Callable[[Source, Room], Book]) -> ParsedFile:
    room = Room(source)
    book = book_of(source, room)
    left = _Left()
    blocks: list[Block] = []
    for sheet in book.sheets:
        found = _blocks(sheet, left, room, hidden_too=source.options.include_hidden)
        sheet.cells = {}
        if found:
            blocks += [Block(BlockKind.HEADING, sheet.name.strip(), level=1), *found]
    return ParsedFile(
        blocks,
        book.media_type,
        title=book.title,
        warnings=[*book.warnings, *left.warnings()],
        metadata=book.metadata,
        dates=book.dates,
        counts={
            "sheets": len(book.sheets),
            "hidden_sheets": sum(sheet.hidden for sheet in book.sheets),
            "skipped": left.count,
        },
    )


def _blocks(sheet: Sheet, left: _Left, room: Room, *, hidden_too: bool) -> list[Block]:
    """Return what shows of a sheet, and say what does not."""
    if sheet.hidden and not hidden_too:
        left.hidden.append(sheet.name)
        left.count += 1
        return []
    if not sheet.is_read:
        left.unread.append(sheet.name)
        left.count += 1
        return []
    if hidden_too:
        return blocks_of(sheet, room)
    visible, rows, columns = shown(sheet)
    if rows or columns:
        left.lines.append(f"{sheet.name} ({rows} rows, {columns} columns)")
        left.count += rows + columns
    return blocks_of(visible, room)


def _named(names: list[str]) -> str:
    said = ", ".join(repr(name[:_LONGEST_NAME]) for name in names[:_MOST_NAMES])
    return f"{said} and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else said
