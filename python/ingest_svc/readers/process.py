"""One reader process, as the pool sees it: started, given a job, asked for the answer, ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import mmap
import os
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import msgspec

from ingest_svc.readers import frames
from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.jail import PAGE
from ingest_svc.readers.limits import too_large
from ingest_svc.readers.ocr import VisionError
from ingest_svc.readers.ocr.vision import text_of_picture
from ingest_svc.readers.source import Progress
from treespan.config import OcrConfig
from treespan.errors import DamagedFile, FileProblem

_log = logging.getLogger(__name__)
_START_S = 60.0
_DYING_S = 2.0
_PNG = b"\x89PNG\r\n\x1a\n"
_PIPE_BYTES = 1 << 20
_KEPT_VARIABLES = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "TMPDIR", "HOME"),
    "TESSDATA_PREFIX",
)
"""Variables of the environment that a reader gets; secrets of the service are not among them."""

_PROBLEMS = {problem.__name__: problem for problem in FileProblem.__subclasses__()}


class WorkerStartError(Exception):
    """A reader process did not start; the service's fault, not a file's."""


class ReaderProcess:
    """A reader process; one job at a time."""

    def __init__(self, process: Process, setup: frames.Setup, board: mmap.mmap) -> None:
        """Take a process whose start was awaited, and the board it writes on; use `start`."""
        self._process = process
        self._limits = setup.limits
        self._ocr = setup.ocr
        self._board = board
        self.files = 0
        """Files it was given."""

    @classmethod
    async def start(cls, setup: frames.Setup) -> ReaderProcess:
        """Return a process that waits for jobs.

        Raises:
            WorkerStartError: it ended or was not ready in time.
        """
        with tempfile.TemporaryFile() as file:
            file.truncate(PAGE.size)
            board = mmap.mmap(file.fileno(), PAGE.size)
            numbers = (str(os.getpid()), str(file.fileno()))
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-B", "-m", "ingest_svc.readers.worker", *numbers),
                stdin=PIPE,
                stdout=PIPE,
                env=_environment(),
                limit=_PIPE_BYTES,
                pass_fds=(file.fileno(),),
                start_new_session=True,  # an interrupt at the terminal is for the service alone
            )
        worker = cls(process, setup, board)
        try:
            async with asyncio.timeout(_START_S):
                await worker._send(msgspec.msgpack.encode(setup))
                await worker._received()
        except (TimeoutError, EOFError, OSError) as error:
            await worker.end()
            raise WorkerStartError(
                f"a reader process did not start (exit status {process.returncode}); "
                "what it wrote stands on standard error"
            ) from error
        except BaseException:
            await worker.end()
            raise
        return worker

    @property
    def is_usable(self) -> bool:
        """Whether it runs and has not had its number of files."""
        return self._process.returncode is None and self.files < self._limits.files_per_worker

    async def read(self, job: frames.Job, progress: Progress | None) -> ParsedFile:
        """Return what the process makes of a file; after other errors than FileProblem, end it.

        Raises:
            FileProblem: as the reader says, or as the way shows in which the process ended.
        """
        self.files += 1
        try:
            async with asyncio.timeout(self._limits.wall_s):
                await self._send(frames.packed(job))
                answer = await self._final_answer(progress)
        except TimeoutError:
            await self.end()
            raise too_large(self._limits, "wall_s") from None
        except (EOFError, ConnectionError) as error:
            # Its pipe is closed, so it is dying; its own exit status tells of what.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _DYING_S)
            raise self._cause_of_death(await self.end()) from error
        except (msgspec.MsgspecError, ValueError) as error:
            await self.end()
            raise DamagedFile("the file made its reader answer nonsense") from error
        if isinstance(answer, frames.Failed):
            if answer.where:
                _log.warning("a reader failed in an unforeseen way", extra={"where": answer.where})
            raise _PROBLEMS.get(answer.problem, DamagedFile)(answer.message)
        return answer.parsed

    async def end(self) -> int:
        """Kill the process and return its exit status."""
        if self._process.returncode is None:
            # Not the method of the same name: it may reap the process before asyncio does, whose
            # exit status is lost then.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        while await self._process.stdout.read(_PIPE_BYTES):
            pass  # what is left in the pipe would keep it open
        return await self._process.wait()

    async def _final_answer(self, progress: Progress | None) -> frames.Finished | frames.Failed:
        while True:
            answer = frames.answer(await self._received())
            if isinstance(answer, frames.Finished | frames.Failed):
                return answer
            if isinstance(answer, frames.Look):
                await self._send(frames.packed(await _seen(answer, self._ocr)))
            if progress is not None and isinstance(answer, frames.Advanced):
                progress(answer.done, answer.total)

    async def _send(self, body: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(frames.framed(body))
        await self._process.stdin.drain()

    async def _received(self) -> bytes:
        assert self._process.stdout is not None
        head = await self._process.stdout.readexactly(frames.LENGTH.size)
        (size,) = frames.LENGTH.unpack(head)
        if size > frames.MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {size} bytes; the most is {frames.MAX_FRAME_BYTES}")
        return await self._process.stdout.readexactly(size)

    def _cause_of_death(self, status: int) -> FileProblem:
        """Return the file's problem for a process that ended by itself."""
        if status == -signal.SIGXCPU:
            return too_large(self._limits, "cpu_s")
        if status == -signal.SIGALRM:
            (page,) = PAGE.unpack_from(self._board)
            return too_large(self._limits, "max_page_s", f"page {page}, which takes longer")
        if status == -signal.SIGKILL:
            return too_large(self._limits, "memory_bytes")
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        limit = self._limits.memory_bytes
        return DamagedFile(
            f"the reader crashed on this file ({how}), as damaged files make it, "
            f"or ones that need more memory than readers.memory_bytes = {limit}"
        )


async def _seen(look: frames.Look, ocr: OcrConfig) -> frames.Seen:
    """Return what a vision service reads in a page."""
    if not ocr.vision_url or not look.picture.startswith(_PNG):
        raise ValueError("a picture that nobody is to look at")
    try:
        return frames.Seen(await text_of_picture(look.picture, ocr))
    except VisionError as error:
        return frames.Seen(problem=str(error))


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
    return {**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
