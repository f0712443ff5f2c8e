"""What came of an operation, as the store keeps it, and as an error that is told again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ingest_svc.operations.job import Stage
from treespan import errors
from treespan.errors import (
    CallCancelled,
    DeadlineExceeded,
    FailedPrecondition,
    Interrupted,
    InvalidArgument,
    NotFound,
    NotServing,
    StoreUnavailable,
    TreespanError,
    UriUnreachable,
)
from treespan.store.records import WarningRecord

if TYPE_CHECKING:
    from ingest_svc.operations.job import Job
    from treespan.store.records import ArtifactRecord

# Nothing came of the request, and the same one may succeed later.
_CUT_OFF = (
    CallCancelled,
    DeadlineExceeded,
    Interrupted,
    NotServing,
    StoreUnavailable,
    UriUnreachable,
)
_TABLE = {
    kind.reason: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, TreespanError) and "reason" in vars(kind)
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why an operation ended without success."""

    reason: str
    message: str
    code: int
    """Number of the status code, as in google.rpc.Code."""
    stage: int = 0


class EndedWith(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of an operation."""

    already_ingested: bool = False
    received_bytes: int = 0
    page_count: int = 0
    node_count: int = 0
    chunk_count: int = 0
    warnings: tuple[WarningRecord, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    problem: Problem | None = None


def packed_outcome(
    job: Job, *, already_ingested: bool = False, problem: Problem | None = None
) -> bytes:
    """Return what came of an operation as `OperationRecord.outcome` holds it."""
    return msgspec.msgpack.encode(
        EndedWith(
            already_ingested=already_ingested,
            received_bytes=job.received_bytes,
            page_count=job.page_count,
            node_count=job.node_count,
            chunk_count=job.chunk_count,
            warnings=job.warnings,
            counts=job.counts,
            problem=problem,
        )
    )


def outcome_of(packed: bytes) -> EndedWith:
    """Return what `packed_outcome` packed."""
    return msgspec.msgpack.decode(packed, type=EndedWith) if packed else EndedWith()


def tell_of(job: Job, record: ArtifactRecord) -> None:
    """Show what is known of an artifact whose content was there already."""
    job.page_count = record.page_count
    job.node_count = record.node_count
    job.chunk_count = record.vector_count
    job.warnings = record.warnings
    job.counts = record.counts


def problem_of(error: TreespanError, stage: Stage = Stage.QUEUED) -> Problem:
    """Return an error as it is kept."""
    code: int = error.code.value[0]
    return Problem(error.reason, error.message, code, stage)


def is_cut_off(error: TreespanError) -> bool:
    """Return whether a request that ended so may be made again under its `request_id`."""
    return isinstance(error, _CUT_OFF) or error.reason == TreespanError.reason


def error_of(problem: Problem) -> TreespanError:
    """Return the error that a kept one was."""
    kind = _TABLE.get(problem.reason, TreespanError)
    if issubclass(kind, InvalidArgument | NotFound | FailedPrecondition):
        return kind("", problem.message)
    return kind(problem.message)
