"""Ingests under way: one for an artifact, a bounded number in all, each with its progress."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from treespan import metrics
from treespan.errors import ArtifactBusy, CallCancelled, NotServing, QueueFull

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from treespan.store.records import Tenant

_RETRY_AFTER_S = 5.0


class Stage(IntEnum):
    """Where an ingest stands; the numbers are those of `treespan.v1.Progress.Stage`."""

    RECEIVING = 1
    QUEUED = 2
    READING = 3
    CHUNKING = 4
    EMBEDDING = 5
    COMMITTING = 6


class ArtifactKey(NamedTuple):
    """Which artifact."""

    tenant: Tenant
    collection: str
    artifact: str


@dataclass(slots=True)
class Job:
    """One ingest. Its fields are written by the task that runs it, and read by any."""

    stage: Stage = Stage.RECEIVING
    done: int = 0
    """Units done in this stage: bytes while receiving, pages or chunks later."""
    total: int = 0
    """Units in all; 0 while unknown."""
    cancelled: bool = False

    def enter(self, stage: Stage, total: int = 0) -> None:
        """Begin a stage."""
        self.check()
        self.stage, self.done, self.total = stage, 0, total

    def advance(self, done: int, total: int) -> None:
        """Say how far the stage is."""
        self.done, self.total = done, total

    def check(self) -> None:
        """Stop a cancelled ingest.

        Raises:
            CallCancelled: it was cancelled.
        """
        if self.cancelled:
            raise CallCancelled("the ingest was cancelled")


@dataclass(slots=True)
class Operations:
    """The ingests under way. Used from one event loop only."""

    longest: int
    """Most ingests under way or waiting."""
    _jobs: dict[ArtifactKey, Job] = field(default_factory=dict)
    left_over: set[ArtifactKey] = field(default_factory=set)
    """Artifacts whose ingest failed while the store could not be written; still to be dropped."""
    _changing: set[ArtifactKey] = field(default_factory=set)
    """Artifacts that are being changed or deleted."""
    _draining: bool = False

    @contextmanager
    def claimed(self, key: ArtifactKey) -> Iterator[Job]:
        """Hold an artifact while it is ingested.

        Raises:
            ArtifactBusy: another ingest of it is under way, or it is being changed.
            QueueFull: too many ingests are under way.
            NotServing: the service is stopping.
        """
        self.check_serving()
        self.check_not_busy([key])
        if key in self._changing:
            raise ArtifactBusy(
                f"artifact {key.artifact!r} is being changed or deleted; try again in a moment"
            )
        if len(self._jobs) >= self.longest:
            raise QueueFull(
                f"{len(self._jobs)} ingests are under way; the most is {self.longest} "
                "(ingest.queue_length)",
                _RETRY_AFTER_S,
            )
        job = self._jobs[key] = Job()
        metrics.QUEUE_LENGTH.labels("ingest").set(len(self._jobs))
        try:
            yield job
        finally:
            job.cancelled = True
            del self._jobs[key]
            metrics.QUEUE_LENGTH.labels("ingest").set(len(self._jobs))

    @contextmanager
    def changing(self, keys: Collection[ArtifactKey]) -> Iterator[None]:
        """Hold artifacts while they are changed or deleted: no ingest of them may begin.

        Raises:
            ArtifactBusy: an ingest of one of them is under way.
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
        """Refuse what must not happen beside an ingest of one of these artifacts.

        Raises:
            ArtifactBusy: one is under way; the first is named.
        """
        for key in keys:
            if key in self._jobs:
                raise ArtifactBusy(
                    f"an ingest of artifact {key.artifact!r} is under way; wait for its end"
                )

    def under_way(self, tenant: Tenant, collection: str) -> list[str]:
        """Return the artifacts of a collection with an ingest under way, sorted."""
        place = (tenant, collection)
        return sorted(key.artifact for key in self._jobs if key[:2] == place)

    def of(self, key: ArtifactKey) -> Job | None:
        """Return the ingest of an artifact that is under way."""
        return self._jobs.get(key)

    def check_idle(self, tenant: Tenant, collection: str) -> None:
        """Refuse what must not happen beside an ingest into a collection.

        Raises:
            ArtifactBusy: one is under way.
        """
        if names := self.under_way(tenant, collection):
            raise ArtifactBusy(
                f"an ingest into collection {collection!r} is under way, of artifact "
                f"{names[0]!r}; wait for its end"
            )

    def drain(self) -> None:
        """Refuse new ingests from now on."""
        self._draining = True
