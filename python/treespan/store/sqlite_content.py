"""Contents of the SQLite store: kept once for all artifacts of a tenant that hold the same bytes.

These are parts of the writer's transactions, never transactions of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treespan.errors import ArtifactNotFound, ModelMismatch
from treespan.store.records import Content
from treespan.store.sqlite import rows
from treespan.store.sqlite_rows import warnings_column

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from treespan.store.records import CollectionRecord, ContentId, Tenant

_FLOAT_BYTES = 4


def held_content(
    connection: apsw.Connection, collection: CollectionRecord, content: Content | ContentId
) -> ContentId:
    """Return the id of a content that the tenant has from now on, kept here where it is new.

    Raises:
        ArtifactNotFound: it is given by id and the tenant does not have it.
        ModelMismatch: its vectors have another dimension than the collection.
    """
    content_id = content.content_id if isinstance(content, Content) else content
    found = rows(
        connection,
        "SELECT c.vector_count, length(b.vectors)"
        " FROM content AS c JOIN content_bytes AS b ON b.content = c.id"
        " WHERE c.tenant = ? AND c.content_id = ?",
        collection.tenant,
        content_id,
    )
    if found:
        _check_dimension(collection, *found[0])
    elif isinstance(content, Content):
        _check_dimension(collection, content.vector_count, len(content.vectors))
        _insert(connection, collection.tenant, content)
    else:
        raise ArtifactNotFound(content_id, f"no artifact has the content {content_id!r} now")
    return content_id


def drop_unheld(
    connection: apsw.Connection, tenant: Tenant, content_ids: Iterable[ContentId]
) -> None:
    """Delete those of some contents that no artifact of the tenant holds any more."""
    connection.executemany(
        "DELETE FROM content WHERE tenant = ?1 AND content_id = ?2 AND NOT EXISTS"
        " (SELECT 1 FROM artifact WHERE tenant = ?1 AND content_id = ?2)",
        ((tenant, content_id) for content_id in content_ids),
    )


def _check_dimension(collection: CollectionRecord, vectors: int, vector_bytes: int) -> None:
    if vector_bytes != vectors * collection.dimension * _FLOAT_BYTES:
        dimension = vector_bytes / _FLOAT_BYTES / max(vectors, 1)
        raise ModelMismatch(
            collection.name,
            f"collection {collection.name!r} has vectors of {collection.dimension} dimensions and "
            f"takes no others; these have {dimension:g}",
        )


def _insert(connection: apsw.Connection, tenant: Tenant, content: Content) -> None:
    connection.execute(
        "INSERT INTO content (tenant, content_id, sha256, size_bytes, media_type, title,"
        " page_count, node_count, vector_count, token_count, warnings)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            tenant,
            content.content_id,
            content.sha256,
            content.size_bytes,
            content.media_type,
            content.title,
            content.page_count,
            content.node_count,
            content.vector_count,
            content.token_count,
            warnings_column(content.warnings),
        ),
    )
    connection.execute(
        "INSERT INTO content_bytes VALUES (?, ?, ?, ?)",
        (connection.last_insert_rowid(), content.tree, content.vector_nodes, content.vectors),
    )
