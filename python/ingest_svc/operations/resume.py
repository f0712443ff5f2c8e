"""What an earlier process left of operations: gone on with where it can be, else ended."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.operations.job import Stage
from ingest_svc.operations.request import Kept, kept_request
from ingest_svc.operations.under_way import Live
from treespan.errors import Interrupted, StoreUnavailable
from treespan.store.records import OperationKind

if TYPE_CHECKING:
    from ingest_svc.operations.endings import Endings
    from ingest_svc.operations.runner import Runner
    from ingest_svc.upload import Spool, Spooled
    from treespan.store.interface import Writer
    from treespan.store.records import OperationRecord

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Resumption:
    """Goes on with what was recorded and did not end."""

    runner: Runner
    endings: Endings
    spool: Spool
    writer: Writer

    async def go_on(self) -> None:
        """Resume in the order of the requests; end what cannot go on, and drop what is left over.

        A store that cannot be written now can be read all the same.
        """
        resumed = []
        for record in self.writer.unfinished_operations():
            live = _live(record)
            if problem := self._problem(live):
                await self.endings.failed(live, Interrupted(problem))
            else:
                resumed.append(live)
        self.spool.keep_only({live.record.operation for live in resumed})
        self._drop_unfinished()
        for live in resumed:
            live.job.enter(Stage.QUEUED)
            has_bytes = live.record.kind in (OperationKind.INGEST_FILE, OperationKind.INGEST_TEXT)
            self.runner.resume(live, self._spooled if has_bytes else None)
        if resumed:
            _log.info("going on with operations", extra={"count": len(resumed)})

    def _problem(self, live: Live) -> str:
        """Return why an operation cannot go on; empty where it can."""
        if not live.kept.detached:
            return "the service was stopped before the ingest had ended; send it again"
        if live.kept.has_password:
            return (
                "the service was stopped before the ingest had ended, and passwords are not kept; "
                "send it again"
            )
        has_bytes = live.record.kind in (OperationKind.INGEST_FILE, OperationKind.INGEST_TEXT)
        if has_bytes and not self.spool.is_whole(live.record.operation):
            return "the service was stopped before all bytes had come; send it again"
        return ""

    async def _spooled(self, live: Live) -> Spooled:
        return await self.spool.found(live.record.operation)

    def _drop_unfinished(self) -> None:
        try:
            dropped = self.writer.abandon_unfinished()
        except StoreUnavailable as error:
            _log.warning("what an earlier process left cannot be dropped now: %s", error)
            return
        if dropped:
            _log.warning("dropped artifacts whose ingest had not ended", extra={"count": dropped})


def _live(record: OperationRecord) -> Live:
    try:
        return Live(record, kept_request(record.request))
    except msgspec.MsgspecError:  # of another version of treespan: it cannot go on
        return Live(record, Kept(had_draft=True))
