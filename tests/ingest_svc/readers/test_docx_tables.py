"""Tables of Word documents: spans, rows that name the columns, tables in tables, layout."""

from __future__ import annotations

import pytest
from made_documents import cell, docx, heading_styles, in_list, level, paragraph, row, run, table

from ingest_svc.readers import read_file
from ingest_svc.readers.block import Block, BlockKind, Table
from ingest_svc.readers.limits import ReaderLimits
from treespan.errors import TooLarge


def blocks(body: str, **parts: str) -> list[Block]:
    return read_file(docx(body, **parts), "a.docx").blocks


def only_table(body: str, **parts: str) -> Table:
    (block,) = blocks(body, **parts)
    assert block.table is not None
    return block.table


def span(columns: int) -> str:
    return f'<w:gridSpan w:val="{columns}"/>'


RESTART, CONTINUE = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"


def test_merged_cells_hold_their_text_once_at_the_top_left():
    found = only_table(
        table(
            row(cell("wide", span(2)), cell("c")),
            row(cell("tall", RESTART), cell("e"), cell("f")),
            row(cell("covered", CONTINUE), cell("h"), cell("i")),
        )
    )
    assert found.rows == [["wide", "", "c"], ["tall", "e", "f"], ["", "h", "i"]]


def test_a_column_that_lies_wholly_under_spans_is_none():
    found = only_table(
        table(row(cell("a", span(2)), cell("b")), row(cell("c", span(2)), cell("d")))
    )
    assert found.rows == [["a", "b"], ["c", "d"]]


def test_rows_that_begin_later_or_end_earlier_keep_their_columns():
    found = only_table(
        table(
            row(cell("1"), cell("2"), cell("3")),
            row(cell("e"), properties='<w:gridBefore w:val="1"/><w:gridAfter w:val="1"/>'),
            row(cell("g")),
        )
    )
    assert found.rows == [["1", "2", "3"], ["", "e", ""], ["g", "", ""]]


def test_marked_rows_name_the_columns_with_what_spans_them():
    head = "<w:tblHeader/>"
    found = only_table(
        table(
            row(cell("", RESTART), cell("Price", span(2)), properties=head),
            row(cell("", CONTINUE), cell("net"), cell("gross"), properties=head),
            row(cell("valve"), cell("10"), cell("12")),
        )
    )
    assert found.header == ["", "Price net", "Price gross"]
    assert found.rows == [["valve", "10", "12"]]


def test_a_bold_first_row_names_the_columns():
    strong = [cell(paragraph(run(name, "<w:b/>"))) for name in ("Name", "Rank")]
    found = only_table(table(row(*strong), row(cell("Eve"), cell("first"))))
    assert (found.header, found.rows) == (["Name", "Rank"], [["Eve", "first"]])


def test_the_first_row_names_the_columns_where_the_style_sets_it_off():
    styles = (
        '<w:style w:type="table" w:styleId="T"><w:name w:val="Grid"/><w:tblStylePr w:type='
        '"firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style>'
    )
    rows = row(cell("one"), cell("two")) + row(cell("three"), cell("four"))
    look = '<w:tblPr><w:tblStyle w:val="T"/><w:tblLook w:val="{}"/></w:tblPr>'
    named = only_table(f"<w:tbl>{look.format('0020')}{rows}</w:tbl>", styles=styles)
    unnamed = only_table(f"<w:tbl>{look.format('0000')}{rows}</w:tbl>", styles=styles)
    assert (named.header, unnamed.header) == (["one", "two"], ["", ""])


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([("Part", "Price"), ("valve", "12.50"), ("pump", "99")], ["Part", "Price"]),
        ([("City", "State", "Note"), ("Ulm", "BW", "old")], ["City", "State", "Note"]),
        ([("Name", "Eve Miller"), ("Town", "Ulm"), ("Age", "42")], ["", ""]),
        ([("Born", "1990"), ("Height", "172")], ["", ""]),
        ([("a", "", "c"), ("d", "e", "f")], ["", "", ""]),
        ([("same", "same", "x"), ("d", "e", "f")], ["", "", ""]),
    ],
)
def test_a_plain_first_row_names_the_columns_where_it_must(rows, header):
    body = table(*(row(*map(cell, texts)) for texts in rows))
    assert only_table(body).header == header


