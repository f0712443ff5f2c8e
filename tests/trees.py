"""Small trees as the worked examples draw them: `R0[S2[H10 c10] T4]`, name, own tokens, children.

R is the root; capital letters are sections, or texts where they have no children; small letters are
chunks. A node's text is its name, whatever its tokens are said to be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from treespan.node import EMBEDDED, NodeKind, Tree

_MARK = re.compile(r"[\s,]*([\[\]])|[\s,]+$")
_NODE = re.compile(r"[\s,]*(?:([A-Za-z]\d+) (\d+)|([A-Za-z])(\d+))")


@dataclass(frozen=True)
class Drawn:
    """A tree and the names of its nodes."""

    tree: Tree
    names: tuple[str, ...]

    def position(self, name: str) -> int:
        return self.names.index(name)


def drawn(text: str) -> Drawn:
    """Return the tree of a drawing."""
    parents: list[int] = []
    names: list[str] = []
    tokens: list[int] = []
    above: list[int] = []
    at = 0
    while at < len(text):
        mark = _MARK.match(text, at)
        node = None if mark else _NODE.match(text, at)
        assert mark or node, f"cannot read {text[at:]!r}"
        at = (mark or node).end()
        if node:
            parents.append(above[-1] if above else 0)
            names.append(node[1] or node[3])
            tokens.append(int(node[2] or node[4]))
        elif mark[1] == "[":
            above.append(len(names) - 1)
        else:
            above.pop()
    return Drawn(_tree(parents, names, tokens), tuple(names))


def _tree(parents: list[int], names: list[str], tokens: list[int]) -> Tree:
    inner = set(parents[1:])
    kinds = [_kind(name, node, node in inner) for node, name in enumerate(names)]
    texts = [name if count else "" for name, count in zip(names, tokens, strict=True)]
    ends = np.cumsum([len(text) for text in texts]).astype(np.uint32)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.uint32)
    written = [node for node, text in enumerate(texts) if text]
    column = np.array
    return Tree(
        parent=column(parents, np.uint32),
        own_tokens=column(tokens, np.uint32),
        page_start=np.zeros(len(names), np.uint32),
        page_end=np.zeros(len(names), np.uint32),
        text_start=starts,
        text_end=ends,
        char_start=starts,
        char_end=ends,
        sentence_start=starts[written],
        sentence_end=ends[written],
        sentence_tokens=column(tokens, np.uint32)[written],
        kind=column(kinds, np.uint8),
        flags=column([EMBEDDED if text else 0 for text in texts], np.uint8),
        text="".join(texts).encode(),
    )


def _kind(name: str, node: int, inner: bool) -> NodeKind:
    if node == 0:
        return NodeKind.DOCUMENT
    if name.islower():
        return NodeKind.CHUNK
    return NodeKind.SECTION if inner else NodeKind.TEXT
