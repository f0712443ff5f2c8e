"""Operations under way: one for an artifact, a bounded number in all."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ingest_svc.operations.job import ArtifactKey, Job
from treespan import metrics
from treespan.errors import ArtifactBusy, NotServing, QueueFull
from treespan.store.records import OperationState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ingest_svc.operations.request import Kept
    from treespan.errors import TreespanError
    from treespan.store.records import OperationRecord, Tenant

_RETRY_AFTER_S = 5.0


@dataclass(slots=True, eq=False)
class Live:
    """An operation that has not ended. Used from one event loop only, but for its job."""

    record: OperationRecord
    """As the store has it."""
    kept: Kept
    password: str = field(default="", repr=False)
    job: Job = field(default_factory=Job)
    task: asyncio.Task[None] | None = None
    safe: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is recorded and has its bytes, or has ended."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    error: TreespanError | None = None
    """Why it ended without success."""
    cancelled_as: TreespanError | None = None
    """Why it is being cancelled."""
    callers: int = 0
    """Calls that wait for it."""
    is_detached: bool = False
    """Whether it goes on when nobody waits for it."""
    keeps_request_id: bool = False
    """Whether its request is answered with its end, even where nothing came of it."""
    is_left: bool = False
    """Whether it is stopped as it is, for the next start of the service to go on with."""
    is_started: bool = False
    """Whether its task has begun: cancelled before, it would not even undo itself."""
    is_ending: bool = False
    """Whether it can be cancelled no more."""

    def interrupt(self) -> None:
        """Stop its task where that waits; one that has not begun looks for itself."""
        if self.task is not None and self.is_started:
            self.task.cancel()

    @property
    def key(self) -> ArtifactKey:
        """Return the artifact that it works on."""
        return ArtifactKey(self.record.tenant, self.record.collection, self.record.artifact)

    @property
    def state(self) -> OperationState:
        """Return where it stands."""
        if self.ended.is_set():
            return self.record.state
        return OperationState.RUNNING if self.job.is_running else OperationState.QUEUED


class Operations:
    """The operations under way. Used from one event loop only."""

    def __init__(self, longest: int) -> None:
        """Take the most operations that may be under way or waiting."""
        self._longest = longest
        self._live: dict[str, Live] = {}
        self._by_key: dict[ArtifactKey, Live] = {}
        self._by_request: dict[tuple[Tenant, str], Live] = {}
        self._changing: set[ArtifactKey] = set()
        self._draining = False
        for state in (OperationState.QUEUED, OperationState.RUNNING):
            metrics.OPERATIONS.labels(state.name.lower()).set_function(partial(self._in, state))

    def claim(self, live: Live, *, resumed: bool = False) -> None:
        """Hold an artifact while it is ingested or populated.

        Args:
            live: The operation.
            resumed: Whether it had its place in the queue before a restart.

        Raises:
            ArtifactBusy: another operation on it is under way, or it is being changed.
            QueueFull: too many operations are under way.
            NotServing: the service is stopping.
        """
        self.check_serving()
        self.check_not_busy([live.key])
        if live.key in self._changing:
            raise ArtifactBusy(
                f"artifact {live.key.artifact!r} is being changed or deleted; try again in a moment"
            )
        if len(self._live) >= self._longest and not resumed:
            raise QueueFull(
                f"{len(self._live)} ingests are under way; the most is {self._longest} "
                "(ingest.queue_length)",
                _RETRY_AFTER_S,
            )
        self._live[live.record.operation] = self._by_key[live.key] = live
        if live.record.request_id:
            self._by_request[live.record.tenant, live.record.request_id] = live
        metrics.QUEUE_LENGTH.labels("ingest").set(len(self._live))

    def release(self, live: Live) -> None:
        """Let go of an artifact."""
        del self._live[live.record.operation]
        del self._by_key[live.key]
        for request, other in tuple(self._by_request.items()):
            if other is live:
                del self._by_request[request]
        metrics.QUEUE_LENGTH.labels("ingest").set(len(self._live))

    @contextmanager
    def changing(self, keys: Collection[ArtifactKey]) -> Iterator[None]:
        """Hold artifacts while they are changed or deleted: no operation on them may begin.

        Raises:
            ArtifactBusy: an operation on one of them is under way.
            NotServing: the service is stopping.
        """
        self.check_serving()
        self.check_not_busy(keys)
        self._changing.update(keys)
        try:
            yield
        finally:
            self._changing.difference_update(keys)

    def check_serving(self) -> None:
        """Refuse what must not begin any more; raises `NotServing`."""
        if self._draining:
            raise NotServing("the service is stopping; try again when it is back")

    def check_not_busy(self, keys: Iterable[ArtifactKey]) -> None:
        """Refuse what must not happen beside an operation on one of these artifacts.

        Raises:
            ArtifactBusy: one is under way; the first is named.
        """
        for key in keys:
            if key in self._by_key:
                raise ArtifactBusy(
                    f"an ingest of artifact {key.artifact!r} is under way; wait for its end"
                )

    def check_idle(self, tenant: Tenant, collection: str) -> None:
        """Refuse what must not happen beside an operation on a collection.

        Raises:
            ArtifactBusy: one is under way.
        """
        if names := self.under_way(tenant, collection):
            raise ArtifactBusy(
                f"an ingest into collection {collection!r} is under way, of artifact "
                f"{names[0]!r}; wait for its end"
            )

    def under_way(self, tenant: Tenant, collection: str) -> list[str]:
        """Return the artifacts of a collection with an operation under way, sorted."""
        place = (tenant, collection)
        return sorted(key.artifact for key in self._by_key if key[:2] == place)

    def of(self, key: ArtifactKey) -> Job | None:
        """Return the job of the operation on an artifact that is under way."""
        live = self._by_key.get(key)
        return live.job if live is not None else None

    def by_id(self, tenant: Tenant, operation: str) -> Live | None:
        """Return a tenant's operation that is under way."""
        live = self._live.get(operation)
        return live if live is not None and live.record.tenant == tenant else None

    def by_request(self, tenant: Tenant, request_id: str) -> Live | None:
        """Return the operation of a request that is under way."""
        return self._by_request.get((tenant, request_id))

    def all(self) -> tuple[Live, ...]:
        """Return all operations under way, in the order in which they began."""
        return tuple(self._live.values())

    @property
    def is_draining(self) -> bool:
        """Whether nothing may begin any more."""
        return self._draining

    def drain(self) -> None:
        """Refuse what is new from now on, and send away those who watch."""
        self._draining = True
        for live in self.all():
            live.job.tell()

    def _in(self, state: OperationState) -> float:
        return sum(live.state is state for live in self.all())
