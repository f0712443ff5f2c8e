"""The lock that makes an ingest process the only writer of a folder."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from treespan.errors import StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME: Final = "writer.lock"

_SHOWN_BYTES = 300


class WriterLock:
    """An exclusive lock on a folder, held from construction to `close` or the process's end.

    The file stays when the lock goes: removing it would let two processes lock two files. What it
    says is for people; the kernel's lock alone counts, and no crash leaves it behind.

    Args:
        folder: An existing folder.

    Raises:
        StoreUnavailable: another process has it, or the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / FILE_NAME
        try:
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise StoreUnavailable(
                f"{folder} cannot be written: {error.strerror}; ingest needs a folder of its own"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            problem = self._problem(folder, error)
            self._file.close()
            raise StoreUnavailable(problem) from error
        # A full disk is no reason to refuse: what the store holds can be read and deleted.
        with suppress(OSError):
            self._file.truncate(0)
            self._file.write(f"pid {os.getpid()} on {socket.gethostname()}\n".encode())

    def close(self) -> None:
        """Let the folder go; harmless when called again."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()

    def _problem(self, folder: Path, error: OSError) -> str:
        if not isinstance(error, BlockingIOError):
            return f"{folder} cannot be locked: {error.strerror}; use a local disk"
        self._file.seek(0)
        said = self._file.read(_SHOWN_BYTES).decode(errors="replace").strip()
        holder = f" ({said})" if said else ""
        return (
            f"another ingest process{holder} writes to {folder}; a folder has one writer: stop it, "
            "or use another folder"
        )
