"""Rows of the SQLite store as records; columns are selected in the order of the record's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from treespan.store.cells import unpack_cells
from treespan.store.records import (
    ArtifactRecord,
    ArtifactState,
    Change,
    CollectionRecord,
    Content,
    LoggedChange,
    OperationKind,
    OperationRecord,
    OperationState,
    SearchableDocument,
    Version,
    WarningRecord,
)

if TYPE_CHECKING:
    from treespan.store.sqlite.connection import Row

SELECT_COLLECTION: Final = """
SELECT tenant, name, display_name, embedding_model, embedding_fingerprint, dimension, chunk_tokens,
       created_us, updated_us, created_seq
FROM collection
"""

SELECT_ARTIFACT: Final = """
SELECT a.tenant, a.collection, a.name, a.state, a.file_name, a.metadata,
       ifnull(a.doc_id, ''), ifnull(a.content_id, ''), ifnull(c.sha256, ''),
       ifnull(c.size_bytes, 0), ifnull(c.media_type, ''), ifnull(c.title, ''),
       ifnull(c.page_count, 0), ifnull(c.node_count, 0), ifnull(c.vector_count, 0),
       ifnull(c.token_count, 0), ifnull(c.warnings, '[]'), a.created_us, a.updated_us,
       a.ingested_us, ifnull(c.language, ''), ifnull(c.file_metadata, x''), ifnull(c.counts, '[]'),
       a.summary, ifnull(c.summary, ''), a.source_uri,
       EXISTS (SELECT 1 FROM draft WHERE artifact = a.id)
FROM artifact AS a LEFT JOIN content AS c USING (tenant, content_id)
"""

SELECT_CONTENT: Final = """
SELECT c.content_id, c.sha256, c.size_bytes, c.media_type, c.title, c.page_count, c.node_count,
       c.token_count, b.tree, b.vector_nodes, b.vectors, c.warnings,
       c.language, b.cells, c.file_metadata, c.summary, c.counts
FROM content AS c JOIN content_bytes AS b ON b.content = c.id
"""

SELECT_SEARCHABLE: Final = """
SELECT a.tenant, a.collection, a.name, a.doc_id, a.key, a.revision, a.file_name, c.title,
       c.media_type, c.page_count, a.metadata, b.tree, iif(?, b.vector_nodes, x''),
       iif(?, b.vectors, x''), c.file_metadata, a.source_uri
FROM artifact AS a JOIN content AS c USING (tenant, content_id)
     JOIN content_bytes AS b ON b.content = c.id
"""

SELECT_VERSION: Final = """
SELECT tenant, collection, name, doc_id, key, revision FROM artifact WHERE key IS NOT NULL
"""

SELECT_CHANGE: Final = """
SELECT seq, change, tenant, collection, artifact, doc_id FROM op_log
"""

SELECT_OPERATION: Final = """
SELECT tenant, id, kind, collection, artifact, state, ifnull(request_id, ''), request_digest,
       {request}, outcome, seq, created_us, ended_us
FROM operation
"""

_warnings = msgspec.json.Decoder(tuple[WarningRecord, ...])
_counts = msgspec.json.Decoder(tuple[tuple[str, int], ...])


def collection_record(row: Row) -> CollectionRecord:
    """Return a row of SELECT_COLLECTION as a record."""
    return CollectionRecord(*row)


def artifact_record(row: Row) -> ArtifactRecord:
    """Return a row of SELECT_ARTIFACT as a record."""
    *names, state, file_name, metadata, doc_id, content_id = row[:8]
    *sizes, warnings, created_us, updated_us, ingested_us, language = row[8:21]
    file_metadata, counts, summary, content_summary, source_uri, has_draft = row[21:]
    fields: Row = (
        *(*names, ArtifactState(state), file_name, metadata, doc_id, content_id),
        *(*sizes, _warnings.decode(warnings), created_us, updated_us, ingested_us, language),
        *(file_metadata, _counts.decode(counts), summary, content_summary, source_uri),
        bool(has_draft),
    )
    return ArtifactRecord(*fields)


def content(row: Row) -> Content:
    """Return a row of SELECT_CONTENT as a record."""
    *rest, warnings, language, cells, file_metadata, summary, counts = row
    fields: Row = (
        *(*rest, _warnings.decode(warnings), language, unpack_cells(cells)),
        *(file_metadata, summary, _counts.decode(counts)),
    )
    return Content(*fields)


def searchable_document(row: Row) -> SearchableDocument:
    """Return a row of SELECT_SEARCHABLE as a record."""
    return SearchableDocument(*row)


def version(row: Row) -> Version:
    """Return a row of SELECT_VERSION as a record."""
    return Version(*row)


def logged_change(row: Row) -> LoggedChange:
    """Return a row of SELECT_CHANGE as a record."""
    seq, change, *rest = row
    return LoggedChange(seq, Change(change), *rest)


def operation_record(row: Row) -> OperationRecord:
    """Return a row of SELECT_OPERATION as a record."""
    tenant, number, kind, collection, artifact, state, *rest = row
    names: Row = (tenant, number, OperationKind(kind), collection, artifact, OperationState(state))
    return OperationRecord(*names, *rest)


def warnings_column(warnings: tuple[WarningRecord, ...]) -> str:
    """Return warnings as they are kept in a column."""
    return msgspec.json.encode(warnings).decode()


def counts_column(counts: tuple[tuple[str, int], ...]) -> str:
    """Return counts as they are kept in a column."""
    return msgspec.json.encode(counts).decode()
