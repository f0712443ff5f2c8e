"""Where fetched bytes land: a file of limited size, hashed as it grows."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from treespan.errors import EmptyFile, StoreUnavailable, TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedWriter
    from pathlib import Path

PART_BYTES = 1 << 16


class Landing:
    """The file that one fetch writes."""

    def __init__(
        self, file: BufferedWriter, max_bytes: int, progress: Callable[[int, int], None]
    ) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._progress = progress
        self._digest = hashlib.sha256()
        self._total = 0
        self.size_bytes = 0

    @classmethod
    @contextmanager
    def at(cls, path: Path, max_bytes: int, progress: Callable[[int, int], None]) -> Iterator[Self]:
        """Open a landing; the file is gone again where the block fails.

        Raises:
            StoreUnavailable: the file cannot be made.
        """
        with _told():
            file = path.open("wb")
        landing = cls(file, max_bytes, progress)
        try:
            yield landing
            if not landing.size_bytes:
                raise EmptyFile("the file has no bytes")
            with _told():
                file.close()
        except BaseException:
            with file:
                path.unlink(missing_ok=True)
            raise

    def expect(self, total: int) -> None:
        """Take note of the size that is announced; it is only believed where it is too large.

        Raises:
            TooLarge: it is.
        """
        self._total = total
        self._check(total)
        self._progress(0, total)

    def add(self, part: bytes) -> None:
        """Write what has come.

        Raises:
            TooLarge: the file has grown larger than allowed.
            StoreUnavailable: it cannot be written.
        """
        self.size_bytes += len(part)
        self._check(self.size_bytes)
        self._digest.update(part)
        with _told():
            self._file.write(part)
        self._progress(self.size_bytes, self._total)

    @property
    def sha256(self) -> str:
        """The hash of what has come."""
        return self._digest.hexdigest()

    def _check(self, size: int) -> None:
        if size > self._max_bytes:
            raise TooLarge(
                f"the file has {size:,} bytes or more; the most is {self._max_bytes:,} "
                "(readers.max_file_bytes)"
            )


@contextmanager
def _told() -> Iterator[None]:
    """Say in words that the disk refuses a file."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"what was fetched cannot be kept in the spool folder: {error.strerror}; "
            "it can be fetched again when that is mended"
        ) from error
