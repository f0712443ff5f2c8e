"""Expansion through the Python call: time for each hit, the GIL released once for each batch.

    python bench/expand.py [--once]

The same trees, budgets and target as `cargo bench --bench expand`: at most 5 us and 20 ns for each
node taken or looked at, with hits in batches of 100. The taken nodes are counted, and checked
against the budget, before anything is timed.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from record import Record, verdict
from treespan._core import ContextOptions, Document
from treespan.node import NodeKind, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEAF_TOKENS = 20
HEADING_TOKENS = 5
SIZES = (100, 1_000, 10_000)
BUDGETS = (512, 4_096, 16_000)
BATCH = 100
ROUNDS = 15
TREE_MODE = 2
TARGET_US = 5.0
TARGET_NS_A_NODE = 20.0


@dataclass(frozen=True)
class Shape:
    """A tree to expand in."""

    name: str
    parent: Sequence[int]
    kind: Sequence[int]
    tokens: Sequence[int]

    def document(self) -> Document:
        """Return it as the core takes it; a node's text is as many letters as it has tokens."""
        sizes = np.array(self.tokens, np.uint32)
        ends = np.cumsum(sizes, dtype=np.uint32)
        starts = ends - sizes
        written = np.flatnonzero(sizes)
        zero = np.zeros(len(sizes), np.uint32)
        tree = Tree(
            parent=np.array(self.parent, np.uint32),
            own_tokens=sizes,
            page_start=zero,
            page_end=zero,
            text_start=starts,
            text_end=ends,
            char_start=starts,
            char_end=ends,
            sentence_start=starts[written],
            sentence_end=ends[written],
            sentence_tokens=sizes[written],
            kind=np.array(self.kind, np.uint8),
            flags=np.zeros(len(sizes), np.uint8),
            text=b"x" * int(ends[-1]),
        )
        return Document("0" * 16, tree.pack(), b"")


def flat(nodes: int) -> Shape:
    """Return a root with paragraphs."""
    return _under("flat", nodes, NodeKind.TEXT)


def rows(nodes: int) -> Shape:
    """Return a table with rows."""
    inner = nodes - 2
    return Shape(
        "table rows",
        [0, 0] + [1] * inner,
        [NodeKind.DOCUMENT, NodeKind.TABLE] + [NodeKind.TABLE_ROW] * inner,
        [0, HEADING_TOKENS] + [LEAF_TOKENS] * inner,
    )


def sections(nodes: int) -> Shape:
    """Return about as many sections as each has paragraphs."""
    size = round((nodes - 1) ** 0.5)
    parent, kind, tokens = [0], [int(NodeKind.DOCUMENT)], [0]
    while len(parent) < nodes:
        head = len(parent)
        parent += [0] + [head] * (size - 1)
        kind += [NodeKind.SECTION] + [NodeKind.TEXT] * (size - 1)
        tokens += [HEADING_TOKENS] + [LEAF_TOKENS] * (size - 1)
    return Shape("sections", parent, kind, tokens)


def ten_way(nodes: int) -> Shape:
    """Return a tree of sections with ten children each, its leaves paragraphs."""
    parent, kind, tokens = [0], [int(NodeKind.DOCUMENT)], [0]

    def grow(above: int, below: int) -> None:
        # `below` nodes hang under `above`, shared evenly among ten children.
        for child in range(min(10, below)):
            share = (below - min(10, below)) // 10 + (child < (below - min(10, below)) % 10)
            here = len(parent)
            parent.append(above)
            kind.append(NodeKind.SECTION if share else NodeKind.TEXT)
            tokens.append(HEADING_TOKENS if share else LEAF_TOKENS)
            grow(here, share)

    grow(0, nodes - 1)
    return Shape("10-way", parent, kind, tokens)


def _under(name: str, nodes: int, kind: NodeKind) -> Shape:
    inner = nodes - 1
    return Shape(
        name,
        [0] * nodes,
        [NodeKind.DOCUMENT] + [kind] * inner,
        [0] + [LEAF_TOKENS] * inner,
    )


def measure(record: Record, shape: Shape, budget: int, rounds: int) -> None:
    """Add the row of a case."""
    document = shape.document()
    nodes = len(shape.parent)
    leaves = [node for node in range(nodes) if shape.tokens[node] == LEAF_TOKENS]
    hit = leaves[len(leaves) // 2]
    options = ContextOptions(TREE_MODE, budget)
    taken = np.frombuffer(document.expand([hit], options)[0], "<u4").tolist()
    spent = sum(shape.tokens[node] for node in taken)
    if hit not in taken or spent > budget:
        raise AssertionError(f"{shape.name}: {spent} tokens of {budget}, hit {hit}")
    one = _fastest_us(lambda: document.expand([hit], options), rounds)
    many = _fastest_us(lambda: document.expand([hit] * BATCH, options), rounds) / BATCH
    target = TARGET_US + TARGET_NS_A_NODE / 1000 * len(taken)
    record.add(
        tree=shape.name,
        nodes=nodes,
        budget=budget,
        taken=len(taken),
        tokens=spent,
        **{"us alone": one, "us a hit": many, "ns a node": 1000 * many / len(taken)},
        expected=f"us a hit <= {target:.2f}",
        verdict=verdict(many <= target),
    )


def _fastest_us(call: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--once", action="store_true", help="each case once, to see that it works")
    once = parser.parse_args().once
    record = Record(
        "expand",
        f"TREE mode, hits in batches of {BATCH}, the fastest of {ROUNDS} rounds; taken: nodes of "
        "the window.",
    )
    for shape in (flat, rows, sections, ten_way):
        for nodes in SIZES:
            for budget in BUDGETS:
                measure(record, shape(nodes), budget, 1 if once else ROUNDS)
    if not once:
        record.finish()


if __name__ == "__main__":
    main()
