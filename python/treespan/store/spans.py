"""What nodes have, as runs of nodes: kind, pages, headings and the cells of table rows.

Only nodes that have a vector count; a run goes on over others. Runs of one key and value never
overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from treespan.filters import ROW_PREFIX, ValueType
from treespan.node import NAMING, NodeKind
from treespan.store.cells import plain, storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from treespan.node import Tree
    from treespan.store.cells import Plain
    from treespan.store.records import Cell

Span: TypeAlias = "tuple[str, int, Plain, int, int]"
"""Key, type, value, first node, node behind the last."""


def column_key(column: str) -> str:
    """Return the key of a column of table rows; white space in its name counts as one space."""
    return ROW_PREFIX + " ".join(column.split())


def spans(tree: Tree, nodes: Sequence[int], cells: Iterable[Cell]) -> list[Span]:
    """Return the runs of a content's nodes.

    Args:
        tree: The tree.
        nodes: Nodes that have a vector, ascending.
        cells: Cells of table rows.
    """
    ends = tree.ends().tolist()
    return [
        *_kinds(tree, nodes),
        *_pages(tree, nodes),
        *_headings(tree, ends),
        *_cells(cells, ends),
    ]


def _kinds(tree: Tree, nodes: Sequence[int]) -> Iterator[Span]:
    kinds = tree.kind[nodes].tolist()
    first = 0
    for place in range(1, len(nodes) + 1):
        if place == len(nodes) or kinds[place] != kinds[first]:
            name = NodeKind(kinds[first]).name
            yield "kind", ValueType.STRING, name, nodes[first], nodes[place - 1] + 1
            first = place


def _pages(tree: Tree, nodes: Sequence[int]) -> Iterator[Span]:
    starts, ends = tree.page_start[nodes].tolist(), tree.page_end[nodes].tolist()
    open_runs: dict[int, int] = {}
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        pages = range(start, end + 1) if start else range(0)
        for page in [page for page in open_runs if page not in pages]:
            yield "page", ValueType.NUMBER, page, open_runs.pop(page), nodes[place - 1] + 1
        for page in pages:
            open_runs.setdefault(page, nodes[place])
    for page, first in open_runs.items():
        yield "page", ValueType.NUMBER, page, first, nodes[-1] + 1


def _headings(tree: Tree, ends: Sequence[int]) -> Iterator[Span]:
    named = np.isin(tree.kind, NAMING) & (tree.text_end > tree.text_start)
    reach: dict[str, int] = {}
    for node in np.flatnonzero(named).tolist():
        text = tree.own_text(node)
        # A section within one of the same heading adds nothing to it.
        if reach.get(text, 0) <= node:
            reach[text] = ends[node]
            yield "heading", ValueType.STRING, text, node, ends[node]


def _cells(cells: Iterable[Cell], ends: Sequence[int]) -> Iterator[Span]:
    """Yield each cell for its row and what lies below: a long row is cut into several nodes."""
    found = (
        (column_key(storable(cell.column)), *plain(cell.value), cell.node, ends[cell.node])
        for cell in cells
    )
    yield from dict.fromkeys(found)
