"""Runs operations: from a request to its end, by way of a spool file and the pipeline.

    begin ─> recorded ─> bytes are here (received, written or fetched) ─> pipeline ─> ended
                              │
                              └─ from here on, a detached one needs no caller and outlives a restart

An operation is one task. It undoes what it did before it ends, whoever stopped it and why.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest_svc.operations.ids import OperationIds
from ingest_svc.operations.job import Stage
from ingest_svc.operations.outcome import outcome_of
from ingest_svc.operations.under_way import Live
from ingest_svc.threads import to_the_end
from treespan import metrics
from treespan.errors import (
    CallCancelled,
    FileProblem,
    Interrupted,
    NotServing,
    RequestIdReused,
    TreespanError,
)
from treespan.store.records import OperationRecord, OperationState

if TYPE_CHECKING:
    from ingest_svc.operations.endings import Endings
    from ingest_svc.operations.request import Wanted
    from ingest_svc.operations.under_way import Operations
    from ingest_svc.operations.work import Bring, Work
    from ingest_svc.upload import Spool
    from treespan.store.interface import Writer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Begun:
    """What a request led to."""

    known: Live | OperationRecord
    """The operation; a record where it has ended."""
    is_first: bool
    """Whether this request began it."""


class Runner:
    """Begins, runs, cancels and stops operations. Used from one event loop only."""

    def __init__(
        self,
        work: Work,
        operations: Operations,
        endings: Endings,
        spool: Spool,
        writer: Writer,
    ) -> None:
        self._work = work
        self._operations = operations
        self._endings = endings
        self._spool = spool
        self._writer = writer
        self._ids = OperationIds(writer)

    async def begin(self, wanted: Wanted, bring: Bring | None = None) -> Begun:
        """Begin what is wanted, or return what became of the same request before.

        Args:
            wanted: The request.
            bring: Brings its bytes into the spool; None where they are fetched, or there are none.

        Raises:
            RequestIdReused: its id was used for another request.
            ArtifactBusy: the artifact is being ingested, changed or deleted.
            QueueFull: too many operations are under way.
            NotServing: the service is stopping.
        """
        operation = await self._ids.new(wanted.key.tenant)
        if wanted.request_id and (known := await self._known(wanted)) is not None:
            return Begun(known, is_first=False)
        live = Live(
            OperationRecord(
                tenant=wanted.key.tenant,
                operation=operation,
                kind=wanted.kind,
                collection=wanted.key.collection,
                artifact=wanted.key.artifact,
                request_id=wanted.request_id,
                request_digest=wanted.digest,
            ),
            wanted.kept,
            wanted.password,
        )
        self._operations.claim(live)
        self._endings.take_over(live.key)
        self._start(live, bring)
        return Begun(live, is_first=True)

    def resume(self, live: Live, bring: Bring | None) -> None:
        """Go on with an operation that an earlier process recorded and did not end."""
        live.is_detached = True
        self._operations.claim(live, resumed=True)
        self._start(live, bring)

    async def answered(self, live: Live, *, detached: bool, is_first: bool) -> None:
        """Wait for what a caller waits for: the end, or, detached, that its bytes are safe.

        Where the caller goes away, and nobody else waits for it, an operation that is not detached
        is cancelled; so is one whose bytes its first caller had not sent whole.

        Raises:
            TreespanError: it ended without success.
        """
        live.callers += 1
        try:
            await (live.safe if detached else live.ended).wait()
        except asyncio.CancelledError:
            live.callers -= 1
            if (is_first and not live.safe.is_set()) or not (live.callers or live.is_detached):
                self.cancel(live, self._gone())
                await live.ended.wait()
            raise
        live.callers -= 1
        if detached and not live.ended.is_set():
            live.is_detached = True
        if live.error is None or (detached and live.is_detached):
            return
        if isinstance(live.error, CallCancelled) and not (is_first or live.keeps_request_id):
            raise Interrupted("the call that began this ingest went away; send it again")
        raise live.error

    async def cancelled(self, live: Live) -> None:
        """Cancel an operation for good, and wait until nothing is left of it."""
        live.keeps_request_id = True
        self.cancel(live, CallCancelled("the operation was cancelled"))
        await live.ended.wait()

    def cancel(self, live: Live, why: TreespanError) -> None:
        """Stop an operation, unless it is being written to the store or ends already."""
        if live.is_ending or live.cancelled_as or live.job.stage is Stage.COMMITTING:
            return
        live.cancelled_as = why
        live.job.cancelled = True
        live.interrupt()

    async def stop(self) -> None:
        """Stop everything; what is detached is left for the next start to go on with."""
        stopping = self._operations.all()
        for live in stopping:
            if not live.is_detached:
                self.cancel(live, self._gone())
            elif not (live.is_ending or live.cancelled_as):
                live.is_left = live.job.cancelled = True
                live.interrupt()
        if tasks := [live.task for live in stopping if live.task is not None]:
            await asyncio.wait(tasks)

    def _gone(self) -> TreespanError:
        if self._operations.is_draining:
            return Interrupted("the service stopped before the ingest had ended; send it again")
        return CallCancelled("its caller went away")

    async def _known(self, wanted: Wanted) -> Live | OperationRecord | None:
        """Return what the same request began before."""
        tenant = wanted.key.tenant
        live = self._operations.by_request(tenant, wanted.request_id)
        found: Live | OperationRecord | None = live
        if found is None:
            await self._endings.retry()
            found = await asyncio.to_thread(
                self._writer.operation_by_request, tenant, wanted.request_id
            )
            # Another call of the same id may have begun meanwhile.
            found = self._operations.by_request(tenant, wanted.request_id) or found
        if found is None:
            return None
        record = found.record if isinstance(found, Live) else found
        if record.request_digest != wanted.digest:
            raise RequestIdReused(
                "options.request_id",
                f"{wanted.request_id!r} was used for another request, operation "
                f"{record.operation}; give every request an id of its own",
            )
        if isinstance(found, OperationRecord) and not found.ended_us:  # it ended just now
            return await asyncio.to_thread(self._writer.operation, tenant, found.operation)
        return found

    def _start(self, live: Live, bring: Bring | None) -> None:
        live.task = asyncio.create_task(self._run(live, bring))

    async def _run(self, live: Live, bring: Bring | None) -> None:
        """Run an operation to its end; raises nothing."""
        live.is_started = True
        try:
            try:
                live.job.check()
                if not live.record.created_us:
                    live.record = await to_the_end(self._work.record, live)
                outcome = await self._work.do(live, bring)
                live.is_ending = True
                live.record = await self._endings.succeeded(live, outcome)
            except BaseException as error:
                live.is_ending = True
                if not live.is_left:
                    await self._fail(live, self._told(live, error))
            if not live.is_left:
                self._spool.drop(live.record.operation)
                self._count(live)
        except Exception as error:
            live.error = self._fault(live, error)
        finally:
            if live.is_left:
                live.error = NotServing("the service is stopping; the ingest goes on at its start")
            elif live.record.state != OperationState.SUCCEEDED:
                live.error = live.error or self._gone()
            self._operations.release(live)
            live.ended.set()
            live.safe.set()
            live.job.tell()

    async def _fail(self, live: Live, error: TreespanError) -> None:
        live.job.cancelled = True
        live.record = await self._endings.failed(live, error)
        if live.record.state != OperationState.SUCCEEDED:
            live.error = error

    def _told(self, live: Live, error: BaseException) -> TreespanError:
        """Return the error that an operation ends with."""
        if live.cancelled_as is not None:
            return live.cancelled_as
        if isinstance(error, TreespanError):
            return error
        if isinstance(error, asyncio.CancelledError):
            return Interrupted("the service stopped before the ingest had ended; send it again")
        return self._fault(live, error)

    def _fault(self, live: Live, error: BaseException) -> TreespanError:
        """Log what nobody foresaw, by its place alone: its words may quote the document."""
        last = traceback.extract_tb(error.__traceback__)[-3:]
        places = " < ".join(f"{Path(call.filename).name}:{call.lineno}" for call in reversed(last))
        where = f"{type(error).__name__} at {places}"
        operation = live.record.operation
        _log.error("fault in an ingest", extra={"operation": operation, "where": where})
        return TreespanError(f"a fault of the server; its log has it under operation {operation}")

    def _count(self, live: Live) -> None:
        """Count a file by what became of it."""
        if live.error is None:
            known = outcome_of(live.record.outcome).already_ingested
            metrics.FILES.labels("already_ingested" if known else "ok").inc()
            return
        is_told = isinstance(live.error, FileProblem | CallCancelled)
        metrics.FILES.labels(live.error.reason.lower() if is_told else "refused").inc()
        if live.is_detached:  # no call fails with it
            said = {"operation": live.record.operation, "reason": live.error.reason}
            _log.info("an ingest ended without success", extra=said)
