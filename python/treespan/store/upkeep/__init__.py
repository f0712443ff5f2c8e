"""The operations of a store: backup, restore, check, repair, vacuum and numbers.

    back_up, check_store, store_stats   read, beside ingest and search
    vacuum                              writes in short turns, beside ingest and search
    restore, repair                     need the writer's lock, so ingest is stopped

Each takes the address of a store; the functions here choose the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treespan.store.address import folder_of
from treespan.store.upkeep import (
    sqlite_backup,
    sqlite_check,
    sqlite_repair,
    sqlite_restore,
    sqlite_stats,
    sqlite_vacuum,
)
from treespan.store.upkeep.cache_files import FOLDER, Cache
from treespan.store.upkeep.reports import silent

if TYPE_CHECKING:
    from pathlib import Path

    from treespan.store.upkeep.reports import (
        BackupReport,
        CheckReport,
        Progress,
        RestoreReport,
        StoreStats,
        VacuumReport,
    )


def back_up(
    store: str | Path, target: Path, *, force: bool = False, progress: Progress = silent
) -> BackupReport:
    """Copy one committed state of a store into a new file, while others read and write.

    The file appears under its name when it is whole, checked and on disk.

    Args:
        store: Address of the store.
        target: File to make; its folder exists.
        force: Whether it may take the place of another file.
        progress: Told what is being done.

    Raises:
        InvalidField: the target exists, is a folder, or lies in the store's folder.
        StoreUnavailable: there is no store, or the target cannot be written.
        StoreDamaged: the copy is not sound, so the store is not.
    """
    return sqlite_backup.back_up(folder_of(store), target, force=force, progress=progress)


def restore(
    store: str | Path, source: Path, *, force: bool = False, progress: Progress = silent
) -> RestoreReport:
    """Put a backup in the place of a store; search may run meanwhile, ingest may not.

    The store gets a new epoch, so that nothing derived from what was there before is used. Call it
    in a process that has not opened the store.

    Args:
        store: Address of the store; made where there is none.
        source: A backup.
        force: Whether it may take the place of a store that is not empty; that one is kept aside.
        progress: Told what is being done.

    Raises:
        InvalidField: the source does not exist, or is the store itself.
        StoreUnavailable: an ingest runs, the store is not empty, the source is no store or one of
            a later version, or the folder cannot be written.
        StoreDamaged: the source is not sound.
    """
    return sqlite_restore.restore(folder_of(store), source, force=force, progress=progress)


def check_store(
    store: str | Path,
    *,
    full: bool = False,
    cache: Cache | None = None,
    progress: Progress = silent,
) -> CheckReport:
    """Compare everything in a store with what it must be, while others read and write.

    Args:
        store: Address of the store.
        full: Whether to compare every index of the database with its table as well, and every
            word of the full text; takes several times as long.
        cache: The search service's cache; as `cache` in the store's folder, unless given.
        progress: Told what is being done.

    Raises:
        StoreUnavailable: there is no store, or it cannot be read.
        StoreDamaged: it is no database any more.
    """
    folder = folder_of(store)
    return sqlite_check.check(folder, full=full, cache=cache or _cache(folder), progress=progress)


def repair(
    store: str | Path,
    *,
    full: bool = False,
    cache: Cache | None = None,
    progress: Progress = silent,
) -> CheckReport:
    """Check a store and build anew what is derived and not sound; the truth is never changed.

    Args:
        store: Address of the store.
        full: As in `check_store`.
        cache: As in `check_store`.
        progress: Told what is being done.

    Raises:
        StoreUnavailable: an ingest runs, or there is no store, or it cannot be written.
        StoreDamaged: it is no database any more.
    """
    folder = folder_of(store)
    return sqlite_repair.repair(folder, full=full, cache=cache or _cache(folder), progress=progress)


def vacuum(store: str | Path, *, progress: Progress = silent) -> VacuumReport:
    """Give the space of what was deleted back to the disk, while others read and write.

    Args:
        store: Address of the store.
        progress: Told what is being done.

    Raises:
        StoreUnavailable: there is no store, or it cannot be written, or another operation runs.
        StoreDamaged: it is no database any more.
    """
    return sqlite_vacuum.vacuum(folder_of(store), progress=progress)


def store_stats(store: str | Path, *, cache: Path | None = None) -> StoreStats:
    """Return a store in numbers, while others read and write.

    Args:
        store: Address of the store.
        cache: Folder of the search service's cache; `cache` in the store's folder, unless given.

    Raises:
        StoreUnavailable: there is no store, or it cannot be read.
        StoreDamaged: it is no database any more.
    """
    folder = folder_of(store)
    return sqlite_stats.stats(folder, cache or folder / FOLDER)


def _cache(folder: Path) -> Cache:
    return Cache(folder / FOLDER)
