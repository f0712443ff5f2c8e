"""Artifacts of the SQLite store, written; parts of the writer's transactions.

Every change that is visible has a row in the op log, in the same transaction. Its sequence number
names a version for good: clocks go back, names come again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treespan.errors import ArtifactNotFound, ArtifactNotReady
from treespan.store.checksum import artifact_checksum
from treespan.store.records import ArtifactState, Change, Content
from treespan.store.sqlite.connection import rows, value
from treespan.store.sqlite.content import drop_unheld, hold_content
from treespan.store.sqlite.derived_rows import copy_spans, rewrite_attributes, write_spans
from treespan.store.sqlite.find import find_collection
from treespan.store.sqlite.operations import succeed

if TYPE_CHECKING:
    import apsw

    from treespan.store.records import ArtifactRecord, CollectionRecord, NewArtifact, Tenant
    from treespan.store.sqlite.content import Prepared

ARTIFACT = "WHERE tenant = ? AND collection = ? AND name = ?"

_PUT = """
INSERT INTO artifact (tenant, collection, name, state, file_name, metadata, doc_id, content_id,
                      key, revision, ingested_us, created_us, updated_us, summary, source_uri)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?10, ?10, ?11, ?12)
ON CONFLICT (tenant, collection, name) DO UPDATE SET
    state = excluded.state, file_name = excluded.file_name, metadata = excluded.metadata,
    doc_id = excluded.doc_id, content_id = excluded.content_id,
    key = excluded.key, revision = excluded.revision, ingested_us = excluded.ingested_us,
    created_us = iif(content_id IS NULL, excluded.created_us, created_us),
    updated_us = excluded.updated_us, summary = excluded.summary,
    source_uri = excluded.source_uri
"""
"""An artifact that was only reserved counts as created when its first content comes."""


def reserve_artifact(connection: apsw.Connection, record: ArtifactRecord) -> None:
    """Name an artifact whose bytes are under way, unless it exists.

    Raises:
        CollectionNotFound: there is no such collection.
    """
    find_collection(connection, record.tenant, record.collection)
    connection.execute(
        "INSERT INTO artifact (tenant, collection, name, state, file_name, metadata, ingested_us,"
        " created_us, updated_us) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0)"
        " ON CONFLICT (tenant, collection, name) DO NOTHING",
        (
            record.tenant,
            record.collection,
            record.name,
            ArtifactState.NOT_INITIALIZED,
            record.file_name,
            record.metadata,
        ),
    )


def put_artifact(
    connection: apsw.Connection,
    collection: CollectionRecord,
    artifact: NewArtifact,
    ready: Prepared | None,
    now_us: int,
) -> int:
    """Write a version of an artifact in the place of the one before; return the seq.

    Raises as `Writer.commit_artifact` says; `ready` is that of `hold_content`.
    """
    names = (artifact.tenant, artifact.collection, artifact.name)
    held = artifact.content
    content_id = held.content_id if isinstance(held, Content) else held
    before = value(connection, f"SELECT content_id FROM artifact {ARTIFACT}", *names)
    derived = hold_content(connection, collection, held, ready)
    seq = log_change(connection, Change.ARTIFACT_PUT, *names, artifact.doc_id)
    connection.execute(
        _PUT,
        (
            *(*names, ArtifactState.POPULATED, artifact.file_name, artifact.metadata),
            *(artifact.doc_id, content_id, seq, now_us, artifact.summary, artifact.source_uri),
        ),
    )
    number: int = value(connection, f"SELECT id FROM artifact {ARTIFACT}", *names)
    if derived is not None:
        write_spans(connection, number, derived)
    elif before != content_id:
        copy_spans(connection, number)
    rewrite_attributes(connection, number)
    write_checksum(connection, number)
    connection.execute("DELETE FROM draft WHERE artifact = ?", (number,))
    if artifact.operation:
        succeed(connection, artifact, seq, now_us)
    if before not in (None, content_id):
        drop_unheld(connection, artifact.tenant, {before})
    return seq


def update_artifact(
    connection: apsw.Connection,
    names: tuple[Tenant, str, str],
    file_name: str,
    metadata: bytes,
    summary: str,
    now_us: int,
) -> int:
    """Replace file name, metadata and summary of a POPULATED artifact; return the seq.

    Raises:
        ArtifactNotFound: the collection has no such artifact.
        ArtifactNotReady: it is not POPULATED.
    """
    found = rows(connection, f"SELECT id, state, doc_id FROM artifact {ARTIFACT}", *names)
    if not found:
        raise ArtifactNotFound(names[2])
    [(number, state, doc_id)] = found
    if state != ArtifactState.POPULATED:
        raise ArtifactNotReady(
            names[2],
            f"artifact {names[2]!r} is {ArtifactState(state).name}; it can be changed once it is "
            f"{ArtifactState.POPULATED.name}",
        )
    seq = log_change(connection, Change.ARTIFACT_UPDATED, *names, doc_id)
    connection.execute(
        "UPDATE artifact SET file_name = ?, metadata = ?, summary = ?, revision = ?,"
        " updated_us = ? WHERE id = ?",
        (file_name, metadata, summary, seq, now_us, number),
    )
    rewrite_attributes(connection, number)
    write_checksum(connection, number)
    return seq


def write_checksum(connection: apsw.Connection, number: int) -> None:
    """Note the checksum of what a POPULATED artifact's row says."""
    checksum, _ = checksums(connection, number)
    connection.execute("UPDATE artifact SET checksum = ? WHERE id = ?", (checksum, number))


def checksums(connection: apsw.Connection, number: int) -> tuple[str, str]:
    """Return the checksum of what a POPULATED artifact's row says, and the one noted."""
    [(*names, metadata, summary, source_uri, noted)] = rows(
        connection,
        "SELECT tenant, collection, name, file_name, doc_id, content_id, metadata, summary,"
        " source_uri, checksum FROM artifact WHERE id = ?",
        number,
    )
    return artifact_checksum(names, metadata, (summary, source_uri)), noted


def delete_artifact(
    connection: apsw.Connection, tenant: Tenant, collection: str, name: str
) -> int | None:
    """Delete an artifact and what only it held; return the seq, or None where there is none."""
    deleted = rows(
        connection,
        f"DELETE FROM artifact {ARTIFACT} RETURNING content_id, ifnull(doc_id, '')",
        tenant,
        collection,
        name,
    )
    if not deleted:
        return None
    content_id, doc_id = deleted[0]
    if content_id is not None:
        drop_unheld(connection, tenant, {content_id})
    return log_change(connection, Change.ARTIFACT_DELETED, tenant, collection, name, doc_id)


def log_change(
    connection: apsw.Connection,
    change: Change,
    tenant: Tenant,
    collection: str,
    artifact: str = "",
    doc_id: str = "",
) -> int:
    """Append to the op log; return the seq: one writer at a time makes it the commit order."""
    connection.execute(
        "INSERT INTO op_log (change, tenant, collection, artifact, doc_id) VALUES (?, ?, ?, ?, ?)",
        (change, tenant, collection, artifact, doc_id),
    )
    return connection.last_insert_rowid()
