"""What the store keeps and returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from treespan.filters import Instant

Tenant = NewType("Tenant", str)
ContentId = NewType("ContentId", str)
"""Hex SHA-256 over the file's SHA-256 and the pipeline's fingerprint."""


class ArtifactState(IntEnum):
    """Where an artifact stands; the numbers are those of `treespan.v1.Artifact.State`."""

    NOT_INITIALIZED = 1
    INITIALIZED = 2
    POPULATED = 3


class OperationKind(IntEnum):
    """What was asked for; the numbers are those of `treespan.v1.Operation.Kind`."""

    INGEST_FILE = 1
    INGEST_TEXT = 2
    INGEST_URI = 3
    POPULATE_ARTIFACT = 4


class OperationState(IntEnum):
    """Where an operation stands; the numbers are those of `treespan.v1.Operation.State`."""

    QUEUED = 1
    RUNNING = 2
    SUCCEEDED = 3
    FAILED = 4
    CANCELLED = 5


class Change(IntEnum):
    """What a row of the op log says happened."""

    ARTIFACT_PUT = 1
    ARTIFACT_DELETED = 2
    COLLECTION_PUT = 3
    COLLECTION_DELETED = 4
    ARTIFACT_UPDATED = 5


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """A collection."""

    tenant: Tenant
    name: str
    display_name: str
    embedding_model: str
    embedding_fingerprint: str
    dimension: int
    chunk_tokens: int
    created_us: int = 0
    """When created, microseconds since 1970 UTC; set by the store. Only seq tells an order."""
    updated_us: int = 0
    """When last changed, likewise."""
    created_seq: int = 0
    """Sequence number of its creation; set by the store. Names it for good: another collection of
    the same name, created later, has another one."""


@dataclass(frozen=True, slots=True)
class CollectionCounts:
    """Counts over the POPULATED artifacts of a collection."""

    artifacts: int
    nodes: int
    vectors: int
    tokens: int


@dataclass(frozen=True, slots=True)
class WarningRecord:
    """Something that went less than well in a file that was ingested all the same."""

    kind: str
    message: str
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A typed cell of a table row."""

    node: int
    """Position of the row's node."""
    column: str
    value: str | int | float | bool | Instant


@dataclass(frozen=True, slots=True)
class Content:
    """A parsed, chunked and embedded file, shared by the artifacts that hold the same bytes."""

    content_id: ContentId
    sha256: str
    size_bytes: int
    media_type: str
    title: str
    page_count: int
    node_count: int
    token_count: int
    tree: bytes = field(repr=False)
    """Packed tree, see `treespan.node`."""
    vector_nodes: bytes = field(repr=False)
    """Positions of the nodes that have a vector, ascending, u32 little-endian."""
    vectors: bytes = field(repr=False)
    """One row of f32 little-endian for each of `vector_nodes`, each of length 1."""
    warnings: tuple[WarningRecord, ...] = ()
    language: str = ""
    """First part of a language tag, such as "en", as the file states, else as its script or its
    words say; empty where unknown."""
    cells: tuple[Cell, ...] = field(default=(), repr=False)
    """Cells of table rows, for filters; only those that are not empty."""
    file_metadata: bytes = field(default=b"", repr=False)
    """What the file states of itself: a serialised `treespan.v1.Artifact` with only
    `file_metadata` set; deterministic."""
    summary: str = ""
    """Made of title, headings and first text, for routing."""
    counts: tuple[tuple[str, int], ...] = ()
    """What its reader counted, by name, sorted."""

    @property
    def vector_count(self) -> int:
        """Return the number of vectors."""
        return len(self.vector_nodes) // 4


@dataclass(frozen=True, slots=True)
class ArtifactRecord:
    """One artifact, without the bytes of its content."""

    tenant: Tenant
    collection: str
    name: str
    state: ArtifactState
    file_name: str = ""
    metadata: bytes = field(default=b"", repr=False)
    """A serialised `treespan.v1.Artifact` with only `metadata` set; deterministic."""
    doc_id: str = ""
    """Id of this artifact's version in node ids, see `treespan.identity`; empty until POPULATED."""
    content_id: ContentId = ContentId("")
    sha256: str = ""
    size_bytes: int = 0
    media_type: str = ""
    title: str = ""
    page_count: int = 0
    node_count: int = 0
    vector_count: int = 0
    token_count: int = 0
    warnings: tuple[WarningRecord, ...] = ()
    created_us: int = 0
    """When it first became POPULATED, microseconds since 1970 UTC; 0 until then."""
    updated_us: int = 0
    """When it was last changed, likewise."""
    ingested_us: int = 0
    """When its content was last put in, likewise."""
    language: str = ""
    """Language of the content, as `Content.language`."""
    file_metadata: bytes = field(default=b"", repr=False)
    """As `Content.file_metadata`."""
    counts: tuple[tuple[str, int], ...] = ()
    """As `Content.counts`."""
    summary: str = ""
    """As the caller gave it; empty where it gave none."""
    content_summary: str = ""
    """As `Content.summary`."""
    source_uri: str = ""
    """Where the document comes from, as the caller said."""
    has_draft: bool = False
    """Whether a new version is INITIALIZED and waits to be populated."""


