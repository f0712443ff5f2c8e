"""Drafts as bytes: a version of an artifact that has no vectors yet, as the engines keep it."""

from __future__ import annotations

import msgspec

from treespan.store.cells import pack_cells, unpack_cells
from treespan.store.records import Content, ContentId, Draft, NewArtifact, Tenant, WarningRecord


class _Packed(msgspec.Struct, array_like=True, frozen=True):
    file_name: str
    metadata: bytes
    doc_id: str
    summary: str
    source_uri: str
    content_id: str
    sha256: str
    size_bytes: int
    media_type: str
    title: str
    page_count: int
    node_count: int
    token_count: int
    tree: bytes
    vector_nodes: bytes
    warnings: tuple[WarningRecord, ...]
    language: str
    cells: bytes
    file_metadata: bytes
    content_summary: str
    counts: tuple[tuple[str, int], ...]


_decoder = msgspec.msgpack.Decoder(_Packed)


def pack_draft(draft: Draft) -> bytes:
    """Return a draft as bytes, its tenant, collection, name and time left out.

    Raises:
        ValueError: its content is given by its id alone.
    """
    artifact, content = draft.artifact, draft.artifact.content
    if not isinstance(content, Content):
        raise ValueError(f"the draft of {artifact.name!r} has no content but the id {content!r}")
    return msgspec.msgpack.encode(
        _Packed(
            artifact.file_name,
            artifact.metadata,
            artifact.doc_id,
            artifact.summary,
            artifact.source_uri,
            content.content_id,
            content.sha256,
            content.size_bytes,
            content.media_type,
            content.title,
            content.page_count,
            content.node_count,
            content.token_count,
            content.tree,
            content.vector_nodes,
            content.warnings,
            content.language,
            pack_cells(content.cells),
            content.file_metadata,
            content.summary,
            content.counts,
        )
    )


def unpack_draft(
    packed: bytes, tenant: Tenant, collection: str, name: str, created_us: int
) -> Draft:
    """Return the draft that bytes of `pack_draft` are.

    Raises:
        ValueError: they are damaged.
    """
    try:
        held = _decoder.decode(packed)
        cells = unpack_cells(held.cells)
    except msgspec.DecodeError as error:
        raise ValueError(f"a packed draft is damaged: {error}") from error
    content = Content(
        content_id=ContentId(held.content_id),
        sha256=held.sha256,
        size_bytes=held.size_bytes,
        media_type=held.media_type,
        title=held.title,
        page_count=held.page_count,
        node_count=held.node_count,
        token_count=held.token_count,
        tree=held.tree,
        vector_nodes=held.vector_nodes,
        vectors=b"",
        warnings=held.warnings,
        language=held.language,
        cells=cells,
        file_metadata=held.file_metadata,
        summary=held.content_summary,
        counts=held.counts,
    )
    artifact = NewArtifact(
        tenant=tenant,
        collection=collection,
        name=name,
        file_name=held.file_name,
        metadata=held.metadata,
        doc_id=held.doc_id,
        content=content,
        summary=held.summary,
        source_uri=held.source_uri,
    )
    return Draft(artifact, created_us)
