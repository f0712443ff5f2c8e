"""Waiting for a change: ended by the change, the caller, the time, or the service."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from search_svc.follower import Follower
from treespan.errors import (
    CallCancelled,
    DeadlineExceeded,
    NotServing,
    QueueFull,
    StoreUnavailable,
)
from treespan.rpc import Call
from treespan.store.records import Tenant


class EmptyStore:
    """A store that shows one change after another as it is told to."""

    def __init__(self) -> None:
        self.seq = 0
        self.pruned = 0
        self.loads = 0
        self.unreadable = False

    def changed(self) -> bool:
        if self.unreadable:
            self.unreadable = False
            raise StoreUnavailable("the store is locked")
        return True

    def epoch(self) -> str:
        return "epoch"

    def last_seq(self) -> int:
        return self.seq

    def all_collections(self) -> list[object]:
        self.loads += 1
        return []

    def visible(self) -> tuple[int, list[object]]:
        return self.seq, []

    def changes_after(self, seq: int, limit: int) -> list[Any]:
        first = max(seq, self.pruned) + 1
        return [SimpleNamespace(seq=n, **EMPTY) for n in range(first, self.seq + 1)]


EMPTY = {"change": None, "tenant": "t", "collection": "c", "artifact": "", "doc_id": ""}


class Nothing:
    """An index, or a cache, that takes everything and has nothing."""

    def __init__(self) -> None:
        self.settling = threading.Lock()
        self.epoch = ""

    def begin(self, epoch: str) -> None:
        self.epoch = epoch

    def restore(self, *_: object) -> list[object]:
        return []

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


def call(seconds: float) -> Call:
    return Call("Search", "id", Tenant("t"), time.monotonic() + seconds)


@pytest.fixture
def store() -> EmptyStore:
    return EmptyStore()


@pytest.fixture
def follower(store: EmptyStore) -> Any:
    told = threading.Event()
    following: Any = Follower(
        store,  # type: ignore[arg-type]
        Nothing(),  # type: ignore[arg-type]
        Nothing(),  # type: ignore[arg-type]
        0.002,
        lambda _: told.set(),
        most_waiting=2,
    )
    following.start()
    assert told.wait(10)
    yield following
    following.stop()


def test_a_change_ends_the_wait(store: EmptyStore, follower: Follower) -> None:
    threading.Timer(0.05, lambda: setattr(store, "seq", 3)).start()
    follower.wait_for(3, call(10))
    assert follower.applied_seq == 3


def test_the_callers_time_ends_the_wait_and_both_numbers_are_told(follower: Follower) -> None:
    with pytest.raises(DeadlineExceeded, match="min_seq is 9, and only change 0 is applied"):
        follower.wait_for(9, call(0.05))


def test_a_caller_that_goes_away_ends_its_wait(follower: Follower) -> None:
    waiting = call(3600)
    threading.Timer(0.05, waiting.ended.set).start()
    start = time.monotonic()
    with pytest.raises(CallCancelled):
        follower.wait_for(9, waiting)
    assert time.monotonic() - start < 5


def test_a_service_that_stops_sends_those_away_who_wait(follower: Follower) -> None:
    threading.Timer(0.05, follower.release).start()
    with pytest.raises(NotServing):
        follower.wait_for(9, call(3600))


def test_more_than_a_few_may_not_wait(follower: Follower) -> None:
    def wait() -> None:
        with pytest.raises(NotServing):
            follower.wait_for(9, call(3600))

    others = [threading.Thread(target=wait) for _ in range(2)]
    for other in others:
        other.start()
    while follower._waiting < 2:
        time.sleep(0.001)
    with pytest.raises(QueueFull) as refused:
        follower.wait_for(9, call(3600))
    assert refused.value.retry_after_s
    follower.release()
    for other in others:
        other.join()


def test_a_store_that_cannot_be_read_for_a_moment_costs_no_new_load(
    store: EmptyStore, follower: Follower
) -> None:
    loads = store.loads
    store.unreadable = True
    store.seq = 5
    follower.wait_for(5, call(10))
    assert follower.loaded
    assert store.loads == loads


def test_changes_that_the_log_has_no_more_are_made_up_for_by_loading_anew(
    store: EmptyStore, follower: Follower
) -> None:
    loads = store.loads
    store.pruned, store.seq = 40, 50
    follower.wait_for(50, call(10))
    assert store.loads == loads + 1


def test_waits_for_what_is_in_the_store_already_are_not_bounded(
    store: EmptyStore, follower: Follower
) -> None:
    follower._most_waiting = 0
    threading.Timer(0.05, lambda: setattr(store, "seq", 3)).start()
    follower.wait_for(3, call(10), soon=True)
    with pytest.raises(QueueFull):
        follower.wait_for(4, call(10))
