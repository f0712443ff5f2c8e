"""Small records for the tests of the store; everything follows from a few numbers and names."""

from __future__ import annotations

import hashlib

import numpy as np

from treespan import identity
from treespan.filters import Instant
from treespan.node import Tree
from treespan.store.records import (
    ArtifactRecord,
    ArtifactState,
    Cell,
    CollectionRecord,
    Content,
    ContentId,
    NewArtifact,
    OperationKind,
    OperationRecord,
    SearchableDocument,
    Tenant,
    WarningRecord,
)
from treespan.v1.ingest_service_pb2 import Artifact
from treespan.v1.metadata_pb2 import MetadataValue

ACME = Tenant("acme")
GLOBEX = Tenant("globex")
DIMENSION = 8


def collection(name: str = "papers", tenant: Tenant = ACME, **fields: object) -> CollectionRecord:
    """Return a collection; its display name is the name in capitals unless said otherwise."""
    values: dict[str, object] = {
        "display_name": name.upper(),
        "embedding_model": "small",
        "embedding_fingerprint": "f" * 16,
        "dimension": DIMENSION,
        "chunk_tokens": 100,
        **fields,
    }
    return CollectionRecord(tenant, name, **values)  # type: ignore[arg-type]


def tree(version: int, sections: int = 3) -> bytes:
    """Return a packed tree: a root and `sections` texts that name the version."""
    texts = [f"Version {version}, part {part}: 天地玄黄。\n".encode() for part in range(sections)]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.uint32)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.uint32)
    characters = np.cumsum([0, *(len(text.decode()) for text in texts)], dtype=np.uint32)
    zeros = np.zeros(sections + 1, dtype=np.uint32)
    return Tree(
        parent=zeros,
        own_tokens=np.array([0] + [7] * sections, dtype=np.uint32),
        page_start=zeros,
        page_end=zeros,
        text_start=starts,
        text_end=ends,
        char_start=np.concatenate([[0], characters[:-1]]).astype(np.uint32),
        char_end=characters,
        sentence_start=starts[1:],
        sentence_end=ends[1:],
        sentence_tokens=np.full(sections, 7, dtype=np.uint32),
        kind=np.array([1] + [3] * sections, dtype=np.uint8),
        flags=np.array([0] + [2] * sections, dtype=np.uint8),
        text=b"".join(texts),
    ).pack()


def content(version: int, sections: int = 3, dimension: int = DIMENSION) -> Content:
    """Return the content of one version of a file; its bytes grow with `sections`."""
    sha256 = hashlib.sha256(f"file {version} {sections}".encode()).hexdigest()
    vectors = np.full((sections, dimension), dimension**-0.5, dtype="<f4")
    vectors[:, 0] *= -1 if version % 2 else 1
    return Content(
        content_id=identity.content_id(sha256, f"pipeline {dimension}"),
        sha256=sha256,
        size_bytes=1000 + version,
        media_type="text/plain",
        title=f"Title {version}",
        page_count=version % 3,
        node_count=sections + 1,
        token_count=7 * sections,
        tree=tree(version, sections),
        vector_nodes=np.arange(1, sections + 1, dtype="<u4").tobytes(),
        vectors=vectors.tobytes(),
        warnings=(WarningRecord("DAMAGED", f"page {version} was mended", (version, 2)),)
        * (version % 2),
        language="en" if version % 2 else "",
        cells=cells(version) if sections else (),
        file_metadata=file_metadata(author=f"writer {version}") if version % 2 else b"",
        summary=f"Title {version}\nVersion {version}" if version % 2 else "",
        counts=(("attachments", version), ("sheets", 2)) if version % 2 else (),
    )


def cells(version: int) -> tuple[Cell, ...]:
    """Return a cell of every type, as if the first text were a row of a table."""
    values = (f"version {version}", version, version / 4, bool(version % 2), Instant(version))
    return tuple(Cell(1, f"column {type(value).__name__}", value) for value in values)


def metadata(**values: str) -> bytes:
    """Return metadata of strings as an artifact has it."""
    typed = {key: MetadataValue(string_value=value) for key, value in values.items()}
    return Artifact(metadata=typed).SerializeToString(deterministic=True)


def file_metadata(**values: str) -> bytes:
    """Return what a file states of itself, in strings."""
    typed = {key: MetadataValue(string_value=value) for key, value in values.items()}
    return Artifact(file_metadata=typed).SerializeToString(deterministic=True)


def operation(
    number: int,
    name: str = "a",
    *,
    tenant: Tenant = ACME,
    collection: str = "papers",
    request_id: str = "",
) -> OperationRecord:
    """Return an operation; its id sorts by its number."""
    return OperationRecord(
        tenant=tenant,
        operation=f"operation {number:08}",
        kind=OperationKind.INGEST_FILE,
        collection=collection,
        artifact=name,
        request_id=request_id,
        request_digest=f"{number:064x}" if request_id else "",
        request=f"request {number}".encode(),
    )


def new_artifact(
    name: str,
    what: Content | ContentId,
    *,
    tenant: Tenant = ACME,
    collection: str = "papers",
    note: str = "",
    operation: str = "",
) -> NewArtifact:
    """Return what a commit of a content under a name writes."""
    content_id = what.content_id if isinstance(what, Content) else what
    return NewArtifact(
        tenant=tenant,
        collection=collection,
        name=name,
        file_name=f"{name}{note}.txt",
        metadata=metadata(named=name, note=note),
        doc_id=identity.doc_id(tenant, collection, name, content_id),
        content=what,
        summary=f"about {name}" if note else "",
        source_uri=f"https://example.org/{name}" if note else "",
        operation=operation,
        outcome=b"done" if operation else b"",
    )


def reserved(name: str, tenant: Tenant = ACME, collection: str = "papers") -> ArtifactRecord:
    """Return an artifact as it is reserved."""
    state = ArtifactState.NOT_INITIALIZED
    given = metadata(reserved=name)
    return ArtifactRecord(tenant, collection, name, state, f"{name}.txt", given)


def populated(artifact: NewArtifact, what: Content) -> ArtifactRecord:
    """Return the record that a commit should lead to, without times."""
    return ArtifactRecord(
        tenant=artifact.tenant,
        collection=artifact.collection,
        name=artifact.name,
        state=ArtifactState.POPULATED,
        file_name=artifact.file_name,
        metadata=artifact.metadata,
        doc_id=artifact.doc_id,
        content_id=what.content_id,
        sha256=what.sha256,
        size_bytes=what.size_bytes,
        media_type=what.media_type,
        title=what.title,
        page_count=what.page_count,
        node_count=what.node_count,
        vector_count=what.vector_count,
        token_count=what.token_count,
        warnings=what.warnings,
        language=what.language,
        file_metadata=what.file_metadata,
        counts=what.counts,
        summary=artifact.summary,
        content_summary=what.summary,
        source_uri=artifact.source_uri,
    )


def searchable(
    artifact: NewArtifact, what: Content, key: int, revision: int = 0
) -> SearchableDocument:
    """Return the document that search should be given after a commit, which had the seq `key`."""
    return SearchableDocument(
        tenant=artifact.tenant,
        collection=artifact.collection,
        artifact=artifact.name,
        doc_id=artifact.doc_id,
        key=key,
        revision=revision or key,
        file_name=artifact.file_name,
        title=what.title,
        media_type=what.media_type,
        page_count=what.page_count,
        metadata=artifact.metadata,
        tree=what.tree,
        vector_nodes=what.vector_nodes,
        vectors=what.vectors,
        file_metadata=what.file_metadata,
        source_uri=artifact.source_uri,
    )
