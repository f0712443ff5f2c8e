"""Backup of the SQLite store: one state of it in one file."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from treespan.errors import InvalidField, StoreUnavailable
from treespan.store.upkeep.reports import BackupReport
from treespan.store.upkeep.sqlite_snapshot import copied, reading, sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from treespan.store.upkeep.reports import Progress


def back_up(folder: Path, target: Path, *, force: bool, progress: Progress) -> BackupReport:
    """Copy one state of the store in a folder; see `treespan.store.upkeep.back_up`."""
    _check_target(folder, target, force=force)
    with reading(folder) as source, _writes(target), _part(target) as part:
        found = copied(source, part, progress)
        sync(part)
        part.replace(target)
        sync(target.parent)
    return BackupReport(str(target), target.stat().st_size, found)


def _check_target(folder: Path, target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise InvalidField("target", f"{target} is a folder; a backup is a file: name one in it")
    if os.path.lexists(target) and (target.is_symlink() or not target.is_file()):
        raise InvalidField(
            "target", f"{target} is no plain file; a backup is a new file, or replaces one"
        )
    if target.exists() and not force:
        raise InvalidField(
            "target", f"{target} exists; choose another name, or overwrite it with force"
        )
    if not target.parent.is_dir():
        raise InvalidField("target", f"{target.parent} is no folder; make it first")
    if target.resolve().is_relative_to(folder.resolve()):
        raise InvalidField(
            "target", f"{target} lies in the store's own folder; a backup belongs on another disk"
        )


@contextmanager
def _part(target: Path) -> Iterator[Path]:
    """Lend the name of an empty file beside the target, which is gone afterwards in any case.

    One that a killed backup left is used again.
    """
    part = target.with_name(f".{target.name}.treespan-part")
    handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        _lock(handle, part)
        os.ftruncate(handle, 0)
        journal = part.with_name(part.name + "-journal")
        try:
            journal.unlink(missing_ok=True)
            yield part
        finally:
            part.unlink(missing_ok=True)
            journal.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _lock(handle: int, part: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StoreUnavailable(f"another backup writes to {part}: wait for its end") from error


@contextmanager
def _writes(target: Path) -> Iterator[None]:
    """Say of the target what SQLite or the system says of its disk."""
    try:
        yield
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, OSError) as error:
        why = getattr(error, "strerror", "") or str(error)
        raise StoreUnavailable(
            f"the backup to {target} failed ({why}); there is none: free space, or choose another "
            "disk"
        ) from error
