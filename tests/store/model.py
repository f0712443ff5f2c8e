"""A store in plain dicts: what the engines are held against."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from store import samples
from treespan.errors import (
    ArtifactNotFound,
    CollectionExists,
    CollectionNotEmpty,
    CollectionNotFound,
)
from treespan.store.records import (
    ArtifactRecord,
    ArtifactState,
    Change,
    CollectionCounts,
    CollectionRecord,
    Content,
    ContentId,
    NewArtifact,
    Operation,
    Tenant,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treespan.store.interface import Reader

Key: TypeAlias = tuple[Tenant, str, str]
"""Tenant, collection and artifact."""


@dataclass
class ModelStore:
    """The writes of a store; its state is plain to see. Times are left out."""

    collections: dict[tuple[Tenant, str], CollectionRecord] = field(default_factory=dict)
    artifacts: dict[Key, ArtifactRecord] = field(default_factory=dict)
    contents: dict[tuple[Tenant, ContentId], Content] = field(default_factory=dict)
    log: list[Operation] = field(default_factory=list)

    def create_collection(self, record: CollectionRecord) -> int:
        if (record.tenant, record.name) in self.collections:
            raise CollectionExists(record.name)
        self.collections[record.tenant, record.name] = record
        return self._log(Change.COLLECTION_PUT, record.tenant, record.name)

    def update_collection(self, record: CollectionRecord) -> int:
        before = self._collection(record.tenant, record.name)
        self.collections[record.tenant, record.name] = replace(
            before, display_name=record.display_name, chunk_tokens=record.chunk_tokens
        )
        return self._log(Change.COLLECTION_PUT, record.tenant, record.name)

    def delete_collection(self, tenant: Tenant, name: str, *, force: bool) -> tuple[int, int]:
        self._collection(tenant, name)
        held = [key for key in self.artifacts if key[:2] == (tenant, name)]
        if held and not force:
            raise CollectionNotEmpty(name, "not empty")
        for key in held:
            del self.artifacts[key]
        self._drop_unheld()
        del self.collections[tenant, name]
        return self._log(Change.COLLECTION_DELETED, tenant, name), len(held)

    def reserve_artifact(self, record: ArtifactRecord) -> None:
        self._collection(record.tenant, record.collection)
        self.artifacts.setdefault((record.tenant, record.collection, record.name), record)

    def mark_initialized(self, tenant: Tenant, collection: str, name: str) -> None:
        found = self.artifacts.get((tenant, collection, name))
        if found is not None and found.state != ArtifactState.POPULATED:
            self.artifacts[tenant, collection, name] = replace(
                found, state=ArtifactState.INITIALIZED
            )

    def abandon_artifact(self, tenant: Tenant, collection: str, name: str) -> None:
        found = self.artifacts.get((tenant, collection, name))
        if found is not None and found.state != ArtifactState.POPULATED:
            del self.artifacts[tenant, collection, name]

    def abandon_unfinished(self) -> int:
        unfinished = [
            key for key, found in self.artifacts.items() if found.state != ArtifactState.POPULATED
        ]
        for key in unfinished:
            del self.artifacts[key]
        return len(unfinished)

    def commit_artifact(self, artifact: NewArtifact) -> int:
        self._collection(artifact.tenant, artifact.collection)
        if isinstance(artifact.content, Content):
            content = self.contents.setdefault(
                (artifact.tenant, artifact.content.content_id), artifact.content
            )
        elif (artifact.tenant, artifact.content) in self.contents:
            content = self.contents[artifact.tenant, artifact.content]
        else:
            raise ArtifactNotFound(artifact.content)
        key = (artifact.tenant, artifact.collection, artifact.name)
        self.artifacts[key] = samples.populated(artifact, content)
        self._drop_unheld()
        return self._log(Change.ARTIFACT_PUT, *key, artifact.doc_id)

    def delete_artifact(self, tenant: Tenant, collection: str, name: str) -> int:
        self._collection(tenant, collection)
        if (tenant, collection, name) not in self.artifacts:
            raise ArtifactNotFound(name)
        gone = self.artifacts.pop((tenant, collection, name))
        self._drop_unheld()
        return self._log(Change.ARTIFACT_DELETED, tenant, collection, name, gone.doc_id)

    def delete_artifacts(self, tenant: Tenant, collection: str, names: Sequence[str]) -> int:
        self._collection(tenant, collection)
        for name in names:
            if (tenant, collection, name) in self.artifacts:
                self.delete_artifact(tenant, collection, name)
        return len(self.log)

    def _collection(self, tenant: Tenant, name: str) -> CollectionRecord:
        if (tenant, name) not in self.collections:
            raise CollectionNotFound(name)
        return self.collections[tenant, name]

    def _drop_unheld(self) -> None:
        held = {(found.tenant, found.content_id) for found in self.artifacts.values()}
        self.contents = {key: found for key, found in self.contents.items() if key in held}

    def _log(
        self, change: Change, tenant: Tenant, collection: str, artifact: str = "", doc_id: str = ""
    ) -> int:
        seq = len(self.log) + 1
        self.log.append(Operation(seq, change, tenant, collection, artifact, doc_id))
        return seq


def without_times(record: ArtifactRecord) -> ArtifactRecord:
    """Return an artifact as the model has it; a POPULATED one has times, another has none."""
    assert (record.created_us > 0) == (record.state == ArtifactState.POPULATED)
    assert (record.updated_us > 0) == (record.state == ArtifactState.POPULATED)
    return replace(record, created_us=0, updated_us=0)


def assert_same(store: Reader, model: ModelStore) -> None:
    """Check that everything that can be read of a store is what the model holds."""
    everything = 10**9
    assert store.operations_after(0, everything) == model.log
    assert store.last_seq() == len(model.log)
    collections = [replace(c, created_us=0, updated_us=0) for c in store.all_collections()]
    assert collections == [model.collections[key] for key in sorted(model.collections)]
    for tenant, name in model.collections:
        expected = [model.artifacts[key] for key in sorted(model.artifacts)]
        expected = [
            found for found in expected if (found.tenant, found.collection) == (tenant, name)
        ]
        listed = store.artifacts(tenant, name, "", everything)
        assert [without_times(found) for found in listed] == expected
        assert store.collection_counts(tenant, name) == _counts(expected)
    visible = [found for found in model.artifacts.values() if found.doc_id]
    assert sorted(store.searchable_ids()) == sorted(
        (found.tenant, found.collection, found.name, found.doc_id) for found in visible
    )
    for found in visible:
        held = model.contents[found.tenant, found.content_id]
        assert store.content_by_id(found.tenant, found.content_id) == held
        document = store.searchable(found.tenant, found.collection, found.doc_id)
        assert document is not None
        assert (document.artifact, document.tree) == (found.name, held.tree)
        assert (document.vector_nodes, document.vectors) == (held.vector_nodes, held.vectors)


def _counts(artifacts: list[ArtifactRecord]) -> CollectionCounts:
    visible = [found for found in artifacts if found.state == ArtifactState.POPULATED]
    return CollectionCounts(
        artifacts=len(visible),
        nodes=sum(found.node_count for found in visible),
        vectors=sum(found.vector_count for found in visible),
        tokens=sum(found.token_count for found in visible),
    )
