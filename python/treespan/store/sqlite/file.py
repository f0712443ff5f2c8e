"""The file that a store is in, watched: a path may name another file, or none, at any time.

A process that goes on with a file that no path leads to any more would answer from, and write to, a
store that nobody else sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from treespan.errors import StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

FileNumber: TypeAlias = "tuple[int, int] | None"
"""Device and number of a file; None where there is none."""


class StoreFile:
    """The file at a path, looked at before every use.

    Args:
        path: Where the store is, or may be one day.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._was_store = False
        self._only: FileNumber = None

    def look(self) -> FileNumber:
        """Return which file is there now.

        Raises:
            StoreUnavailable: it is not the one it must be, or gone after there was a store.
        """
        found = self.number()
        if self._only is not None and found != self._only:
            raise StoreUnavailable(
                "the store's file was removed or replaced while this process runs; restart the "
                "process once the right file is in its folder"
            )
        if found is None:
            self.require_store(exists=False)
        return found

    def number(self) -> FileNumber:
        """Return which file is there now, whatever it is."""
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_dev, found.st_ino

    def require_store(self, *, exists: bool) -> None:
        """Take note whether there is a store; one that was never there reads as an empty one.

        Raises:
            StoreUnavailable: there is none any more.
        """
        if not exists and self._was_store:
            raise StoreUnavailable(
                "the store's file was removed while this process runs; put it back, or start the "
                "ingest service, which creates another"
            )
        self._was_store = exists

    def keep_to(self) -> None:
        """From now on take only the file that is there now, as its writer does."""
        self._only = self.number()
