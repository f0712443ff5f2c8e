"""A store of generated documents: texts that name their rows, and vectors of `corpus.blocks`."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

import numpy as np

import corpus
from treespan import identity
from treespan.node import EMBEDDED, NodeKind, Tree
from treespan.store import open_writer
from treespan.store.records import CollectionRecord, Content, NewArtifact, Tenant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

COLLECTION = "generated"
DIMENSION = 384
ROWS_A_DOCUMENT = 50
SEED = 11

_TENANT = Tenant("default")
_TOKENS = 12
_SAID_S = 30.0


def fill(folder: Path, rows: int) -> None:
    """Write a store with one collection, a transaction a document, as ingest does."""
    writer = open_writer(folder)
    writer.create_collection(
        CollectionRecord(_TENANT, COLLECTION, "", "generated", "generated", DIMENSION, 100)
    )
    said = start = time.monotonic()
    for number, vectors in enumerate(_documents(rows)):
        writer.commit_artifact(_artifact(number, vectors))
        if time.monotonic() > said + _SAID_S:
            said = time.monotonic()
            print(
                f"{number + 1:,} documents, {(number + 1) / (said - start):.0f} a second",
                flush=True,
            )
    writer.close()


def row_of(text: str) -> int:
    """Return the number of the row whose text this is."""
    return int(text.split()[1])


def nearest(queries: NDArray[np.float32], rows: int, limit: int) -> list[set[int]]:
    """Return for each query the numbers of its nearest rows, all of them compared."""
    best = np.empty((len(queries), 0), np.float32)
    numbers = np.empty((len(queries), 0), np.int64)
    start = 0
    for block in corpus.blocks(rows, DIMENSION, SEED):
        found = np.arange(start, start + len(block))
        best = np.hstack([best, queries @ block.T])
        numbers = np.hstack([numbers, np.broadcast_to(found, (len(queries), len(block)))])
        kept = np.argsort(-best, axis=1)[:, :limit]
        best = np.take_along_axis(best, kept, 1)
        numbers = np.take_along_axis(numbers, kept, 1)
        start += len(block)
    return [set(row) for row in numbers.tolist()]


def questions(count: int, rows: int) -> NDArray[np.float32]:
    """Return vectors that lie near rows of the store."""
    return corpus.generated(min(rows, 100_000), queries=count, seed=SEED).queries


def _documents(rows: int) -> Iterator[NDArray[np.float32]]:
    for block in corpus.blocks(rows, DIMENSION, SEED):
        for start in range(0, len(block), ROWS_A_DOCUMENT):
            yield block[start : start + ROWS_A_DOCUMENT]


def _artifact(number: int, vectors: NDArray[np.float32]) -> NewArtifact:
    name = f"document {number}"
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    content_id = identity.content_id(sha256, "bench")
    first = number * ROWS_A_DOCUMENT
    tree = _tree(range(first, first + len(vectors)))
    content = Content(
        content_id=content_id,
        sha256=sha256,
        size_bytes=len(tree.text),
        media_type="text/plain",
        title="",
        page_count=0,
        node_count=len(tree),
        token_count=_TOKENS * len(vectors),
        tree=tree.pack(),
        vector_nodes=np.arange(1, len(tree), dtype="<u4").tobytes(),
        vectors=vectors.astype("<f4").tobytes(),
    )
    return NewArtifact(
        tenant=_TENANT,
        collection=COLLECTION,
        name=name,
        file_name=f"{name}.txt",
        metadata=b"",
        doc_id=identity.doc_id(_TENANT, COLLECTION, name, content_id),
        content=content,
    )


def _tree(rows: range) -> Tree:
    """Return a root with a paragraph for each row."""
    texts = [
        b"row %d is a paragraph of generated text, as long as such are.\n" % row for row in rows
    ]
    nodes = len(texts) + 1
    ends = np.cumsum([0, *map(len, texts)], dtype=np.uint32)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.uint32)
    zeros = np.zeros(nodes, np.uint32)
    return Tree(
        parent=zeros,
        own_tokens=np.array([0] + [_TOKENS] * len(texts), np.uint32),
        page_start=zeros,
        page_end=zeros,
        text_start=starts,
        text_end=ends,
        char_start=starts,
        char_end=ends,
        sentence_start=starts[1:],
        sentence_end=ends[1:],
        sentence_tokens=np.full(len(texts), _TOKENS, np.uint32),
        kind=np.array([NodeKind.DOCUMENT] + [NodeKind.TEXT] * len(texts), np.uint8),
        flags=np.array([0] + [EMBEDDED] * len(texts), np.uint8),
        text=b"".join(texts),
    )
