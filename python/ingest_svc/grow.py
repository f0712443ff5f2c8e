"""What becomes of a file's blocks: a tree, and the chunks that are to be embedded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ingest_svc.chunks import ChunkRules
from ingest_svc.index_text import index_texts
from ingest_svc.language import language_of
from ingest_svc.tree import TreeLimits, build_tree
from treespan import metrics
from treespan.errors import EmptyFile
from treespan.node import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ingest_svc.operations import Job
    from ingest_svc.readers.block import ParsedFile
    from treespan.embed import Embedder, Ids
    from treespan.store.records import Cell, CollectionRecord, Content
    from treespan.tokens import TokenCounter

# Of the model's window, what a chunk may fill; headings and the model's prefix need the rest.
WINDOW_SHARE = 0.9

# A title comes with every chunk of its document.
_LONGEST_TITLE = 1_000


@dataclass(frozen=True, slots=True)
class Grown:
    """What blocks became."""

    tree: Tree
    chunks: Chunks
    cells: tuple[Cell, ...]
    language: str


@dataclass(frozen=True, slots=True)
class Chunks:
    """What is to be embedded: every text once, however often it occurs."""

    ids: list[Ids]
    """Token ids of the texts that differ."""
    places: NDArray[np.intp]
    """For each of the tree's embedded nodes, which of them is its text."""


class Grower:
    """Makes trees and chunks with the tokenizers of one server."""

    def __init__(self, embedder: Embedder, budget_tokens: TokenCounter, limits: TreeLimits) -> None:
        self._embedder = embedder
        self._budget_tokens = budget_tokens
        self._limits = limits

    @property
    def counter_fingerprint(self) -> str:
        """Return what token counts depend on."""
        return self._budget_tokens.fingerprint

    def grow(self, parsed: ParsedFile, collection: CollectionRecord, job: Job) -> Grown:
        """Return a file's tree and chunks.

        Raises:
            EmptyFile: there is nothing to embed in it.
            TooLarge: the tree would have more nodes than allowed.
            CallCancelled: the job was cancelled.
        """

        def count(texts: Sequence[str]) -> list[int]:
            job.check()  # a cancelled ingest of a large file ends here, between two of its parts
            return self._budget_tokens.count(texts)

        limit = int(self._embedder.max_tokens * WINDOW_SHARE)
        rules = ChunkRules(min(collection.chunk_tokens, limit), limit)
        with metrics.stage("chunk"):
            tree, cells = build_tree(parsed, count, rules, self._limits)
            chunks = self._chunks(tree, title_of(parsed))
            language = language_of(parsed)
        if not chunks.ids:
            raise EmptyFile("the file was read, and has no text in it")
        return Grown(tree, chunks, cells, language)

    def chunks_of(self, content: Content, job: Job) -> Chunks:
        """Return the chunks of a tree that was grown before."""
        job.check()
        with metrics.stage("chunk"):
            return self._chunks(Tree.unpack(content.tree), content.title)

    def _chunks(self, tree: Tree, title: str) -> Chunks:
        counter = self._embedder.tokenizer.count
        texts = index_texts(tree, title, counter, self._embedder.text_tokens)
        once = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        places = np.array([once[text] for text in texts], dtype=np.intp)
        return Chunks(self._embedder.encode_passages(list(once)), places)


def title_of(parsed: ParsedFile) -> str:
    """Return the title of a file, of a length that can come with every chunk."""
    return parsed.title[:_LONGEST_TITLE]
