"""Several sources on their way into a collection at once; what became of each.

Every ingest is an operation that outlives its call. A connection that breaks, or a service that
restarts, costs nothing but a moment: the request is sent again, or its operation is watched on.
"""

from __future__ import annotations

import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from queue import Empty, Queue
from typing import TYPE_CHECKING, Final, Protocol

from treespan.cli.mirror import file_uri
from treespan.cli.plan import Verdict
from treespan.client.operations import UNDER_WAY, has_ended
from treespan.errors import (
    ArtifactBusy,
    ArtifactNotFound,
    CallCancelled,
    Interrupted,
    NotServing,
    OperationNotFound,
    QueueFull,
    TreespanError,
)
from treespan.v1.ingest_service_pb2 import Artifact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from treespan.cli.files import Source
    from treespan.cli.interrupts import UnderWay
    from treespan.cli.plan import Plan
    from treespan.client import Client, UriKeywords
    from treespan.v1.ingest_service_pb2 import Operation, Progress

# How long an obstacle may last that passes by itself. A full queue, and another ingest of the same
# artifact, take as long as files are read: minutes, for large ones.
_PATIENCE_S: Final[dict[type[TreespanError], float]] = {
    QueueFull: 1800.0,
    ArtifactBusy: 1800.0,
    NotServing: 60.0,
    Interrupted: 60.0,
}
_PASSING: Final = tuple(_PATIENCE_S)
_LOOK_S: Final = 0.5
_WAKE_S: Final = 0.2


class Result(Enum):
    """What became of a source."""

    OK = "ok"
    ALREADY_THERE = "already there"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source, and how long it took."""

    source: Source
    result: Result
    seconds: float = 0.0
    artifact: Artifact | None = None
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """What holds for all sources of one run."""

    client: Client
    collection: str
    keywords: UriKeywords
    at_once: int
    under_way: UnderWay


class Watcher(Protocol):
    """Is told how sources get on; called from several threads."""

    def started(self, source: Source) -> None:
        """Take note of a source whose turn has come."""

    def progressed(self, source: Source, progress: Progress) -> None:
        """Take note of how far a source is."""

    def finished(self, outcome: Outcome) -> None:
        """Take note of what became of a source."""


def outcomes(
    job: Job, plan: Plan, sources: Sequence[Source], watcher: Watcher
) -> Iterator[Outcome]:
    """Do what is to be done with all sources and yield what became of each, as they end.

    One source's failure is its own. Closed early, it begins no further one; those under way end
    when the client is closed.
    """
    pool = ThreadPoolExecutor(job.at_once, thread_name_prefix="ingest")
    try:
        ended: Queue[Future[Outcome]] = Queue()
        for source in sources:
            pool.submit(_done, job, plan, source, watcher).add_done_callback(ended.put)
        for _ in sources:
            yield _next(ended).result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _next(ended: Queue[Future[Outcome]]) -> Future[Outcome]:
    """Return the next that has ended; wake up now and then, so that signals are handled."""
    while True:
        try:
            return ended.get(timeout=_WAKE_S)
        except Empty:
            continue


def _done(job: Job, plan: Plan, source: Source, watcher: Watcher) -> Outcome:
    watcher.started(source)
    outcome = _outcome(job, plan, source, watcher)
    watcher.finished(outcome)
    return outcome


def _outcome(job: Job, plan: Plan, source: Source, watcher: Watcher) -> Outcome:
    if job.under_way.stopped.is_set():
        return Outcome(source, Result.CANCELLED, reason="CANCELLED", message="not begun")
    step = plan.step(source)
    if step.verdict is Verdict.SAME:
        return Outcome(source, Result.ALREADY_THERE, artifact=step.artifact)
    if step.verdict is Verdict.UNREADABLE:
        return Outcome(source, Result.FAILED, reason="NOT_READ", message=step.message)
    started = time.monotonic()

    def failed(reason: str, message: str, result: Result = Result.FAILED) -> Outcome:
        return Outcome(source, result, time.monotonic() - started, reason=reason, message=message)

    try:
        operation = _through(job, source, watcher)
        artifact = _artifact(job, source, operation)
    except CallCancelled as error:
        return failed(error.reason, error.message, Result.CANCELLED)
    except TreespanError as error:
        return failed(error.reason, error.message)
    except OSError as error:
        return failed("NOT_READ", f"{error.strerror or error}: {source.path}")
    result = Result.ALREADY_THERE if operation.already_ingested else Result.OK
    return Outcome(source, result, time.monotonic() - started, artifact)


def _through(job: Job, source: Source, watcher: Watcher) -> Operation:
    """Send a source and return its operation at its end; what passes by itself is waited for."""
    request_id = uuid.uuid4().hex
    obstacle: type[TreespanError] | None = None
    since = 0.0
    while True:
        job.under_way.check()
        try:
            return _sent(job, source, watcher, request_id)
        except _PASSING as error:
            if type(error) is not obstacle:
                obstacle, since = type(error), time.monotonic()
            if time.monotonic() - since > _PATIENCE_S[type(error)]:
                raise
            if isinstance(error, Interrupted):
                request_id = uuid.uuid4().hex
            if isinstance(error, ArtifactBusy):
                _wait_for_others(job, source)
            job.under_way.pause(error.retry_after_s or 1.0)


def _sent(job: Job, source: Source, watcher: Watcher, request_id: str) -> Operation:
    def sending(progress: Progress) -> None:
        job.under_way.check()
        watcher.progressed(source, progress)

    def going_on(operation: Operation) -> None:
        if operation.HasField("progress"):
            watcher.progressed(source, operation.progress)

    keywords: UriKeywords = {
        **job.keywords,
        "file_name": source.file_name,
        "detached": True,
        "request_id": request_id,
    }
    client, where = job.client, (job.collection, source.artifact)
    try:
        if source.uri:
            begun = client.ingest_uri(source.uri, *where, **keywords).operation
        else:
            mark = file_uri(source.path)
            begun = client.ingest_file(
                source.path, *where, progress=sending, source_uri=mark, **keywords
            ).operation
    except CallCancelled:
        _cancel_request(job, request_id)
        raise
    with job.under_way.of(begun.operation):
        return client.wait_operation(begun, progress=going_on)


def _cancel_request(job: Job, request_id: str) -> None:
    """Cancel what a request began whose answer was not waited for."""
    for operation in job.client.list_operations(job.collection, states=UNDER_WAY):
        if operation.request_id == request_id:
            job.client.cancel_operation(operation.operation)


def _wait_for_others(job: Job, source: Source) -> None:
    """Wait for another ingest of the same artifact, such as one of a run before this."""
    try:
        for operation in job.client.list_operations(job.collection, states=UNDER_WAY):
            if operation.artifact != source.artifact:
                continue
            while not has_ended(operation):
                job.under_way.pause(_LOOK_S)
                operation = job.client.get_operation(operation.operation)
            return
    except (NotServing, OperationNotFound):
        return  # the next try will tell


def _artifact(job: Job, source: Source, operation: Operation) -> Artifact:
    """Return the artifact; where it is gone already, what its operation says of it."""
    try:
        return job.client.get_artifact(source.artifact, job.collection)
    except (ArtifactNotFound, NotServing):
        return Artifact(
            artifact=source.artifact,
            page_count=operation.page_count,
            node_count=operation.node_count,
            chunk_count=operation.chunk_count,
            warnings=operation.warnings,
        )
