"""A file on its way to IngestFile: a header, then its bytes in parts, never whole in memory."""

from __future__ import annotations

import asyncio
import hashlib
import io
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Self

from treespan.v1.ingest_service_pb2 import IngestFileRequest, Progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from treespan.v1.ingest_service_pb2 import IngestFileHeader

PART_BYTES: Final = 512 * 1024
POLL_S: Final = 0.15
"""Time between two looks at the progress of an ingest."""


class Upload:
    """An iterator over the messages of one upload; close it when the call has ended.

    gRPC reads it from a thread of its own, and may still be reading when a call fails early: hence
    the lock, and an end instead of an error once it is closed.
    """

    def __init__(self, file: io.BufferedReader | io.BytesIO, header: IngestFileHeader) -> None:
        """Take an open file, which is closed with this, and a header, completed from the file."""
        self._file = file
        self._lock = Lock()
        self._header: IngestFileHeader | None = header
        self.collection, self.artifact = header.collection, header.artifact
        self.sent_bytes = 0
        header.content_sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        header.size_bytes = self.size_bytes = file.seek(0, io.SEEK_END)
        file.seek(0)

    @classmethod
    def of_file(cls, path: str | Path, header: IngestFileHeader) -> Self:
        """Return the upload of a file on disk; raises OSError where it cannot be read."""
        return cls(Path(path).open("rb"), header)

    @classmethod
    def of_bytes(cls, data: bytes, header: IngestFileHeader) -> Self:
        """Return the upload of bytes in memory."""
        return cls(io.BytesIO(data), header)

    def __iter__(self) -> Iterator[IngestFileRequest]:
        """Return itself."""
        return self

    def __next__(self) -> IngestFileRequest:
        """Return the next message."""
        with self._lock:
            if self._header is not None:
                header, self._header = self._header, None
                return IngestFileRequest(header=header)
            part = b"" if self._file.closed else self._file.read(PART_BYTES)
        if not part:
            raise StopIteration
        self.sent_bytes += len(part)
        return IngestFileRequest(data=part)

    @property
    def is_sent(self) -> bool:
        """Whether all bytes have been handed to the network."""
        return self.sent_bytes == self.size_bytes

    def progress(self) -> Progress:
        """Return how much has been handed to the network."""
        return Progress(stage=Progress.STAGE_RECEIVING, done=self.sent_bytes, total=self.size_bytes)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


async def messages(upload: Upload) -> AsyncIterator[IngestFileRequest]:
    """Yield the messages of an upload, reading the disk off the event loop."""
    while (message := await asyncio.to_thread(next, upload, None)) is not None:
        yield message
