"""Blocking calls that a cancelled caller waits for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ingest_svc.threads import to_the_end


def test_a_cancelled_caller_goes_only_when_the_call_has_ended() -> None:
    begun, going_on, ended = threading.Event(), threading.Event(), threading.Event()

    def blocking() -> None:
        begun.set()
        going_on.wait(10)
        ended.set()

    async def cancelled() -> None:
        task = asyncio.create_task(to_the_end(blocking))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        going_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(cancelled())


def test_results_and_errors_come_back_as_they_are() -> None:
    assert asyncio.run(to_the_end(max, 1, 2)) == 2
    with pytest.raises(ZeroDivisionError):
        asyncio.run(to_the_end(lambda: 1 // 0))
