"""Blocking calls beside the event loop that are never left half-way."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor

P = ParamSpec("P")
T = TypeVar("T")


async def to_the_end(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call in a thread; a cancelled caller waits for its end before it goes.

    `asyncio.to_thread` alone would go at once and leave the thread at work: what is then undone
    would be done after all.
    """
    return await _ended(asyncio.ensure_future(asyncio.to_thread(call, *args, **kwargs)))


async def to_the_end_in(
    pool: ThreadPoolExecutor, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Do the same in a pool of threads, for work that must not keep others waiting."""
    loop = asyncio.get_running_loop()
    return await _ended(loop.run_in_executor(pool, partial(call, *args, **kwargs)))


async def _ended(running: asyncio.Future[T]) -> T:
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # seen, so that asyncio does not report it
        raise
