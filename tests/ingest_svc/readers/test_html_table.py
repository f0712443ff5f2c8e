from __future__ import annotations

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from ingest_svc.readers import read_file
from ingest_svc.readers.html import read_html
from ingest_svc.readers.html_table import Grid, read_table
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import Source


def grid(rows: str, most_cells: int = 10_000) -> Grid:
    node = LexborHTMLParser(f"<table>{rows}</table>").css_first("table")
    return read_table(node, frozenset(), most_cells)


def rows(text: str) -> list[list[str]]:
    table = grid(text).table
    return [table.header, *table.rows]


def test_head_cells_name_the_columns():
    assert rows("<tr><th>a<th>b<tr><td>1<td>2") == [["a", "b"], ["1", "2"]]
    assert rows("<thead><tr><td>a<td>b</thead><tr><td>1<td>2") == [["a", "b"], ["1", "2"]]
    assert rows("<tr><td><b>a</b><td><strong>b</strong><tr><td>1<td>2") == [["a", "b"], ["1", "2"]]


def test_row_heads_name_no_columns():
    assert rows("<tr><th>a<td>1<tr><th>b<td>2") == [["", ""], ["a", "1"], ["b", "2"]]


def test_words_over_figures_are_a_head_even_unmarked():
    assert rows("<tr><td>City<td>People<tr><td>Ulm<td>126,000") == [
        ["City", "People"],
        ["Ulm", "126,000"],
    ]
    assert rows("<tr><td>x<td>y<tr><td>z<td>w")[0] == ["", ""]


def test_heads_below_each_other_are_joined_where_one_spans():
    heads = "<thead><tr><th rowspan=2>Name<th colspan=2>Size<tr><th>min<th>max</thead>"
    assert rows(f"{heads}<tr><td>a<td>1<td>2") == [
        ["Name", "Size min", "Size max"],
        ["a", "1", "2"],
    ]


def test_spanned_cells_hold_their_text_once_and_keep_the_columns():
    table = "<tr><th>a<th>b<th>c<tr><td rowspan=2>x<td colspan=2>y<tr><td>1<td>2"
    assert rows(table) == [["a", "b", "c"], ["x", "y", ""], ["", "1", "2"]]


def test_a_head_over_all_columns_is_part_of_the_caption():
    found = grid("<caption>Cap<tr><th colspan=2>Title<tr><th>a<th>b<tr><td>1<td>2").table
    assert (found.caption, found.header) == ("Cap Title", ["a", "b"])


def test_rows_and_columns_without_words_are_left_out():
    assert rows("<tr><th>a<th><th>b<tr><td><td><td><tr><td>1<td> <td>2") == [["a", "b"], ["1", "2"]]


def test_cells_hold_lines_lists_images_and_inner_tables_as_words():
    cell = "<ul><li>p<li>q</ul><img alt=r><table><tr><td>s<td>t<tr><td>u</table><br>v"
    assert rows(f"<tr><th>a<th>b<tr><td>{cell}<td>w")[1] == ["p\nq\nr\ns t\nu\nv", "w"]


@pytest.mark.parametrize("span", ["1000000000", "99999999999999999999", "-3", "x", "0", "½"])
def test_absurd_spans_cost_nothing(span):
    started = time.process_time()
    found = grid(f"<tr><td colspan={span} rowspan={span}>x<tr><td>y").table
    assert time.process_time() - started < 1
    assert "x" in found.rows[0]


def test_a_table_above_the_limit_is_cut_and_says_so():
    many = "<tr><td>1<td>2" * 100
    found = grid(many, most_cells=50)
    assert (found.is_cut, len(found.table.rows)) == (True, 25)
    parsed = read_html(
        Source(b"", f"<table>{many}</table>", limits=ReaderLimits(max_table_cells=50))
    )
    assert [warning.kind for warning in parsed.warnings] == ["TRUNCATED_TABLE"]
    assert "readers.max_table_cells is 50" in parsed.warnings[0].message


def test_words_over_figures_name_the_columns_without_any_markup():
    rows = "<tr><td>Port<td>Depth<tr><td>Visby<td>12.5<tr><td>Kiel<td>9"
    parsed = read_file(f"<table>{rows}</table>".encode(), "a.html")
    table = parsed.blocks[0].table
    assert (table.header, table.rows) == (["Port", "Depth"], [["Visby", "12.5"], ["Kiel", "9"]])
    names = "<tr><td>Name<td>Anna<tr><td>Port<td>Visby<tr><td>Depth<td>12"
    table = read_file(f"<table>{names}</table>".encode(), "a.html").blocks[0].table
    assert table.header == ["", ""]
