"""The native core: document trees, context expansion, vector search and reply bytes.

Every call that works releases the GIL. Bad input, numbers out of range among it, raises
`ValueError` and says what was wrong.
"""

from collections.abc import Sequence
from os import PathLike
from typing import final

__all__ = [
    "ContextOptions",
    "Document",
    "Hits",
    "VectorIndex",
    "__version__",
    "answer",
    "file_hash",
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
        """Rows that the query was compared with; those that might be hits exactly."""

    @property
    def below_threshold(self) -> int:
        """Candidates among the first `limit` that were left out by the threshold."""

@final
class VectorIndex:
    """The vectors of one collection: new rows, which are all compared, and sealed graph segments.

    A sealed segment is a file that is written once, mapped, and shared by all processes that open
    it. Safe to search from many threads while others add, remove, seal and install. Keys of
    documents are the caller's and are never used twice.

    Args:
        dimension: Elements of a vector.
        proposal_cost: Rows that are scanned in the time in which a graph proposes one row; decides
            which of the two a segment is searched by. With 0 it is always the graph, with 2^32-1
            never.
        seal_rows: That many rows without a graph are worth one.
        threads: Searches that may be in a graph at once; more wait.
    """

    def __new__(
        cls, dimension: int, *, proposal_cost: int = 40, seal_rows: int = 20_000, threads: int = 16
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

    def holds(self, document: int) -> bool:
        """Return whether a document is in the index, with rows or without."""

    def keys(self) -> bytes:
        """Return the keys of the documents in the index, ascending, u64 little-endian.

        Documents without rows are among them.
        """

    def seal(self, folder: str, name: str) -> bool:
        """Do the most useful piece of upkeep; return whether there was one, for there may be more.

        Rows without a graph get one where they are enough, at most 16 times `seal_rows` at once; a
        segment of which a fifth is dead is built anew; four segments of a size become one. The new
        segment is the file `folder/name.segment`, safe on the disk when it takes the place of the
        others. No file is written where less than half of `seal_rows` is left of a segment: its
        rows are new rows again. Files of segments that are not in `sealed` any more are the
        caller's to delete. Takes seconds to minutes (about 1,500 rows a second and core);
        everything else goes on meanwhile. One thread at a time.

        Raises:
            OSError: the file could not be written, or is there already; the index is as before and
                no file is left.
            RuntimeError: the graph could not be built, for want of memory for example; as above.
            ValueError: the name is no part of a file name.
        """

    def install(
        self,
        folder: str,
        segments: Sequence[tuple[str, int, str]],
        live: bytes | None = None,
    ) -> None:
        """Put segments from files in the place of all sealed ones, in one step.

        Files that are open already are not read again.

        Args:
            folder: Where the files are.
            segments: Name, size in bytes and hash of each, as `sealed` says them.
            live: Keys of the documents that are to be searchable, u64 little-endian; those that no
                segment holds are passed over (so an index is filled at start). None for those that
                the index holds (when another process has built the segments): what the segments
                hold of them is answered from there, and all others stay where they are, in a sealed
                segment if need be.

        Raises:
            ValueError: a file is missing, damaged, of another dimension or from a program with
                another graph; the index is as before.
        """

    @property
    def sealed(self) -> list[tuple[str, int, str, int]]:
        """Name, size in bytes, hash and live rows of each sealed segment."""

    def search(
        self,
        vectors: bytes,
        limit: int,
        threshold: float | None = None,
        allowed: Sequence[int] | bytes | None = None,
        allowed_nodes: bytes | None = None,
    ) -> list[Hits]:
        """Return the nearest rows of each query.

        Args:
            vectors: One row of f32 little-endian for each query; normalised here.
            limit: Most hits for each query.
            threshold: Least similarity of a hit, or None.
            allowed: Keys of the documents to look at, or None for all; unknown keys are passed
                over. Bytes are taken as keys packed in u64 little-endian, which is the quick way
                for thousands of them.
            allowed_nodes: Position of a node, u32 little-endian, for each key of `allowed`, which
                is bytes then and may name a document many times: only these nodes are looked at.
                The pairs are ascending.

        Hits are ordered by similarity, then document key, then position, and are exact in their
        similarity. The first min(limit, rows allowed) come back, without those below the
        threshold. Rows that are scanned are never missed; a graph misses about one in 300.

        Raises:
            OSError: rows of a segment file could not be read.
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

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory: rows without a graph, and what is mapped of the segment files."""

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

def file_hash(path: str | PathLike[str]) -> str:
    """Return the hash of a file as `VectorIndex.sealed` has it: XXH3, 32 hexadecimal digits.

    Raises:
        OSError: the file cannot be read.
    """

def simd() -> str:
    """Return the processor features that the vector kernels use on this machine, for people."""