def test_a_first_row_of_two_names_names_the_columns_where_the_table_says_it_may():
    rows = row(cell("Column A"), cell("Column B")) + row(cell("simple"), cell("x")) * 2
    look = '<w:tblPr><w:tblLook w:firstRow="{}"/></w:tblPr>'
    assert only_table(f"<w:tbl>{look.format(1)}{rows}</w:tbl>").header == ["Column A", "Column B"]
    assert only_table(f"<w:tbl>{look.format(0)}{rows}</w:tbl>").header == ["", ""]


def test_a_table_in_a_cell_follows_the_table_around_it():
    inner = table(row(cell("in 1"), cell("in 2")))
    outer = table(row(cell(paragraph("text") + inner + paragraph("more")), cell("b")))
    found = blocks(outer)
    assert [block.table.rows for block in found] == [[["text\nmore", "b"]], [["in 1", "in 2"]]]


def test_items_and_pictures_in_a_cell_are_lines_of_it():
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "%1.")}{level(1, "%2)", "lowerLetter")}'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    picture = '<w:r><w:pict><v:shape alt="A pump"><v:imagedata/></v:shape></w:pict></w:r>'
    content = (
        paragraph("First", "", in_list(1))
        + paragraph("below", "", in_list(1, 1))
        + paragraph(picture)
    )
    found = only_table(table(row(cell(content), cell("b"))), numbering=numbering)
    assert found.rows == [["1. First\n  a) below\nA pump", "b"]]


def test_rows_and_cells_within_content_controls_are_rows_and_cells():
    wrapped = "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>"
    rows = row(wrapped.format(cell("a")), cell("b")) + wrapped.format(row(cell("c"), cell("d")))
    assert only_table(table(rows)).rows == [["a", "b"], ["c", "d"]]


def test_a_single_cell_around_text_is_no_table():
    body = table(row(cell(paragraph("One.") + table(row(cell("a"), cell("b"))))))
    assert [block.kind for block in blocks(body)] == [BlockKind.PARAGRAPH, BlockKind.TABLE]


def test_a_table_with_sections_in_its_cells_is_unwrapped():
    styles = heading_styles("heading 1")
    left = paragraph("Skills", "H1") + paragraph("Plumbing.")
    right = paragraph("Contact", "H1") + paragraph("Ulm.")
    found = blocks(table(row(cell(left), cell(right))), styles=styles)
    assert [block.text for block in found] == ["Skills", "Plumbing.", "Contact", "Ulm."]


def test_headings_that_fill_cells_alone_are_cells():
    styles = heading_styles("heading 1")
    heads = [cell(paragraph(name, "H1")) for name in ("Part", "Price")]
    assert only_table(table(row(*heads), row(cell("valve"), cell("1"))), styles=styles).header == [
        "Part",
        "Price",
    ]


def test_an_empty_table_is_none():
    assert [block.text for block in blocks(table(row(cell(""), cell(""))) + paragraph("x"))] == [
        "x"
    ]


def test_cells_are_counted_with_what_they_span_before_a_grid_is_made():
    limits = ReaderLimits(max_table_cells=1_000)
    wide = table(row(cell("a", span(999_999_999)), cell("b")))
    with pytest.raises(TooLarge, match=r"max_table_cells is 1000; this file has 1001"):
        read_file(docx(wide), "a.docx", limits=limits)
    ragged = table(row(*[cell("x")] * 40), *[row(cell("y"))] * 40)
    with pytest.raises(TooLarge, match=r"max_table_cells is 1000; this file has 1640"):
        read_file(docx(ragged), "a.docx", limits=limits)
