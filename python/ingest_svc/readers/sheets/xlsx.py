"""XLSX, XLSM and templates: the parts of a workbook in XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.block import Warning
from ingest_svc.readers.office_package import OfficePackage, relation_id
from ingest_svc.readers.room import Room
from ingest_svc.readers.sheets.shared import Shared, format_of
from ingest_svc.readers.sheets.sheet import Book, Sheet
from ingest_svc.readers.sheets.xlsx_cells import read_cells, rich_text
from ingest_svc.readers.sheets.xml_stream import elements

if TYPE_CHECKING:
    from ingest_svc.readers.sheets.values import Format
    from ingest_svc.readers.source import Source

_TRUE = ("1", "true", "on")


def xlsx_book(source: Source, room: Room) -> Book:
    """Return the sheets of a workbook.

    Raises:
        DamagedFile: a part is missing or no XML.
        TooLarge: it unpacks to too much, or has too many cells.
    """
    package = OfficePackage(source)
    workbook = package.xml(package.main)
    shared = Shared(
        _texts(package),
        _formats(package),
        any(element.get("date1904") in _TRUE for element in workbook.iterchildren("{*}workbookPr")),
    )
    facts = package.facts()
    book = Book(
        filetypes.XLSX.media_type, title=facts.title, metadata=facts.metadata, dates=facts.dates
    )
    relations = {relation.id: relation for relation in package.related(package.main)}
    for element in workbook.iterfind("{*}sheets/{*}sheet"):
        sheet = Sheet(element.get("name", ""), hidden=element.get("state", "visible") != "visible")
        book.sheets.append(sheet)
        relation = relations.get(relation_id(element))
        sheet.is_read = relation is not None and relation.kind == "worksheet"
        if relation is None or not sheet.is_read:
            continue
        if relation.target not in package:
            sheet.is_read = False
            message = f"sheet {sheet.name[:200]!r} is missing in the file"
            book.warnings.append(Warning("DAMAGED", message))
        elif source.options.include_hidden or not sheet.hidden:
            read_cells(package.read(relation.target), relation.target, sheet, shared, room)
    return book


def _texts(package: OfficePackage) -> list[str]:
    texts: list[str] = []
    for part in package.related_to(package.main, "sharedStrings")[:1]:
        texts += [rich_text(item) for _, item in elements(package.read(part), part, ("si",))]
    return texts


def _formats(package: OfficePackage) -> list[Format]:
    for part in package.related_to(package.main, "styles")[:1]:
        styles = package.xml(part)
        codes = {
            _whole(element.get("numFmtId")): element.get("formatCode", "")
            for element in styles.iterfind("{*}numFmts/{*}numFmt")
        }
        return [
            format_of(_whole(element.get("numFmtId")), codes)
            for element in styles.iterfind("{*}cellXfs/{*}xf")
        ]
    return []


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
