"""Runs of nodes, read off a small tree."""

from __future__ import annotations

from store import filter_samples
from store.filter_model import Document, Node
from treespan.node import Tree
from treespan.store.records import Cell
from treespan.store.spans import column_key, spans

DOCUMENT = Document(
    [
        Node("DOCUMENT"),
        Node("SECTION", 0, "One", (1,)),
        Node("TEXT", 1, "a", (1, 2)),
        Node("SECTION", 1, "One", (2,)),
        Node("TEXT", 3, "b", (2,)),
        Node("TABLE_ROW", 1, "", (2,), {"x  y": 1.5}),
        Node("CHUNK", 5, "c", (4,)),
        Node("SECTION", 0, "One", ()),
        Node("TEXT", 7, "d", ()),
    ]
)
NODES = [2, 4, 6, 8]


def of(key: str, nodes: list[int] = NODES) -> list[tuple[object, int, int]]:
    content = filter_samples.content(DOCUMENT)
    found = spans(Tree.unpack(content.tree), nodes, content.cells)
    return [(value, first, last) for name, _, value, first, last in found if name == key]


def test_kinds_run_over_nodes_without_a_vector() -> None:
    assert of("kind") == [("TEXT", 2, 5), ("CHUNK", 6, 7), ("TEXT", 8, 9)]


def test_each_page_has_its_own_runs_and_nodes_without_pages_have_none() -> None:
    assert sorted(of("page")) == [(1, 2, 3), (2, 2, 5), (4, 6, 7)]  # type: ignore[type-var]


def test_a_section_within_one_of_the_same_heading_adds_nothing() -> None:
    assert of("heading") == [("One", 1, 7), ("One", 7, 9)]


def test_cells_reach_over_the_nodes_that_a_long_row_is_cut_into() -> None:
    assert of("row.x y") == [(1.5, 5, 7)]


def test_a_cell_that_comes_twice_is_one_entry() -> None:
    content = filter_samples.content(DOCUMENT)
    twice = [Cell(5, "x", 1), Cell(5, " x ", 1.0), Cell(5, "x", True)]
    found = spans(Tree.unpack(content.tree), NODES, twice)
    assert [span[1:3] for span in found if span[0] == "row.x"] == [(2, 1), (3, 1)]


def test_a_tree_without_vectors_has_no_kinds_and_no_pages() -> None:
    assert of("kind", []) == of("page", []) == []


def test_white_space_in_the_name_of_a_column_is_one_space() -> None:
    assert column_key(" Price\n in  EUR ") == "row.Price in EUR"
