"""Operations as they stand: one, a page of them, or one watched until its end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from treespan.errors import NotServing
from treespan.store.records import OperationRecord, OperationState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from ingest_svc.operations.endings import Endings
    from ingest_svc.operations.job import Job
    from ingest_svc.operations.under_way import Live, Operations
    from treespan.store.interface import Reader
    from treespan.store.records import Tenant

_PAUSE_S: Final = 0.1
"""Shortest time between two states of a watched operation."""
_UNENDED: Final = (OperationState.QUEUED, OperationState.RUNNING)


@dataclass(frozen=True, slots=True)
class View:
    """An operation as it stands."""

    record: OperationRecord
    state: OperationState
    job: Job | None = None
    """Its job, until it has ended."""


def view_of(known: Live | OperationRecord) -> View:
    """Return an operation as it stands."""
    if isinstance(known, OperationRecord):
        return View(known, known.state)
    if known.ended.is_set() and not known.is_left:
        return View(known.record, known.record.state)
    return View(known.record, known.state, known.job)


class Views:
    """Looks at operations. Used from one event loop only."""

    def __init__(self, operations: Operations, endings: Endings, reader: Reader) -> None:
        self._operations = operations
        self._endings = endings
        self._reader = reader

    async def one(self, tenant: Tenant, operation: str) -> Live | OperationRecord:
        """Return an operation; raises `OperationNotFound`."""
        live = self._operations.by_id(tenant, operation)
        if live is not None:
            return live
        record = await asyncio.to_thread(self._reader.operation, tenant, operation)
        return self._newest(record)

    async def page(
        self,
        tenant: Tenant,
        collection: str,
        states: Sequence[OperationState],
        before: str,
        most: int,
    ) -> list[View]:
        """Return operations, the newest first, at most `most`.

        What is under way has its state here alone, so the store is asked for all that has not
        ended where either state is wanted.
        """
        wanted = set(states)
        asked = wanted | set(_UNENDED) if wanted & set(_UNENDED) else wanted
        found: list[View] = []
        while len(found) < most:
            size = most - len(found)
            records = await asyncio.to_thread(
                self._reader.operations, tenant, collection, sorted(asked), before, size
            )
            views = [await self._shown(record) for record in records]
            found += [view for view in views if not wanted or view.state in wanted]
            if len(records) < size:
                break
            before = records[-1].operation
        return found

    async def watched(self, live: Live) -> AsyncIterator[View]:
        """Yield an operation as it stands, after every change, and last at its end.

        Raises:
            NotServing: the service is stopping.
        """
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def tell() -> None:  # in whatever thread something changes
            loop.call_soon_threadsafe(changed.set)

        with live.job.watched(tell):
            while not live.ended.is_set():
                if self._operations.is_draining:
                    raise NotServing("the service is stopping; watch again when it is back")
                changed.clear()
                yield view_of(live)
                await changed.wait()
                await _paused(live)
        if live.is_left:
            raise NotServing("the service is stopping; watch again when it is back")
        yield view_of(live)

    async def _shown(self, record: OperationRecord) -> View:
        if record.ended_us:
            return view_of(record)
        return view_of(await self.one(record.tenant, record.operation))

    def _newest(self, record: OperationRecord) -> OperationRecord:
        """Return an operation as it ended, where the store does not have its end yet."""
        return record if record.ended_us else self._endings.of(record.operation) or record


async def _paused(live: Live) -> None:
    """Wait before the next state is shown; not at the end."""
    try:
        async with asyncio.timeout(_PAUSE_S):
            await live.ended.wait()
    except TimeoutError:
        return
