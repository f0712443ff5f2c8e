"""One workbook in four formats, made for tests: `python made_workbooks.py` writes the goldens.

The sheet "Harbour" has a merged title, dates, percentages, truth values, an error, a formula with
and one without a kept value, a hidden row and a hidden column, a second table below empty rows, and
a line at its end. The sheet "Old" is hidden.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import made_office as office
from made_xls import Xls

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "blocks"
MAIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

GENERAL, PERCENT, DAY, MOMENT = 0, 1, 2, 3
"""Styles of cells, by their number in the workbook."""
CODES = ("General", "0.0%", "dd.mm.yyyy", "dd.mm.yyyy hh:mm")


@dataclass(frozen=True)
class Error:
    """A cell that holds an error."""

    text: str
    code: int


@dataclass(frozen=True)
class Formula:
    """A cell with a formula and the text kept of it, which may be missing."""

    formula: str
    kept: str = ""


Value = str | float | bool | Error | Formula
ROWS: dict[int, dict[int, tuple[Value, int]]] = {
    0: {0: ("Berths 2024", 0)},
    1: {
        0: ("Berth", 0),
        1: ("Length, m", 0),
        2: ("Secret", 0),
        3: ("Open since", 0),
        4: ("Share", 0),
        5: ("Lit", 0),
    },
    2: {
        0: ("North quay", 0),
        1: (120.5, 0),
        2: ("hidden column", 0),
        3: (43556.0, DAY),
        4: (0.125, PERCENT),
        5: (True, 0),
    },
    3: {0: ("hidden row", 0), 1: (1.0, 0)},
    4: {
        0: ("South quay", 0),
        1: (80.0, 0),
        3: (44515.270833333336, MOMENT),
        4: (Error("#DIV/0!", 7), 0),
        5: (False, 0),
    },
    5: {0: (Formula('"All"&" quays"', "All quays"), 0), 1: (Formula("SUM(B3:B5)"), 0)},
    8: {0: ("Month", 0), 1: (2023.0, 0), 3: (2024.0, 0)},
    9: {0: ("May", 0), 1: (7.0, 0), 3: (8.5, 0)},
    11: {0: ("Source: port office", 0)},
}
"""Cells of the sheet: value and style."""
MERGED = (0, 0, 0, 5)
HIDDEN_ROW, HIDDEN_COLUMN = 3, 2


def xlsx() -> bytes:
    texts: list[str] = []
    body = "".join(_xlsx_row(row, cells, texts) for row, cells in ROWS.items())
    name = f'xmlns="{office.SPREADSHEET}" xmlns:r="{MAIN}"'
    sheet = (
        f'<worksheet {name}><dimension ref="A1"/><cols><col min="3" max="3" hidden="1"/></cols>'
        f"<sheetData>{body}</sheetData>"
        '<mergeCells><mergeCell ref="A1:F1"/></mergeCells></worksheet>'
    )
    old = (
        f"<worksheet {name}><sheetData><row><c t='inlineStr'><is><t>gone</t></is></c></row>"
        "</sheetData></worksheet>"
    )
    parts = {
        "docProps/core.xml": office.CORE,
        "xl/workbook.xml": (
            f'<workbook {name}><sheets><sheet name="Harbour" sheetId="1" r:id="s1"/>'
            '<sheet name="Old" sheetId="2" state="hidden" r:id="s2"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": office.relations(
            {
                "s1": ("worksheet", "worksheets/sheet1.xml"),
                "s2": ("worksheet", "worksheets/sheet2.xml"),
                "t": ("sharedStrings", "sharedStrings.xml"),
                "f": ("styles", "styles.xml"),
            }
        ),
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/sheet2.xml": old,
        "xl/sharedStrings.xml": (
            f"<sst {name}>{''.join(f'<si><t>{_escaped(text)}</t></si>' for text in texts)}</sst>"
        ),
        "xl/styles.xml": _xlsx_styles(name),
    }
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    return office.office_file("xl/workbook.xml", kind, parts)


def _xlsx_styles(name: str) -> str:
    formats = "".join(
        f'<numFmt numFmtId="{164 + number}" formatCode="{code}"/>'
        for number, code in enumerate(CODES)
    )
    styles = "".join(f'<xf numFmtId="{164 + number}"/>' for number in range(len(CODES)))
    return (
        f"<styleSheet {name}><numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>"
    )


def _xlsx_row(row: int, cells: dict[int, tuple[Value, int]], texts: list[str]) -> str:
    hidden = ' hidden="1"' if row == HIDDEN_ROW else ""
    inner = "".join(
        _xlsx_cell(f"{chr(65 + column)}{row + 1}", value, style, texts)
        for column, (value, style) in cells.items()
    )
    return f'<row r="{row + 1}"{hidden}>{inner}</row>'


def _xlsx_cell(place: str, value: Value, style: int, texts: list[str]) -> str:
    if isinstance(value, Formula):
        kept = f"<v>{value.kept}</v>" if value.kept else ""
        return f'<c r="{place}" t="str"><f>{_escaped(value.formula)}</f>{kept}</c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, Error):
        return f'<c r="{place}" t="e"><v>{value.text}</v></c>'
    if isinstance(value, str):
        texts.append(value)
        return f'<c r="{place}" t="s"><v>{len(texts) - 1}</v></c>'
    return f'<c r="{place}" s="{style}"><v>{value!r}</v></c>'


def ods() -> bytes:
    columns = (
        '<table:table-column table:number-columns-repeated="2"/>'
        '<table:table-column table:visibility="collapse"/>'
        '<table:table-column table:number-columns-repeated="16381"/>'
    )
    rows, last = "", -1
    for row, cells in ROWS.items():
        if row - last > 1:
            gap = row - last - 1
            rows += (
                f'<table:table-row table:number-rows-repeated="{gap}"><table:table-cell '
                'table:number-columns-repeated="16384"/></table:table-row>'
            )
        hidden = ' table:visibility="collapse"' if row == HIDDEN_ROW else ""
        rows += f"<table:table-row{hidden}>{_ods_cells(row, cells)}</table:table-row>"
        last = row
    content = (
        f"<office:document-content {office.ODF_NAMES}><office:automatic-styles>"
        '<style:style style:name="gone" style:family="table"><style:table-properties '
        'table:display="false"/></style:style></office:automatic-styles><office:body>'
        f'<office:spreadsheet><table:table table:name="Harbour">{columns}{rows}'
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>'
        '<table:table table:name="Old" table:style-name="gone"><table:table-row>'
        '<table:table-cell office:value-type="string"><text:p>gone</text:p></table:table-cell>'
        "</table:table-row></table:table></office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    return office.open_document("spreadsheet", content, office.ODF_META)


def _ods_cells(row: int, cells: dict[int, tuple[Value, int]]) -> str:
    inner, last = "", -1
    for column, (value, style) in cells.items():
        inner += "<table:table-cell/>" * (column - last - 1) + _ods_cell(row, value, style)
        last = column
    return inner


def _ods_cell(row: int, value: Value, style: int) -> str:
    span = ' table:number-columns-spanned="6"' if row == MERGED[0] else ""
    if isinstance(value, Formula):
        kept = f"<text:p>{value.kept}</text:p>" if value.kept else ""
        formula = f'table:formula="of:={_escaped(value.formula)}"'
        return f"<table:table-cell {formula}>{kept}</table:table-cell>"
    if isinstance(value, Error):
        stated = 'xmlns:c="calc" office:value-type="string" c:value-type="error"'
        return f"<table:table-cell {stated}><text:p>{value.text}</text:p></table:table-cell>"
    if isinstance(value, bool):
        stated = f'office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
        return f"<table:table-cell {stated}><text:p>{value}</text:p></table:table-cell>"
    if isinstance(value, str):
        inner = f"<text:p>{_escaped(value)}</text:p>"
        return f'<table:table-cell office:value-type="string"{span}>{inner}</table:table-cell>'
    dates = {DAY: "2019-04-01", MOMENT: "2021-11-15T06:30:00"}
    if style in dates:
        stated = f'office:value-type="date" office:date-value="{dates[style]}"'
    else:
        kind = "percentage" if style == PERCENT else "float"
        stated = f'office:value-type="{kind}" office:value="{value!r}"'
    return f"<table:table-cell {stated}><text:p>as shown</text:p></table:table-cell>"


def xls() -> bytes:
    book = Xls(CODES)
    book.sheet("Harbour", hidden=False)
    for row, cells in ROWS.items():
        book.row(row, hidden=row == HIDDEN_ROW)
        for column, (value, style) in cells.items():
            _xls_cell(book, row, column, value, style)
    book.hidden_columns(HIDDEN_COLUMN, HIDDEN_COLUMN)
    book.merged(*MERGED)
    book.sheet("Old", hidden=True)
    book.text(0, 0, "gone")
    return book.file()


def _xls_cell(book: Xls, row: int, column: int, value: Value, style: int) -> None:
    if isinstance(value, Formula):
        book.formula(row, column, value.kept or f"={value.formula}")
    elif isinstance(value, bool):
        book.truth(row, column, value=value)
    elif isinstance(value, Error):
        book.error(row, column, value.code)
    elif isinstance(value, str):
        book.text(row, column, value)
    elif value == int(value) or style == PERCENT:
        book.packed(row, column, value, style)
    else:
        book.number(row, column, value, style)


def xlsb() -> bytes:
    texts: list[str] = []
    body = b""
    for row, cells in ROWS.items():
        flags = 0x10 if row == HIDDEN_ROW else 0
        body += _record(0, struct.pack("<IIHBB", row, 0, 300, 0, flags) + bytes(5))
        for column, (value, style) in cells.items():
            body += _xlsb_cell(column, value, style, texts)
    columns = _record(60, struct.pack("<IIIIH", HIDDEN_COLUMN, HIDDEN_COLUMN, 2560, 0, 1))
    top, left, bottom, right = MERGED
    merged = _record(176, struct.pack("<4I", top, bottom, left, right))
    old = _record(0, struct.pack("<IIHBB", 0, 0, 300, 0, 0) + bytes(5))
    old += _record(6, struct.pack("<II", 0, 0) + _wide("gone"))
    formats = b"".join(
        _record(44, struct.pack("<H", 164 + number) + _wide(code))
        for number, code in enumerate(CODES)
    )
    styles = b"".join(
        _record(47, struct.pack("<HH", 0, 164 + number) + bytes(12)) for number in range(len(CODES))
    )
    parts: dict[str, str | bytes] = {
        "docProps/core.xml": office.CORE,
        "xl/workbook.bin": (
            _record(131)
            + _record(143)
            + _record(156, struct.pack("<II", 0, 1) + _wide("s1") + _wide("Harbour"))
            + _record(156, struct.pack("<II", 1, 2) + _wide("s2") + _wide("Old"))
            + _record(144)
            + _record(157, bytes(26))
            + _record(132)
        ),
        "xl/_rels/workbook.bin.rels": office.relations(
            {
                "s1": ("worksheet", "worksheets/sheet1.bin"),
                "s2": ("worksheet", "worksheets/sheet2.bin"),
                "t": ("sharedStrings", "sharedStrings.bin"),
                "f": ("styles", "styles.bin"),
            }
        ),
        "xl/worksheets/sheet1.bin": (
            _record(129)
            + _record(148, bytes(16))
            + columns
            + _record(145)
            + body
            + _record(146)
            + merged
            + _record(130)
        ),
        "xl/worksheets/sheet2.bin": _record(129)
        + _record(148, bytes(16))
        + _record(145)
        + old
        + _record(146)
        + _record(130),
        "xl/sharedStrings.bin": (
            _record(159, struct.pack("<II", len(texts), len(texts)))
            + b"".join(_record(19, b"\0" + _wide(text)) for text in texts)
            + _record(160)
        ),
        "xl/styles.bin": (
            _record(615, struct.pack("<I", len(CODES)))
            + formats
            + _record(616)
            + _record(617, struct.pack("<I", len(CODES)))
            + styles
            + _record(618)
        ),
    }
    kind = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"
    return office.office_file("xl/workbook.bin", kind, parts)


def _xlsb_cell(column: int, value: Value, style: int, texts: list[str]) -> bytes:
    head = struct.pack("<II", column, style)
    if isinstance(value, Formula):
        return _record(8, head + _wide(value.kept or f"={value.formula}") + bytes(10))
    if isinstance(value, bool):
        return _record(4, head + bytes([value]))
    if isinstance(value, Error):
        return _record(3, head + bytes([value.code]))
    if isinstance(value, str):
        texts.append(value)
        return _record(7, head + struct.pack("<I", len(texts) - 1))
    return _record(5, head + struct.pack("<d", value))


def _record(kind: int, body: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size, sizes = len(body), b""
    while True:
        sizes += bytes([size & 0x7F | (0x80 if size > 0x7F else 0)])
        size >>= 7
        if not size:
            return head + sizes + body


def _wide(text: str) -> bytes:
    coded = text.encode("utf-16-le")
    return struct.pack("<I", len(coded) // 2) + coded


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


MADE = {"berths.xlsx": xlsx, "berths.xlsb": xlsb, "berths.xls": xls, "berths.ods": ods}


if __name__ == "__main__":
    for name, make in MADE.items():
        (GOLDEN / name).write_bytes(make())
