"""SQLite connections: how they are opened, how transactions run and what errors become.

One connection writes and checkpoints, the others only read: that keeps clear of the faults that
SQLite has had where two connections write or checkpoint at one instant.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import apsw

from treespan.errors import StoreDamaged, StoreUnavailable, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row: TypeAlias = tuple[Any, ...]
SqlValue: TypeAlias = str | bytes | int | float

FILE_NAME: Final = "store.db"
BUSY_TIMEOUT_MS: Final = 10_000
"""How long to wait for another process's lock; met only at creation, recovery and migration."""

INCREMENTAL: Final = 2
"""Value of auto_vacuum with which free pages can be given back to the disk, some at a time."""

_WAL_LIMIT_BYTES = 64 * 2**20


def open_writing(path: Path) -> apsw.Connection:
    """Return the connection that writes, to a file that is created where there is none."""
    connection = apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    )
    try:
        _set_up_writing(connection, path)
    except BaseException:
        # Now, not when it is forgotten; and a log that nobody can read is left as it is.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()
        raise
    return connection


def open_reading(path: Path) -> apsw.Connection:
    """Return a connection that reads, and neither writes nor checkpoints, not even when closed."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.wal_autocheckpoint(0)
    connection.execute("PRAGMA query_only = ON")
    return connection


def rows(connection: apsw.Connection, statement: str, *values: SqlValue) -> list[Row]:
    """Run a statement to its end and return its rows."""
    return connection.execute(statement, values).fetchall()


def value(connection: apsw.Connection, statement: str, *values: SqlValue) -> Any:
    """Run a statement and return the one column of its one row; None where it has no row."""
    found = rows(connection, statement, *values)
    return found[0][0] if found else None


def _set_up_writing(connection: apsw.Connection, path: Path) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # First of all, as the journal mode writes the first page: from then on only VACUUM changes it.
    connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
    mode = connection.execute("PRAGMA journal_mode = WAL").get
    if mode != "wal":
        raise StoreUnavailable(
            f"{path.parent} cannot hold a store: its file system has no shared memory (journal "
            f"mode is {mode!r}, not 'wal'); use a local disk"
        )
    # A commit that was answered must outlive a power cut, not only this process.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Let several statements see one committed state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        _roll_back(connection)


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Commit what is done inside, durably, or nothing of it where anything is raised.

    IMMEDIATE, as a transaction that reads first and writes then could fail at once.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        _roll_back(connection)


def _roll_back(connection: apsw.Connection) -> None:
    """End a transaction that is still open; SQLite ends it by itself on some errors."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into the store's; those that only a fault of ours can cause stay.

    The path is for the log, as a note; a caller of the service is not told it.
    """
    try:
        yield
    except apsw.Error as error:
        plain = _plain(error)
        if plain is None:
            raise
        plain.add_note(f"store: {path}")
        raise plain from error


def _plain(error: apsw.Error) -> StoreUnavailable | StoreDamaged | TooLarge | None:
    """Return what an error of SQLite means to a caller, or None where it is a fault of ours."""
    match error:
        case apsw.FullError():
            return StoreUnavailable(
                "the disk of the store is full; nothing was changed: free space and try again"
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return StoreUnavailable(
                "the store's files or their folder are read-only for this process; it must be "
                "allowed to write them, readers too"
            )
        case apsw.CantOpenError():
            return StoreUnavailable(
                "the store cannot be opened: this process must be allowed to read and write its "
                "folder, readers too, and have file handles left"
            )
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return StoreUnavailable(
                f"the store was locked by another process for {BUSY_TIMEOUT_MS / 1000:g} s"
            )
        case apsw.ConnectionClosedError():
            return StoreUnavailable("the store is closed")
        case apsw.IOError():
            # The stubs of apsw leave this attribute out.
            number: int = getattr(error, "extendedresult", apsw.SQLITE_IOERR)
            name = apsw.mapping_extended_result_codes.get(number, "SQLITE_IOERR")
            return StoreUnavailable(f"the disk of the store failed ({name}); nothing was changed")
        case apsw.SQLError() if "no such table" in str(error):
            return StoreDamaged(
                f"the store is damaged: it lacks a table ({error}); restore it from a copy"
            )
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreDamaged("the store is damaged; restore its folder from a copy")
        case apsw.TooBigError():
            return TooLarge("a document's tree or vectors exceed 1,000,000,000 bytes; split it")
    return None
