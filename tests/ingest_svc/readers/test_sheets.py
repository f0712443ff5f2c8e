"""Workbooks in four formats."""

from __future__ import annotations

import struct
import time
from datetime import date
from pathlib import Path

import made_office as office
import pytest
import python_calamine
from made_workbooks import MADE, xlsx
from made_xls import Xls, encrypted, encryption, long_text, ole_file, record

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind, ParsedFile
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import ReadOptions
from treespan.errors import (
    DamagedFile,
    EmptyFile,
    EncryptedFile,
    TooLarge,
    UnsupportedEncryption,
    WrongPassword,
)

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "blocks"
NAMES = f'xmlns="{office.SPREADSHEET}" xmlns:r="{office.RELATIONS}"'


def book(
    rows: str,
    *,
    texts: str = "",
    styles: str = "",
    properties: str = "",
    after: str = "",
    before: str = "",
) -> bytes:
    """Return a workbook of one sheet, from the XML of its rows."""
    parts = {
        "xl/workbook.xml": (
            f"<workbook {NAMES}>{properties}<sheets>"
            '<sheet name="One" sheetId="1" r:id="s"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": office.relations(
            {
                "s": ("worksheet", "worksheets/sheet1.xml"),
                "t": ("sharedStrings", "sharedStrings.xml"),
                "f": ("styles", "styles.xml"),
            }
        ),
        "xl/worksheets/sheet1.xml": (
            f"{before}<worksheet {NAMES}><sheetData>{rows}</sheetData>{after}</worksheet>"
        ),
        "xl/sharedStrings.xml": f"{before}<sst {NAMES}>{texts}</sst>",
        "xl/styles.xml": f"<styleSheet {NAMES}>{styles}</styleSheet>",
    }
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    return office.office_file("xl/workbook.xml", kind, parts)


def grid(parsed: ParsedFile) -> list[list[str]]:
    """Return the rows of the first table, the header first where it is one."""
    table = next(block.table for block in parsed.blocks if block.table is not None)
    return [table.header, *table.rows] if any(table.header) else table.rows


def text(value: str) -> str:
    return f'<c t="inlineStr"><is><t>{value}</t></is></c>'


@pytest.mark.parametrize("name", MADE)
def test_the_golden_workbooks_are_what_their_script_makes(name):
    assert (GOLDEN / name).read_bytes() == MADE[name]()


@pytest.mark.parametrize("name", MADE)
def test_one_workbook_is_read_the_same_in_every_format(name):
    expected = read_file(MADE["berths.xlsx"](), "berths.xlsx")
    found = read_file(MADE[name](), name)
    assert found.blocks == expected.blocks
    assert found.warnings == expected.warnings
    assert found.counts == {"sheets": 2, "hidden_sheets": 1, "skipped": 3}


