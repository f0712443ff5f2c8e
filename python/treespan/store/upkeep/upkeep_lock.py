"""The lock that keeps vacuum, restore and repair from meeting in one folder."""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING, Final

from treespan.errors import StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME: Final = "upkeep.lock"


class UpkeepLock:
    """An exclusive lock on a folder, held from construction to `close` or the process's end.

    Args:
        folder: An existing folder.

    Raises:
        StoreUnavailable: another process has it, or the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._file = (folder / FILE_NAME).open("ab")
        except OSError as error:
            raise StoreUnavailable(f"{folder} cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise StoreUnavailable(
                f"another vacuum, restore or repair of {folder} is under way: wait for its end"
            ) from error

    def close(self) -> None:
        """Let the folder go; harmless when called again."""
        self._file.close()
