"""A reader process: takes files from the pool and answers with their blocks or their problem.

Started as `python -m ingest_svc.readers.worker PARENT_PID BOARD` with what holds for all files as
its first message; BOARD is a descriptor of the file that the page under way is written on.
The pipes of the protocol are moved away from descriptors 0 and 1, so that a native library that
prints cannot garble it.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback
from pathlib import Path
from typing import BinaryIO

import msgspec

from ingest_svc.readers import frames, jail, read_file
from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.limits import check, too_large
from ingest_svc.readers.ocr import VisionError
from treespan.errors import DamagedFile, FileProblem, TooLarge

_Pipes = tuple[BinaryIO, BinaryIO]
"""Where jobs come from, and where answers go."""
_PROGRESS_S = 0.1
"""Progress is said at most this often."""


def main() -> None:
    """Serve jobs until the pool closes its end."""
    jail.end_with_parent(int(sys.argv[1]))
    jobs, answers = _pipes()
    setup = msgspec.msgpack.decode(_received(jobs), type=frames.Setup)
    limits = setup.limits
    _send(answers, frames.packed(frames.Ready()))
    _silence()
    os.nice(setup.nice)
    # Reading makes many small objects that live until the file is read; looking through all of
    # them for cycles again and again takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    jail.bound_files()
    jail.bound_pages(int(sys.argv[2]))
    jail.bound_memory(limits.memory_bytes)
    while body := _received(jobs):
        jail.bound_processor(limits.cpu_s)
        _send(answers, _answer(frames.job(body), setup, (jobs, answers)))


def _pipes() -> _Pipes:
    """Return the protocol's pipes, moved away from standard input and output."""
    jobs, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(jobs, "rb"), os.fdopen(answers, "wb")


def _silence() -> None:
    """Drop whatever libraries print; only a failing start is shown."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)


def _received(jobs: BinaryIO) -> bytes:
    """Return the next body; empty at the end."""
    head = jobs.read(frames.LENGTH.size)
    return jobs.read(frames.LENGTH.unpack(head)[0]) if len(head) == frames.LENGTH.size else b""


def _send(answers: BinaryIO, body: bytes) -> None:
    answers.write(frames.framed(body))
    answers.flush()


def _answer(job: frames.Job, setup: frames.Setup, pipes: _Pipes) -> bytes:
    """Return the packed answer to a job; whatever goes wrong is an answer too."""
    try:
        body = frames.packed(frames.Finished(_read(job, setup, pipes)))
        if len(body) <= frames.MAX_FRAME_BYTES:
            return body
        problem: FileProblem = TooLarge(
            f"the text of the file takes {len(body)} bytes; the most is {frames.MAX_FRAME_BYTES}"
        )
    except FileProblem as error:
        problem = error
    except MemoryError:
        problem = too_large(setup.limits, "memory_bytes")
    except RecursionError:
        problem = too_large(setup.limits, "max_nesting")
    except Exception as error:  # a reader's fault is that file's error
        problem = DamagedFile(f"the file cannot be read ({type(error).__name__})")
        return frames.packed(frames.Failed("DamagedFile", problem.message, _place(error)))
    return frames.packed(frames.Failed(type(problem).__name__, problem.message))


def _read(job: frames.Job, setup: frames.Setup, pipes: _Pipes) -> ParsedFile:
    jobs, answers = pipes
    path = Path(job.path)
    check(setup.limits, "max_file_bytes", path.stat().st_size)
    said_at = 0.0

    def advance(done: int, total: int) -> None:
        nonlocal said_at
        now = time.monotonic()
        if now - said_at >= _PROGRESS_S or done == total:
            said_at = now
            _send(answers, frames.packed(frames.Advanced(done, total)))

    def look(picture: bytes) -> str:
        _send(answers, frames.packed(frames.Look(picture)))
        seen = frames.seen(_received(jobs))
        if seen.problem:
            raise VisionError(seen.problem)
        return seen.text

    return read_file(
        path.read_bytes(),
        job.name,
        password=job.password,
        media_type=job.media_type,
        limits=setup.limits,
        options=job.options,
        ocr=setup.ocr,
        progress=advance,
        look=look,
    )


def _place(error: Exception) -> str:
    """Return where an error came from, without its words, which may quote the document."""
    last = traceback.extract_tb(error.__traceback__)[-3:]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(last))
    return f"{type(error).__name__} at {places}"


if __name__ == "__main__":
    main()
