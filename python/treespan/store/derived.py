"""What the derived tables hold of a content and of an artifact; pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from treespan.filters import FILE_PREFIX, METADATA_PREFIX, Instant
from treespan.node import NAMING, NodeKind, Tree
from treespan.store.cells import plain
from treespan.store.spans import spans
from treespan.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from treespan.store.cells import Plain
    from treespan.store.messages import Values
    from treespan.store.records import Content
    from treespan.store.spans import Span

MOST_PATH_WORDS: Final = 256
"""Words of the headings above a node that are indexed with it, the innermost ones."""

EMPTY_LIST: Final = (0, "")
"""Type and value in the row of an empty list."""

AttributeRow: TypeAlias = "tuple[str, int, Plain, int]"
"""Key, type, value, and whether the value is an element of a list."""

_NAMING = (*NAMING, NodeKind.TABLE)
_REPLACED = ("file_name", "media_type", "title", "language")


@dataclass(frozen=True, slots=True)
class Derived:
    """Rows of the derived tables for one content, without its number."""

    chunks: tuple[tuple[int, int, int, int], ...]
    """Node, kind, first page, last page; for each node that has a vector, ascending."""
    texts: tuple[tuple[str, str], ...]
    """Words of title and headings, words of the own text; for each of `chunks`."""
    spans: tuple[Span, ...]
    """What nodes are like, for each artifact that holds the content."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """What the built-in keys of an artifact are read from."""

    artifact: str
    file_name: str
    media_type: str
    title: str
    language: str
    ingested_us: int
    source_uri: str


def derive(content: Content) -> Derived:
    """Return the rows of a content.

    Raises:
        ValueError: its tree is damaged, or it has vectors or cells for nodes that the tree does not
            have, or a cell that is no finite number.
    """
    tree = Tree.unpack(content.tree)
    nodes: list[int] = np.frombuffer(content.vector_nodes, "<u4").tolist()
    last = max([*nodes[-1:], *(cell.node for cell in content.cells)], default=0)
    if last >= len(tree):
        raise ValueError(f"node {last} has a vector or a cell; the tree has {len(tree)} nodes")
    columns = (tree.kind, tree.page_start, tree.page_end)
    marks = (column[nodes].tolist() for column in columns)
    return Derived(
        chunks=tuple(zip(nodes, *marks, strict=True)),
        texts=_texts(tree, content.title, nodes),
        spans=tuple(spans(tree, nodes, content.cells)),
    )


def attributes(
    metadata: Mapping[str, Values], stated: Mapping[str, Values], built_in: BuiltIn
) -> list[AttributeRow]:
    """Return the rows of an artifact: what its caller said, what its file states, built-in keys.

    Metadata named like a built-in key that says what the file is takes its place.
    """
    found = [
        row for key, values in metadata.items() for row in _rows(METADATA_PREFIX + key, values)
    ]
    found += [row for key, values in stated.items() for row in _rows(FILE_PREFIX + key, values)]
    for key in _REPLACED:
        values = metadata.get(key, getattr(built_in, key) or None)
        if values is not None:
            found += _rows(key, values)
    found += _rows("artifact", built_in.artifact)
    if built_in.source_uri:
        found += _rows("source_uri", built_in.source_uri)
    found += _rows("ingested_at", Instant(built_in.ingested_us))
    return found


def _rows(key: str, values: Values) -> Iterator[AttributeRow]:
    if not isinstance(values, tuple):
        yield (key, *plain(values), 0)
        return
    for value in dict.fromkeys(map(plain, values)) or (EMPTY_LIST,):
        yield (key, *value, 1)


def _texts(tree: Tree, title: str, nodes: list[int]) -> tuple[tuple[str, str], ...]:
    paths = _Paths(tree, title)
    return tuple((paths.above(node), " ".join(words(tree.own_text(node)))) for node in nodes)


class _Paths:
    """Words of the title and of the named sections and tables above a node, each cut once."""

    def __init__(self, tree: Tree, title: str) -> None:
        self._tree = tree
        self._parent: list[int] = tree.parent.tolist()
        self._nearest = _nearest_naming(tree, self._parent)
        self._title = title
        self._title_words = words(title)
        self._cut: dict[int, tuple[str, list[str]]] = {}
        self._joined: dict[int, str] = {}

    def above(self, node: int) -> str:
        """Return the words of what stands above a node."""
        naming = self._up(node)
        if naming not in self._joined:
            self._joined[naming] = " ".join([*self._title_words, *self._path(naming)])
        return self._joined[naming]

    def _up(self, node: int) -> int:
        """Return the nearest node above that names what is below it; 0 where there is none."""
        return self._nearest[self._parent[node]]

    def _path(self, naming: int) -> list[str]:
        steps: list[list[str]] = []
        count = 0
        while naming and count < MOST_PATH_WORDS:
            text, found = self._words(naming)
            naming = self._up(naming)
            # A heading that only repeats the one above it, or the title, says nothing more.
            above = self._words(naming)[0] if naming else self._title
            if text != above:
                steps.append(found)
                count += len(found)
        path = [word for step in reversed(steps) for word in step]
        return path[-MOST_PATH_WORDS:]

    def _words(self, node: int) -> tuple[str, list[str]]:
        if node not in self._cut:
            text = self._tree.own_text(node)
            self._cut[node] = text, words(text)
        return self._cut[node]


def _nearest_naming(tree: Tree, parent: list[int]) -> list[int]:
    """Return for every node itself, or the nearest node above, that names what is below it."""
    naming = (np.isin(tree.kind, _NAMING) & (tree.text_end > tree.text_start)).tolist()
    nearest = [0] * len(parent)
    for node in range(1, len(parent)):
        nearest[node] = node if naming[node] else nearest[parent[node]]
    return nearest
