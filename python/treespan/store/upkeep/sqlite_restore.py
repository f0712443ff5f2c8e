"""Restore of the SQLite store: a backup takes the place of the file, in one step.

A write-ahead log belongs to its file by name alone: a log that the former store left would be taken
for one of the restored store, and spoil it. So the former log is emptied into its file first, and
its names are gone before another file gets the name. Between the two no reader may open the former
file, as it would make such names again; a lock of SQLite's own keeps it waiting.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import apsw

from treespan.errors import InvalidField, StoreDamaged, StoreUnavailable, TreespanError
from treespan.store.sqlite.connection import FILE_NAME, open_writing, plain_errors, value
from treespan.store.sqlite.schema import schema_version
from treespan.store.upkeep.reports import RestoreReport
from treespan.store.upkeep.sqlite_snapshot import copied, counted, reading, sync
from treespan.store.upkeep.upkeep_lock import UpkeepLock
from treespan.store.writer_lock import WriterLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from treespan.store.upkeep.reports import Progress, Snapshot

KEPT: Final = FILE_NAME + ".before-"
_PART = FILE_NAME + ".restoring"
_PENDING_BYTE = 0x40000000
"""Every connection that opens a file locks this byte for a moment (SQLite's file format)."""


def restore(folder: Path, source: Path, *, force: bool, progress: Progress) -> RestoreReport:
    """Put a backup in the place of a store; see `treespan.store.upkeep.restore`."""
    store = folder / FILE_NAME
    file = _source_file(source, store)
    _make(folder)
    with closing(WriterLock(folder)), closing(UpkeepLock(folder)):
        _drop_leftovers(folder)
        held = _holds_something(folder)
        if held and not force:
            raise StoreUnavailable(
                f"the store in {folder} is not empty; give another folder, or use force: "
                "it is then kept aside"
            )
        part = folder / _PART
        try:
            found = _prepared(file, part, progress)
            kept = folder / (KEPT + _now()) if held else None
            _take_place(part, store, kept)
        finally:
            _drop_leftovers(folder)
    return RestoreReport(str(store), str(file), found, str(kept or ""))


def _source_file(source: Path, store: Path) -> Path:
    """Return the file of a backup, which may be given as the folder of a store."""
    file = source / FILE_NAME if source.is_dir() else source
    if not file.is_file():
        raise InvalidField("source", f"there is no file {file}")
    if store.exists() and file.samefile(store):
        raise InvalidField("source", f"{file} is the store itself; give a backup of it")
    return file


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be created: {error.strerror}") from error


def _holds_something(folder: Path) -> bool:
    """Return whether there is a store with something in it, or a file that cannot be read."""
    path = folder / FILE_NAME
    if not path.exists() or path.stat().st_size == 0:
        return False
    try:
        with reading(folder) as connection:
            found = counted(connection)
    except (TreespanError, apsw.Error):
        return True
    return found.seq > 0 or found.artifacts > 0


def _prepared(file: Path, part: Path, progress: Progress) -> Snapshot:
    """Make the file that takes the store's place, on disk and checked, with a new epoch."""
    with plain_errors(file), _opened_source(file) as source:
        copied(source, part, progress)
    with plain_errors(part), closing(apsw.Connection(str(part))) as connection:
        connection.execute("UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'epoch'")
        if connection.changes() != 1:
            raise StoreDamaged(f"{file} has no epoch; it is no whole backup")
        found = counted(connection)
        if value(connection, "PRAGMA journal_mode = WAL") != "wal":
            raise StoreUnavailable(f"{part.parent} cannot hold a store; use a local disk")
    sync(part)
    return found


@contextmanager
def _opened_source(file: Path) -> Iterator[apsw.Connection]:
    try:
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        with closing(connection):
            if schema_version(connection) == 0:
                raise StoreUnavailable(f"{file} is an empty file, not a backup")
            yield connection
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(f"{file} is damaged or no backup: {error}; take another") from error


def _take_place(part: Path, store: Path, kept: Path | None) -> None:
    """Give the store's name to another file; a crash leaves the one or the other, whole."""
    if store.exists():
        _empty_log(store)
    with _no_reader_opens(store):
        if kept is not None:
            os.link(store, kept)
        for name in ("-wal", "-shm"):
            _drop_or_keep(store, name, kept)
        part.replace(store)
        sync(store.parent)


def _empty_log(store: Path) -> None:
    """Bring the former store's log into its file.

    Raises:
        StoreUnavailable: a reader holds an old state open.
    """
    # What is damaged is kept as it is, its log beside it.
    with suppress(StoreDamaged), plain_errors(store), closing(open_writing(store)) as connection:
        [(busy, _, _)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise StoreUnavailable(
                "a long read of the store is under way (a backup or a check): wait for its end"
            )


def _drop_or_keep(store: Path, suffix: str, kept: Path | None) -> None:
    beside = store.with_name(store.name + suffix)
    if not beside.exists():
        return
    if kept is not None and suffix == "-wal" and beside.stat().st_size > 0:
        beside.rename(kept.with_name(kept.name + suffix))
    else:
        beside.unlink()


@contextmanager
def _no_reader_opens(store: Path) -> Iterator[None]:
    """Keep other processes from opening the file; connections that they have go on."""
    if not store.exists():
        yield
        return
    with store.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 1, _PENDING_BYTE)
        yield


def _drop_leftovers(folder: Path) -> None:
    """Remove what a restore that was killed may have left."""
    for name in (_PART, _PART + "-journal", _PART + "-wal", _PART + "-shm"):
        (folder / name).unlink(missing_ok=True)
    store = folder / FILE_NAME
    for kept in folder.glob(KEPT + "*"):
        # A second name of the present store: it was about to be kept aside.
        if store.exists() and kept.samefile(store):
            kept.unlink()


def _now() -> str:
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03}Z"
