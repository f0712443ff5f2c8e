"""Operations as messages of the API, and requests about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.messages.answers import progress_message, timestamp, warning_messages
from ingest_svc.operations.outcome import EndedWith, Problem, outcome_of, problem_of
from treespan.errors import InvalidField
from treespan.store.records import OperationState
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.operations.job import Job
    from ingest_svc.operations.views import View
    from treespan.errors import TreespanError


def operation_message(view: View) -> pb.Operation:
    """Return an operation as the API shows it."""
    record = view.record
    message = pb.Operation(
        operation=record.operation,
        kind=pb.Operation.Kind.ValueType(record.kind),
        state=pb.Operation.State.ValueType(view.state),
        collection=record.collection,
        artifact=record.artifact,
        request_id=record.request_id,
        seq=record.seq,
    )
    if record.created_us:
        message.create_time.CopyFrom(timestamp(record.created_us))
    if view.job is not None:
        message.progress.CopyFrom(progress_message(view.job))
        _add_facts(message, view.job)
        return message
    outcome = outcome_of(record.outcome)
    message.already_ingested = outcome.already_ingested
    _add_facts(message, outcome)
    if record.ended_us:
        message.end_time.CopyFrom(timestamp(record.ended_us))
    if outcome.problem is not None:
        message.error.CopyFrom(problem_message(outcome.problem))
    return message


def problem_message(problem: Problem) -> pb.OperationError:
    """Return why an operation ended without success."""
    return pb.OperationError(
        reason=problem.reason,
        message=problem.message,
        code=problem.code,
        stage=pb.Progress.Stage.ValueType(problem.stage),
    )


def refusal_message(error: TreespanError) -> pb.OperationError:
    """Return why an operation was never recorded."""
    message = problem_message(problem_of(error))
    message.ClearField("stage")
    return message


def checked_states(values: Sequence[int]) -> list[OperationState]:
    """Return the states that a list is to hold.

    Raises:
        InvalidField: one is none.
    """
    known = {int(state) for state in OperationState}
    for value in values:
        if value not in known:
            raise InvalidField("states", f"holds {value}; states are 1 (QUEUED) to 5 (CANCELLED)")
    return [OperationState(value) for value in dict.fromkeys(values)]


def _add_facts(message: pb.Operation, found: Job | EndedWith) -> None:
    message.page_count = found.page_count
    message.node_count = found.node_count
    message.chunk_count = found.chunk_count
    message.warnings.extend(warning_messages(found.warnings))
    message.counts.update(dict(found.counts))
