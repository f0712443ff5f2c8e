"""Ends of operations: written to the store with what is to be undone, later where it is away."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ingest_svc.operations.outcome import is_cut_off, packed_outcome, problem_of, tell_of
from ingest_svc.threads import to_the_end
from treespan import metrics
from treespan.errors import (
    ArtifactNotFound,
    CallCancelled,
    CollectionNotFound,
    OperationNotFound,
    StoreDamaged,
    StoreUnavailable,
)
from treespan.store.records import OperationKind, OperationState

if TYPE_CHECKING:
    from ingest_svc.operations.job import ArtifactKey
    from ingest_svc.operations.under_way import Live
    from ingest_svc.pipeline import Outcome
    from treespan.errors import TreespanError
    from treespan.store.interface import Writer
    from treespan.store.records import OperationRecord

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ending:
    """How an operation ended."""

    record: OperationRecord
    """As it was before."""
    key: ArtifactKey
    state: OperationState
    outcome: bytes
    seq: int = 0
    frees_request_id: bool = False
    """Whether its request may be made again under the same id."""
    abandons: bool = False
    """Whether the artifact that it reserved is to go."""

    def as_record(self) -> OperationRecord:
        """Return what the store would have, were it written."""
        return replace(
            self.record,
            state=self.state,
            outcome=self.outcome,
            seq=self.seq,
            request_id="" if self.frees_request_id else self.record.request_id,
            ended_us=time.time_ns() // 1000,
        )


class Endings:
    """Writes ends. Used from one event loop only."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._unwritten: dict[str, Ending] = {}

    async def succeeded(self, live: Live, outcome: Outcome) -> OperationRecord:
        """Write that an operation did what it was for; most often, its commit has done so."""
        if not live.job.node_count:
            await to_the_end(self._look, live)
        packed = packed_outcome(live.job, already_ingested=outcome.already_ingested)
        return await self._end(
            Ending(live.record, live.key, OperationState.SUCCEEDED, packed, outcome.seq)
        )

    async def failed(self, live: Live, error: TreespanError) -> OperationRecord:
        """Write that an operation failed or was cancelled, and undo what there is of it."""
        cancelled = isinstance(error, CallCancelled)
        return await self._end(
            Ending(
                live.record,
                live.key,
                OperationState.CANCELLED if cancelled else OperationState.FAILED,
                packed_outcome(live.job, problem=problem_of(error, live.job.stage)),
                frees_request_id=is_cut_off(error) and not live.keeps_request_id,
                abandons=_abandons(live),
            )
        )

    def of(self, operation: str) -> OperationRecord | None:
        """Return an operation whose end the store does not have yet, as it ended."""
        ending = self._unwritten.get(operation)
        return ending.as_record() if ending else None

    def take_over(self, key: ArtifactKey) -> None:
        """Leave an artifact to the operation that now begins on it."""
        for operation, ending in self._unwritten.items():
            if ending.key == key:
                self._unwritten[operation] = replace(ending, abandons=False)

    async def retry(self) -> None:
        """Write what could not be written before.

        Raises:
            StoreUnavailable: it cannot be written now, either.
        """
        for operation, ending in tuple(self._unwritten.items()):
            await to_the_end(self._write, ending)
            self._unwritten.pop(operation, None)

    async def _end(self, ending: Ending) -> OperationRecord:
        try:
            ended = await to_the_end(self._write, ending)
        except (StoreUnavailable, StoreDamaged) as error:
            _log.warning(
                "the end of an ingest cannot be written yet: %s",
                error,
                extra={"operation": ending.record.operation},
            )
            self._unwritten[ending.record.operation] = ending
            ended = ending.as_record()
        metrics.OPERATIONS_ENDED.labels(ended.state.name.lower()).inc()
        return ended

    def _write(self, ending: Ending) -> OperationRecord:
        tenant, operation = ending.record.tenant, ending.record.operation
        try:
            known = self._writer.operation(tenant, operation)
        except OperationNotFound:  # it was cancelled before it was recorded
            return ending.as_record()
        # The commit may have been quicker than whatever failed.
        if not known.ended_us or (known.state == ending.state and not known.outcome):
            self._writer.end_operation(
                tenant,
                operation,
                ending.state,
                ending.outcome,
                ending.seq,
                free_request_id=ending.frees_request_id,
            )
            known = self._writer.operation(tenant, operation)
        if ending.abandons and known.state != OperationState.SUCCEEDED:
            self._writer.abandon_artifact(*ending.key)
        return known

    def _look(self, live: Live) -> None:
        # Else its counts stay unknown.
        with suppress(ArtifactNotFound, CollectionNotFound, StoreUnavailable):
            tell_of(live.job, self._writer.artifact(*live.key))


def _abandons(live: Live) -> bool:
    """Whether what there is of the artifact is this operation's own, and not a draft before it."""
    return live.record.kind is not OperationKind.POPULATE_ARTIFACT and not live.kept.had_draft
