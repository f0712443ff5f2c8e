"""The pool of reader processes: a crash, a hang or a bomb is one file's error.

Processes start when first needed, one spare is kept warm beside those at work, and each is replaced
after a number of files, so that what libraries leak does not add up.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.frames import Job, Setup
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.process import ReaderProcess, WorkerStartError
from ingest_svc.readers.source import Progress, ReadOptions
from treespan.config import OcrConfig
from treespan.errors import FileProblem

__all__ = ["ReaderPool", "WorkerStartError"]


class ReaderPool:
    """Reads files in processes of their own, a number of them at the same time."""

    def __init__(
        self,
        workers: int,
        limits: ReaderLimits | None = None,
        ocr: OcrConfig | None = None,
        nice: int = 0,
    ) -> None:
        """Take the number of files read at the same time, at least 1, and what holds for each."""
        self._setup = Setup(limits or ReaderLimits(), ocr or OcrConfig(), nice)
        self._turns = asyncio.Semaphore(workers)
        self._idle: list[ReaderProcess] = []
        self._spare: asyncio.Task[None] | None = None
        self._closed = False

    async def read(
        self,
        path: Path,
        name: str,
        password: str = "",
        progress: Progress | None = None,
        *,
        media_type: str = "",
        options: ReadOptions | None = None,
    ) -> ParsedFile:
        """Return what a file holds; where the caller is cancelled, the process is killed at once.

        Args:
            path: Where the bytes are.
            name: The declared name, which only chooses among kinds of text.
            password: Opens the file where it is encrypted.
            progress: Called with the units done and all units, on the event loop; first with 0 of
                0, when its turn has come.
            media_type: How to read it: "text/plain", "text/markdown" or "text/html", all in UTF-8;
                empty to find out.
            options: How to read it; None means the defaults.

        Raises:
            FileProblem: the file is empty, damaged, encrypted, of a type that is not read, or above
                a limit.
            WorkerStartError: no reader process can be started.
        """
        async with self._turns:
            worker = await self._worker()
            is_healthy = False
            try:
                if progress is not None:
                    progress(0, 0)  # its turn has come, whether or not its reader counts
                parsed = await worker.read(
                    Job(str(path), name, password, media_type, options or ReadOptions()), progress
                )
                is_healthy = True
            except FileProblem:
                is_healthy = True
                raise
            finally:
                if is_healthy and worker.is_usable and not self._closed:
                    self._idle.append(worker)
                else:
                    await worker.end()
            return parsed

    async def close(self) -> None:
        """End all processes that wait; those at work end with their file."""
        self._closed = True
        if self._spare is not None:
            self._spare.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._spare
        while self._idle:
            await self._idle.pop().end()

    async def _worker(self) -> ReaderProcess:
        """Return a process of its own for one file, and have a spare started where none is left."""
        if not self._idle and self._spare is not None:
            await asyncio.shield(self._spare)
        worker = None
        while worker is None and self._idle:
            candidate = self._idle.pop()
            if candidate.is_usable:
                worker = candidate
            else:
                await candidate.end()
        worker = worker or await ReaderProcess.start(self._setup)
        if not self._idle and (self._spare is None or self._spare.done()):
            self._spare = asyncio.create_task(self._start_spare())
        return worker

    async def _start_spare(self) -> None:
        with contextlib.suppress(WorkerStartError):  # the next file's own start will say so
            self._idle.append(await ReaderProcess.start(self._setup))
