"""Cells drawn as they stand on a sheet, and the blocks that they become."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from ingest_svc.readers.block import Block
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.room import Room
from ingest_svc.readers.sheets.layout import blocks_of
from ingest_svc.readers.sheets.sheet import Area, Sheet
from ingest_svc.readers.sheets.shown import shown
from ingest_svc.readers.source import Source
from treespan.errors import TooLarge


def sheet(drawn: str, merged: Sequence[Area] = ()) -> Sheet:
    """Return a sheet from a drawing: a line for each row, its cells between bars."""
    made = Sheet("s", merged=list(merged))
    for row, line in enumerate(drawn.strip("\n").split("\n")):
        for column, cell in enumerate(line.split("|")):
            made.put(row, column, cell.strip())
    return made


def laid_out(made: Sheet, limits: ReaderLimits | None = None) -> list[Block]:
    return blocks_of(made, Room(Source(b"x", limits=limits or ReaderLimits())))


def seen(blocks: list[Block]) -> list[object]:
    """Return texts as they are, tables as caption and rows, the header first where it is one."""
    found: list[object] = []
    for block in blocks:
        if block.table is None:
            found.append(block.text)
        else:
            header = [block.table.header] if any(block.table.header) else []
            rows = [" ".join(cell or "." for cell in row) for row in header + block.table.rows]
            found.append((block.table.caption, len(header), *rows))
    return found


def test_a_first_row_of_words_names_the_columns():
    assert seen(laid_out(sheet("name|size\nash|7\noak|9"))) == [
        ("", 1, "name size", "ash 7", "oak 9")
    ]


def test_a_first_row_with_numbers_names_nothing():
    assert seen(laid_out(sheet("ash|7\noak|9"))) == [("", 0, "ash 7", "oak 9")]


def test_years_over_other_numbers_name_columns():
    assert seen(laid_out(sheet("tree|2023|2024\nash|7|8"))) == [
        ("", 1, "tree 2023 2024", "ash 7 8")
    ]


def test_a_form_has_no_names_of_columns():
    assert seen(laid_out(sheet("Name:|Ada\nBorn:|1815-12-10"))) == [
        ("", 0, "Name: Ada", "Born: 1815-12-10")
    ]


def test_lines_above_a_table_are_its_caption():
    drawn = "Trees\nof the park\n\nname|size\nash|7"
    assert seen(laid_out(sheet(drawn))) == [("Trees\nof the park", 1, "name size", "ash 7")]


def test_a_line_below_all_tables_is_a_paragraph():
    assert seen(laid_out(sheet("name|size\nash|7\n\nSource: the park"))) == [
        ("", 1, "name size", "ash 7"),
        "Source: the park",
    ]


def test_an_empty_row_parts_two_tables_where_the_second_names_its_columns():
    assert seen(laid_out(sheet("name|size\nash|7\n\nbird|wings\nowl|2"))) == [
        ("", 1, "name size", "ash 7"),
        ("", 1, "bird wings", "owl 2"),
    ]


def test_an_empty_row_parts_nothing_where_the_same_rows_go_on():
    assert seen(laid_out(sheet("name|size\nash|7\n\noak|9\n\nelm|5"))) == [
        ("", 1, "name size", "ash 7", "oak 9", "elm 5")
    ]


def test_a_line_between_rows_of_one_table_stays_in_it():
    assert seen(laid_out(sheet("name|size\nash|7\n\nthe tall ones\n\noak|90"))) == [
        ("", 1, "name size", "ash 7", "the tall ones .", "oak 90")
    ]


def test_an_empty_column_parts_tables_that_name_columns_and_rows():
    assert seen(laid_out(sheet("name|size||bird|wings\nash|7||owl|2"))) == [
        ("", 1, "name size", "ash 7"),
        ("", 1, "bird wings", "owl 2"),
    ]


def test_an_empty_column_parts_nothing_where_values_belong_to_the_same_rows():
    assert seen(laid_out(sheet("name|size||min|max\nash|7||1|9"))) == [
        ("", 1, "name size min max", "ash 7 1 9")
    ]


def test_a_merged_cell_over_an_empty_row_parts_nothing():
    drawn = "park|name|size\nnorth|ash|7\n\n|bird|wings\n|owl|2"
    apart = seen(laid_out(sheet(drawn)))
    joined = seen(laid_out(sheet(drawn, [Area(1, 0, 4, 0)])))
    assert len(apart) == 2
    assert joined == [("", 1, "park name size", "north ash 7", ". bird wings", ". owl 2")]


def test_names_under_a_merged_head_carry_it():
    drawn = "tree|Size||Age\n|min|max|\nash|1|9|50"
    made = sheet(drawn, [Area(0, 1, 0, 2), Area(0, 0, 1, 0), Area(0, 3, 1, 3)])
    [block] = laid_out(made)
    assert block.table is not None
    assert block.table.header == ["tree", "Size min", "Size max", "Age"]
    assert block.table.rows == [["ash", "1", "9", "50"]]


def test_a_column_of_values_is_a_table_and_of_lines_paragraphs():
    assert seen(laid_out(sheet("#DIV/0!\n#N/A\n#REF!\n#NUM!"))) == [
        ("", 0, "#DIV/0!", "#N/A", "#REF!", "#NUM!")
    ]
    assert seen(laid_out(sheet("first thought\n\nsecond thought"))) == [
        "first thought",
        "second thought",
    ]


def test_sentences_below_each_other_are_paragraphs():
    sentence = "This is a sentence that no cell of a table would hold."
    assert seen(laid_out(sheet("\n".join([sentence] * 4)))) == [sentence] * 4


def test_an_empty_sheet_is_nothing():
    assert laid_out(Sheet("s")) == []


def test_cells_far_apart_take_no_more_room_than_near_ones():
    made = sheet("name|size")
    made.put(1_048_575, 1, "7")
    made.put(1_048_575, 16_383, "far")
    assert seen(laid_out(made)) == [("", 0, "name size"), ("", 0, "7 far")]


def test_a_grid_with_too_many_cells_is_refused_before_it_is_made():
    made = Sheet("s")
    for at in range(3_000):
        made.put(at, at, "x")
    with pytest.raises(TooLarge, match="max_table_cells is 2000000; this file has"):
        laid_out(made)


def test_thousands_of_parts_take_no_time():
    made = Sheet("s")
    for at in range(40_000):
        made.put(2 * at, 0, f"line {at}")
        made.put(2 * at, 1, str(at))
    started = time.process_time()
    laid_out(made)
    assert time.process_time() - started < 5


def test_hidden_rows_and_columns_are_left_out_and_counted():
    made = sheet("name|secret|size\nash|x|7\noak|y|9")
    made.hidden_rows, made.hidden_columns = [(2, 2)], [(1, 1)]
    visible, rows, columns = shown(made)
    assert (rows, columns) == (1, 1)
    assert seen(laid_out(visible)) == [("", 1, "name size", "ash 7")]


def test_hidden_rows_part_no_table():
    made = sheet("name|size\nash|7\n\n\noak|x")
    made.hidden_rows = [(2, 3)]
    visible, rows, _ = shown(made)
    assert rows == 0
    assert seen(laid_out(visible)) == [("", 1, "name size", "ash 7", "oak x")]


def test_a_merged_text_that_begins_in_a_hidden_column_shows_in_the_next():
    made = sheet("Trees||\nname|a|b\nash|1|2", [Area(0, 0, 0, 2)])
    made.hidden_columns = [(0, 0)]
    visible, _, _ = shown(made)
    assert visible.cells[0] == {1: "Trees"}