@pytest.mark.parametrize("name", ["berths.xlsx", "berths.xlsb", "berths.xls"])
def test_another_library_sees_the_same_values(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(MADE[name]())
    rows = python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_name("Harbour").to_python()
    assert rows[0][0] == "Berths 2024"
    assert rows[2] == ["North quay", 120.5, "hidden column", date(2019, 4, 1), 0.125, True]
    assert str(rows[4][3]) == "2021-11-15 06:30:00"
    assert [row[0] for row in rows[8:]] == ["Month", "May", "", "Source: port office"]


@pytest.mark.parametrize("name", MADE)
def test_hidden_parts_are_read_where_they_are_wanted(name):
    found = read_file(MADE[name](), name, options=ReadOptions(include_hidden=True))
    headings = [block.text for block in found.blocks if block.kind is BlockKind.HEADING]
    assert headings == ["Harbour", "Old"]
    assert [row[2] for row in grid(found)][:2] == ["Secret", "hidden column"]
    assert grid(found)[2][0] == "hidden row"
    assert found.warnings == []


def test_title_author_and_dates_are_those_that_the_file_states():
    found = read_file(xlsx(), "b.xlsx")
    assert (found.title, found.metadata) == ("Berths", {"author": "Treespan authors"})
    assert found.dates == {"created": "2024-05-06T07:08:09Z"}


def test_rows_and_cells_without_references_follow_each_other():
    rows = f"<row>{text('a')}{text('b')}</row><row>{text('c')}{text('d')}</row>"
    assert grid(read_file(book(rows), "b.xlsx")) == [["a", "b"], ["c", "d"]]


def test_rows_and_cells_out_of_order_are_put_in_order():
    rows = (
        '<row r="2"><c r="B2"><v>4</v></c><c r="A2"><v>3</v></c></row>'
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>'
    )
    assert grid(read_file(book(rows), "b.xlsx")) == [["1", "2"], ["3", "4"]]


def test_rich_texts_are_joined_and_phonetic_guides_left_out():
    texts = (
        "<si><r><t>東</t></r><r><t>京</t></r><rPh sb='0' eb='2'><t>とうきょう</t></rPh></si>"
        "<si><t>two_x000D_\nlines</t></si>"
    )
    rows = '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>' * 2
    assert grid(read_file(book(rows, texts=texts), "b.xlsx"))[0] == ["東京", "two\nlines"]


def test_a_formula_without_a_kept_value_is_its_own_text():
    rows = (
        "<row><c><f>SUM(A2:A3)</f></c><c><f>1+1</f><v>2</v></c></row>"
        '<row><c t="e"><f>1/0</f><v>#DIV/0!</v></c><c><v>x</v></c></row>'
    )
    assert grid(read_file(book(rows), "b.xlsx")) == [["=SUM(A2:A3)", "2"], ["#DIV/0!", "x"]]


def test_dates_count_from_1904_where_the_workbook_says_so():
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    rows = '<row><c s="1"><v>43834</v></c><c t="d"><v>2024-01-05T00:00:00</v></c></row>' * 2
    late = book(rows, styles=styles, properties='<workbookPr date1904="1"/>')
    early = book(rows, styles=styles)
    assert grid(read_file(late, "b.xlsx"))[0] == ["2024-01-05", "2024-01-05"]
    assert grid(read_file(early, "b.xlsx"))[0] == ["2020-01-04", "2024-01-05"]


def test_strict_namespaces_are_read_alike():
    usual = b"http://schemas.openxmlformats.org/"
    parts = {
        name: data.replace(
            usual + b"spreadsheetml/2006/main", b"http://purl.oclc.org/ooxml/x"
        ).replace(usual + b"officeDocument/2006/relationships", b"http://purl.oclc.org/ooxml/y")
        for name, data in office.unpacked(xlsx()).items()
        if isinstance(data, bytes)
    }
    found = read_file(office.packed(parts), "b.xlsx")
    assert found.blocks == read_file(xlsx(), "b.xlsx").blocks


def test_a_sheet_with_one_far_cell_is_read_in_no_room():
    head = "".join(text(f"column {number}") for number in range(200))
    rows = f'<row r="1">{head}</row><row r="1048576"><c r="XFD1048576"><v>7</v></c></row>'
    found = read_file(book(rows), "b.xlsx", limits=ReaderLimits(max_table_cells=500))
    assert grid(found)[0][199] == "column 199"
    assert found.blocks[-1].table is None or found.blocks[-1].table.rows == [["7"]]


def test_too_many_cells_are_refused_with_the_name_of_the_limit():
    rows = f"<row>{text('a')}{text('b')}</row>" * 6
    with pytest.raises(TooLarge, match=r"limit readers.max_table_cells is 10; this file has 12"):
        read_file(book(rows), "b.xlsx", limits=ReaderLimits(max_table_cells=10))


def test_sixty_thousand_rows_take_a_few_seconds():
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}" t="inlineStr"><is><t>name {n}</t></is>'
        f'</c><c r="C{n}"><v>{n / 2}</v></c></row>'
        for n in range(1, 60_001)
    )
    whole = book(rows)
    started = time.process_time()
    assert len(grid(read_file(whole, "b.xlsx"))) == 60_000
    assert time.process_time() - started < 10


def test_one_long_text_in_many_cells_counts_as_unpacked():
    texts = f"<si><t>{'long ' * 20_000}</t></si>"
    rows = '<row><c t="s"><v>0</v></c></row>' * 2_000
    with pytest.raises(TooLarge, match="max_unpack_ratio"):
        read_file(book(rows, texts=texts), "b.xlsx")


ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(8))
    + "]>"
)


@pytest.mark.parametrize("place", ["rows", "texts"])
def test_entities_are_refused(place):
    inner = "<row><c t='inlineStr'><is><t>&i;</t></is></c></row>" if place == "rows" else ""
    texts = "<si><t>&i;</t></si>" if place == "texts" else ""
    with pytest.raises(DamagedFile):
        read_file(book(inner, texts=texts, before=ENTITIES), "b.xlsx")


def test_a_workbook_without_any_cell_is_empty():
    with pytest.raises(EmptyFile):
        read_file(book(""), "b.xlsx")


def test_a_sheet_that_is_missing_is_said_to_be():
    parts = office.unpacked(xlsx())
    del parts["xl/worksheets/sheet2.xml"]
    found = read_file(office.packed(parts), "b.xlsx")
    assert ("DAMAGED", "sheet 'Old' is missing in the file") in [
        (warning.kind, warning.message) for warning in found.warnings
    ]


