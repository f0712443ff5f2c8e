"""The facade of the native core: the vectors of every collection, and answers as bytes.

One thread changes an index (the follower), any number read it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treespan import _core, metrics
from treespan.errors import InvalidVector, ResponseTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from search_svc.query import Context
    from treespan.config import SearchConfig
    from treespan.store.records import CollectionRecord, SearchableDocument, Tenant

Document = _core.Document
Hits = _core.Hits


@dataclass(frozen=True, slots=True)
class Visible:
    """A visible version of an artifact."""

    key: int
    """Its key in the native index; never used twice."""
    artifact: str
    doc_id: str
    before: int | None = None
    """Key of the version before: of the two, the native index holds exactly one at any time."""


@dataclass(slots=True)
class CollectionIndex:
    """The searchable documents of one collection."""

    record: CollectionRecord
    vectors: _core.VectorIndex
    by_artifact: dict[str, Visible] = field(default_factory=dict)
    by_doc_id: dict[str, Visible] = field(default_factory=dict)
    by_key: dict[int, Visible] = field(default_factory=dict)

    def put(self, key: int, document: SearchableDocument) -> None:
        """Make a version visible in the place of the artifact's version before, in one step."""
        before = self.by_artifact.get(document.artifact)
        replaces = before.key if before else None
        visible = Visible(key, document.artifact, document.doc_id, replaces)
        # Named before it is there: a search that sees the change sees the new name, too, and one
        # that had the old name sees that it has changed.
        self.by_key[key] = visible
        self.by_artifact[document.artifact] = visible
        self.vectors.add(key, document.vector_nodes, document.vectors, replaces=replaces)
        self.by_doc_id[document.doc_id] = visible
        if before:
            self._forget(before)

    def drop(self, artifact: str) -> None:
        """Take an artifact out of all later answers."""
        visible = self.by_artifact.pop(artifact, None)
        if visible:
            self.vectors.remove(visible.key)
            self._forget(visible)

    def nearest(
        self, vector: bytes, limit: int, threshold: float | None, artifacts: Sequence[str]
    ) -> Hits:
        """Return the hits of a query vector, best first.

        Args:
            vector: f32 little-endian.
            limit: Most hits.
            threshold: Least similarity, or None.
            artifacts: Artifacts to look at; none for all. One that is replaced meanwhile is seen in
                its old version or its new one.

        Raises:
            InvalidVector: the vector has another dimension, or is zero or not finite.
        """
        if len(vector) != 4 * self.record.dimension:
            raise InvalidVector(
                "vector.f32_le",
                f"has {len(vector) // 4:,} elements; vectors of collection "
                f"{self.record.name!r} have {self.record.dimension:,}",
            )
        if not artifacts:
            return self._search(vector, limit, threshold, None)
        while True:
            named = {name: self.by_artifact.get(name) for name in artifacts}
            hits = self._search(vector, limit, threshold, _keys(named.values()))
            if all(self.by_artifact.get(name) is visible for name, visible in named.items()):
                return hits

    def _search(
        self, vector: bytes, limit: int, threshold: float | None, allowed: Sequence[int] | None
    ) -> Hits:
        try:
            return self.vectors.search(vector, limit, threshold, allowed)[0]
        except ValueError as error:
            raise InvalidVector("vector.f32_le", str(error)) from error

    def _forget(self, visible: Visible) -> None:
        self.by_key.pop(visible.key, None)
        if self.by_doc_id.get(visible.doc_id) is visible:
            del self.by_doc_id[visible.doc_id]


def _keys(named: Iterable[Visible | None]) -> list[int]:
    """Return the keys under which the native index may hold artifacts."""
    keys = []
    for visible in named:
        if visible is not None:
            keys += [visible.key] if visible.before is None else [visible.key, visible.before]
    return keys


class Index:
    """The indexes of all collections."""

    def __init__(self, config: SearchConfig) -> None:
        self._config = config
        self._collections: dict[tuple[Tenant, str], CollectionIndex] = {}
        self._next_key = 1

    def collection(self, tenant: Tenant, name: str) -> CollectionIndex | None:
        """Return the index of a collection."""
        return self._collections.get((tenant, name))

    def collections(self, tenant: Tenant | None = None) -> list[CollectionIndex]:
        """Return the indexes of a tenant's collections; of all tenants' without one."""
        return [
            index
            for (owner, _), index in sorted(self._collections.items())
            if tenant is None or owner == tenant
        ]

    def put_collection(self, record: CollectionRecord) -> None:
        """Add a collection, or update what is said of it."""
        present = self._collections.get((record.tenant, record.name))
        if present is not None and present.record.created_us == record.created_us:
            present.record = record
            return
        vectors = _core.VectorIndex(
            record.dimension,
            exact_rows=self._config.exact_rows,
            seal_rows=self._config.seal_rows,
            threads=self._config.threads,
        )
        self._collections[record.tenant, record.name] = CollectionIndex(record, vectors)

    def drop_collection(self, tenant: Tenant, name: str) -> None:
        """Drop a collection with everything in it."""
        self._collections.pop((tenant, name), None)

    def put(self, document: SearchableDocument) -> None:
        """Make a version of an artifact visible; its collection must be there."""
        key, self._next_key = self._next_key, self._next_key + 1
        self._collections[document.tenant, document.collection].put(key, document)

    def drop(self, tenant: Tenant, collection: str, artifact: str) -> None:
        """Take an artifact out of all later answers."""
        index = self._collections.get((tenant, collection))
        if index is not None:
            index.drop(artifact)

    def clear(self) -> None:
        """Forget everything."""
        self._collections.clear()

    def seal(self) -> bool:
        """Build one graph segment, where rows are waiting for one; return whether there were."""
        return any(index.vectors.seal() for index in self.collections())

    def count(self) -> None:
        """Publish the number of rows."""
        metrics.INDEX_ROWS.set(sum(index.vectors.rows for index in self.collections()))


class DocumentCache:
    """Trees and texts of documents, loaded when needed, kept within a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._documents: OrderedDict[int, Document] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: int, load: Callable[[], Document]) -> Document:
        """Return a document, by its key in the index; load it where it is not here."""
        with self._lock:
            document = self._documents.get(key)
            if document is not None:
                self._documents.move_to_end(key)
                return document
        document = load()
        with self._lock:
            if key not in self._documents:
                self._documents[key] = document
                self._bytes += document.byte_size
            while self._bytes > self._max_bytes and len(self._documents) > 1:
                _, oldest = self._documents.popitem(last=False)
                self._bytes -= oldest.byte_size
        return document


def answer(
    hits: Hits, documents: Sequence[Document], context: Context, max_bytes: int
) -> tuple[bytes, int]:
    """Return the chunks of an answer, serialised, and their tokens.

    Raises:
        ResponseTooLarge: they would have more than `max_bytes`.
    """
    options = _core.ContextOptions(
        context.mode,
        context.token_budget,
        context.answer_token_budget,
        gaps=context.gaps,
        merge=context.merge,
        sentences=context.sentences,
        nodes=context.nodes,
        trace=context.trace,
    )
    try:
        return _core.answer(hits, documents, options, max_bytes)
    except OverflowError as error:
        raise ResponseTooLarge(
            f"{error}; ask for a smaller limit or token budget, or raise search.max_message_bytes "
            "and the client's grpc.max_receive_message_length"
        ) from error


def hits_of_nodes(nodes: Sequence[tuple[int, int]]) -> Hits:
    """Return hits on known nodes: (document key, position)."""
    return Hits.of_nodes(nodes)


def simd() -> str:
    """Return the processor features that the vector kernels use."""
    return _core.simd()
