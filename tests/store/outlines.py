"""Contents from outlines: two blanks a level, the kind of the node, its page, its text.

section p1 Methods
  chunk p1 We counted words.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import numpy as np

from store.samples import DIMENSION
from treespan import identity
from treespan.node import EMBEDDED, NodeKind, Tree
from treespan.store.records import Content

if TYPE_CHECKING:
    from treespan.store.records import Cell

_LINE = re.compile(r"( *)(\w+) (?:p(\d+)(?:-(\d+))? )?(.*)")


def outlined(
    outline: str, title: str = "", language: str = "", cells: tuple[Cell, ...] = ()
) -> Content:
    """Return the content of an outline; every node that has text but nothing below has a vector."""
    lines = [_LINE.fullmatch(line) for line in outline.strip("\n").splitlines()]
    found = [line.groups() for line in lines if line]
    assert len(found) == len(lines)
    parents, kinds, texts = _nodes(
        [(len(blanks), kind, text) for blanks, kind, _, _, text in found]
    )
    pages = [
        (0, 0),
        *((int(first or 0), int(last or first or 0)) for _, _, first, last, _ in found),
    ]
    embedded = [
        node for node in range(1, len(texts)) if texts[node] and node not in set(parents[1:])
    ]
    sha256 = hashlib.sha256(f"{title}\n{outline}".encode()).hexdigest()
    return Content(
        content_id=identity.content_id(sha256, "outline"),
        sha256=sha256,
        size_bytes=len(outline),
        media_type="text/plain",
        title=title,
        page_count=max(last for _, last in pages),
        node_count=len(texts),
        token_count=len(texts),
        tree=_tree(parents, kinds, texts, pages, embedded).pack(),
        vector_nodes=np.array(embedded, "<u4").tobytes(),
        vectors=np.full((len(embedded), DIMENSION), DIMENSION**-0.5, "<f4").tobytes(),
        language=language,
        cells=cells,
    )


def _nodes(lines: list[tuple[int, str, str]]) -> tuple[list[int], list[int], list[str]]:
    """Return parent, kind and text of every node, the root first."""
    parents, kinds, texts = [0], [int(NodeKind.DOCUMENT)], [""]
    above = [0]
    for blanks, kind, text in lines:
        del above[blanks // 2 + 1 :]
        parents.append(above[-1])
        above.append(len(kinds))
        kinds.append(int(NodeKind[kind.upper()]))
        texts.append(text)
    return parents, kinds, texts


def _tree(
    parents: list[int],
    kinds: list[int],
    texts: list[str],
    pages: list[tuple[int, int]],
    embedded: list[int],
) -> Tree:
    ends = np.cumsum([len(text.encode()) for text in texts])
    starts = np.concatenate([[0], ends[:-1]])
    characters = np.cumsum([len(text) for text in texts])
    flags = np.zeros(len(texts), np.uint8)
    flags[embedded] = EMBEDDED
    none = np.zeros(0, np.uint32)
    first, last = np.array(pages, np.uint32).T
    return Tree(
        parent=np.array(parents, np.uint32),
        own_tokens=np.array([bool(text) for text in texts], np.uint32),
        page_start=first,
        page_end=last,
        text_start=starts.astype(np.uint32),
        text_end=ends.astype(np.uint32),
        char_start=np.concatenate([[0], characters[:-1]]).astype(np.uint32),
        char_end=characters.astype(np.uint32),
        sentence_start=none,
        sentence_end=none,
        sentence_tokens=none,
        kind=np.array(kinds, np.uint8),
        flags=flags,
        text="".join(texts).encode(),
    )
