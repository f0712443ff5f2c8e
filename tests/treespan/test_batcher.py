from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from treespan.batcher import QueryBatcher
from treespan.errors import DeadlineExceeded, InvalidField, NotServing, QueueFull

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from treespan.embed import Embedder


class LengthModel:
    """Gives every text the vector (its number, its length); each run waits for the gate."""

    fingerprint = "length@1"

    def __init__(self) -> None:
        self.runs: list[list[str]] = []
        self.gate = threading.Event()
        self.started = threading.Semaphore(0)
        self.error: Exception | None = None

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.runs.append(list(texts))
        self.started.release()
        self.gate.wait()
        if self.error is not None:
            raise self.error
        return np.array([vector_of(text) for text in texts], np.float32)


def vector_of(text: str) -> list[float]:
    return [float(text.split()[-1]), float(len(text))]


@pytest.fixture
def model() -> LengthModel:
    return LengthModel()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(128) as executor:
        yield executor


def wait_until_waiting(batcher: QueryBatcher, count: int) -> None:
    for _ in range(10_000):
        if batcher.waiting == count:
            return
        threading.Event().wait(0.001)
    raise AssertionError(f"{batcher.waiting} are waiting, not {count}")


def test_a_hundred_callers_get_their_own_vectors_in_fewer_runs(
    model: LengthModel, pool: ThreadPoolExecutor
) -> None:
    batcher = QueryBatcher(model)
    calls = [pool.submit(batcher.embed, f"query {i}", 30) for i in range(100)]
    model.started.acquire()
    wait_until_waiting(batcher, 100 - len(model.runs[0]))
    model.gate.set()
    for i, call in enumerate(calls):
        assert call.result().tolist() == vector_of(f"query {i}")
    assert sum(map(len, model.runs)) == 100
    assert len(model.runs) <= 4
    batcher.close()


def test_a_lone_query_runs_at_once_and_alone(model: LengthModel) -> None:
    model.gate.set()
    batcher = QueryBatcher(model)
    assert batcher.embed("query 7", 30).tolist() == [7, 7]
    assert model.runs == [["query 7"]]
    batcher.close()


def test_long_queries_do_not_share_a_batch(model: LengthModel, pool: ThreadPoolExecutor) -> None:
    batcher = QueryBatcher(model)
    first = pool.submit(batcher.embed, "query 0", 30)
    model.started.acquire()
    calls = [pool.submit(batcher.embed, "x" * 3000 + f" {i}", 30) for i in range(3)]
    wait_until_waiting(batcher, 3)
    model.gate.set()
    assert [call.result()[0] for call in [first, *calls]] == [0, 0, 1, 2]
    assert [len(run) for run in model.runs] == [1, 1, 1, 1]
    batcher.close()


def test_full_queue_is_refused_with_when_to_try_again(
    model: LengthModel, pool: ThreadPoolExecutor
) -> None:
    batcher = QueryBatcher(model, queue_length=2)
    first = pool.submit(batcher.embed, "query 0", 30)
    model.started.acquire()
    calls = [pool.submit(batcher.embed, f"query {i}", 30) for i in (1, 2)]
    wait_until_waiting(batcher, 2)
    with pytest.raises(
        QueueFull, match="2 queries wait for the embedding model, the most is 2"
    ) as e:
        batcher.embed("query 3", 30)
    assert e.value.retry_after_s is not None
    assert e.value.retry_after_s >= 0.05
    model.gate.set()
    assert [call.result()[0] for call in [first, *calls]] == [0, 1, 2]
    batcher.close()


def test_query_whose_time_is_over_is_not_run(model: LengthModel, pool: ThreadPoolExecutor) -> None:
    batcher = QueryBatcher(model)
    first = pool.submit(batcher.embed, "query 0", 30)
    model.started.acquire()
    with pytest.raises(DeadlineExceeded, match=r"not embedded within 0\.01 s"):
        batcher.embed("query 1", 0.01)
    model.gate.set()
    first.result()
    batcher.embed("query 2", 30)
    assert model.runs == [["query 0"], ["query 2"]]
    batcher.close()


def test_no_time_left_is_refused(model: LengthModel) -> None:
    batcher = QueryBatcher(model)
    with pytest.raises(DeadlineExceeded):
        batcher.embed("query 1", 0)
    with pytest.raises(DeadlineExceeded):
        batcher.embed("query 2", -1)
    model.gate.set()
    batcher.close()


def test_same_text_of_many_callers_is_embedded_once(
    model: LengthModel, pool: ThreadPoolExecutor
) -> None:
    batcher = QueryBatcher(model)
    first = pool.submit(batcher.embed, "query 0", 30)
    model.started.acquire()
    calls = [pool.submit(batcher.embed, "query 5", 30) for _ in range(10)]
    wait_until_waiting(batcher, 10)
    model.gate.set()
    assert [call.result().tolist() for call in calls] == [[5, 7]] * 10
    first.result()
    assert model.runs == [["query 0"], ["query 5"]]
    batcher.close()


def test_repeated_query_is_remembered(model: LengthModel) -> None:
    model.gate.set()
    batcher = QueryBatcher(model)
    once, again = batcher.embed("query 1", 30), batcher.embed("query 1", 30)
    assert again.tolist() == once.tolist()
    assert len(model.runs) == 1
    with pytest.raises(ValueError, match="read-only"):
        again[0] = 3
    batcher.close()


def test_only_the_queries_seen_last_are_remembered(model: LengthModel) -> None:
    model.gate.set()
    batcher = QueryBatcher(model, cached=2)
    for text in ("query 1", "query 2", "query 1", "query 3", "query 1", "query 2"):
        batcher.embed(text, 30)
    assert [run[0] for run in model.runs] == ["query 1", "query 2", "query 3", "query 2"]
    batcher.close()


def test_error_of_the_model_reaches_its_callers_and_the_next_query_runs(model: LengthModel) -> None:
    model.gate.set()
    batcher = QueryBatcher(model)
    model.error = RuntimeError("out of memory")
    with pytest.raises(RuntimeError, match="out of memory"):
        batcher.embed("query 1", 30)
    model.error = None
    assert batcher.embed("query 1", 30).tolist() == [1, 7]
    batcher.close()


def test_query_with_nothing_to_read_is_refused(model: LengthModel) -> None:
    batcher = QueryBatcher(model)
    with pytest.raises(InvalidField, match="text: has nothing to read"):
        batcher.embed(" \u200b", 30)
    assert model.runs == []
    batcher.close()


def test_closing_refuses_what_waits_and_what_comes(
    model: LengthModel, pool: ThreadPoolExecutor
) -> None:
    batcher = QueryBatcher(model)
    running = pool.submit(batcher.embed, "query 0", 30)
    model.started.acquire()
    waiting = pool.submit(batcher.embed, "query 1", 30)
    wait_until_waiting(batcher, 1)
    closing = pool.submit(batcher.close)
    with pytest.raises(NotServing):
        waiting.result()
    model.gate.set()
    closing.result()
    assert running.result().tolist() == [0, 7]
    with pytest.raises(NotServing):
        batcher.embed("query 2", 30)


def test_batched_vectors_are_those_of_the_model_alone(
    minilm: Embedder, pool: ThreadPoolExecutor
) -> None:
    batcher = QueryBatcher(minilm)
    texts = [f"question {'very ' * (i % 9)}number {i}" for i in range(100)]
    vectors = list(pool.map(lambda text: batcher.embed(text, 60), texts))
    np.testing.assert_allclose(vectors, minilm.embed_queries(texts), atol=1e-6)
    batcher.close()
