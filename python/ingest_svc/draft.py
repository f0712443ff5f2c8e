"""A tree while it grows: nodes in document order, and the document's text behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from treespan.errors import TooLarge
from treespan.node import EMBEDDED, HEADING_STATED, NAMING, NodeKind, Tree
from treespan.tokens import has_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ingest_svc.chunks import Text

    Numbers = NDArray[np.uint32]


_NODE_FIELDS = (
    "parent",
    "page_start",
    "page_end",
    "text_start",
    "text_end",
    "char_start",
    "char_end",
    "kind",
    "flags",
)


@dataclass(slots=True)
class Draft:
    """Nodes added so far. The root is there from the start."""

    max_nodes: int
    page_count: int = 0
    _nodes: dict[str, list[int]] = field(
        default_factory=lambda: {name: [] for name in _NODE_FIELDS}
    )
    _sentences: list[tuple[int, int, int]] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _own: list[str] = field(default_factory=list)
    _bytes: int = 0
    _chars: int = 0

    def __post_init__(self) -> None:
        """Add the root."""
        self.add(NodeKind.DOCUMENT, 0, pages=(min(1, self.page_count), self.page_count))

    def add(
        self,
        kind: NodeKind,
        parent: int,
        text: Text | None = None,
        *,
        pages: tuple[int, int] = (0, 0),
        before: str = "\n\n",
        stated: bool = False,
    ) -> int:
        """Add a node; return its position.

        Args:
            kind: Its kind.
            parent: Position of its parent: the node added last or one of its ancestors.
            text: Its own text, if it has one.
            pages: First and last page, for a node without text; a text brings its own.
            before: What stands in the document's text between the text before and this one.
            stated: For headings: the file states it.

        Raises:
            TooLarge: there are too many nodes.
        """
        position = len(self._own)
        if position >= self.max_nodes:
            raise TooLarge(
                f"the document has more than {self.max_nodes:,} nodes "
                "(readers.max_nodes); split the file or raise the limit"
            )
        first, last = (text.page_start, text.page_end) if text else pages
        start, char_start = self._append(text, before) if text else (self._bytes, self._chars)
        values = (
            parent,
            first,
            last,
            start,
            self._bytes,
            char_start,
            self._chars,
            kind,
            HEADING_STATED if stated else 0,
        )
        for name, value in zip(_NODE_FIELDS, values, strict=True):
            self._nodes[name].append(value)
        self._own.append(text.text if text else "")
        return position

    def tree(self, count: Callable[[Sequence[str]], list[int]]) -> Tree:
        """Return the finished tree, its own texts counted and its embedded nodes marked."""
        columns = {name: np.array(values, dtype=np.uint32) for name, values in self._nodes.items()}
        kind = columns.pop("kind").astype(np.uint8)
        flags = columns.pop("flags").astype(np.uint8)
        sentences = np.array(self._sentences, dtype=np.uint32).reshape(-1, 3)
        flags[_embedded(columns["parent"], kind, self._own)] |= EMBEDDED
        _spread_pages(columns["parent"], columns["page_start"], columns["page_end"])
        return Tree(
            **columns,
            own_tokens=np.array(count(self._own), dtype=np.uint32),
            sentence_start=sentences[:, 0].copy(),
            sentence_end=sentences[:, 1].copy(),
            sentence_tokens=sentences[:, 2].copy(),
            kind=kind,
            flags=flags,
            text="".join(self._texts).encode(),
        )

    def _append(self, text: Text, before: str) -> tuple[int, int]:
        """Append to the document's text; return where this starts, in bytes and code points."""
        if self._texts:
            self._texts.append(before)
            self._bytes += len(before.encode())
            self._chars += len(before)
        start, char_start = self._bytes, self._chars
        self._texts.append(text.text)
        at = _byte_offsets(text.text)
        self._sentences += [
            (start + at(sentence.start), start + at(sentence.end), sentence.tokens)
            for sentence in text.sentences
        ]
        self._bytes += at(len(text.text))
        self._chars += len(text.text)
        return start, char_start


def _byte_offsets(text: str) -> Callable[[int], int]:
    """Return the function from code points of a text to bytes of its UTF-8."""
    if text.isascii():
        return lambda position: position
    sizes = [0, *accumulate(len(character.encode()) for character in text)]
    return sizes.__getitem__


def _embedded(parent: Numbers, kind: NDArray[np.uint8], own: Sequence[str]) -> list[int]:
    """Return the nodes that get a vector: all with words, but of those that name only the empty."""
    inner = set(parent[1:].tolist())
    return [
        node
        for node, text in enumerate(own)
        if has_text(text) and (kind[node] not in NAMING or node not in inner)
    ]


def _spread_pages(parent: Numbers, first: Numbers, last: Numbers) -> None:
    """Widen the pages of every inner node to those of all below it."""
    for node in range(len(parent) - 1, 0, -1):
        above = parent[node]
        if first[node] and (not first[above] or first[node] < first[above]):
            first[above] = first[node]
        last[above] = max(last[above], last[node])
