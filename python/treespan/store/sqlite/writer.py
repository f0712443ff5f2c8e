"""The SQLite store, written. `treespan.store.interface.Writer` says what each method promises."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from treespan.errors import (
    ArtifactNotFound,
    CollectionExists,
    CollectionNotEmpty,
    StoreUnavailable,
)
from treespan.store.records import ArtifactState, Change, Content
from treespan.store.sqlite.artifact import (
    ARTIFACT,
    delete_artifact,
    log_change,
    put_artifact,
    reserve_artifact,
    update_artifact,
)
from treespan.store.sqlite.connection import open_writing, plain_errors, rows, transaction
from treespan.store.sqlite.content import drop_unheld, prepared
from treespan.store.sqlite.derived_rows import drop_empty_tenant
from treespan.store.sqlite.filters import matching_artifacts
from treespan.store.sqlite.find import find_collection, newest_seq
from treespan.store.sqlite.operations import (
    end,
    find_by_request,
    find_operation,
    insert_operation,
    prune,
    unfinished,
    write_draft,
)
from treespan.store.sqlite.reader import SqliteReader
from treespan.store.sqlite.schema import free_pages_on_demand, migrate
from treespan.store.writer_lock import WriterLock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import apsw

    from treespan.filters import Filter
    from treespan.store.records import (
        ArtifactRecord,
        CollectionRecord,
        Draft,
        NewArtifact,
        OperationRecord,
        OperationState,
        Tenant,
    )


_ABANDON: Final = """
DELETE FROM artifact WHERE state <> ?
AND NOT EXISTS (SELECT 1 FROM draft WHERE artifact = artifact.id)
AND (tenant, collection, name) NOT IN
    (SELECT tenant, collection, artifact FROM operation WHERE state IN (1, 2))
