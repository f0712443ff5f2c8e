"""The facade of the native core: the vectors of every collection, and answers as bytes.

Threads that change an index are two: the follower applies changes, the sealer swaps segments in.
Any number read it.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import numpy as np

from search_svc.collection import CollectionIndex
from treespan import _core, metrics
from treespan.errors import ResponseTooLarge
from treespan.manifest import CollectionSegments, Manifest, SegmentFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from search_svc.query import Context
    from search_svc.segments import SegmentCache
    from treespan.config import SearchConfig
    from treespan.store.records import (
        CollectionRecord,
        SearchableDocument,
        Tenant,
        Version,
    )

Document = _core.Document
Hits = _core.Hits
VectorIndex = _core.VectorIndex

_log = logging.getLogger(__name__)


class Index:
    """The indexes of all collections."""

    def __init__(self, config: SearchConfig) -> None:
        self._config = config
        self._collections: dict[tuple[Tenant, str], CollectionIndex] = {}
        self._generation = 0
        self.epoch = ""
        """Epoch of the store that all this is derived from."""
        self.settling = threading.Lock()
        """Held while the index is being loaded: what it holds then is no picture of the store."""
        self.whole = False
        """Whether it was loaded to the end; looked at while `settling` is held."""

    def begin(self, epoch: str) -> None:
        """Forget everything; what comes now is of this epoch."""
        self._collections.clear()
        self._generation += 1
        self.epoch = epoch
        self.whole = False

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
        if present is not None and present.record.created_seq == record.created_seq:
            present.record = record
            return
        vectors = VectorIndex(
            record.dimension,
            proposal_cost=self._config.proposal_cost,
            seal_rows=self._config.seal_rows,
            threads=self._config.threads,
        )
        self._collections[record.tenant, record.name] = CollectionIndex(
            record, vectors, self._generation
        )

    def drop_collection(self, tenant: Tenant, name: str, seq: int) -> None:
        """Drop a collection with everything in it, unless it was created after this change."""
        present = self._collections.get((tenant, name))
        if present is not None and present.record.created_seq <= seq:
            del self._collections[tenant, name]

    def put(self, document: SearchableDocument) -> None:
        """Make a version of an artifact visible; its collection must be there."""
        self._collections[document.tenant, document.collection].put(document)

    def touch(self, tenant: Tenant, collection: str, artifact: str, seq: int) -> None:
        """Note that what is said of an artifact has changed."""
        index = self._collections.get((tenant, collection))
        if index is not None:
            index.touch(artifact, seq)

    def drop(self, tenant: Tenant, collection: str, artifact: str, seq: int) -> None:
        """Take an artifact out of all later answers, as of a change."""
        index = self._collections.get((tenant, collection))
        if index is not None:
            index.drop(artifact, seq)

    def restore(
        self, cache: SegmentCache, manifest: Manifest | None, versions: Iterable[Version]
    ) -> list[Version]:
        """Take from sealed segments what they hold; return the versions that they do not.

        Versions of collections that are not here are passed over. The index must be empty.
        """
        wanted: dict[tuple[Tenant, str], list[Version]] = {key: [] for key in self._collections}
        for version in versions:
            wanted.get((version.tenant, version.collection), []).append(version)
        named = self._named(manifest)
        missing: list[Version] = []
        for key, listed in wanted.items():
            collection = self._collections[key]
            held: set[int] = set()
            if files := named.get(collection.record.created_seq):
                live = np.sort(np.array([version.key for version in listed], "<u8"))
                held = _installed(collection, cache, files, live.tobytes())
            for version in listed:
                if version.key in held:
                    collection.know(version)
                else:
                    missing.append(version)
        return missing

    def adopt(self, cache: SegmentCache, manifest: Manifest) -> None:
        """Take over what another process has sealed, in the place of the same rows here."""
        named = self._named(manifest)
        for collection in self.collections():
            files = named.get(collection.record.created_seq)
            if files and {file.name for file in files} != _sealed_names(collection):
                _installed(collection, cache, files, None)

    def manifest(self, cache: SegmentCache, seq: int) -> Manifest:
        """Return what the sealed segments are, as of a change; without files that are gone."""
        listed = []
        for collection in self.collections():
            files = [
                SegmentFile(name, size_bytes, digest)
                for name, size_bytes, digest, _ in collection.vectors.sealed
                if cache.has(name)
            ]
            if files:
                record = collection.record
                listed.append(
                    CollectionSegments(
                        record.created_seq, record.dimension, record.embedding_fingerprint, files
                    )
                )
        return Manifest(self.epoch, seq, listed)

    def count(self) -> None:
        """Publish the number of rows."""
        metrics.INDEX_ROWS.set(sum(index.vectors.rows for index in self.collections()))

    def _named(self, manifest: Manifest | None) -> dict[int, list[SegmentFile]]:
        """Return the segments that are of this store's collections, by `created_seq`."""
        if manifest is None:
            return {}
        if manifest.epoch != self.epoch:
            _log.warning("the cache is of another store; segments are built anew from this one")
            return {}
        records = {each.record.created_seq: each.record for each in self.collections()}
        named = {}
        for said in manifest.collections:
            record = records.get(said.created_seq)
            if record is None:
                continue  # deleted since
            model = (record.dimension, record.embedding_fingerprint)
            if model == (said.dimension, said.embedding_fingerprint):
                named[said.created_seq] = said.segments
            else:
                _log.warning("cached segments are of another model; they are built anew")
        return named


def _sealed_names(collection: CollectionIndex) -> set[str]:
    return {name for name, *_ in collection.vectors.sealed}


def _installed(
    collection: CollectionIndex, cache: SegmentCache, files: list[SegmentFile], live: bytes | None
) -> set[int]:
    """Swap segments in; return the keys of the versions that they hold, none where they fail."""
    named = [(file.name, file.size_bytes, file.hash) for file in files]
    try:
        collection.vectors.install(str(cache.folder), named, live)
    except (OSError, ValueError) as error:
        _log.warning("a cached segment cannot be used, its rows come from the store: %s", error)
        return set()
    return set(np.frombuffer(collection.vectors.keys(), "<u8").tolist())


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
