"""Several files on their way into a collection at once; what became of each."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from treespan.errors import QueueFull, TreespanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from treespan.cli.files import Source
    from treespan.client import Client, MetadataInput
    from treespan.v1.ingest_service_pb2 import Artifact, Progress

# A full queue empties as fast as files are read: minutes, for large ones.
_QUEUE_PATIENCE_S = 1800.0


class Result(Enum):
    """What became of a file."""

    OK = "ok"
    ALREADY_THERE = "already there"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file, and how long it took."""

    source: Source
    result: Result
    seconds: float = 0.0
    artifact: Artifact | None = None
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """What holds for all files of one run."""

    client: Client
    collection: str
    metadata: MetadataInput
    password: str | None
    at_once: int


class Watcher(Protocol):
    """Is told how files get on; called from several threads."""

    def started(self, source: Source) -> None:
        """Take note of a file whose turn has come."""

    def progressed(self, source: Source, progress: Progress) -> None:
        """Take note of how far a file is."""

    def finished(self, outcome: Outcome) -> None:
        """Take note of what became of a file."""


def outcomes(job: Job, sources: Sequence[Source], watcher: Watcher) -> Iterator[Outcome]:
    """Ingest all files and yield what became of each, in the order of their ends.

    One file's failure is its own. Closed early, for instance by an interrupt, it starts no further
    file; those under way end when the client is closed.
    """
    pool = ThreadPoolExecutor(job.at_once, thread_name_prefix="ingest")
    try:
        waiting = [pool.submit(_ingest, job, source, watcher) for source in sources]
        for done in as_completed(waiting):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _ingest(job: Job, source: Source, watcher: Watcher) -> Outcome:
    started = time.monotonic()
    watcher.started(source)
    outcome = _attempt(job, source, watcher, started)
    watcher.finished(outcome)
    return outcome


def _attempt(job: Job, source: Source, watcher: Watcher, started: float) -> Outcome:
    def failed(reason: str, message: str) -> Outcome:
        spent = time.monotonic() - started
        return Outcome(source, Result.FAILED, spent, reason=reason, message=message)

    if source.problem:
        return failed("NOT_READ", source.problem)
    while True:
        try:
            answer = job.client.ingest_file(
                source.path,
                job.collection,
                source.artifact,
                file_name=source.file_name,
                metadata=job.metadata,
                password=job.password,
                progress=lambda progress: watcher.progressed(source, progress),
            )
        except QueueFull as error:
            if time.monotonic() - started > _QUEUE_PATIENCE_S:
                return failed(error.reason, error.message)
            time.sleep(error.retry_after_s or 1.0)
        except TreespanError as error:
            return failed(error.reason, error.message)
        except OSError as error:
            return failed("NOT_READ", f"{error.strerror or error}: {source.path}")
        else:
            result = Result.ALREADY_THERE if answer.already_ingested else Result.OK
            return Outcome(source, result, time.monotonic() - started, answer.artifact)
