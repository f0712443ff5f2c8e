"""The read side in order: query -> vector -> nearest chunks -> context -> reply bytes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from search_svc.answer import Answer, Times
from search_svc.documents import Held
from search_svc.index import Document, answer, hits_of_nodes
from search_svc.messages import document_head
from treespan import metrics
from treespan.errors import ArtifactNotReady, CollectionNotFound, ModelMismatch, NotServing
from treespan.identity import node_id
from treespan.store.records import ArtifactState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from search_svc.collection import CollectionIndex
    from search_svc.documents import DocumentCache
    from search_svc.filtered import FilterCache
    from search_svc.follower import Follower
    from search_svc.index import Hits, Index
    from search_svc.query import Context, NodesQuery, Query
    from treespan.batcher import QueryBatcher
    from treespan.filters import Filter
    from treespan.rpc import Call
    from treespan.store.interface import Reader
    from treespan.store.records import Matches, Tenant

# An answer during which one of its documents changes is made again.
_TRIES = 20


class _Changed(NotServing):
    """A document was replaced, deleted or updated while its answer was made."""

    def __init__(self) -> None:
        super().__init__("documents changed while the answer was made; try again")


class Pipeline:
    """Answers queries. Safe from many threads."""

    def __init__(
        self,
        index: Index,
        documents: DocumentCache,
        filters: FilterCache,
        follower: Follower,
        reader: Reader,
        batcher: QueryBatcher,
        max_bytes: int,
    ) -> None:
        self._index = index
        self._documents = documents
        self._filters = filters
        self._follower = follower
        self._reader = reader
        self._batcher = batcher
        self._max_bytes = max_bytes

    def search(self, query: Query, call: Call) -> Answer:
        """Return the chunks nearest to a query, each with its context.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: a named artifact does not exist, with `validate`.
            ArtifactNotReady: a named artifact is not POPULATED, with `validate`.
            InvalidVector: the vector has another dimension than the collection.
            InvalidField: an operand of the filter has a type that its key never has.
            ModelMismatch: the collection was made with another model.
            DeadlineExceeded: the time is up.
        """
        start = time.perf_counter()
        self._wait(query.min_seq, call)
        collection = self._collection(query.tenant, query.collection, call)
        vector = self._vector(query, collection, call)
        embedded = time.perf_counter()
        for attempt in range(_TRIES):
            applied_seq = self._follower.applied_seq
            try:
                with metrics.stage("recall"):
                    hits, seen_seq = self._recall(query, collection, vector, call)
                recalled = time.perf_counter()
                call.time_left_s()
                with metrics.stage("context"):
                    chunks, tokens = self._answer(hits, collection, query.context, seen_seq)
            except _Changed:
                if attempt + 1 == _TRIES:
                    raise
                # The store is ahead of the index; what it has now is searchable in a moment.
                self._wait(self._reader.last_seq(), call, soon=True)
                continue
            break
        end = time.perf_counter()
        times = Times(embedded - start, recalled - embedded, end - recalled, end - start)
        return Answer(chunks, tokens, hits, applied_seq, times)

    def expand(self, query: NodesQuery, call: Call) -> tuple[Answer, list[str]]:
        """Return the context of known nodes, and the ids of those that no visible document has."""
        start = time.perf_counter()
        self._wait(query.min_seq, call)
        collection = self._collection(query.tenant, query.collection, call)
        found: list[tuple[int, int]] = []
        missing: list[str] = []
        for doc_id, position in query.nodes:
            visible = collection.by_doc_id.get(doc_id)
            held = self._loaded(collection, visible.key) if visible else None
            if visible is None or held is None or position >= len(held.document):
                missing.append(node_id(doc_id, position))
            else:
                found.append((visible.key, position))
        hits = hits_of_nodes(found)
        chunks, tokens = self._answer(hits, collection, query.context)
        seconds = time.perf_counter() - start
        times = Times(context_s=seconds, total_s=seconds)
        return Answer(chunks, tokens, hits, self._follower.applied_seq, times), missing

    def prefetch(self, texts: Sequence[str], call: Call) -> None:
        """Embed several texts in as few runs of the model as can be, into its cache."""
        self._batcher.prefetch(texts, call.time_left_s())

    def _wait(self, seq: int, call: Call, *, soon: bool = False) -> None:
        if seq > self._follower.applied_seq:
            self._follower.wait_for(seq, call, soon=soon)

    def _collection(self, tenant: Tenant, name: str, call: Call) -> CollectionIndex:
        if not self._follower.loaded:
            raise NotServing("the store is still being loaded; try again in a moment")
        collection = self._index.collection(tenant, name)
        if collection is None:
            self._reader.collection(tenant, name)  # says what is wrong, unless it is only new
            self._follower.wait_for(self._reader.last_seq(), call, soon=True)
            collection = self._index.collection(tenant, name)
        if collection is None:
            raise CollectionNotFound(name)
        return collection

    def _vector(self, query: Query, collection: CollectionIndex, call: Call) -> bytes:
        if not query.text:
            return query.vector
        if collection.record.embedding_fingerprint != self._batcher.fingerprint:
            raise ModelMismatch(
                query.collection,
                f"collection {query.collection!r} was made with "
                f"{collection.record.embedding_model}, and this server embeds queries with "
                "another model; set models.embedding, or search by vector",
            )
        with metrics.stage("embed"):
            return self._batcher.embed(query.text, call.time_left_s()).tobytes()

    def _recall(
        self, query: Query, collection: CollectionIndex, vector: bytes, call: Call
    ) -> tuple[Hits, int | None]:
        """Return the hits and, with a filter, the last change that the filter saw."""
        if query.validate and any(name not in collection.by_artifact for name in query.artifacts):
            self._validate(query, collection, call)
        if query.where is None:
            named = query.artifacts
            return collection.nearest(vector, query.limit, query.threshold, named), None
        matches = self._matches(collection, query.where, call)
        hits = collection.nearest_of(vector, query.limit, query.threshold, matches)
        if hits is None:
            raise _Changed
        return hits, matches.seq

    def _matches(self, collection: CollectionIndex, where: Filter, call: Call) -> Matches:
        """Return what a filter lets through, in a state that the index has reached."""
        matches = self._filters.get(collection, where)
        if matches is None:
            record = collection.record
            with metrics.stage("filter"):
                matches = self._reader.matching(record.tenant, record.name, where)
            self._wait(matches.seq, call, soon=True)
            self._filters.put(collection, where, matches)
        return matches

    def _validate(self, query: Query, collection: CollectionIndex, call: Call) -> None:
        """Refuse artifacts that cannot be searched; wait for those that are only new."""
        for name in query.artifacts:
            if name in collection.by_artifact:
                continue
            record = self._reader.artifact(query.tenant, query.collection, name)
            if record.state is not ArtifactState.POPULATED:
                raise ArtifactNotReady(
                    name,
                    f"artifact {name!r} is {record.state.name}; wait until it is POPULATED, "
                    "or search with validate = false",
                )
        self._wait(self._reader.last_seq(), call, soon=True)

    def _answer(
        self,
        hits: Hits,
        collection: CollectionIndex,
        context: Context,
        seen_seq: int | None = None,
    ) -> tuple[bytes, int]:
        """Return the chunks of an answer.

        Args:
            hits: The hits.
            collection: Where they were found.
            context: How context grows.
            seen_seq: The last change that a filter saw: a document changed since may no longer be
                what the filter let through.
        """
        documents = []
        for key in hits.documents():
            held = self._loaded(collection, key)
            if held is None or (seen_seq is not None and held.revision > seen_seq):
                raise _Changed
            documents.append(held.document)
        return answer(hits, documents, context, self._max_bytes)

    def _loaded(self, collection: CollectionIndex, key: int) -> Held | None:
        """Return a document with its tree and text; None where it is visible no more."""
        visible = collection.by_key.get(key)
        if visible is None:
            return None

        def load() -> Held:
            document = self._reader.searchable(
                collection.record.tenant, collection.record.name, visible.doc_id, vectors=False
            )
            if document is None:
                raise _Changed
            return Held(
                Document(document.doc_id, document.tree, document_head(document)),
                document.revision,
            )

        try:
            return self._documents.get((collection.generation, key), visible.revision, load)
        except _Changed:
            return None
