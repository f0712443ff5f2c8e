"""The native core: document trees, context expansion, vector search and reply bytes.

Every call that works releases the GIL. Bad input, numbers out of range among it, raises
`ValueError` and says what was wrong.
"""

from collections.abc import Sequence
from typing import final

__all__ = [
    "ContextOptions",
    "Document",
    "Hits",
    "VectorIndex",
    "__version__",
    "answer",
    "simd",
]
__version__: str

@final
class Document:
    """One version of a document: its tree, checked once, and what all its chunks have in common.

    Args:
        doc_id: Prefix of the ids of its nodes: node ids are `<doc_id>-<position>`.
        tree: Packed tree, see `treespan.node`.
        head: A serialised `treespan.v1.Chunk` with the fields that are the same for every chunk of
            the document (`artifact`, `document`, `metadata`); copied as it is into every chunk.
    """

    def __new__(cls, doc_id: str, tree: bytes, head: bytes) -> Document: ...
    def __len__(self) -> int:
        """Return the number of nodes."""

    @property
    def byte_size(self) -> int:
        """Bytes that the document holds in memory."""

    def expand(self, hits: Sequence[int], options: ContextOptions) -> list[bytes]:
        """Return the positions taken for each hit, in document order, u32 little-endian.

        Windows are not merged. Packed, because an int object for every node would cost more than
        finding it.
        """

@final
class ContextOptions:
    """How context grows; fields as in `treespan.v1.ContextOptions`, all of them decided.

    Args:
        mode: A `treespan.v1.ContextOptions.Mode`, not UNSPECIFIED.
        token_budget: Tokens for each hit with its context.
        answer_token_budget: Tokens for the whole answer, or None for no such bound.
        gaps: Skip siblings that do not fit.
        merge: Unite the windows of one document into passages.
        sentences: Sentences on each side in SENTENCE_WINDOW.
        nodes: Fill `Chunk.context_nodes`.
        trace: Fill `Chunk.expansion`.
    """

    def __new__(
        cls,
        mode: int,
        token_budget: int,
        answer_token_budget: int | None = None,
        *,
        gaps: bool = False,
        merge: bool = False,
        sentences: int = 3,
        nodes: bool = False,
        trace: bool = False,
    ) -> ContextOptions: ...

@final
class Hits:
    """The hits of one query, best first, and how they were found."""

    @staticmethod
    def of_nodes(nodes: Sequence[tuple[int, int]]) -> Hits:
        """Return hits on nodes, pairs of (document key, position), as ordered; similarity 0."""

    def __len__(self) -> int:
        """Return the number of hits."""

    def items(self) -> list[tuple[int, int, float]]:
        """Return (document key, position, similarity) of every hit, best first."""

    def documents(self) -> list[int]:
        """Return the distinct document keys, in order of first appearance."""

    @property
    def exact_segments(self) -> int:
        """Segments whose allowed rows were all compared; the rows without a graph are one."""

    @property
    def graph_segments(self) -> int:
        """Segments that were searched by graph."""

    @property
    def rows(self) -> int:
        """Live rows in the index at the time."""

    @property
    def allowed_rows(self) -> int:
        """Live rows that the filter allowed."""

    @property
    def compared_rows(self) -> int:
        """Rows compared exactly."""

    @property
    def below_threshold(self) -> int:
        """Candidates among the first `limit` that were left out by the threshold."""

@final
class VectorIndex:
    """The vectors of one collection: a delta that is scanned exactly and sealed graph segments.

    Safe to search from many threads while one thread adds, removes and seals. Keys of documents are
    the caller's and are never used twice.

    Args:
        dimension: Elements of a vector.
        exact_rows: A segment with at most this many allowed rows is scanned exactly.
        seal_rows: A delta of at least this many rows is worth a graph.
        threads: Searches that may be in a graph at once; more wait.
    """

    def __new__(
        cls, dimension: int, *, exact_rows: int = 10_000, seal_rows: int = 20_000, threads: int = 16
    ) -> VectorIndex: ...
    def add(
        self, document: int, nodes: bytes, vectors: bytes, *, replaces: int | None = None
    ) -> None:
        """Add the vectors of a document; searchable when the call returns.

        Args:
            document: Key of the document; must be new to the index.
            replaces: Key of a document that leaves in the same step: every search sees either the
                one or the other, never both or neither. Unknown keys are passed over.
            nodes: Positions of the nodes, ascending, u32 little-endian.
            vectors: One row of f32 little-endian for each node; normalised here; zero and
                non-finite rows are refused.
        """

    def remove(self, document: int) -> bool:
        """Take a document out of all later answers; return whether it was there."""

    def seal(self) -> bool:
        """Do the most useful piece of upkeep; return whether there was one, for there may be more.

        Rows without a graph get one where they are enough; a segment of which a fifth is dead is
        built anew; four segments of a size become one. Takes seconds (about 1,500 rows a second and
        core); everything else goes on meanwhile. One thread at a time.

        Raises:
            RuntimeError: the graph could not be built, for want of memory for example; the index is
            as before.
        """

    def search(
        self,
        vectors: bytes,
        limit: int,
        threshold: float | None = None,
        allowed: Sequence[int] | bytes | None = None,
    ) -> list[Hits]:
        """Return the nearest rows of each query.

        Args:
            vectors: One row of f32 little-endian for each query; normalised here.
            limit: Most hits for each query.
            threshold: Least similarity of a hit, or None.
            allowed: Keys of the documents to look at, or None for all; unknown keys are passed
                over. Bytes are taken as keys packed in u64 little-endian, which is the quick way
                for thousands of them.

        Hits are ordered by similarity, then document key, then position, and are exact in their
        similarity. The first min(limit, rows allowed) come back, without those below the
        threshold. Rows that are scanned are never missed; a graph misses about one in 300.
        """

    @property
    def dimension(self) -> int:
        """Elements of a vector."""

    @property
    def documents(self) -> int:
        """Documents in the index."""

    @property
    def rows(self) -> int:
        """Live rows."""

    @property
    def sealed_rows(self) -> int:
        """Live rows in graph segments."""

    @property
    def segments(self) -> int:
        """Number of graph segments."""

def answer(
    hits: Hits, documents: Sequence[Document], options: ContextOptions, max_bytes: int
) -> tuple[bytes, int]:
    """Return the chunks of an answer as protobuf bytes, and the tokens of all texts in it.

    The bytes are field 1 (`repeated Chunk chunks`) of `SearchResponse`, and of `ExpandResponse`
    alike; other fields may be appended, serialised, behind them.

    Args:
        hits: The hits, best first.
        documents: One for each of `hits.documents()`, in that order.
        options: How context grows.
        max_bytes: Raises `OverflowError` where the answer would be larger.
    """

def simd() -> str:
    """Return the processor features that the vector kernels use on this machine, for people."""
