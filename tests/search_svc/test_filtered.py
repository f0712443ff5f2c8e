"""What filters let through is used again until the collection changes, and never for another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from search_svc.filtered import FilterCache
from treespan.filters import Condition, Operator
from treespan.store.records import Matches

ONE = Condition("year", Operator.EQ, (1,))
TRUE = Condition("year", Operator.EQ, (True,))


def collection(changed_seq: int, created_seq: int = 1, generation: int = 1) -> Any:
    record = SimpleNamespace(created_seq=created_seq)
    return SimpleNamespace(changed_seq=changed_seq, record=record, generation=generation)


def test_matches_hold_until_the_collection_changes() -> None:
    cache = FilterCache(10_000)
    cache.put(collection(5), ONE, Matches(6, b"12345678"))
    assert cache.get(collection(6), ONE) == Matches(6, b"12345678")
    assert cache.get(collection(7), ONE) is None


def test_matches_are_of_one_filter_collection_and_load_of_the_store() -> None:
    cache = FilterCache(10_000)
    cache.put(collection(5), ONE, Matches(6, b""))
    assert cache.get(collection(5), TRUE) is None
    assert cache.get(collection(5, created_seq=2), ONE) is None
    assert cache.get(collection(5, generation=2), ONE) is None


def test_the_least_used_go_when_there_are_too_many_bytes() -> None:
    cache = FilterCache(10_000)
    filters = [Condition("year", Operator.EQ, (year,)) for year in range(4)]
    for where in filters[:3]:
        cache.put(collection(5), where, Matches(6, bytes(2000)))
    assert cache.get(collection(5), filters[0]) is not None
    cache.put(collection(5), filters[3], Matches(6, bytes(2000)))
    held = [cache.get(collection(5), where) is not None for where in filters]
    assert held == [True, False, True, True]


def test_one_that_is_too_large_is_not_kept() -> None:
    cache = FilterCache(10_000)
    cache.put(collection(5), ONE, Matches(6, bytes(20_000)))
    assert cache.get(collection(5), ONE) is None
