"""Contents of the SQLite store: kept once for all artifacts of a tenant that hold the same bytes.

These are parts of the writer's transactions, never transactions of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treespan.errors import ArtifactNotFound, ModelMismatch
from treespan.store.cells import pack_cells
from treespan.store.checksum import content_checksum
from treespan.store.derived import derive
from treespan.store.records import Content
from treespan.store.sqlite.connection import rows
from treespan.store.sqlite.derived_rows import delete_chunks, insert_chunks, tenant_with_texts
from treespan.store.sqlite.rows import counts_column, warnings_column

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from treespan.store.derived import Derived
    from treespan.store.records import CollectionRecord, ContentId, Tenant

_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Prepared:
    """What takes long to make of a content, made before the transaction that writes it."""

    cells: bytes
    checksum: str
    derived: Derived


def prepared(content: Content) -> Prepared:
    """Return what is written of a content beside its fields.

    Raises:
        ValueError: the content is not one that can be stored, see `derive` and `cells.plain`.
    """
    cells = pack_cells(content.cells)
    return Prepared(
        cells=cells,
        checksum=content_checksum(
            content.tree, content.vector_nodes, content.vectors, cells, *said(content)
        ),
        derived=derive(content),
    )


def said(content: Content) -> tuple[bytes, bytes, bytes]:
    """Return what counts in the checksum of a content beside its bytes."""
    counts = counts_column(content.counts).encode() if content.counts else b""
    return content.file_metadata, content.summary.encode("utf-8", "surrogatepass"), counts


def hold_content(
    connection: apsw.Connection,
    collection: CollectionRecord,
    content: Content | ContentId,
    ready: Prepared | None,
) -> Derived | None:
    """Keep a content where the tenant does not have it yet.

    Args:
        connection: The connection, inside a transaction.
        collection: The collection of the artifact that is to hold it.
        content: The content, or the id of one that is there.
        ready: What `prepared` made of it; None where it seemed to be there already.

    Returns:
        What is derived from it where it is new, else None.

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
        return None
    if not isinstance(content, Content):
        raise ArtifactNotFound(content_id, f"no artifact has the content {content_id!r} now")
    _check_dimension(collection, content.vector_count, len(content.vectors))
    # Where it went between the look and the transaction, it is made here.
    ready = ready or prepared(content)
    _insert(connection, collection.tenant, content, ready)
    return ready.derived


def drop_unheld(
    connection: apsw.Connection, tenant: Tenant, content_ids: Iterable[ContentId]
) -> None:
    """Delete those of some contents that no artifact of the tenant holds any more."""
    for content_id in content_ids:
        unheld = rows(
            connection,
            "SELECT t.id, c.id FROM content AS c JOIN tenant AS t ON t.name = c.tenant"
            " WHERE c.tenant = ?1 AND c.content_id = ?2 AND NOT EXISTS"
            " (SELECT 1 FROM artifact WHERE tenant = ?1 AND content_id = ?2)",
            tenant,
            content_id,
        )
        for number, content in unheld:
            delete_chunks(connection, number, content)
            connection.execute("DELETE FROM content WHERE id = ?", (content,))


def _check_dimension(collection: CollectionRecord, vectors: int, vector_bytes: int) -> None:
    if vector_bytes != vectors * collection.dimension * _FLOAT_BYTES:
        dimension = vector_bytes / _FLOAT_BYTES / max(vectors, 1)
        raise ModelMismatch(
            collection.name,
            f"collection {collection.name!r} has vectors of {collection.dimension} dimensions and "
            f"takes no others; these have {dimension:g}",
        )


def _insert(connection: apsw.Connection, tenant: Tenant, content: Content, ready: Prepared) -> None:
    connection.execute(
        "INSERT INTO content (tenant, content_id, sha256, size_bytes, media_type, title, language,"
        " page_count, node_count, vector_count, token_count, warnings, checksum, file_metadata,"
        " summary, counts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            tenant,
            content.content_id,
            content.sha256,
            content.size_bytes,
            content.media_type,
            content.title,
            content.language,
            content.page_count,
            content.node_count,
            content.vector_count,
            content.token_count,
            warnings_column(content.warnings),
            ready.checksum,
            content.file_metadata,
            content.summary,
            counts_column(content.counts),
        ),
    )
    number = connection.last_insert_rowid()
    connection.execute(
        "INSERT INTO content_bytes (content, tree, vector_nodes, vectors, cells)"
        " VALUES (?, ?, ?, ?, ?)",
        (number, content.tree, content.vector_nodes, content.vectors, ready.cells),
    )
    insert_chunks(connection, tenant_with_texts(connection, tenant), number, ready.derived)
