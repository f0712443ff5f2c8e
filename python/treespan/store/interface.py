"""What a store does; engines implement it, and one contract suite (`tests/store`) holds them all to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from treespan.store.records import (
        ArtifactRecord,
        CollectionCounts,
        CollectionRecord,
        Content,
        ContentId,
        NewArtifact,
        Operation,
        SearchableDocument,
        Tenant,
    )


class Reader(Protocol):
    """Reads of the store; safe from many threads and processes while one process writes.

    Nothing read here is ever half of a write: every method sees one committed state.
    """

    def engine(self) -> str:
        """Return the engine's name and version, for example "sqlite 3.53.0"."""

    def last_seq(self) -> int:
        """Return the sequence number of the newest change; 0 for an empty store."""

    def operations_after(self, seq: int, limit: int) -> list[Operation]:
        """Return the changes after `seq`, in order, at most `limit`."""

    def changed(self) -> bool:
        """Return whether another connection committed since the last call; cheap enough to poll every few ms."""

    def collection(self, tenant: Tenant, name: str) -> CollectionRecord:
        """Return a collection; raises `CollectionNotFound`."""

    def collections(self, tenant: Tenant, after: str, limit: int) -> list[CollectionRecord]:
        """Return the collections whose names sort after `after`, by name."""

    def collection_counts(self, tenant: Tenant, name: str) -> CollectionCounts:
        """Return the counts of a collection's POPULATED artifacts."""

    def all_collections(self) -> list[CollectionRecord]:
        """Return every collection of every tenant; for search, which indexes them all."""

    def artifact(self, tenant: Tenant, collection: str, name: str) -> ArtifactRecord:
        """Return an artifact in any state; raises `CollectionNotFound` or `ArtifactNotFound`."""

    def artifacts(
        self, tenant: Tenant, collection: str, after: str, limit: int
    ) -> list[ArtifactRecord]:
        """Return the artifacts whose names sort after `after`, by name; raises `CollectionNotFound`."""

    def artifact_by_doc_id(self, tenant: Tenant, collection: str, doc_id: str) -> ArtifactRecord:
        """Return the artifact whose visible version has this id; raises `ArtifactNotFound`."""

    def content_by_id(self, tenant: Tenant, content_id: ContentId) -> Content:
        """Return a content with its bytes; raises `ArtifactNotFound` where the tenant has no artifact with it."""

    def has_content(self, tenant: Tenant, content_id: ContentId) -> bool:
        """Return whether the tenant has this content."""

    def searchable(self, tenant: Tenant, collection: str, doc_id: str) -> SearchableDocument | None:
        """Return a visible document whole, or None where that version is visible no more."""

    def searchable_ids(self) -> Iterator[tuple[Tenant, str, str, str]]:
        """Yield (tenant, collection, artifact, doc_id) of every POPULATED artifact, in one snapshot with `last_seq`."""

    def close(self) -> None:
        """Close the connections."""


class Writer(Reader, Protocol):
    """Writes of the store: one process, one connection; each method is one durable transaction.

    Every method that changes what is visible appends to the op log and returns the change's sequence number.
    """

    def create_collection(self, record: CollectionRecord) -> int:
        """Create a collection; raises `CollectionExists`."""

    def update_collection(self, record: CollectionRecord) -> int:
        """Replace the display name and chunk size of a collection; raises `CollectionNotFound`."""

    def delete_collection(self, tenant: Tenant, name: str, *, force: bool) -> tuple[int, int]:
        """Delete a collection and, with `force`, its artifacts; return (seq, artifacts deleted).

        Raises:
            CollectionNotFound: there is none.
            CollectionNotEmpty: it holds artifacts and `force` is false.
        """

    def reserve_artifact(self, record: ArtifactRecord) -> None:
        """Name an artifact whose bytes are under way (NOT_INITIALIZED), unless it exists; not a visible change."""

    def mark_initialized(self, tenant: Tenant, collection: str, name: str) -> None:
        """Say that a reserved artifact's tree is built; does nothing to a POPULATED one."""

    def abandon_artifact(self, tenant: Tenant, collection: str, name: str) -> None:
        """Drop an artifact that never became POPULATED; does nothing to a POPULATED one or where there is none."""

    def abandon_unfinished(self) -> int:
        """Drop every artifact that is not POPULATED, after a crash; return how many there were."""

    def commit_artifact(self, artifact: NewArtifact) -> int:
        """Make a version of an artifact visible, whole, in the place of the one before; return the seq.

        The content of the version before goes when no other artifact of the tenant holds it.

        Raises:
            CollectionNotFound: the collection is gone.
            ArtifactNotFound: `artifact.content` is an id that the tenant does not have (any more).
        """

    def delete_artifact(self, tenant: Tenant, collection: str, name: str) -> int:
        """Delete an artifact in any state and what only it held; raises `CollectionNotFound` or `ArtifactNotFound`."""

    def delete_artifacts(self, tenant: Tenant, collection: str, names: Sequence[str]) -> int:
        """Delete several artifacts in one transaction; names that do not exist are passed over; return the last seq."""
