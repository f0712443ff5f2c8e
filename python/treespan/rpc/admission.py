"""Admission of calls to a `grpc.server`: a bounded number under way, the rest refused at once.

gRPC's own bound refuses without a reason and without a time to try again, and its pool of threads
is shared by everything. Here refusals and health checks have threads of their own, so they are
answered while every other thread is busy.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


class CountedPool(ThreadPoolExecutor):
    """A pool of threads that knows how many calls it has taken and not ended."""

    def __init__(self, threads: int, name: str) -> None:
        super().__init__(threads, thread_name_prefix=name)
        self._taken = 0
        self._count = threading.Lock()

    @property
    def under_way(self) -> int:
        """Return the calls that run or wait."""
        return self._taken

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Take a call."""
        future = super().submit(fn, *args, **kwargs)
        with self._count:
            self._taken += 1
        future.add_done_callback(self._ended)
        return future

    def _ended(self, _: Future[Any]) -> None:
        with self._count:
            self._taken -= 1


def answered_in(pool: ThreadPoolExecutor, behaviour: Callable[P, T]) -> Callable[P, T]:
    """Return a handler's behaviour that `grpc.server` runs in a pool of its own."""

    def elsewhere(*args: P.args, **kwargs: P.kwargs) -> T:
        return behaviour(*args, **kwargs)

    elsewhere.experimental_thread_pool = pool  # type: ignore[attr-defined]
    return elsewhere
