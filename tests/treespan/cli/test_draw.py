from __future__ import annotations

import pytest
from rich.cells import cell_len

from drawn_trees import tree
from treespan.cli.draw import Mark, draw_marked, draw_tree
from treespan.v1.node_pb2 import Node

REPORT = """
document 0 p1
  section 3 p1 Introduction
    text 40 p1 We study trees.
    text 0 p2
      chunk 60 p2 First half.
      chunk 55 p3 Second half.
  section 2 p4 Results
    table 12 p4 year | count
      table_row 6 p4 year: 2017; count: 3
      table_row 6 p4 year: 2018; count: 5
    list 0
      text 4 one
"""


def drawn(lines):
    return "\n".join(line.plain for line in lines)


def test_tree_is_drawn_with_tokens_pages_and_texts():
    assert drawn(draw_tree(tree(REPORT), 80)) == (
        "document (0/188) p.1\n"
        "├─ section (3/158) p.1  Introduction\n"
        "│  ├─ text (40) p.1  We study trees.\n"
        "│  └─ text (0/115) p.2\n"
        "│     ├─ chunk (60) p.2  First half.\n"
        "│     └─ chunk (55) p.3  Second half.\n"
        "└─ section (2/30) p.4  Results\n"
        "   ├─ table (12/24) p.4  year | count\n"
        "   │  ├─ table row (6) p.4  year: 2017; count: 3\n"
        "   │  └─ table row (6) p.4  year: 2018; count: 5\n"
        "   └─ list (0/4)\n"
        "      └─ text (4)  one"
    )


def test_depth_leaves_out_what_lies_deeper():
    assert drawn(draw_tree(tree(REPORT), 80, max_depth=1)) == (
        "document (0/188) p.1\n├─ section (3/158) p.1  Introduction\n└─ section (2/30) p.4  Results"
    )


def test_most_nodes_ends_with_the_number_of_the_others():
    assert drawn(draw_tree(tree(REPORT), 80, max_nodes=3)) == (
        "document (0/188) p.1\n"
        "├─ section (3/158) p.1  Introduction\n"
        "│  ├─ text (40) p.1  We study trees.\n"
        "… 9 more nodes"
    )


def test_tree_of_just_the_most_nodes_is_drawn_whole():
    assert "more" not in drawn(draw_tree(tree(REPORT), 80, max_nodes=12))


def test_no_line_is_wider_than_the_screen_in_any_script():
    nodes = tree("document 0\n  text 9 " + "注意力机制" * 20 + "\n  text 9 " + "word " * 40)
    lines = list(draw_tree(nodes, 41))
    # A wide character that would stick out by half leaves its cell free.
    assert [cell_len(line.plain) for line in lines[1:]] == [40, 41]
    assert all(line.plain.endswith("…") for line in lines[1:])


def test_text_is_drawn_on_one_line_without_control_characters():
    nodes = tree("document 0\n  text 9 x")
    nodes[1].text = "a\n\n b\x1b[31mc\u202ed"
    assert drawn(draw_tree(nodes, 80)).splitlines()[1] == "└─ text (9)  a b[31mcd"


def test_very_deep_tree_keeps_only_the_nearest_guides():
    count = 3000
    nodes = [Node(depth=at, position=at, end=count, kind=3) for at in range(count)]
    last = list(draw_tree(nodes, 100))[-1].plain
    assert last == "⋯  " + "   " * 20 + "└─ text (0)"


@pytest.mark.parametrize("pages", [(3, 3, "p.3"), (3, 5, "p.3-5"), (3, 0, "p.3"), (0, 0, "")])
def test_pages_are_one_or_a_range(pages):
    first, last, said = pages
    node = Node(end=1, kind=1, page_start=first, page_end=last)
    assert drawn(draw_tree([node], 80)) == f"document (0) {said}".rstrip()


def test_marked_nodes_are_drawn_with_their_ancestors_and_the_rest_is_counted():
    marks = {4: Mark("*"), 2: Mark("+"), 7: Mark("·", "next rolled back: 24 do not fit in 5")}
    assert drawn(draw_marked(tree(REPORT), marks, 90)) == (
        "document (0/188) p.1\n"
        "├─ section (3/158) p.1  Introduction\n"
        "│  ├─ text+ (40) p.1  We study trees.\n"
        "│  └─ text (0/115) p.2\n"
        "│     ├─ chunk* (60) p.2  First half.\n"
        "│     └─ … 1 node (55)\n"
        "└─ section (2/30) p.4  Results\n"
        "   ├─ table· (12/24) p.4  next rolled back: 24 do not fit in 5  year | count\n"
        "   └─ … 2 nodes (4)"
    )


def test_hidden_runs_before_between_and_after_are_counted_apart():
    nodes = tree("document 0\n" + "\n".join(f"  text {at} t{at}" for at in range(1, 8)))
    assert drawn(draw_marked(nodes, {3: Mark("*"), 5: Mark("+")}, 80)) == (
        "document (0/28)\n"
        "├─ … 2 nodes (3)\n"
        "├─ text* (3)  t3\n"
        "├─ … 1 node (4)\n"
        "├─ text+ (5)  t5\n"
        "└─ … 2 nodes (13)"
    )


def test_root_alone_can_be_marked():
    assert drawn(draw_marked(tree(REPORT), {0: Mark("*")}, 80)) == "document* (0/188) p.1"
