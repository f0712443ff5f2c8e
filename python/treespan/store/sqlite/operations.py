"""Operations and drafts of the SQLite store; parts of transactions of the writer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from treespan.errors import ArtifactNotFound, OperationNotFound, StoreDamaged
from treespan.store.checksum import bytes_checksum
from treespan.store.drafts import pack_draft, unpack_draft
from treespan.store.records import ArtifactState, OperationState
from treespan.store.sqlite.connection import rows
from treespan.store.sqlite.rows import SELECT_OPERATION, operation_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from treespan.store.records import Draft, NewArtifact, OperationRecord, Tenant
    from treespan.store.sqlite.connection import SqlValue

_ENDED: Final = (OperationState.SUCCEEDED, OperationState.FAILED, OperationState.CANCELLED)
_WHOLE: Final = SELECT_OPERATION.format(request="request")
_LISTED: Final = SELECT_OPERATION.format(request="x''")


def find_operation(connection: apsw.Connection, tenant: Tenant, number: str) -> OperationRecord:
    """Return an operation; raises `OperationNotFound`."""
    found = rows(connection, _WHOLE + "WHERE tenant = ? AND id = ?", tenant, number)
    if not found:
        raise OperationNotFound(number)
    return operation_record(found[0])


def find_by_request(
    connection: apsw.Connection, tenant: Tenant, request_id: str
) -> OperationRecord | None:
    """Return the operation of a request id, or None."""
    found = rows(connection, _WHOLE + "WHERE tenant = ? AND request_id = ?", tenant, request_id)
    return operation_record(found[0]) if found else None


def list_operations(
    connection: apsw.Connection,
    tenant: Tenant,
    collection: str,
    states: Sequence[OperationState],
    before: str,
    limit: int,
) -> list[OperationRecord]:
    """Return operations, the newest first, without their requests."""
    condition = "tenant = ?"
    values: list[SqlValue] = [tenant]
    if collection:
        condition += " AND collection = ?"
        values.append(collection)
    if before:
        condition += " AND id < ?"
        values.append(before)
    if states:
        condition += f" AND state IN ({', '.join('?' * len(states))})"
        values += [int(state) for state in states]
    found = rows(
        connection,
        f"{_LISTED} WHERE {condition} ORDER BY id DESC LIMIT ?",
        *(*values, max(limit, 0)),
    )
    return [operation_record(row) for row in found]


def unfinished(connection: apsw.Connection) -> list[OperationRecord]:
    """Return the operations of all tenants that have not ended, oldest first."""
    found = rows(connection, _WHOLE + "WHERE state IN (1, 2) ORDER BY id")
    return [operation_record(row) for row in found]


def insert_operation(connection: apsw.Connection, record: OperationRecord, now_us: int) -> None:
    """Write an operation that is new."""
    connection.execute(
        "INSERT INTO operation (id, tenant, kind, collection, artifact, state, request_id,"
        " request_digest, request, outcome, seq, created_us, ended_us)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0)",
        (
            record.operation,
            record.tenant,
            record.kind,
            record.collection,
            record.artifact,
            record.state,
            record.request_id or None,
            record.request_digest,
            record.request,
            record.outcome,
            now_us,
        ),
    )


def end(
    connection: apsw.Connection,
    tenant: Tenant,
    number: str,
    state: OperationState,
    outcome: bytes,
    seq: int,
    now_us: int,
    *,
    free_request_id: bool,
) -> None:
    """End an operation that has not ended, else only set its outcome.

    Raises:
        OperationNotFound: there is none.
    """
    connection.execute(
        "UPDATE operation SET outcome = ?1, state = iif(ended_us, state, ?2),"
        " seq = iif(ended_us, seq, ?3), ended_us = iif(ended_us, ended_us, ?4),"
        " request_id = iif(?7, NULL, request_id) WHERE tenant = ?5 AND id = ?6",
        (outcome, state, seq, now_us, tenant, number, free_request_id),
    )
    if not connection.changes():
        raise OperationNotFound(number)


def succeed(connection: apsw.Connection, artifact: NewArtifact, seq: int, now_us: int) -> None:
    """End the operation of a commit with its change; one that is gone is passed over."""
    connection.execute(
        "UPDATE operation SET state = ?, seq = ?, outcome = ?, ended_us = ?"
        " WHERE tenant = ? AND id = ? AND ended_us = 0",
        (
            OperationState.SUCCEEDED,
            seq,
            artifact.outcome,
            now_us,
            artifact.tenant,
            artifact.operation,
        ),
    )


def prune(connection: apsw.Connection, ended_before_us: int) -> int:
    """Drop the operations that ended before a time; return how many there were."""
    marks = ", ".join(str(int(state)) for state in _ENDED)
    connection.execute(
        f"DELETE FROM operation WHERE state IN ({marks}) AND ended_us < ?", (ended_before_us,)
    )
    return connection.changes()


def write_draft(connection: apsw.Connection, draft: Draft, now_us: int) -> None:
    """Keep a draft in the place of the one before, and say that its artifact is INITIALIZED.

    Raises:
        ArtifactNotFound: the artifact is gone.
    """
    artifact = draft.artifact
    found = rows(
        connection,
        "SELECT id FROM artifact WHERE tenant = ? AND collection = ? AND name = ?",
        *(artifact.tenant, artifact.collection, artifact.name),
    )
    if not found:
        raise ArtifactNotFound(artifact.name)
    [(number,)] = found
    packed = pack_draft(draft)
    connection.execute(
        "INSERT INTO draft (artifact, doc_id, created_us, packed, checksum)"
        " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (artifact) DO UPDATE"
        " SET doc_id = ?2, created_us = ?3, packed = ?4, checksum = ?5",
        (number, artifact.doc_id, now_us, packed, bytes_checksum(packed)),
    )
    connection.execute(
        "UPDATE artifact SET state = ? WHERE id = ? AND state = ?",
        (ArtifactState.INITIALIZED, number, ArtifactState.NOT_INITIALIZED),
    )


def find_draft(connection: apsw.Connection, tenant: Tenant, collection: str, name: str) -> Draft:
    """Return the draft of an artifact.

    Raises:
        ArtifactNotFound: there is no such artifact, or it has no draft.
        StoreDamaged: it is not what was written.
    """
    found = rows(
        connection,
        "SELECT d.packed, d.checksum, d.created_us FROM artifact AS a LEFT JOIN draft AS d"
        " ON d.artifact = a.id WHERE a.tenant = ? AND a.collection = ? AND a.name = ?",
        *(tenant, collection, name),
    )
    if not found:
        raise ArtifactNotFound(name)
    [(packed, checksum, created_us)] = found
    if packed is None:
        raise ArtifactNotFound(name, f"artifact {name!r} has no version that waits")
    damaged = f"the version of artifact {name!r} that waits is damaged"
    if bytes_checksum(packed) != checksum:
        raise StoreDamaged(f"{damaged}: its bytes are not those that were stored (checksum)")
    try:
        return unpack_draft(packed, tenant, collection, name, created_us)
    except ValueError as error:
        raise StoreDamaged(f"{damaged}: {error}") from error


def find_draft_by_doc_id(
    connection: apsw.Connection, tenant: Tenant, collection: str, doc_id: str
) -> Draft:
    """Return the draft of a version; raises `ArtifactNotFound`."""
    found = rows(
        connection,
        "SELECT a.name FROM draft AS d CROSS JOIN artifact AS a ON a.id = d.artifact"
        " WHERE a.tenant = ? AND a.collection = ? AND d.doc_id = ?",
        *(tenant, collection, doc_id),
    )
    if not found:
        raise ArtifactNotFound(doc_id, f"no artifact has a draft of the id {doc_id!r} now")
    return find_draft(connection, tenant, collection, found[0][0])
