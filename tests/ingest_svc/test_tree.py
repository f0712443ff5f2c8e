"""Blocks to trees, drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest_svc.chunks import ChunkRules
from ingest_svc.index_text import embedded_nodes, index_texts
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table
from ingest_svc.tree import TreeLimits, build_tree
from treespan.errors import TooLarge
from treespan.node import NodeKind, Tree
from treespan.store.records import Cell

_TOKENS = re.compile(r"[一-鿿]|[^\s一-鿿]+")
RULES = ChunkRules(target_tokens=20, limit_tokens=40)


def count(texts: Sequence[str]) -> list[int]:
    return [len(_TOKENS.findall(text)) for text in texts]


def built(*blocks: Block, pages: int = 0, limits: TreeLimits | None = None) -> Tree:
    parsed = ParsedFile(list(blocks), "text/plain", page_count=pages)
    tree, _ = build_tree(parsed, count, RULES, limits or TreeLimits())
    return tree


def heading(level: int, text: str, *, page: int = 0, stated: bool = True) -> Block:
    return Block(BlockKind.HEADING, text, level, page, page, stated)


def paragraph(text: str, page: int = 0, last: int = 0) -> Block:
    return Block(BlockKind.PARAGRAPH, text, page_start=page, page_end=last or page)


def shown(tree: Tree) -> str:
    """Return a tree as lines: indent by depth, kind, first words."""
    indents = ["  " * int(depth) for depth in tree.depths()]
    kinds = [NodeKind(int(kind)).name for kind in tree.kind]
    return "\n".join(
        f"{indents[node]}{kinds[node]} {tree.own_text(node)[:24]!r}" for node in range(len(tree))
    )


SENTENCE = "One two three four five six seven eight nine ten."


def test_headings_nest_by_level_and_skipped_levels_do_no_harm() -> None:
    tree = built(
        heading(1, "A"), heading(3, "A.x"), heading(2, "A.y"), paragraph(SENTENCE), heading(1, "B")
    )
    assert shown(tree) == (
        "DOCUMENT ''\n"
        "  SECTION 'A'\n"
        "    SECTION 'A.x'\n"
        "    SECTION 'A.y'\n"
        f"      TEXT {SENTENCE[:24]!r}\n"
        "  SECTION 'B'"
    )


def test_a_long_paragraph_holds_chunks_and_has_no_text_of_its_own() -> None:
    tree = built(paragraph(" ".join([SENTENCE] * 4)))
    assert [NodeKind(int(kind)).name for kind in tree.kind] == [
        "DOCUMENT",
        "TEXT",
        "CHUNK",
        "CHUNK",
    ]
    assert tree.own_tokens.tolist() == [0, 0, 20, 20]
    assert tree.text.decode() == " ".join([SENTENCE] * 4)


def test_chunks_never_cross_a_section() -> None:
    tree = built(paragraph("a b"), heading(1, "H"), paragraph("c d"))
    assert shown(tree) == ("DOCUMENT ''\n  TEXT 'a b'\n  SECTION 'H'\n    TEXT 'c d'")


def test_short_paragraphs_share_a_chunk_that_reads_as_the_document_does() -> None:
    tree = built(paragraph("Yes."), paragraph("No."), paragraph("Perhaps."))
    assert tree.own_text(1) == "Yes.\n\nNo.\n\nPerhaps."
    assert len(tree.sentence_start) == 3


def test_table_rows_name_their_columns() -> None:
    table = Table(["Name", "City", ""], [["Ann", "Rome", "x"], ["", "Oslo", ""]], caption="People")
    tree = built(Block(BlockKind.TABLE, table=table))
    assert [tree.own_text(node) for node in range(len(tree))] == [
        "",
        "People\nName | City",
        "Name: Ann; City: Rome; x",
        "City: Oslo",
    ]
    assert [NodeKind(int(kind)).name for kind in tree.kind[1:]] == [
        "TABLE",
        "TABLE_ROW",
        "TABLE_ROW",
    ]


def test_rows_keep_their_pages_and_the_table_spans_them() -> None:
    table = Table(["A"], [["1"], ["2"]], row_pages=[4, 5])
    tree = built(Block(BlockKind.TABLE, page_start=4, page_end=5, table=table), pages=9)
    assert list(zip(tree.page_start.tolist(), tree.page_end.tolist(), strict=True)) == [
        (1, 9),
        (4, 5),
        (4, 4),
        (5, 5),
    ]


def test_a_row_above_the_limit_is_cut_below_its_node() -> None:
    table = Table(["C"], [[" ".join(["word word, "] * 40)]])
    tree = built(Block(BlockKind.TABLE, table=table))
    assert tree.kind[2] == NodeKind.TABLE_ROW
    assert tree.own_text(2) == ""
    assert set(tree.kind[3:].tolist()) == {NodeKind.CHUNK}


def test_the_typed_cells_of_a_row_are_of_its_node_also_where_its_text_is_cut() -> None:
    long = " ".join(["word word, "] * 40)
    table = Table(["City", "Since", ""], [["Rome", "1870", "x"], ["", "", ""], [long, "", "y"]])
    block = Block(BlockKind.TABLE, table=table)
    tree, cells = build_tree(ParsedFile([block], "text/html"), count, RULES, TreeLimits())
    assert cells == (
        Cell(2, "City", "Rome"),
        Cell(2, "Since", 1870),
        Cell(3, "City", " ".join(long.split())),
    )
    assert [tree.kind[node] for node in (2, 3, 4)] == [
        NodeKind.TABLE_ROW,
        NodeKind.TABLE_ROW,
        NodeKind.CHUNK,
    ]


def test_a_table_without_a_header_row_has_no_cells() -> None:
    block = Block(BlockKind.TABLE, table=Table(["", ""], [["Rome", "1870"]]))
    assert build_tree(ParsedFile([block], "text/html"), count, RULES, TreeLimits())[1] == ()


def test_list_items_keep_their_marks_and_depth() -> None:
    items = [("1.", 1, "first"), ("a)", 2, "inner"), ("", 1, "plain")]
    tree = built(
        *(Block(BlockKind.LIST_ITEM, text, level, marker=mark) for mark, level, text in items)
    )
    assert tree.kind[1] == NodeKind.LIST
    assert tree.text.decode() == "1. first\na) inner\n- plain"


def test_a_picture_without_words_is_a_node_without_vector() -> None:
    tree = built(Block(BlockKind.IMAGE), Block(BlockKind.IMAGE, "A cat on a roof"))
    assert [tree.own_text(node) for node in (1, 2)] == ["", "A cat on a roof"]
    assert embedded_nodes(tree) == [2]


def test_a_section_is_embedded_only_where_nothing_is_below_it() -> None:
    tree = built(heading(1, "Full"), paragraph(SENTENCE), heading(1, "Bare"))
    assert [tree.own_text(node) for node in embedded_nodes(tree)] == [SENTENCE, "Bare"]


def test_the_index_text_has_title_and_headings_in_front_each_once() -> None:
    tree = built(heading(1, "Report"), heading(2, "Revenue"), paragraph(SENTENCE))
    assert index_texts(tree, "Report", count, 100) == [f"Report > Revenue\n{SENTENCE}"]
    assert index_texts(tree, "", count, 100) == [f"Report > Revenue\n{SENTENCE}"]


def test_headings_give_way_outermost_first_where_the_window_is_too_small() -> None:
    tree = built(heading(1, "far away"), heading(2, "near"), paragraph(SENTENCE))
    assert index_texts(tree, "the title", count, 15) == [f"far away > near\n{SENTENCE}"]
    assert index_texts(tree, "the title", count, 12) == [f"near\n{SENTENCE}"]
    assert index_texts(tree, "the title", count, 10) == [SENTENCE]


def test_more_nodes_than_allowed_are_refused_with_the_limit() -> None:
    blocks = [heading(1, str(number)) for number in range(5)]
    with pytest.raises(TooLarge, match=r"more than 5 nodes .*readers\.max_nodes"):
        built(*blocks, limits=TreeLimits(max_nodes=5))


def test_headings_deeper_than_allowed_stay_at_the_last_level() -> None:
    blocks = [heading(level, f"h{level}") for level in range(1, 6)]
    tree = built(*blocks, limits=TreeLimits(max_nesting=2))
    assert int(tree.depths().max()) == 2
    assert len(tree) == 6


BLOCKS = st.lists(
    st.one_of(
        st.builds(heading, st.integers(1, 4), st.text("aé中 ", min_size=1, max_size=9)),
        st.builds(paragraph, st.text("ab. 中。😀\n", max_size=120)),
        st.builds(
            lambda text, level: Block(BlockKind.LIST_ITEM, text, level),
            st.text("xy ", max_size=30),
            st.integers(1, 3),
        ),
        st.builds(lambda text: Block(BlockKind.CODE, text), st.text("x\n ", max_size=40)),
        st.builds(
            lambda rows: Block(BlockKind.TABLE, table=Table(["K", "V"], rows)),
            st.lists(st.lists(st.text("k中 ", max_size=6), min_size=2, max_size=2), max_size=3),
        ),
    ),
    max_size=12,
)


@given(BLOCKS)
def test_every_tree_is_sound_and_loses_nothing(blocks: list[Block]) -> None:
    tree = built(*blocks)
    assert Tree.unpack(tree.pack()).text == tree.text
    positions = np.arange(1, len(tree))
    assert (tree.parent[1:] < positions).all()
    assert (np.diff(tree.text_start.astype(np.int64)) >= 0).all()
    assert (tree.text_end >= tree.text_start).all()
    text = tree.text.decode()
    for node in range(len(tree)):
        own = tree.own_text(node)
        assert text[tree.char_start[node] : tree.char_end[node]] == own
        assert tree.own_tokens[node] == count([own])[0]
    written = "".join(tree.own_text(node) for node in range(len(tree)))
    for block in blocks:
        assert "".join(block.text.split()) in "".join(written.split())
    sentences = zip(tree.sentence_start.tolist(), tree.sentence_end.tolist(), strict=True)
    spans = [(int(a), int(b)) for a, b in zip(tree.text_start, tree.text_end, strict=True)]
    assert all(any(a <= start < end <= b for a, b in spans) for start, end in sentences)


def test_files_inside_hold_what_follows_them() -> None:
    def file(name: str, level: int) -> Block:
        return Block(BlockKind.FILE, name, level)

    tree = built(
        heading(2, "Body"),
        paragraph(SENTENCE),
        file("a.zip", 1),
        file("b.md", 2),
        heading(1, "B"),
        paragraph(SENTENCE),
        file("c.bin", 2),
        file("d.txt", 1),
        paragraph(SENTENCE),
    )
    assert shown(tree) == (
        "DOCUMENT ''\n"
        "  SECTION 'Body'\n"
        "    TEXT 'One two three four five '\n"
        "  DOCUMENT 'a.zip'\n"
        "    DOCUMENT 'b.md'\n"
        "      SECTION 'B'\n"
        "        TEXT 'One two three four five '\n"
        "    DOCUMENT 'c.bin'\n"
        "  DOCUMENT 'd.txt'\n"
        "    TEXT 'One two three four five '"
    )
    texts = index_texts(tree, "Mail", count, 100)
    assert [text.split("\n")[0] for text in texts] == [
        "Mail > Body",
        "Mail > a.zip > b.md > B",
        "Mail > a.zip",
        "Mail > d.txt",
    ]
    assert texts[2] == "Mail > a.zip\nc.bin"  # a file that holds nothing is found by its name