@dataclass(frozen=True, slots=True)
class NewArtifact:
    """What a commit writes about an artifact."""

    tenant: Tenant
    collection: str
    name: str
    file_name: str
    metadata: bytes = field(repr=False)
    doc_id: str
    content: Content | ContentId
    """The content, or the id of one that the store has already."""
    summary: str = ""
    """As in `ArtifactRecord`."""
    source_uri: str = ""
    """As in `ArtifactRecord`."""
    operation: str = ""
    """Id of the operation that ends SUCCEEDED in the same transaction; empty for none."""
    outcome: bytes = field(default=b"", repr=False)
    """Outcome of that operation, as in `OperationRecord`."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of an artifact whose tree is built and whose chunks have no vectors yet."""

    artifact: NewArtifact
    """Its content is a `Content` without vectors."""
    created_us: int = 0
    """When it was saved, microseconds since 1970 UTC; set by the store."""


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """One ingest, from its request to its end."""

    tenant: Tenant
    operation: str
    """Its id; unique; later ones sort after earlier ones."""
    kind: OperationKind
    collection: str
    artifact: str
    state: OperationState = OperationState.QUEUED
    request_id: str = ""
    """As its caller named the request; unique in the tenant where not empty."""
    request_digest: str = ""
    """Hex SHA-256 of the request, to tell a repeated request from another one of the same id."""
    request: bytes = field(default=b"", repr=False)
    """What is needed to go on with it after a restart; the store does not look into it."""
    outcome: bytes = field(default=b"", repr=False)
    """What came of it; the store does not look into it."""
    seq: int = 0
    """Sequence number of its change; 0 until it SUCCEEDED, and where it changed nothing."""
    created_us: int = 0
    """When it was recorded, microseconds since 1970 UTC; set by the store."""
    ended_us: int = 0
    """When it ended, likewise; 0 until then."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One visible change."""

    seq: int
    """Position in commit order; rises by 1."""
    change: Change
    tenant: Tenant
    collection: str
    artifact: str = ""
    doc_id: str = ""
    """ARTIFACT_PUT, ARTIFACT_UPDATED: the version that is visible from now on. ARTIFACT_DELETED:
    the version that is visible no more; empty where there was none."""


@dataclass(frozen=True, slots=True)
class Version:
    """A visible version of an artifact."""

    tenant: Tenant
    collection: str
    artifact: str
    doc_id: str
    key: int
    """Sequence number of the ARTIFACT_PUT that made it visible: names it for good in this epoch."""
    revision: int
    """Sequence number of the last change of it: its `key`, or that of an ARTIFACT_UPDATED."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What a filter lets through."""

    seq: int
    """The last change that the filter saw."""
    keys: bytes = field(repr=False)
    """Keys of versions, ascending, u64 little-endian; with `nodes`, one for each of them."""
    nodes: bytes | None = field(default=None, repr=False)
    """None: all nodes of those versions. Else positions of nodes with a vector, u32 little-endian,
    ascending within a key; `nodes[i]` is of `keys[i]`."""


@dataclass(frozen=True, slots=True)
class TextHit:
    """A node found by its words."""

    key: int
    """Key of its version."""
    node: int
    score: float
    """BM25 over the tenant's texts; higher is better."""


@dataclass(frozen=True, slots=True)
class SearchableDocument:
    """All that search needs of one POPULATED artifact."""

    tenant: Tenant
    collection: str
    artifact: str
    doc_id: str
    key: int
    """As in `Version`."""
    revision: int
    """As in `Version`."""
    file_name: str
    title: str
    media_type: str
    page_count: int
    metadata: bytes = field(repr=False)
    tree: bytes = field(repr=False)
    vector_nodes: bytes = field(repr=False)
    vectors: bytes = field(repr=False)
    file_metadata: bytes = field(default=b"", repr=False)
    """As `Content.file_metadata`."""
    source_uri: str = ""
    """As in `ArtifactRecord`."""
