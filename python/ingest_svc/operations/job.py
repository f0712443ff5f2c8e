"""One ingest while it is under way: its stage, how far it is, and whether it is to stop."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from treespan.errors import CallCancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from treespan.store.records import Tenant, WarningRecord


class Stage(IntEnum):
    """Where an ingest stands; the numbers are those of `treespan.v1.Progress.Stage`."""

    RECEIVING = 1
    QUEUED = 2
    READING = 3
    CHUNKING = 4
    EMBEDDING = 5
    COMMITTING = 6
    FETCHING = 7


_WAITING = (Stage.RECEIVING, Stage.QUEUED)


class ArtifactKey(NamedTuple):
    """Which artifact."""

    tenant: Tenant
    collection: str
    artifact: str


@dataclass(slots=True)
class Job:
    """One ingest. Its fields are written by what runs it, and read by any."""

    stage: Stage = Stage.RECEIVING
    done: int = 0
    """Units done in this stage: bytes while receiving and fetching, pages or chunks later."""
    total: int = 0
    """Units in all; 0 while unknown."""
    cancelled: bool = False
    is_running: bool = False
    """Whether its turn has come; it stays so."""
    received_bytes: int = 0
    """Size of the file; 0 until it is there whole."""
    page_count: int = 0
    """Pages of the document; 0 until it is read, and where its format has none."""
    node_count: int = 0
    """Nodes of its tree; 0 until it is built."""
    chunk_count: int = 0
    """Nodes with a vector, likewise."""
    warnings: tuple[WarningRecord, ...] = ()
    """As `Content.warnings`, once the file is read."""
    counts: tuple[tuple[str, int], ...] = ()
    """As `Content.counts`, likewise."""
    _watchers: list[Callable[[], None]] = field(default_factory=list, repr=False, compare=False)

    def enter(self, stage: Stage, total: int = 0) -> None:
        """Begin a stage.

        Raises:
            CallCancelled: the ingest was cancelled.
        """
        self.check()
        self.stage, self.done, self.total = stage, 0, total
        self.is_running = self.is_running or stage not in _WAITING
        self.tell()

    def advance(self, done: int, total: int) -> None:
        """Say how far the stage is."""
        self.done, self.total = done, total
        self.tell()

    def check(self) -> None:
        """Stop a cancelled ingest.

        Raises:
            CallCancelled: it was cancelled.
        """
        if self.cancelled:
            raise CallCancelled("the ingest was cancelled")

    @contextmanager
    def watched(self, changed: Callable[[], None]) -> Iterator[None]:
        """Call something after every change while the block runs, in whatever thread it happens."""
        self._watchers.append(changed)
        try:
            yield
        finally:
            self._watchers.remove(changed)

    def tell(self) -> None:
        """Call those who watch."""
        for changed in tuple(self._watchers):
            changed()
