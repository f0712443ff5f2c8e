"""The model's lane: right vectors for every file, turns between files, cancelling, failing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest_svc.embedding import EmbedLane
from ingest_svc.operations import Job
from tiny_model import write_tiny_model
from treespan.embed import Embedder
from treespan.errors import CallCancelled, NotServing

TEXTS = ["red", "green blue", "blue blue red green", "green", "red red red", "blue"]


class Recorded:
    """An embedder that notes the batches it runs, can wait before each, and can fail."""

    def __init__(self, inner: Embedder, batch_texts: int = 2) -> None:
        self._inner = inner
        self.dimension = inner.dimension
        self.batch_texts = batch_texts
        self.batches: list[list[int]] = []
        self.may_run = threading.Semaphore(0)
        self.runs = threading.Semaphore(0)
        self.fails_at: set[int] = set()

    def passage_budget(self) -> int:
        return self.batch_texts

    def run(self, batch: Sequence[tuple[int, Any]]) -> Any:
        self.runs.release()
        assert self.may_run.acquire(timeout=20)
        self.batches.append([len(ids) for _, ids in batch])
        if len(self.batches) in self.fails_at:
            raise RuntimeError("out of memory")
        return self._inner.run(batch)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    folder: Path = tmp_path_factory.mktemp("model")
    return Embedder.open(write_tiny_model(folder))


def ids_of_length(*lengths: int) -> list[Any]:
    return [np.full(length, 4, np.uint32) for length in lengths]


def test_every_file_gets_its_own_vectors_in_its_own_order(embedder: Embedder) -> None:
    files = [TEXTS * repeats for repeats in (1, 40, 3, 200)]

    async def all_at_once() -> list[Any]:
        lane = EmbedLane(embedder)
        jobs = [Job() for _ in files]
        for job, texts in zip(jobs, files, strict=True):
            job.total = len(texts)
        found = await asyncio.gather(
            *(
                lane.embed(embedder.encode_passages(texts), job)
                for texts, job in zip(files, jobs, strict=True)
            )
        )
        assert [job.done for job in jobs] == [len(texts) for texts in files]
        lane.close()
        return found

    for texts, vectors in zip(files, asyncio.run(all_at_once()), strict=True):
        np.testing.assert_allclose(vectors, embedder.embed_passages(texts), atol=1e-6)


def test_nothing_to_embed_is_nothing(embedder: Embedder) -> None:
    async def none() -> Any:
        return await EmbedLane(embedder).embed([], Job())

    assert asyncio.run(none()).shape == (0, 4)


def test_a_small_file_is_not_kept_behind_a_large_one(embedder: Embedder) -> None:
    recorded = Recorded(embedder, batch_texts=1)

    async def small_after_large() -> int:
        lane = EmbedLane(recorded)  # type: ignore[arg-type]
        large = asyncio.create_task(lane.embed(ids_of_length(*[1] * 2_000), Job()))
        await asyncio.to_thread(recorded.runs.acquire)
        small = asyncio.create_task(lane.embed(ids_of_length(1, 1), Job()))
        await asyncio.sleep(0)
        recorded.may_run.release(2_002)
        await small
        before_small = len(recorded.batches)
        await large
        lane.close()
        return before_small

    # The group under way when it comes has 512 chunks, and the next one has both of its own.
    assert asyncio.run(small_after_large()) <= 1_024


def test_batches_are_sorted_by_length_across_files(embedder: Embedder) -> None:
    recorded = Recorded(embedder, batch_texts=8)

    async def two() -> None:
        lane = EmbedLane(recorded)  # type: ignore[arg-type]
        first = asyncio.create_task(lane.embed(ids_of_length(9), Job()))
        await asyncio.to_thread(recorded.runs.acquire)
        others = [
            asyncio.create_task(lane.embed(ids_of_length(*lengths), Job()))
            for lengths in ((8, 2, 4), (2, 8, 4))
        ]
        await asyncio.sleep(0.05)
        recorded.may_run.release(100)
        await asyncio.gather(first, *others)
        lane.close()

    asyncio.run(two())
    assert recorded.batches == [[9], [8], [8], [4, 4], [2, 2]]


def test_a_cancelled_file_is_left_out_of_the_next_batch(embedder: Embedder) -> None:
    recorded = Recorded(embedder, batch_texts=1)

    async def cancel() -> list[bool]:
        lane = EmbedLane(recorded)  # type: ignore[arg-type]
        job = Job()
        dropped = asyncio.create_task(lane.embed(ids_of_length(*[3] * 300), job))
        await asyncio.to_thread(recorded.runs.acquire)
        kept = asyncio.create_task(lane.embed(ids_of_length(2, 2), Job()))
        await asyncio.sleep(0)
        job.cancelled = True
        recorded.may_run.release(10)
        vectors = await kept
        with pytest.raises(CallCancelled):
            await dropped
        lane.close()
        return [bool(np.isfinite(vectors).all())]

    assert asyncio.run(cancel()) == [True]
    assert recorded.batches == [[3], [2], [2]]


def test_a_task_that_goes_away_leaves_no_work_behind(embedder: Embedder) -> None:
    recorded = Recorded(embedder, batch_texts=1)

    async def go_away() -> None:
        lane = EmbedLane(recorded)  # type: ignore[arg-type]
        gone = asyncio.create_task(lane.embed(ids_of_length(*[3] * 300), Job()))
        await asyncio.to_thread(recorded.runs.acquire)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        recorded.may_run.release(10)
        await lane.embed(ids_of_length(2), Job())
        lane.close()

    asyncio.run(go_away())
    assert recorded.batches == [[3], [2]]


def test_a_failing_batch_is_told_to_its_files_and_the_lane_goes_on(embedder: Embedder) -> None:
    recorded = Recorded(embedder, batch_texts=8)
    recorded.fails_at = {1}
    recorded.may_run.release(10)

    async def fail() -> Any:
        lane = EmbedLane(recorded)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="out of memory"):
            await lane.embed(ids_of_length(2, 2), Job())
        vectors = await lane.embed(ids_of_length(2), Job())
        lane.close()
        return vectors

    assert asyncio.run(fail()).shape == (1, 4)


def test_a_closed_lane_refuses(embedder: Embedder) -> None:
    async def closed() -> None:
        lane = EmbedLane(embedder)
        lane.close()
        with pytest.raises(NotServing):
            await lane.embed(ids_of_length(2), Job())

    asyncio.run(closed())
