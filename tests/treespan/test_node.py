from __future__ import annotations

import struct
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treespan.node import EMBEDDED, HEADING_STATED, MAGIC, NodeKind, Tree

# document
# ├─ section "Über\n"
# │  ├─ text "One. Two.\n"
# │  └─ table "a|b\n"
# │     └─ row "a: 1\n"
# └─ text "終。"
TEXTS = ["", "Über\n", "One. Two.\n", "a|b\n", "a: 1\n", "終。"]
PARENT = [0, 0, 1, 1, 3, 0]


def numbers(*values: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array(values, dtype=np.uint32)


def drawn_tree() -> Tree:
    return Tree(
        parent=numbers(*PARENT),
        own_tokens=numbers(0, 2, 6, 3, 4, 2),
        page_start=numbers(1, 1, 1, 2, 2, 3),
        page_end=numbers(3, 2, 1, 2, 2, 3),
        text_start=numbers(0, 0, 6, 16, 20, 25),
        text_end=numbers(0, 6, 16, 20, 25, 31),
        char_start=numbers(0, 0, 5, 15, 19, 24),
        char_end=numbers(0, 5, 15, 19, 24, 26),
        sentence_start=numbers(6, 11, 25),
        sentence_end=numbers(11, 16, 31),
        sentence_tokens=numbers(3, 3, 2),
        kind=np.array([1, 2, 3, 6, 7, 3], dtype=np.uint8),
        flags=np.array([0, HEADING_STATED, EMBEDDED, 0, EMBEDDED, EMBEDDED], dtype=np.uint8),
        text="".join(TEXTS).encode(),
    )


def same(one: Tree, other: Tree) -> bool:
    return all(
        np.array_equal(getattr(one, column.name), getattr(other, column.name))
        for column in fields(Tree)
    )


def test_packed_form_is_the_documented_one() -> None:
    packed = drawn_tree().pack()
    assert struct.unpack_from("<8sIIQ", packed) == (b"TSTREE1\0", 6, 3, 31)
    parent = struct.unpack_from("<6I", packed, 24)
    own_tokens = struct.unpack_from("<6I", packed, 24 + 24)
    char_end = struct.unpack_from("<6I", packed, 24 + 7 * 24)
    sentences = struct.unpack_from("<9I", packed, 24 + 8 * 24)
    kind = struct.unpack_from("<6B", packed, 24 + 8 * 24 + 36)
    flags = struct.unpack_from("<6B", packed, 24 + 8 * 24 + 36 + 6)
    assert parent == (0, 0, 1, 1, 3, 0)
    assert own_tokens == (0, 2, 6, 3, 4, 2)
    assert char_end == (0, 5, 15, 19, 24, 26)
    assert sentences == (6, 11, 25, 11, 16, 31, 3, 3, 2)
    assert kind == (1, 2, 3, 6, 7, 3)
    assert flags == (0, 1, 2, 0, 2, 2)
    assert packed[24 + 8 * 24 + 36 + 12 :].decode() == "".join(TEXTS)
    assert len(packed) == 24 + 8 * 24 + 36 + 12 + 31


def test_unpacked_tree_is_the_packed_one() -> None:
    packed = drawn_tree().pack()
    unpacked = Tree.unpack(packed)
    assert same(unpacked, drawn_tree())
    assert unpacked.pack() == packed


def test_unpacked_columns_cannot_be_written() -> None:
    unpacked = Tree.unpack(drawn_tree().pack())
    with pytest.raises(ValueError, match="read-only"):
        unpacked.parent[1] = 5


def test_columns_of_other_number_types_pack_alike() -> None:
    wide = replace(
        drawn_tree(),
        parent=np.array(PARENT, dtype=">i8"),
        kind=np.array([1, 2, 3, 6, 7, 3], dtype=np.int64),
    )
    assert wide.pack() == drawn_tree().pack()


@pytest.mark.parametrize("column", ["parent", "char_end", "kind", "flags", "sentence_end"])
def test_columns_of_different_lengths_are_not_packed(column: str) -> None:
    short = getattr(drawn_tree(), column)[:-1]
    with pytest.raises(ValueError, match=r"has \d elements, the columns beside it \d"):
        replace(drawn_tree(), **{column: short}).pack()


def test_own_text_is_a_range_of_the_text() -> None:
    tree = Tree.unpack(drawn_tree().pack())
    assert [tree.own_text(node) for node in range(len(tree))] == TEXTS
    characters = tree.text.decode()
    ranges = zip(tree.char_start, tree.char_end, strict=True)
    assert [characters[start:end] for start, end in ranges] == TEXTS


def test_ends_and_depths_are_those_of_the_drawing() -> None:
    assert drawn_tree().ends().tolist() == [6, 5, 3, 5, 5, 6]
    assert drawn_tree().depths().tolist() == [0, 1, 2, 2, 3, 1]


@pytest.mark.parametrize("length", [0, 7, 23, 24, 100, 294])
def test_bytes_cut_short_are_refused(length: int) -> None:
    packed = drawn_tree().pack()
    assert len(packed) == 295
    with pytest.raises(ValueError, match=r"should have 295 bytes and has|at least 24 bytes"):
        Tree.unpack(packed[:length])


def test_bytes_with_more_behind_them_are_refused() -> None:
    with pytest.raises(ValueError, match="should have 295 bytes and has 296"):
        Tree.unpack(drawn_tree().pack() + b"\0")


def test_bytes_of_something_else_are_refused() -> None:
    packed = drawn_tree().pack()
    with pytest.raises(ValueError, match="starts with"):
        Tree.unpack(b"TSTREE2\0" + packed[len(MAGIC) :])


def test_counts_that_no_memory_could_hold_are_refused() -> None:
    head = struct.pack("<8sIIQ", MAGIC, 2**32 - 1, 2**32 - 1, 2**64 - 1)
    with pytest.raises(ValueError, match="and has 24"):
        Tree.unpack(head)


def test_kinds_have_the_numbers_of_the_api() -> None:
    pb2 = pytest.importorskip("treespan.v1.node_pb2", reason="needs the generated code")
    of_the_api = {
        name.removeprefix("NODE_KIND_"): number for name, number in pb2.NodeKind.items() if number
    }
    assert {kind.name: kind.value for kind in NodeKind} == of_the_api


@st.composite
def shapes(draw: st.DrawFn) -> list[int]:
    """Draw the parents of a tree in preorder: each node hangs on the branch that is open."""
    parents, branch = [0], [0]
    for node in range(1, draw(st.integers(1, 40))):
        del branch[draw(st.integers(1, len(branch))) :]
        parents.append(branch[-1])
        branch.append(node)
    return parents


@given(shapes())
def test_ends_and_depths_agree_with_counting_ancestors(parents: list[int]) -> None:
    tree = replace(drawn_tree(), parent=numbers(*parents))

    def ancestors(node: int) -> list[int]:
        return [] if node == 0 else [parents[node], *ancestors(parents[node])]

    assert tree.depths().tolist() == [len(ancestors(node)) for node in range(len(parents))]
    subtrees = [
        [below for below in range(len(parents)) if node == below or node in ancestors(below)]
        for node in range(len(parents))
    ]
    assert tree.ends().tolist() == [subtree[-1] + 1 for subtree in subtrees]
