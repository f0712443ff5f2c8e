"""The SQLite store, written. `treespan.store.interface.Writer` says what each method promises."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from treespan.errors import (
    ArtifactNotFound,
    CollectionExists,
    CollectionNotEmpty,
    StoreUnavailable,
)
from treespan.store.records import ArtifactState, Change
from treespan.store.sqlite import open_writing, plain_errors, rows, transaction, value
from treespan.store.sqlite_content import drop_unheld, held_content
from treespan.store.sqlite_reader import SqliteReader, find_collection, newest_seq
from treespan.store.sqlite_schema import migrate
from treespan.store.writer_lock import WriterLock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from treespan.store.records import (
        ArtifactRecord,
        CollectionRecord,
        NewArtifact,
        Tenant,
    )

_ARTIFACT = "WHERE tenant = ? AND collection = ? AND name = ?"

_PUT_ARTIFACT = """
INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, collection, name) DO UPDATE SET
    state = excluded.state, file_name = excluded.file_name, metadata = excluded.metadata,
    doc_id = excluded.doc_id, content_id = excluded.content_id,
    created_us = iif(content_id IS NULL, excluded.created_us, created_us),
    updated_us = excluded.updated_us
"""
"""An artifact that was only reserved counts as created when its first content comes."""


class SqliteWriter(SqliteReader):
    """Reads and writes the store in a folder, which is created where there is none.

    Reads have connections of their own and never wait for a write.

    Args:
        folder: Folder of the store.

    Raises:
        StoreUnavailable: another process writes to the folder, or it cannot be written, or the
            store is of a later version.
        StoreDamaged: the file is no database any more.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"{folder} cannot be created: {error.strerror}") from error
        self._writer_lock = WriterLock(folder)
        try:
            self._connection = _opened(self._path)
        except BaseException:
            self._writer_lock.close()
            raise
        self._turn = threading.Lock()

    def create_collection(self, record: CollectionRecord) -> int:
        """Create a collection."""
        with self._transaction() as connection:
            if rows(
                connection,
                "SELECT 1 FROM collection WHERE tenant = ? AND name = ?",
                record.tenant,
                record.name,
            ):
                raise CollectionExists(f"there is a collection {record.name!r} already")
            now_us = _now_us()
            connection.execute(
                "INSERT INTO collection VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    record.tenant,
                    record.name,
                    record.display_name,
                    record.embedding_model,
                    record.embedding_fingerprint,
                    record.dimension,
                    record.chunk_tokens,
                    now_us,
                    now_us,
                ),
            )
            return _log(connection, Change.COLLECTION_PUT, record.tenant, record.name)

    def update_collection(self, record: CollectionRecord) -> int:
        """Replace the display name and chunk size of a collection."""
        with self._transaction() as connection:
            find_collection(connection, record.tenant, record.name)
            connection.execute(
                "UPDATE collection SET display_name = ?, chunk_tokens = ?, updated_us = ?"
                " WHERE tenant = ? AND name = ?",
                (
                    record.display_name,
                    record.chunk_tokens,
                    _now_us(),
                    record.tenant,
                    record.name,
                ),
            )
            return _log(connection, Change.COLLECTION_PUT, record.tenant, record.name)

    def delete_collection(self, tenant: Tenant, name: str, *, force: bool) -> tuple[int, int]:
        """Delete a collection and, with `force`, its artifacts."""
        with self._transaction() as connection:
            find_collection(connection, tenant, name)
            held = rows(
                connection,
                "SELECT content_id FROM artifact WHERE tenant = ? AND collection = ?",
                tenant,
                name,
            )
            if held and not force:
                raise CollectionNotEmpty(
                    name,
                    f"collection {name!r} holds {len(held)} artifacts; delete them first, or "
                    "delete it with force",
                )
            connection.execute(
                "DELETE FROM artifact WHERE tenant = ? AND collection = ?", (tenant, name)
            )
            drop_unheld(connection, tenant, {content for (content,) in held if content})
            connection.execute(
                "DELETE FROM collection WHERE tenant = ? AND name = ?", (tenant, name)
            )
            return _log(connection, Change.COLLECTION_DELETED, tenant, name), len(held)

    def reserve_artifact(self, record: ArtifactRecord) -> None:
        """Name an artifact whose bytes are under way, unless it exists."""
        with self._transaction() as connection:
            find_collection(connection, record.tenant, record.collection)
            connection.execute(
                "INSERT INTO artifact (tenant, collection, name, state, file_name, metadata,"
                " created_us, updated_us) VALUES (?, ?, ?, ?, ?, ?, 0, 0)"
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

    def mark_initialized(self, tenant: Tenant, collection: str, name: str) -> None:
        """Say that a reserved artifact's tree is built."""
        with self._transaction() as connection:
            connection.execute(
                f"UPDATE artifact SET state = ? {_ARTIFACT} AND state = ?",
                (
                    ArtifactState.INITIALIZED,
                    tenant,
                    collection,
                    name,
                    ArtifactState.NOT_INITIALIZED,
                ),
            )

    def abandon_artifact(self, tenant: Tenant, collection: str, name: str) -> None:
        """Drop an artifact that never became POPULATED."""
        with self._transaction() as connection:
            connection.execute(
                f"DELETE FROM artifact {_ARTIFACT} AND state <> ?",
                (tenant, collection, name, ArtifactState.POPULATED),
            )

    def abandon_unfinished(self) -> int:
        """Drop every artifact that is not POPULATED; return how many there were."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM artifact WHERE state <> ?", (ArtifactState.POPULATED,))
            return connection.changes()

    def commit_artifact(self, artifact: NewArtifact) -> int:
        """Make a version of an artifact visible, whole, in the place of the one before."""
        names = (artifact.tenant, artifact.collection, artifact.name)
        with self._transaction() as connection:
            collection = find_collection(connection, artifact.tenant, artifact.collection)
            content_id = held_content(connection, collection, artifact.content)
            before = value(connection, f"SELECT content_id FROM artifact {_ARTIFACT}", *names)
            now_us = _now_us()
            connection.execute(
                _PUT_ARTIFACT,
                (
                    *names,
                    ArtifactState.POPULATED,
                    artifact.file_name,
                    artifact.metadata,
                    artifact.doc_id,
                    content_id,
                    now_us,
                    now_us,
                ),
            )
            if before is not None:
                drop_unheld(connection, artifact.tenant, {before})
            return _log(connection, Change.ARTIFACT_PUT, *names, artifact.doc_id)

    def delete_artifact(self, tenant: Tenant, collection: str, name: str) -> int:
        """Delete an artifact in any state and what only it held; return the seq."""
        with self._transaction() as connection:
            find_collection(connection, tenant, collection)
            seq = _delete_artifact(connection, tenant, collection, name)
            if seq is None:
                raise ArtifactNotFound(name)
            return seq

    def delete_artifacts(self, tenant: Tenant, collection: str, names: Sequence[str]) -> int:
        """Delete several artifacts in one transaction; names that do not exist are passed over."""
        with self._transaction() as connection:
            find_collection(connection, tenant, collection)
            for name in names:
                _delete_artifact(connection, tenant, collection, name)
            return newest_seq(connection)

    def close(self) -> None:
        """Close the connections and let the folder go."""
        super().close()
        with self._turn, plain_errors(self._path):
            # Last of all: it is the one that may checkpoint when it closes.
            self._connection.close()
            self._writer_lock.close()

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """Lend the connection that writes for one transaction, committed at the end."""
        with plain_errors(self._path), self._turn, transaction(self._connection):
            yield self._connection


def _opened(path: Path) -> apsw.Connection:
    """Return the connection that writes, to a store of the present schema."""
    with plain_errors(path):
        connection = open_writing(path)
        try:
            migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _delete_artifact(
    connection: apsw.Connection, tenant: Tenant, collection: str, name: str
) -> int | None:
    """Delete an artifact and what only it held; return the seq, or None where there is none."""
    deleted = rows(
        connection,
        f"DELETE FROM artifact {_ARTIFACT} RETURNING content_id, ifnull(doc_id, '')",
        tenant,
        collection,
        name,
    )
    if not deleted:
        return None
    content_id, doc_id = deleted[0]
    if content_id is not None:
        drop_unheld(connection, tenant, {content_id})
    return _log(connection, Change.ARTIFACT_DELETED, tenant, collection, name, doc_id)


def _log(
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


def _now_us() -> int:
    """Return the time, microseconds since 1970 UTC."""
    return time.time_ns() // 1000
