"""What a store does: the contract between the services.

Engines implement it, and one contract suite (`tests/store`) holds them all to it. Names sort by
code point. A `limit` below 1 returns nothing. Any method may raise `StoreUnavailable` or
`StoreDamaged`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treespan.filters import Filter
    from treespan.store.records import (
        ArtifactRecord,
        CollectionCounts,
        CollectionRecord,
        Content,
        ContentId,
        Draft,
        LoggedChange,
        Matches,
        NewArtifact,
        OperationRecord,
        OperationState,
        SearchableDocument,
        Tenant,
        TextHit,
        Version,
    )


class Reader(Protocol):
    """Reads of the store; safe from many threads and processes while one process writes.

    Nothing read here is ever half of a write: every method sees one committed state. A store that
    no writer has created yet reads as an empty one, and its creation counts as a change.
    """

    def engine(self) -> str:
        """Return the engine's name and version, for example "sqlite 3.53.0"."""

    def epoch(self) -> str:
        """Return the id of this line of history; empty for a store that does not exist yet.

        Sequence numbers of another epoch mean other changes: what was derived from them is void.
        """

    def last_seq(self) -> int:
        """Return the sequence number of the newest change; 0 for an empty store."""

    def changes_after(self, seq: int, limit: int) -> list[LoggedChange]:
        """Return the changes after `seq`, in order, at most `limit`.

        Old changes are dropped one day (`vacuum`); where the first one returned is not `seq` + 1,
        or none is while `last_seq` is later, those between are gone.
        """

    def changed(self) -> bool:
        """Return whether there was a commit since the last call; the first call returns True.

        Cheap enough to poll every few milliseconds. True may come without a change, never False
        with one.
        """

    def collection(self, tenant: Tenant, name: str) -> CollectionRecord:
        """Return a collection; raises `CollectionNotFound`."""

    def collections(self, tenant: Tenant, after: str, limit: int) -> list[CollectionRecord]:
        """Return the collections whose names sort after `after`, by name, at most `limit`."""

    def collection_counts(self, tenant: Tenant, name: str) -> CollectionCounts:
        """Return the counts of a collection's POPULATED artifacts; raises `CollectionNotFound`."""

    def all_collections(self) -> list[CollectionRecord]:
        """Return every collection of every tenant; for search, which indexes them all."""

    def artifact(self, tenant: Tenant, collection: str, name: str) -> ArtifactRecord:
        """Return an artifact in any state.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: the collection has no such artifact.
        """

    def artifacts(
        self,
        tenant: Tenant,
        collection: str,
        after: str,
        limit: int,
        where: Filter | None = None,
    ) -> list[ArtifactRecord]:
        """Return the artifacts whose names sort after `after`, by name, at most `limit`.

        Args:
            tenant: The tenant.
            collection: The collection.
            after: Name that the list begins behind; empty for the first.
            limit: Most artifacts.
            where: Return only POPULATED artifacts that are like this; a filter of artifacts.

        Raises:
            CollectionNotFound: there is no such collection.
            InvalidField: an operand has a type that the key has in no artifact.
        """

    def matching(self, tenant: Tenant, collection: str, where: Filter) -> Matches:
        """Return the visible versions, or nodes of them, that a filter lets through.

        Costs what the entries of the filter's keys cost, not a walk over all artifacts or nodes,
        unless the answer itself is that large (a negation).

        Raises:
            CollectionNotFound: there is no such collection.
            InvalidField: an operand has a type that the key has in no artifact, or in no row.
        """

    def text_hits(
        self, tenant: Tenant, collection: str, expression: str, limit: int
    ) -> list[TextHit]:
        """Return the nodes that a full-text expression finds, best first, at most `limit`.

        Args:
            tenant: The tenant.
            collection: The collection.
            expression: As `treespan.words` makes it.
            limit: Most nodes.

        Raises:
            CollectionNotFound: there is no such collection.
        """

    def artifact_by_doc_id(self, tenant: Tenant, collection: str, doc_id: str) -> ArtifactRecord:
        """Return the artifact whose visible version has this id.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: no artifact of the collection has this version now.
        """

    def content_by_id(self, tenant: Tenant, content_id: ContentId) -> Content:
        """Return a content with its bytes.

        Raises:
            ArtifactNotFound: no artifact of the tenant holds it.
        """

    def has_content(self, tenant: Tenant, content_id: ContentId) -> bool:
        """Return whether an artifact of the tenant holds this content."""

    def searchable(
        self, tenant: Tenant, collection: str, doc_id: str, *, vectors: bool = True
    ) -> SearchableDocument | None:
        """Return a visible document whole, or None where that version is visible no more.

        Args:
            tenant: The tenant.
            collection: The collection.
            doc_id: Id of the version.
            vectors: False leaves `vector_nodes` and `vectors` empty: they are most of the bytes.
        """

    def draft(self, tenant: Tenant, collection: str, name: str) -> Draft:
        """Return the version of an artifact that waits to be populated.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: the collection has no such artifact, or it has no draft.
        """

    def draft_by_doc_id(self, tenant: Tenant, collection: str, doc_id: str) -> Draft:
        """Return the waiting version of this id.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: no artifact of the collection has this version as its draft.
        """

    def operation(self, tenant: Tenant, operation: str) -> OperationRecord:
        """Return an operation; raises `OperationNotFound`."""

    def operation_by_request(self, tenant: Tenant, request_id: str) -> OperationRecord | None:
        """Return the operation of a request id that is not empty, or None."""

    def operations(
        self,
        tenant: Tenant,
        collection: str,
        states: Sequence[OperationState],
        before: str,
        limit: int,
    ) -> list[OperationRecord]:
        """Return operations, the newest first, without their `request`, at most `limit`.

        Args:
            tenant: The tenant.
            collection: Only those on this collection, which need not exist (any more); empty: all.
            states: Only those in one of these states; empty: any.
            before: Id that the list begins behind: only earlier ones; empty for the newest.
            limit: Most operations.
        """

    def visible(self) -> tuple[int, list[Version]]:
        """Return every visible version, and the last change that this state holds."""

    def close(self) -> None:
        """Close the connections; harmless when called again."""


