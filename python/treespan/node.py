r"""The document tree as packed columns: the one format of the store, the services and the core.

Nodes are numbered in document order (preorder). The text of a document is kept once; a node's own
text is a range of it, so that the white space between two nodes is kept as well and any run of
nodes can be quoted verbatim.

Packed form, little-endian, no padding:

    offset  what
    0       magic "TSTREE1\0", 8 bytes
    8       u32 n, number of nodes; u32 m, number of sentences; u64 t, bytes of text
    24      u32[n] parent        position of the parent; 0 for the root, which is its own parent
            u32[n] own_tokens    tokens of the own text, by the budget tokenizer
            u32[n] page_start    first page, from 1; 0 = the format has no pages
            u32[n] page_end      last page
            u32[n] text_start    own text: first byte in the text; equal to text_end where none
            u32[n] text_end      own text: byte after the last; neither decreases along the nodes
            u32[n] char_start    text_start and text_end counted in Unicode code points
            u32[n] char_end
            u32[m] sentence_start   sentences of all own texts, in order: first byte in the text
            u32[m] sentence_end     byte after the last
            u32[m] sentence_tokens  tokens, by the budget tokenizer
            u8[n]  kind          a NodeKind
            u8[n]  flags         bit 0: heading stated by the file; bit 1: the node has a vector
            u8[t]  text          UTF-8
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC: Final = b"TSTREE1\0"
HEADING_STATED: Final = 1
EMBEDDED: Final = 2

_HEAD = struct.Struct("<8sIIQ")
_NODE_COLUMNS = (
    "parent",
    "own_tokens",
    "page_start",
    "page_end",
    "text_start",
    "text_end",
    "char_start",
    "char_end",
)
_SENTENCE_COLUMNS = ("sentence_start", "sentence_end", "sentence_tokens")
_BYTE_COLUMNS = ("kind", "flags")


class NodeKind(IntEnum):
    """Kind of a node; the numbers are those of `treespan.v1.NodeKind`."""

    DOCUMENT = 1
    SECTION = 2
    TEXT = 3
    CHUNK = 4
    LIST = 5
    TABLE = 6
    TABLE_ROW = 7
    IMAGE = 8
    CODE = 9


NAMING: Final = (NodeKind.DOCUMENT, NodeKind.SECTION)
"""Kinds whose own text, where they have one, is a heading of all that is below them: sections, and
files inside the file."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A document tree. Columns are described in the module's docstring."""

    parent: NDArray[np.uint32]
    own_tokens: NDArray[np.uint32]
    page_start: NDArray[np.uint32]
    page_end: NDArray[np.uint32]
    text_start: NDArray[np.uint32]
    text_end: NDArray[np.uint32]
    char_start: NDArray[np.uint32]
    char_end: NDArray[np.uint32]
    sentence_start: NDArray[np.uint32]
    sentence_end: NDArray[np.uint32]
    sentence_tokens: NDArray[np.uint32]
    kind: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    text: bytes

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.parent)

    def own_text(self, position: int) -> str:
        """Return the own text of a node; empty for a pure container."""
        return self.text[self.text_start[position] : self.text_end[position]].decode()

    def ends(self) -> NDArray[np.uint32]:
        """Return for every node the first position after its subtree."""
        parent = self.parent.tolist()
        end = list(range(1, len(self) + 1))
        for node in range(len(self) - 1, 0, -1):
            end[parent[node]] = max(end[parent[node]], end[node])
        return np.array(end, dtype=np.uint32)

    def depths(self) -> NDArray[np.uint32]:
        """Return the number of ancestors of every node."""
        parent = self.parent.tolist()
        depth = [0] * len(self)
        for node in range(1, len(self)):
            depth[node] = depth[parent[node]] + 1
        return np.array(depth, dtype=np.uint32)

    def pack(self) -> bytes:
        """Return the packed form.

        Raises:
            ValueError: two columns of nodes, or two of sentences, differ in length.
        """
        nodes, sentences = len(self), len(self.sentence_start)
        head = _HEAD.pack(MAGIC, nodes, sentences, len(self.text))
        numbers = [self._column(name, nodes, "<u4") for name in _NODE_COLUMNS]
        numbers += [self._column(name, sentences, "<u4") for name in _SENTENCE_COLUMNS]
        marks = [self._column(name, nodes, "u1") for name in _BYTE_COLUMNS]
        return b"".join([head, *numbers, *marks, self.text])

    def _column(self, name: str, length: int, dtype: str) -> bytes:
        column = getattr(self, name)
        if len(column) != length:
            raise ValueError(f"{name} has {len(column)} elements, the columns beside it {length}")
        return np.asarray(column).astype(dtype).tobytes()

    @classmethod
    def unpack(cls, packed: bytes) -> Tree:
        """Return the tree of a packed form; its columns are views of the bytes, not to be written.

        That the bytes are whole is checked, not that the tree makes sense: the native core does.

        Raises:
            ValueError: the bytes are not a packed tree, or not whole.
        """
        if len(packed) < _HEAD.size:
            raise ValueError(
                f"a packed tree has at least {_HEAD.size} bytes, this has {len(packed)}"
            )
        magic, nodes, sentences, text_bytes = _HEAD.unpack_from(packed)
        if magic != MAGIC:
            raise ValueError(f"a packed tree starts with {MAGIC!r}, this with {magic!r}")
        size = _HEAD.size + 4 * (8 * nodes + 3 * sentences) + 2 * nodes + text_bytes
        if len(packed) != size:
            raise ValueError(f"this packed tree should have {size} bytes and has {len(packed)}")
        columns: dict[str, NDArray[np.uint32]] = {}
        at = _HEAD.size
        for name in _NODE_COLUMNS + _SENTENCE_COLUMNS:
            count = nodes if name in _NODE_COLUMNS else sentences
            columns[name] = np.frombuffer(packed, "<u4", count, at)
            at += 4 * count
        kind = np.frombuffer(packed, np.uint8, nodes, at)
        flags = np.frombuffer(packed, np.uint8, nodes, at + nodes)
        return cls(**columns, kind=kind, flags=flags, text=packed[at + 2 * nodes :])
