"""A store in plain dicts: what the engines are held against."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from store import samples
from treespan.errors import (
    ArtifactNotFound,
    ArtifactNotReady,
    CollectionExists,
    CollectionNotEmpty,
    CollectionNotFound,
    OperationNotFound,
)
from treespan.filters import Condition
from treespan.store.records import (
    ArtifactRecord,
    ArtifactState,
    Change,
    CollectionCounts,
    CollectionRecord,
    Content,
    ContentId,
    Draft,
    LoggedChange,
    NewArtifact,
    OperationRecord,
    OperationState,
    Tenant,
    Version,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treespan.filters import Filter
    from treespan.store.interface import Reader

UNFINISHED = (OperationState.QUEUED, OperationState.RUNNING)

Key: TypeAlias = tuple[Tenant, str, str]
"""Tenant, collection and artifact."""


@dataclass
class ModelStore:
    """The writes of a store; its state is plain to see. Times are left out."""

    versions: dict[Key, tuple[int, int]] = field(default_factory=dict)
    """Key and revision of the artifacts that are visible."""

    collections: dict[tuple[Tenant, str], CollectionRecord] = field(default_factory=dict)
    artifacts: dict[Key, ArtifactRecord] = field(default_factory=dict)
    contents: dict[tuple[Tenant, ContentId], Content] = field(default_factory=dict)
    log: list[LoggedChange] = field(default_factory=list)
    drafts: dict[Key, NewArtifact] = field(default_factory=dict)
    operations: dict[tuple[Tenant, str], OperationRecord] = field(default_factory=dict)
    """By id."""

    def create_collection(self, record: CollectionRecord) -> int:
        if (record.tenant, record.name) in self.collections:
            raise CollectionExists(record.name)
        seq = self._log(Change.COLLECTION_PUT, record.tenant, record.name)
        self.collections[record.tenant, record.name] = replace(record, created_seq=seq)
        return seq

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
            self.drafts.pop(key, None)
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
        key = (tenant, collection, name)
        self._drop_draft(key)
        if key in self.artifacts and self.artifacts[key].state != ArtifactState.POPULATED:
            del self.artifacts[key]

    def abandon_unfinished(self) -> int:
        worked_on = {
            (found.tenant, found.collection, found.artifact)
            for found in self.operations.values()
            if found.state in UNFINISHED
        }
        unfinished = [
            key
            for key, found in self.artifacts.items()
            if found.state != ArtifactState.POPULATED
            and key not in self.drafts
            and key not in worked_on
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
        self.drafts.pop(key, None)
        seq = self._log(Change.ARTIFACT_PUT, *key, artifact.doc_id)
        self.versions[key] = seq, seq
        number = (artifact.tenant, artifact.operation)
        if number in self.operations and self.operations[number].state in UNFINISHED:
            self.operations[number] = replace(
                self.operations[number],
                state=OperationState.SUCCEEDED,
                outcome=artifact.outcome,
                seq=seq,
            )
        return seq

    def begin_operation(
        self, record: OperationRecord, artifact: ArtifactRecord | None
    ) -> OperationRecord:
        for known in self.operations.values():
            if record.request_id and (known.tenant, known.request_id) == (
                record.tenant,
                record.request_id,
            ):
                return known
        if artifact is not None:
            self.reserve_artifact(artifact)
        self.operations[record.tenant, record.operation] = record
        return record

    def end_operation(
        self,
        tenant: Tenant,
        operation: str,
        state: OperationState,
        outcome: bytes,
        seq: int = 0,
        *,
        free_request_id: bool = False,
    ) -> None:
        if (tenant, operation) not in self.operations:
            raise OperationNotFound(operation)
        found = replace(self.operations[tenant, operation], outcome=outcome)
        if found.state in UNFINISHED:
            found = replace(found, state=state, seq=seq)
        if free_request_id:
            found = replace(found, request_id="")
        self.operations[tenant, operation] = found

    def prune_operations(self, ended_before_us: int) -> int:
        """Understand only a time after all ends."""
        ended = [key for key, found in self.operations.items() if found.state not in UNFINISHED]
        for key in ended:
            del self.operations[key]
        return len(ended)

    def save_draft(self, draft: Draft) -> None:
        artifact = draft.artifact
        self._collection(artifact.tenant, artifact.collection)
        key = (artifact.tenant, artifact.collection, artifact.name)
        if key not in self.artifacts:
            raise ArtifactNotFound(artifact.name)
        self.drafts[key] = artifact
        self.artifacts[key] = replace(self.artifacts[key], has_draft=True)
        self.mark_initialized(*key)

    def update_artifact(
        self,
        tenant: Tenant,
        collection: str,
        name: str,
        file_name: str,
        metadata: bytes,
        summary: str,
    ) -> int:
        self._collection(tenant, collection)
        key = (tenant, collection, name)
        if key not in self.artifacts:
            raise ArtifactNotFound(name)
        before = self.artifacts[key]
        if before.state != ArtifactState.POPULATED:
            raise ArtifactNotReady(name, "not ready")
        self.artifacts[key] = replace(
            before, file_name=file_name, metadata=metadata, summary=summary
        )
        seq = self._log(Change.ARTIFACT_UPDATED, *key, before.doc_id)
        self.versions[key] = self.versions[key][0], seq
        return seq

    def delete_artifact(self, tenant: Tenant, collection: str, name: str) -> int:
        self._collection(tenant, collection)
        if (tenant, collection, name) not in self.artifacts:
            raise ArtifactNotFound(name)
        gone = self.artifacts.pop((tenant, collection, name))
        self.drafts.pop((tenant, collection, name), None)
        self._drop_unheld()
        return self._log(Change.ARTIFACT_DELETED, tenant, collection, name, gone.doc_id)

    def delete_artifacts(self, tenant: Tenant, collection: str, names: Sequence[str]) -> int:
        self._collection(tenant, collection)
        for name in names:
            if (tenant, collection, name) in self.artifacts:
                self.delete_artifact(tenant, collection, name)
        return len(self.log)

    def delete_matching(
        self, tenant: Tenant, collection: str, where: Filter
    ) -> tuple[int, list[str]]:
        """Understand only conditions that name artifacts."""
        assert isinstance(where, Condition)
        assert where.key == "artifact"
        self._collection(tenant, collection)
        keys = [(tenant, collection, str(name)) for name in sorted(map(str, where.values))]
        names = [key[2] for key in keys if key in self.artifacts and self.artifacts[key].doc_id]
        return self.delete_artifacts(tenant, collection, names), names

    def _drop_draft(self, key: Key) -> None:
        if self.drafts.pop(key, None) is not None:
            self.artifacts[key] = replace(self.artifacts[key], has_draft=False)

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
        self.log.append(LoggedChange(seq, change, tenant, collection, artifact, doc_id))
        return seq


def without_times(record: ArtifactRecord) -> ArtifactRecord:
    """Return an artifact as the model has it; a POPULATED one has times, another has none."""
    for time_us in (record.created_us, record.updated_us, record.ingested_us):
        assert (time_us > 0) == (record.state == ArtifactState.POPULATED)
    return replace(record, created_us=0, updated_us=0, ingested_us=0)


def assert_same(store: Reader, model: ModelStore) -> None:
    """Check that everything that can be read of a store is what the model holds."""
    everything = 10**9
    assert store.changes_after(0, everything) == model.log
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
    for tenant, name in model.collections:
        assert _nodes_with_words(store, tenant, name) == _visible_nodes(model, tenant, name)
    for key, draft in model.drafts.items():
        assert store.draft(*key).artifact == replace(draft, operation="", outcome=b"")
        assert store.draft_by_doc_id(key[0], key[1], draft.doc_id) == store.draft(*key)
    _assert_same_operations(store, model)
    seq, versions = store.visible()
    assert seq == len(model.log)
    assert versions == [_version(model, key) for key in _visible_keys(model)]
    for key in _visible_keys(model):
        found = model.artifacts[key]
        held = model.contents[found.tenant, found.content_id]
        assert store.content_by_id(found.tenant, found.content_id) == held
        document = store.searchable(found.tenant, found.collection, found.doc_id)
        assert document is not None
        assert (document.artifact, document.tree) == (found.name, held.tree)
        assert (document.vector_nodes, document.vectors) == (held.vector_nodes, held.vectors)
        assert (document.key, document.revision) == model.versions[key]
        assert (document.file_name, document.metadata) == (found.file_name, found.metadata)
        assert document.file_metadata == found.file_metadata
        assert document.source_uri == found.source_uri
        without = store.searchable(found.tenant, found.collection, found.doc_id, vectors=False)
        assert without == replace(document, vector_nodes=b"", vectors=b"")


def _assert_same_operations(store: Reader, model: ModelStore) -> None:
    for tenant in {found.tenant for found in model.operations.values()}:
        own = [found for found in model.operations.values() if found.tenant == tenant]
        own.sort(key=lambda found: found.operation, reverse=True)
        listed = store.operations(tenant, "", (), "", 10**9)
        assert [_without_times(found) for found in listed] == [
            replace(found, request=b"") for found in own
        ]
        for found in own:
            assert _without_times(store.operation(tenant, found.operation)) == found
            if found.request_id:
                by_request = store.operation_by_request(tenant, found.request_id)
                assert by_request == store.operation(tenant, found.operation)


def _without_times(record: OperationRecord) -> OperationRecord:
    assert record.created_us > 0
    assert (record.ended_us > 0) == (record.state not in UNFINISHED)
    return replace(record, created_us=0, ended_us=0)


def _visible_keys(model: ModelStore) -> list[Key]:
    keys = [key for key, found in model.artifacts.items() if found.doc_id]
    return sorted(keys, key=lambda key: model.versions[key])


def _version(model: ModelStore, key: Key) -> Version:
    found = model.artifacts[key]
    return Version(found.tenant, found.collection, found.name, found.doc_id, *model.versions[key])


def _nodes_with_words(store: Reader, tenant: Tenant, collection: str) -> list[tuple[int, int]]:
    """Return the nodes in whose texts a word is found that all samples have."""
    hits = store.text_hits(tenant, collection, '"part"', 10**9)
    return sorted((hit.key, hit.node) for hit in hits)


def _visible_nodes(model: ModelStore, tenant: Tenant, collection: str) -> list[tuple[int, int]]:
    """Return the nodes that have a vector; in the samples, all but the root."""
    return [
        (model.versions[key][0], node)
        for key in _visible_keys(model)
        if key[:2] == (tenant, collection)
        for node in range(1, model.artifacts[key].node_count)
    ]


def _counts(artifacts: list[ArtifactRecord]) -> CollectionCounts:
    visible = [found for found in artifacts if found.state == ArtifactState.POPULATED]
    return CollectionCounts(
        artifacts=len(visible),
        nodes=sum(found.node_count for found in visible),
        vectors=sum(found.vector_count for found in visible),
        tokens=sum(found.token_count for found in visible),
    )
