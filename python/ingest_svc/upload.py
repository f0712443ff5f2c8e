"""Uploads: bytes that arrive in parts, spooled and checked against what their header says."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

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
    from pathlib import Path

    from ingest_svc.operations import Job

MAX_PART_BYTES = 1 << 20
_FOLDER = "spool"

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
    """The folder that uploads are put into; whatever an earlier process left there is removed."""

    def __init__(self, data: Path, max_file_bytes: int, stall_s: float) -> None:
        self._folder = data / _FOLDER
        self._max_bytes = max_file_bytes
        self._stall_s = stall_s
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in self._folder.iterdir():
            if left.is_file():
                left.unlink()

    @asynccontextmanager
    async def received(
        self, parts: AsyncIterator[bytes], expected: Expected, job: Job
    ) -> AsyncIterator[Spooled]:
        """Receive a file; it is gone when the block ends.

        Raises:
            UploadStalled: nothing came for too long.
            TooLarge: it is larger than allowed.
            EmptyFile: it has no bytes.
            SizeMismatch: it is not as large as expected.
            HashMismatch: it is not what was expected.
        """
        self._check_size(expected.size_bytes or 0)
        job.total = expected.size_bytes or 0
        path = self._folder / uuid.uuid4().hex
        try:
            yield await self._receive(path, parts, expected, job)
        finally:
            path.unlink(missing_ok=True)

    async def within(self, awaited: Awaitable[T], what: str) -> T:
        """Return what arrives, within the longest pause allowed."""
        try:
            async with asyncio.timeout(self._stall_s):
                return await awaited
        except TimeoutError:
            raise UploadStalled(
                f"{what} did not come within {self._stall_s:g} s (ingest.upload_stall_s)"
            ) from None

    async def _receive(
        self, path: Path, parts: AsyncIterator[bytes], expected: Expected, job: Job
    ) -> Spooled:
        digest = hashlib.sha256()
        size = 0
        with _told(), path.open("wb") as file:
            while part := await self.within(anext(parts, b""), "the next part"):
                size += len(part)
                self._check_size(size)
                digest.update(part)
                file.write(part)
                job.done = size
        received = Spooled(path, size, digest.hexdigest())
        _check(received, expected)
        return received

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise TooLarge(
                f"the file has {size:,} bytes or more; the most is {self._max_bytes:,} "
                "(readers.max_file_bytes)"
            )


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