"""


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
        self._file.keep_to()
        self._turn = threading.Lock()
        self._closed = False

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
            seq = log_change(connection, Change.COLLECTION_PUT, record.tenant, record.name)
            now_us = _now_us()
            connection.execute(
                "INSERT INTO collection (tenant, name, display_name, embedding_model,"
                " embedding_fingerprint, dimension, chunk_tokens, created_seq, created_us,"
                " updated_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    record.tenant,
                    record.name,
                    record.display_name,
                    record.embedding_model,
                    record.embedding_fingerprint,
                    record.dimension,
                    record.chunk_tokens,
                    seq,
                    now_us,
                    now_us,
                ),
            )
            return seq

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
            return log_change(connection, Change.COLLECTION_PUT, record.tenant, record.name)

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
            drop_empty_tenant(connection, tenant)
            return log_change(connection, Change.COLLECTION_DELETED, tenant, name), len(held)

    def reserve_artifact(self, record: ArtifactRecord) -> None:
        """Name an artifact whose bytes are under way, unless it exists."""
        with self._transaction() as connection:
            reserve_artifact(connection, record)

    def begin_operation(
        self, record: OperationRecord, artifact: ArtifactRecord | None
    ) -> OperationRecord:
        """Record an operation, and reserve its artifact, in one transaction."""
        with self._transaction() as connection:
            if record.request_id:
                known = find_by_request(connection, record.tenant, record.request_id)
                if known is not None:
                    return known
            if artifact is not None:
                reserve_artifact(connection, artifact)
            insert_operation(connection, record, _now_us())
            return find_operation(connection, record.tenant, record.operation)

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
        """End an operation that has not ended yet, else only set its outcome."""
        with self._transaction() as connection:
            end(
                connection,
                *(tenant, operation, state, outcome, seq, _now_us()),
                free_request_id=free_request_id,
            )

    def unfinished_operations(self) -> list[OperationRecord]:
        """Return the operations of all tenants that have not ended, oldest first."""
        with self._snapshot() as connection:
            return unfinished(connection)

    def prune_operations(self, ended_before_us: int) -> int:
        """Drop the operations that ended before a time; return how many there were."""
        with self._transaction() as connection:
            return prune(connection, ended_before_us)

    def save_draft(self, draft: Draft) -> None:
        """Keep a version until it is populated."""
        with self._transaction() as connection:
            find_collection(connection, draft.artifact.tenant, draft.artifact.collection)
            write_draft(connection, draft, _now_us())

    def mark_initialized(self, tenant: Tenant, collection: str, name: str) -> None:
        """Say that a reserved artifact's tree is built."""
        with self._transaction() as connection:
            connection.execute(
                f"UPDATE artifact SET state = ? {ARTIFACT} AND state = ?",
                (
                    ArtifactState.INITIALIZED,
                    tenant,
                    collection,
                    name,
                    ArtifactState.NOT_INITIALIZED,
                ),
            )

    def abandon_artifact(self, tenant: Tenant, collection: str, name: str) -> None:
        """Drop an artifact that never became POPULATED, and the draft of one that did."""
        with self._transaction() as connection:
            connection.execute(
                f"DELETE FROM draft WHERE artifact = (SELECT id FROM artifact {ARTIFACT})",
                (tenant, collection, name),
            )
            connection.execute(
                f"DELETE FROM artifact {ARTIFACT} AND state <> ?",
                (tenant, collection, name, ArtifactState.POPULATED),
            )

    def abandon_unfinished(self) -> int:
        """Drop what a crash left of artifacts that are not POPULATED; return how many."""
        with self._transaction() as connection:
            connection.execute(_ABANDON, (ArtifactState.POPULATED,))
            return connection.changes()

    def commit_artifact(self, artifact: NewArtifact) -> int:
        """Make a version of an artifact visible, whole, in the place of the one before."""
        content = artifact.content
        ready = None
        if isinstance(content, Content) and not self.has_content(
            artifact.tenant, content.content_id
        ):
            # Cutting words takes long: before the lock, so that others can write meanwhile.
            ready = prepared(content)
        with self._transaction() as connection:
            collection = find_collection(connection, artifact.tenant, artifact.collection)
            return put_artifact(connection, collection, artifact, ready, _now_us())

    def update_artifact(
        self,
        tenant: Tenant,
        collection: str,
        name: str,
        file_name: str,
        metadata: bytes,
        summary: str,
    ) -> int:
        """Replace file name, metadata and summary of a POPULATED artifact; return the seq."""
        with self._transaction() as connection:
            find_collection(connection, tenant, collection)
            names = (tenant, collection, name)
            return update_artifact(connection, names, file_name, metadata, summary, _now_us())

    def delete_artifact(self, tenant: Tenant, collection: str, name: str) -> int:
        """Delete an artifact in any state and what only it held; return the seq."""
        with self._transaction() as connection:
            find_collection(connection, tenant, collection)
            seq = delete_artifact(connection, tenant, collection, name)
            if seq is None:
                raise ArtifactNotFound(name)
            return seq

    def delete_artifacts(self, tenant: Tenant, collection: str, names: Sequence[str]) -> int:
        """Delete several artifacts in one transaction; names that do not exist are passed over."""
        with self._transaction() as connection:
            find_collection(connection, tenant, collection)
            for name in names:
                delete_artifact(connection, tenant, collection, name)
            return newest_seq(connection)

    def delete_matching(
        self, tenant: Tenant, collection: str, where: Filter
    ) -> tuple[int, list[str]]:
        """Delete the artifacts that are like this, in one transaction."""
        with self._transaction() as connection:
            record = find_collection(connection, tenant, collection)
            wanted, values = matching_artifacts(connection, record, where)
            found = rows(
                connection,
                f"SELECT a.name FROM ({wanted}) AS m CROSS JOIN artifact AS a USING (id)"
                " ORDER BY a.name",
                *values,
            )
            names = [name for (name,) in found]
            for name in names:
                delete_artifact(connection, tenant, collection, name)
            return newest_seq(connection), names

    def close(self) -> None:
        """Close the connections and let the folder go."""
        super().close()
        with self._turn, plain_errors(self._path):
            self._closed = True
            # Last of all: it is the one that may checkpoint when it closes.
            self._connection.close()
            self._writer_lock.close()

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """Lend the connection that writes for one transaction, committed at the end.

        The file is looked at before and after: what is written to one that no path leads to any
        more must not be acknowledged.
        """
        with plain_errors(self._path), self._turn:
            self._require_open()
            self._file.look()
            with transaction(self._connection):
                yield self._connection
            self._file.look()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store is closed")


def _opened(path: Path) -> apsw.Connection:
    """Return the connection that writes, to a store of the present schema."""
    with plain_errors(path):
        connection = open_writing(path)
        try:
            migrate(connection)
            free_pages_on_demand(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _now_us() -> int:
    """Return the time, microseconds since 1970 UTC."""
    return time.time_ns() // 1000