def test_a_workbook_without_its_main_part_is_damaged():
    parts = office.unpacked(xlsx())
    del parts["xl/workbook.xml"]
    with pytest.raises(DamagedFile, match="main part"):
        read_file(office.packed(parts), "b.xlsx")


def test_old_texts_go_on_over_records():
    made = Xls()
    made.sheet("One")
    made.text(0, 0, "Grüße")
    made.text(1, 0, "東京")
    stream = made.stream()
    shared = struct.pack("<II", 2, 2) + long_text("Grüße") + long_text("東京")
    whole = record(0xFC, shared)
    # Cut behind the first two letters, and in front of the last one, whose width is said anew.
    cut = record(0xFC, shared[:13]) + record(0x3C, b"\0" + shared[13:-2])
    cut += record(0x3C, b"\1" + shared[-2:])
    moved = stream.replace(whole, cut)
    place = stream.index(record(0x809, struct.pack("<HH", 0x600, 0x10) + stream[8:20])[:8])
    moved = moved.replace(struct.pack("<IBB", place, 0, 0), struct.pack("<IBB", place + 10, 0, 0))
    found = read_file(ole_file("Workbook", moved), "b.xls")
    assert [block.text for block in found.blocks] == ["One", "Grüße", "東京"]


def test_sheets_that_lie_in_each_other_are_refused():
    made = Xls()
    for name in range(200):
        made.sheet(str(name))
    for row in range(2_000):
        made.number(row, 0, 1.5)
    stream = bytearray(made.stream())
    last = struct.unpack_from("<I", stream, stream.rindex(b"199") - 8)[0]
    for name in range(199):
        at = stream.index(struct.pack("<BB", len(str(name)), 0) + str(name).encode())
        struct.pack_into("<I", stream, at - 6, last)
    with pytest.raises(DamagedFile, match="lie in each other"):
        read_file(ole_file("Workbook", bytes(stream)), "b.xls")


def test_an_old_workbook_behind_a_password_says_so():
    locked = Xls(before=record(0x2F, struct.pack("<HHH", 0, 0x1234, 0x5678)))
    locked.sheet("One")
    locked.text(0, 0, "secret")
    with pytest.raises(EncryptedFile):
        read_file(locked.file(), "b.xls")
    with pytest.raises(WrongPassword):
        read_file(locked.file(), "b.xls", password="open")


def test_an_unknown_encryption_of_an_old_workbook_says_so():
    locked = Xls(before=record(0x2F, struct.pack("<HHH", 1, 9, 9)))
    locked.sheet("One")
    with pytest.raises(UnsupportedEncryption):
        read_file(locked.file(), "b.xls", password="open")


def test_an_old_workbook_opens_with_its_password():
    made = Xls(before=encryption("open sesame"))
    made.sheet("One")
    made.text(0, 0, "secret")
    locked = ole_file("Workbook", encrypted(made.stream(), "open sesame"))
    found = read_file(locked, "b.xls", password="open sesame")
    assert [block.text for block in found.blocks] == ["One", "secret"]
    with pytest.raises(WrongPassword):
        read_file(locked, "b.xls", password="open")
    with pytest.raises(EncryptedFile):
        read_file(locked, "b.xls")


def test_an_old_workbook_that_is_only_protected_opens_without_a_password():
    made = Xls(before=encryption("VelvetSweatshop"))
    made.sheet("One")
    made.text(0, 0, "protected")
    locked = ole_file("Workbook", encrypted(made.stream(), "VelvetSweatshop"))
    assert read_file(locked, "b.xls").blocks[-1].text == "protected"


def test_repeated_cells_of_an_open_document_count_before_they_are_made():
    content = (
        f"<office:document-content {office.ODF_NAMES}><office:body><office:spreadsheet>"
        '<table:table table:name="One"><table:table-row table:number-rows-repeated="1000000">'
        '<table:table-cell office:value-type="string" table:number-columns-repeated="16384">'
        "<text:p>x</text:p></table:table-cell></table:table-row></table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with pytest.raises(TooLarge, match="max_table_cells"):
        read_file(office.open_document("spreadsheet", content), "b.ods")


def test_comments_on_cells_of_an_open_document_are_left_out():
    content = (
        f"<office:document-content {office.ODF_NAMES}><office:body><office:spreadsheet>"
        '<table:table table:name="One"><table:table-row>'
        '<table:table-cell office:value-type="string"><office:annotation><text:p>aside</text:p>'
        "</office:annotation><text:p>said</text:p></table:table-cell></table:table-row>"
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    found = read_file(office.open_document("spreadsheet", content), "b.ods")
    assert [block.text for block in found.blocks] == ["One", "said"]
