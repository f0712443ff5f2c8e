"""Uploads: bytes that arrive in parts, spooled and checked against what their header says.

A spool file has the name of its operation. It ends in ".part" until it is whole and on the disk;
one whose bytes need not outlive this process keeps that ending.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from ingest_svc.operations.job import Stage
from ingest_svc.threads import to_the_end
from treespan.errors import (
    EmptyFile,
    HashMismatch,
    HeaderMissing,
    InvalidField,
    SizeMismatch,
    StoreUnavailable,
    TooLarge,
    UploadStalled,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterator
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from ingest_svc.operations.under_way import Live

MAX_PART_BYTES: Final = 1 << 20
_FOLDER: Final = "spool"
_PART: Final = ".part"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Expected:
    """What a header says of the bytes that follow."""

    size_bytes: int | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Spooled:
    """A file that has arrived whole."""

    path: Path
    size_bytes: int
    sha256: str


class Spool:
    """The folder that files are put into before they are read."""

    def __init__(self, data: Path, max_file_bytes: int, stall_s: float) -> None:
        self._folder = data / _FOLDER
        self._max_bytes = max_file_bytes
        self._stall_s = stall_s
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    async def received(
        self, live: Live, parts: AsyncIterator[bytes], expected: Expected
    ) -> Spooled:
        """Receive a file.

        Args:
            live: The operation.
            parts: Its bytes; raises where they break off.
            expected: What the header says of them.

        Raises:
            UploadStalled: nothing came for too long.
            TooLarge: it is larger than allowed.
            EmptyFile: it has no bytes.
            SizeMismatch: it is not as large as expected.
            HashMismatch: it is not what was expected.
            StoreUnavailable: it cannot be kept.
        """
        self._check_size(expected.size_bytes or 0)
        live.job.total = expected.size_bytes or 0
        path = self.part(live.record.operation)
        digest = hashlib.sha256()
        size = 0
        with _told(), path.open("wb") as file:
            while part := await self.within(anext(parts, b""), "the next part"):
                size += len(part)
                self._check_size(size)
                digest.update(part)
                file.write(part)
                live.job.advance(size, live.job.total)
        received = Spooled(path, size, digest.hexdigest())
        _check(received, expected)
        return await self._safe(live, received)

    async def written(self, live: Live, data: bytes) -> Spooled:
        """Keep what came with a request; raises StoreUnavailable where it cannot be."""
        path = self.part(live.record.operation)
        live.job.advance(len(data), len(data))
        with _told():
            await to_the_end(path.write_bytes, data)
        return await self._safe(live, Spooled(path, len(data), hashlib.sha256(data).hexdigest()))

    async def found(self, operation: str) -> Spooled:
        """Return a whole file that an earlier process kept."""
        path = self._folder / operation
        with _told():
            sha256 = await to_the_end(_sha256, path)
            return Spooled(path, path.stat().st_size, sha256)

    def is_whole(self, operation: str) -> bool:
        """Return whether the bytes of an operation are all there, and were put on the disk."""
        return (self._folder / operation).is_file()

    def part(self, operation: str) -> Path:
        """Return where the bytes of an operation are put while they arrive."""
        return self._folder / (operation + _PART)

    def drop(self, operation: str) -> None:
        """Remove what there is of an operation."""
        self.part(operation).unlink(missing_ok=True)
        (self._folder / operation).unlink(missing_ok=True)

    def keep_only(self, operations: AbstractSet[str]) -> None:
        """Remove all files but the whole ones of these operations."""
        for left in self._folder.iterdir():
            if left.is_file() and left.name not in operations:
                left.unlink()

    async def within(self, awaited: Awaitable[T], what: str) -> T:
        """Return what arrives, within the longest pause allowed."""
        try:
            async with asyncio.timeout(self._stall_s):
                return await awaited
        except TimeoutError:
            raise UploadStalled(
                f"{what} did not come within {self._stall_s:g} s (ingest.upload_stall_s)"
            ) from None

    async def _safe(self, live: Live, file: Spooled) -> Spooled:
        """Put a file that outlives its call on the disk, under the name that says so."""
        live.job.enter(Stage.QUEUED)
        if not live.kept.detached:
            return file
        whole = self._folder / live.record.operation
        with _told():
            await to_the_end(_put_on_disk, file.path, whole)
        return Spooled(whole, file.size_bytes, file.sha256)

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise TooLarge(
                f"the file has {size:,} bytes or more; the most is {self._max_bytes:,} "
                "(readers.max_file_bytes)"
            )


def _put_on_disk(part: Path, whole: Path) -> None:
    """Name a file as whole once its bytes, and then its name, are on the disk."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.rename(whole)
    folder = os.open(whole.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _told() -> Iterator[None]:
    """Say in words that the spool folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"the upload cannot be kept in the spool folder: {error.strerror}; "
            "it can be sent again when that is mended"
        ) from error


def check_part(data: bytes) -> bytes:
    """Return a part of an upload.

    Raises:
        InvalidField: it is empty or too large.
    """
    if not data:
        raise InvalidField("data", "is empty; send parts of 1 byte to 1 MiB")
    if len(data) > MAX_PART_BYTES:
        raise InvalidField("data", f"has {len(data):,} bytes; a part has at most 1 MiB")
    return data


def header_missing(got: str) -> HeaderMissing:
    """Return the error for an upload that does not start with its header."""
    return HeaderMissing(
        "header", f"the first message is {got}; send the header first, then the bytes in parts"
    )


def _check(received: Spooled, expected: Expected) -> None:
    if expected.size_bytes is not None and received.size_bytes != expected.size_bytes:
        raise SizeMismatch(
            "header.size_bytes",
            f"says {expected.size_bytes:,}, and {received.size_bytes:,} bytes came",
        )
    if expected.sha256 and received.sha256 != expected.sha256.lower():
        raise HashMismatch(
            "header.content_sha256",
            f"says {expected.sha256.lower()}, and bytes with {received.sha256} came",
        )
    if not received.size_bytes:
        raise EmptyFile("the file has no bytes")
