"""The model's one lane: chunks of all files under way are embedded together.

Files take turns: a group holds chunks of every file that waits, so that a small file is not kept
behind a large one, and its batches are sorted by length across files. What a cancelled file still
has in a group is left out of the next batch. Two runs of the model at once would only halve each
other's speed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from treespan.embed import first_batch, longest_first
from treespan.errors import NotServing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ingest_svc.operations import Job
    from treespan.embed import Embedder, Ids

_GROUP_TEXTS: Final = 512
"""Chunks sorted together: batches of 1,024 tokens hardly hold padding then, and a file that comes
waits for no more than these."""


@dataclass(slots=True, eq=False)
class _Order:
    """The chunks of one file."""

    ids: Sequence[Ids]
    vectors: NDArray[np.float32]
    job: Job
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Future[None]
    taken: int = 0
    """Chunks that are in a group, or were."""
    done: int = 0
    dropped: bool = False

    @property
    def wanted(self) -> bool:
        """Whether anybody waits for it."""
        return not (self.dropped or self.job.cancelled)


@dataclass(slots=True)
class EmbedLane:
    """Embeds in a thread of its own."""

    embedder: Embedder
    nice: int = 0
    """How far the thread stands back behind other work of the machine, on Linux."""
    _orders: list[_Order] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closed: bool = False
    _thread: threading.Thread | None = None

    async def embed(self, ids: Sequence[Ids], job: Job) -> NDArray[np.float32]:
        """Return the vectors of one file's chunks, [chunks, dimension], in the order given.

        Args:
            ids: Token ids of each chunk, as `Embedder.encode_passages` returns them.
            job: Told how many are done; where it is cancelled, the rest is left out.

        Raises:
            CallCancelled: the job was cancelled.
            NotServing: the lane is closed.
        """
        loop = asyncio.get_running_loop()
        vectors = np.empty((len(ids), self.embedder.dimension), np.float32)
        order = _Order(ids, vectors, job, loop, loop.create_future())
        if not ids:
            return vectors
        with self._changed:
            if self._closed:
                raise NotServing("the service is stopping; try again when it is back")
            self._orders.append(order)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="embed", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            await order.ended
        finally:
            order.dropped = True
        job.check()
        return vectors

    def close(self) -> None:
        """End the thread after its batch; what waits is refused."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        stand_back(self.nice)
        while group := self._next_group():
            try:
                self._embed(group)
            except Exception as error:  # the model's; whoever waits is told, the lane goes on
                for order in {id(order): order for order, _ in group}.values():
                    self._end(order, error)
        for order in list(self._orders):
            self._end(order, NotServing("the service is stopping; try again when it is back"))

    def _next_group(self) -> list[tuple[_Order, int]]:
        """Wait for work and return chunks of every file that waits; nothing once closed."""
        with self._changed:
            while not self._closed:
                for order in [order for order in self._orders if not order.wanted]:
                    self._end(order)
                if self._orders:
                    return _shares(self._orders)
                self._changed.wait()
        return []

    def _embed(self, group: list[tuple[_Order, int]]) -> None:
        rest = longest_first([order.ids[index] for order, index in group])
        while rest and not self._closed:
            batch, rest = first_batch(rest, self.embedder.passage_budget())
            vectors = self.embedder.run(batch)
            for (position, _), vector in zip(batch, vectors, strict=True):
                order, index = group[position]
                order.vectors[index] = vector
                order.done += 1
            for order in {id(order): order for order, _ in (group[at] for at, _ in batch)}.values():
                order.job.advance(order.done, len(order.ids))
                if order.done == len(order.ids):
                    self._end(order)
            if not all(order.wanted for order, _ in group):
                rest = [entry for entry in rest if group[entry[0]][0].wanted]

    def _end(self, order: _Order, error: Exception | None = None) -> None:
        """Take an order out and wake whoever waits for it."""
        with self._changed:
            if order in self._orders:
                self._orders.remove(order)
        order.loop.call_soon_threadsafe(_wake, order.ended, error)


def stand_back(nice: int) -> None:
    """Let other work of the machine go before this thread, where the system has that by thread."""
    if nice and sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)


def _shares(orders: Sequence[_Order]) -> list[tuple[_Order, int]]:
    """Return the next chunks of all orders, about equally many of each, and count them as taken."""
    group: list[tuple[_Order, int]] = []
    # The shortest rests first, so that what they do not need goes to the others.
    waiting = sorted(orders, key=lambda order: len(order.ids) - order.taken)
    for place, order in enumerate(waiting):
        share = max(1, (_GROUP_TEXTS - len(group)) // (len(waiting) - place))
        end = min(len(order.ids), order.taken + share)
        group += [(order, index) for index in range(order.taken, end)]
        order.taken = end
    return group


def _wake(ended: asyncio.Future[None], error: Exception | None) -> None:
    if ended.done():
        return
    if error is None:
        ended.set_result(None)
    else:
        ended.set_exception(error)
