"""Vacuum of the SQLite store: the space of what was deleted goes back to the disk.

All of it in short transactions, so that a commit of the ingest service waits for one of them and no
longer, and in pauses between them it has its turn. A second connection that commits and checkpoints
beside the ingest service's needs a SQLite with the WAL fault of 3.7.0 to 3.51.2 mended.
"""

from __future__ import annotations

import time
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import apsw

from treespan.errors import StoreUnavailable
from treespan.store.sqlite.connection import (
    BUSY_TIMEOUT_MS,
    FILE_NAME,
    open_writing,
    plain_errors,
    rows,
    transaction,
    value,
)
from treespan.store.sqlite.schema import schema_version
from treespan.store.upkeep.reports import VacuumReport
from treespan.store.upkeep.upkeep_lock import UpkeepLock
from treespan.store.writer_lock import WriterLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from treespan.store.upkeep.reports import Progress

KEPT_CHANGES: Final = 10_000
"""Newest rows of the op log that stay, for search to catch up with."""

_MENDED_SQLITE = 3_051_003
_STEP_S = 0.02
"""How long a step should hold the write lock; its size follows from what the steps took."""
_LEAST_PAUSE_S = 0.002
_FIRST_STEP = 32
_LARGEST_STEP = 4096
_CHECKPOINT_TRIES = 50
_CHECKPOINT_WAIT_MS = 20
_CHECKPOINT_PAUSE_S = 0.02
_INCREMENTAL = 2


def vacuum(folder: Path, *, progress: Progress) -> VacuumReport:
    """Give space back; see `treespan.store.upkeep.vacuum`."""
    path = folder / FILE_NAME
    if apsw.SQLITE_VERSION_NUMBER < _MENDED_SQLITE:
        raise StoreUnavailable(
            f"SQLite {apsw.sqlite_lib_version()} may spoil a store that two connections write; "
            "install an apsw of 3.51.3 or later"
        )
    if not path.exists():
        raise StoreUnavailable(f"there is no store in {folder} (store.path)")
    before = store_bytes(path)
    with plain_errors(path), closing(UpkeepLock(folder)), closing(open_writing(path)) as connection:
        schema_version(connection)
        # Nobody waits for what happens here: a power cut may undo the last steps.
        connection.execute("PRAGMA synchronous = NORMAL")
        _make_incremental(folder, connection)
        steps = _Steps(connection, progress)
        pruned = _prune_log(connection, steps)
        for table in full_text_tables(connection):
            _merge_full_text(connection, steps, table)
        freed = _free_pages(connection, steps)
        _empty_log(connection, steps)
    return VacuumReport(
        bytes_before=before,
        bytes_after=store_bytes(path),
        log_bytes_after=_size(path.with_name(path.name + "-wal")),
        freed_pages=freed,
        pruned_changes=pruned,
        steps=steps.count,
        longest_step_s=steps.longest_s,
    )


def store_bytes(path: Path) -> int:
    """Return the bytes of a store's file and its write-ahead log."""
    return _size(path) + _size(path.with_name(path.name + "-wal"))


def full_text_tables(connection: apsw.Connection) -> list[str]:
    """Return the names of the full-text tables, one for each tenant that has texts."""
    found = rows(
        connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'text_[0-9]*'"
        " AND sql LIKE 'CREATE VIRTUAL TABLE%' ORDER BY name",
    )
    return [name for (name,) in found]


@dataclass(slots=True)
class _Steps:
    """Runs work in short transactions, with pauses between them.

    Args:
        connection: Connection that writes.
        progress: Told of the work.
    """

    connection: apsw.Connection
    progress: Progress
    count: int = 0
    longest_s: float = 0.0

    def run(self, what: str, total: int, step: Callable[[int], int]) -> int:
        """Call `step` with an amount of work until it says that it did none; return the sum."""
        done, amount = 0, _FIRST_STEP
        while True:
            took, did = self._timed(step, amount)
            done += did
            self.progress(what, done, max(done, total))
            if not did:
                return done
            factor = 2.0 if took < _STEP_S / 2 else _STEP_S / took
            amount = max(1, min(_LARGEST_STEP, int(amount * min(factor, 2.0))))
            # As long as the lock was held: one who waits for it asks only now and then.
            time.sleep(max(took, _LEAST_PAUSE_S))

    def _timed(self, step: Callable[[int], int], amount: int) -> tuple[float, int]:
        with transaction(self.connection):
            start = time.perf_counter()
            did = step(amount)
        took = time.perf_counter() - start
        self.took(took)
        return took, did

    def took(self, seconds: float) -> None:
        """Count a step."""
        self.count += 1
        self.longest_s = max(self.longest_s, seconds)


def _make_incremental(folder: Path, connection: apsw.Connection) -> None:
    """See to it that pages can be freed one by one; only a store of an early version cannot."""
    if value(connection, "PRAGMA auto_vacuum") == _INCREMENTAL:
        return
    try:
        lock = WriterLock(folder)
    except StoreUnavailable as error:
        raise StoreUnavailable(
            "this store comes from an early version and must be rewritten once before it can give "
            "space back while ingest runs: stop ingest and call vacuum again"
        ) from error
    with closing(lock):
        connection.execute(f"PRAGMA auto_vacuum = {_INCREMENTAL}")
        connection.execute("VACUUM")


def _prune_log(connection: apsw.Connection, steps: _Steps) -> int:
    first, newest = rows(connection, "SELECT min(seq), max(seq) FROM op_log")[0]
    if newest is None or newest - KEPT_CHANGES < first:
        return 0
    last = newest - KEPT_CHANGES

    def step(amount: int) -> int:
        connection.execute(
            "DELETE FROM op_log WHERE seq <= ? AND seq < (SELECT min(seq) FROM op_log) + ?",
            (last, amount),
        )
        return connection.changes()

    return steps.run("dropping old changes", last - first + 1, step)


def _merge_full_text(connection: apsw.Connection, steps: _Steps, table: str) -> None:
    """Merge the parts of a full-text index into one, which leaves out what was deleted."""
    merge = f'INSERT INTO "{table}" ("{table}", rank) VALUES (\'merge\', ?)'
    sign = -1  # The first call chooses what is merged, the others go on with it.

    def step(amount: int) -> int:
        nonlocal sign
        before = connection.total_changes()
        connection.execute(merge, (sign * amount,))
        sign = 1
        # The documented sign that there was nothing to do is fewer than two changes.
        return amount if connection.total_changes() - before >= 2 else 0

    steps.run(f"merging {table}", 0, step)


def _free_pages(connection: apsw.Connection, steps: _Steps) -> int:
    def free() -> int:
        pages: int = value(connection, "PRAGMA freelist_count")
        return pages

    def step(amount: int) -> int:
        before = free()
        connection.execute(f"PRAGMA incremental_vacuum({amount})").fetchall()
        return before - free()

    return steps.run("freeing pages", free(), step)


def _empty_log(connection: apsw.Connection, steps: _Steps) -> None:
    """Bring the log into the file and cut it off, in a moment without readers."""
    # What may have to wait holds the write lock; it is begun only where all is in the file already.
    connection.set_busy_timeout(_CHECKPOINT_WAIT_MS)
    for _ in range(_CHECKPOINT_TRIES):
        with suppress(apsw.BusyError):
            [(_, log, done)] = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            start = time.perf_counter()
            if log == done and not value(connection, "PRAGMA wal_checkpoint(TRUNCATE)"):
                steps.took(time.perf_counter() - start)
                break
        time.sleep(_CHECKPOINT_PAUSE_S)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
