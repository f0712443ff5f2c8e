"""XLSB: the parts of a workbook as binary records."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.office_package import OfficePackage, Relation
from ingest_svc.readers.room import Room
from ingest_svc.readers.sheets.shared import Shared, format_of
from ingest_svc.readers.sheets.sheet import Book, Sheet
from ingest_svc.readers.sheets.xlsb_cells import read_cells
from ingest_svc.readers.sheets.xlsb_records import records, wide_text
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.sheets.values import Format
    from ingest_svc.readers.source import Source

_SHARED_TEXT = 19
_FORMAT, _STYLE, _STYLES_BEGIN, _STYLES_END = 44, 47, 617, 618
_PROPERTIES, _SHEET = 153, 156
_FROM_1904 = 1


def xlsb_book(source: Source, room: Room) -> Book:
    """Return the sheets of a binary workbook.

    Raises:
        DamagedFile: a part is missing or cut short.
        TooLarge: it unpacks to too much, or has too many cells.
    """
    package = OfficePackage(source)
    try:
        return _book(package, source, room)
    except (struct.error, IndexError) as error:
        raise DamagedFile(f"the workbook is damaged ({type(error).__name__})") from error


def _book(package: OfficePackage, source: Source, room: Room) -> Book:
    shared = Shared(_texts(package), _formats(package))
    facts = package.facts()
    book = Book(
        filetypes.XLSB.media_type, title=facts.title, metadata=facts.metadata, dates=facts.dates
    )
    relations = {relation.id: relation for relation in package.related(package.main)}
    for kind, data in records(package.read(package.main)):
        if kind == _PROPERTIES:
            shared.from_1904 = bool(data[0] & _FROM_1904)
        elif kind == _SHEET:
            sheet, relation = _sheet(data, relations)
            book.sheets.append(sheet)
            if relation is None or relation.target not in package:
                sheet.is_read = False
            elif sheet.is_read and (source.options.include_hidden or not sheet.hidden):
                read_cells(package.read(relation.target), sheet, shared, room)
    return book


def _sheet(data: bytes, relations: dict[str, Relation]) -> tuple[Sheet, Relation | None]:
    (state,) = struct.unpack_from("<I", data)
    relation_id, at = wide_text(data, 8)
    name, _ = wide_text(data, at)
    relation = relations.get(relation_id)
    is_sheet = relation is not None and relation.kind == "worksheet"
    return Sheet(name, hidden=state != 0, is_read=is_sheet), relation


def _texts(package: OfficePackage) -> list[str]:
    texts: list[str] = []
    for part in package.related_to(package.main, "sharedStrings")[:1]:
        texts += [
            wide_text(data, 1)[0].strip()
            for kind, data in records(package.read(part))
            if kind == _SHARED_TEXT
        ]
    return texts


def _formats(package: OfficePackage) -> list[Format]:
    codes: dict[int, str] = {}
    numbers: list[int] = []
    are_of_cells = False
    for part in package.related_to(package.main, "styles")[:1]:
        for kind, data in records(package.read(part)):
            if kind in (_STYLES_BEGIN, _STYLES_END):
                are_of_cells = kind == _STYLES_BEGIN
            elif kind == _FORMAT:
                codes[int.from_bytes(data[:2], "little")] = wide_text(data, 2)[0]
            elif kind == _STYLE and are_of_cells:
                numbers.append(int.from_bytes(data[2:4], "little"))
    return [format_of(number, codes) for number in numbers]
