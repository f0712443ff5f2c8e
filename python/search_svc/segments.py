"""The folder of sealed segments: a cache of the store that search processes of a host share.

    cache/
    ├─ manifest.json            names the segments, with size and hash, and the store they are of
    ├─ <unique name>.segment    written once, never changed; mapped by every process
    └─ builder.lock             held by the one process that writes here

A manifest is replaced in one step and only after the files it names are on disk, so a crash at any
moment leaves the former one whole. Files that it does not name are deleted by the builder; a
process that still maps one keeps it. The folder may be deleted at any time: what is missing,
damaged or of another store is built anew from the store.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from treespan.manifest import MANIFEST, SUFFIX, Manifest, read_manifest

if TYPE_CHECKING:
    from io import FileIO

_LOCK = "builder.lock"
_log = logging.getLogger(__name__)


_State: TypeAlias = "tuple[int, int, int] | None"
"""Tells one manifest from the next; None where there is none."""


class SegmentCache:
    """A cache folder. Used by one thread at a time.

    Args:
        folder: The folder, made where it is missing; one that cannot be written is replaced by a
            folder of this process alone, which goes with it.
    """

    def __init__(self, folder: Path) -> None:
        self._private = False
        self.folder = self._usable(folder)
        self._lock: FileIO | None = None
        self._seen: _State = None
        self._said_unwritable = False

    def claim(self) -> bool:
        """Become the builder of the folder, for good, or find that another process is."""
        if self._lock is not None and self._lock_is_current():
            return True
        self._release()
        try:
            # Without the folders above: where the store's is gone, another takes its place.
            self.folder.mkdir(exist_ok=True)
            file = (self.folder / _LOCK).open("ab", buffering=0)
        except FileNotFoundError:
            return False
        except OSError as error:
            if not self._said_unwritable:
                _log.warning("the cache folder cannot be written: %s", error)
            self._said_unwritable = True
            return False
        self._said_unwritable = False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        self._lock = file
        return True

    def changed(self) -> bool:
        """Return whether there is another manifest than the one last read or written."""
        return self._state() != self._seen

    def look_again(self) -> None:
        """Count the manifest as one not read yet."""
        self._seen = None

    def read(self) -> Manifest | None:
        """Return the manifest; None where there is none that can be used."""
        self._seen = self._state()
        try:
            return read_manifest(self.folder)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            _log.warning("the manifest of the cache cannot be used; it is built anew: %s", error)
            return None

    def write(self, manifest: Manifest) -> None:
        """Put a manifest in the place of the one before, durably, then drop what it does not name.

        Raises:
            OSError: it could not be written; the one before stays.
        """
        temporary = self.folder / f"{MANIFEST}.tmp"
        try:
            with temporary.open("wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.folder / MANIFEST)
            _sync_folder(self.folder)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise
        self._seen = self._state()
        self._sweep({segment.name for each in manifest.collections for segment in each.segments})

    def has(self, name: str) -> bool:
        """Return whether a segment's file is there."""
        return (self.folder / f"{name}{SUFFIX}").exists()

    def unique_name(self) -> str:
        """Return a name that no segment has or had."""
        return uuid.uuid4().hex

    def close(self) -> None:
        """Let the folder go."""
        self._release()
        if self._private:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _usable(self, folder: Path) -> Path:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _LOCK).open("ab").close()
        except OSError as error:
            # Others build here, and this process can read it; or there will be room later.
            if (folder / MANIFEST).exists() or error.errno == errno.ENOSPC:
                return folder
            self._private = True
            private = Path(tempfile.mkdtemp(prefix="treespan-cache-"))
            _log.warning("%s cannot be written; segments go to %s: %s", folder, private, error)
            return private
        return folder

    def _state(self) -> _State:
        try:
            found = (self.folder / MANIFEST).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _lock_is_current(self) -> bool:
        """Return whether the lock is still on the file that others would lock."""
        assert self._lock is not None
        try:
            held, found = os.fstat(self._lock.fileno()), (self.folder / _LOCK).stat()
        except OSError:
            return False
        return (held.st_dev, held.st_ino) == (found.st_dev, found.st_ino)

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _sweep(self, named: set[str]) -> None:
        for path in self.folder.iterdir():
            written = path.name.endswith((SUFFIX, f"{SUFFIX}.tmp"))
            if written and path.name.removesuffix(SUFFIX) not in named:
                with suppress(OSError):
                    path.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