class Writer(Reader, Protocol):
    """Writes of the store: one process, one connection; each method is one durable transaction.

    Safe from many threads. Every method that changes what is visible appends one row a change to
    the op log and returns the change's sequence number; when it returns, the change is on disk.
    """

    def create_collection(self, record: CollectionRecord) -> int:
        """Create a collection; its times are set here; raises `CollectionExists`."""

    def update_collection(self, record: CollectionRecord) -> int:
        """Replace the display name and chunk size of a collection; raises `CollectionNotFound`."""

    def delete_collection(self, tenant: Tenant, name: str, *, force: bool) -> tuple[int, int]:
        """Delete a collection and, with `force`, its artifacts; return (seq, artifacts deleted).

        Artifacts in any state count. The op log gets one row, for the collection.

        Raises:
            CollectionNotFound: there is none.
            CollectionNotEmpty: it holds artifacts and `force` is false.
        """

    def reserve_artifact(self, record: ArtifactRecord) -> None:
        """Name an artifact whose bytes are under way (NOT_INITIALIZED), unless it exists.

        Of the record only the names, the file name and the metadata count. Not a visible change.

        Raises:
            CollectionNotFound: there is no such collection.
        """

    def begin_operation(
        self, record: OperationRecord, artifact: ArtifactRecord | None
    ) -> OperationRecord:
        """Record an operation, and reserve its artifact, in one transaction; not a visible change.

        Its time is set here.

        Args:
            record: The operation, QUEUED or RUNNING.
            artifact: As `reserve_artifact` takes it; None reserves nothing.

        Returns:
            The operation as recorded; where the tenant has one of the same `request_id` (not
            empty), that one, whatever it was for, and nothing is changed.

        Raises:
            CollectionNotFound: there is no such collection.
        """

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
        """End an operation that has not ended yet, else only set its outcome; its request is kept.

        Not a visible change.

        Args:
            tenant: The tenant.
            operation: Id of the operation.
            state: How it ended.
            outcome: As in `OperationRecord`.
            seq: As in `OperationRecord`.
            free_request_id: Its `request_id` becomes empty, so that the same request may be made
                again: it was cut off, and nothing came of it.

        Raises:
            OperationNotFound: there is none.
        """

    def unfinished_operations(self) -> list[OperationRecord]:
        """Return the operations of all tenants that have not ended, oldest first."""

    def prune_operations(self, ended_before_us: int) -> int:
        """Drop the operations that ended before a time; return how many there were."""

    def save_draft(self, draft: Draft) -> None:
        """Keep a version until it is populated, in the place of the draft before; not a change.

        A reserved artifact becomes INITIALIZED; a POPULATED one stays so. The draft goes when a
        version of the artifact is committed, when the artifact is deleted, and with
        `abandon_artifact`.

        Raises:
            CollectionNotFound: the collection is gone.
            ArtifactNotFound: the artifact is gone.
        """

    def mark_initialized(self, tenant: Tenant, collection: str, name: str) -> None:
        """Say that a reserved artifact's tree is built.

        Does nothing to a POPULATED artifact, or where there is none. Not a visible change.
        """

    def abandon_artifact(self, tenant: Tenant, collection: str, name: str) -> None:
        """Drop an artifact that never became POPULATED, and the draft of one that did.

        Does nothing where there is none. Not a visible change.
        """

    def abandon_unfinished(self) -> int:
        """Drop what a crash left of artifacts that are not POPULATED; return how many there were.

        One with a draft is kept, and so is one that an operation is to go on with.
        """

    def commit_artifact(self, artifact: NewArtifact) -> int:
        """Make a version of an artifact visible, whole, in the place of the one before.

        The content of the version before goes when no other artifact of the tenant holds it. Where
        the tenant has the content already, that one is shared and the one given is not looked at.
        `artifact.operation` SUCCEEDED when this is on disk, with this seq and `artifact.outcome`.

        Returns:
            The sequence number of the change.

        Raises:
            CollectionNotFound: the collection is gone.
            ArtifactNotFound: `artifact.content` is an id that the tenant does not have (any more).
            ModelMismatch: the vectors have another dimension than the collection.
            TooLarge: a column of the content is larger than the engine can hold.
        """

    def update_artifact(
        self,
        tenant: Tenant,
        collection: str,
        name: str,
        file_name: str,
        metadata: bytes,
        summary: str,
    ) -> int:
        """Replace file name, metadata and summary of a POPULATED artifact; return the seq.

        Its content, its version and its key stay; its revision changes.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: the collection has no such artifact.
            ArtifactNotReady: it is not POPULATED.
        """

    def delete_artifact(self, tenant: Tenant, collection: str, name: str) -> int:
        """Delete an artifact in any state and what only it held; return the seq.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: the collection has no such artifact.
        """

    def delete_artifacts(self, tenant: Tenant, collection: str, names: Sequence[str]) -> int:
        """Delete several artifacts in one transaction; names that do not exist are passed over.

        Returns:
            The sequence number of the last deletion; `last_seq` where there was none to delete.

        Raises:
            CollectionNotFound: there is no such collection.
        """

    def delete_matching(
        self, tenant: Tenant, collection: str, where: Filter
    ) -> tuple[int, list[str]]:
        """Delete the artifacts that are like this, in one transaction.

        Returns:
            The sequence number of the last deletion (`last_seq` where there was none to delete),
            and the names of the artifacts deleted, sorted.

        Raises:
            CollectionNotFound: there is no such collection.
            InvalidField: an operand has a type that the key has in no artifact.
        """
