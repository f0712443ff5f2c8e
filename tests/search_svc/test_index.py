"""The facade of the native index: an artifact is seen in its old version or its new one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from search_svc.collection import CollectionIndex
from search_svc.index import Index
from treespan.config import SearchConfig
from treespan.store.records import CollectionRecord, Matches, SearchableDocument, Tenant

TENANT = Tenant("t")
VECTOR = np.array([1, 0, 0, 0], "<f4").tobytes()


def version(number: int, artifact: str = "a") -> SearchableDocument:
    """A version of an artifact that the change of this number made visible."""
    return SearchableDocument(
        tenant=TENANT,
        collection="c",
        artifact=artifact,
        doc_id=f"{number:016x}",
        key=number,
        revision=number,
        file_name="a",
        title="",
        media_type="text/plain",
        page_count=0,
        metadata=b"",
        tree=b"",
        vector_nodes=np.array([1], "<u4").tobytes(),
        vectors=VECTOR,
    )


def matches(seq: int, *keys: int) -> Matches:
    return Matches(seq, np.array(keys, "<u8").tobytes())


@pytest.fixture
def index() -> Index:
    made = Index(SearchConfig())
    made.begin("epoch")
    made.put_collection(CollectionRecord(TENANT, "c", "", "m", "f", 4, 100, created_seq=1))
    made.put(version(2))
    return made


@pytest.fixture
def collection(index: Index) -> CollectionIndex:
    found = index.collection(TENANT, "c")
    assert found is not None
    return found


class ReplacedMeanwhile:
    """A native index in which the artifact is replaced just before, or just after, a search."""

    def __init__(self, index: Index, inner: Any) -> None:
        self.index, self.inner = index, inner
        self.waiting = [5, 4, 3]

    def add(self, *args: Any, **kwargs: Any) -> None:
        self.inner.add(*args, **kwargs)

    def search(self, *args: Any) -> Any:
        if self.waiting:
            self.index.put(version(self.waiting.pop()))
        return self.inner.search(*args)


def test_an_artifact_replaced_between_its_name_and_the_search_is_not_missed(
    index: Index, collection: CollectionIndex
) -> None:
    collection.vectors = ReplacedMeanwhile(index, collection.vectors)  # type: ignore[assignment]
    assert len(collection.nearest(VECTOR, 10, None, ["a"])) == 1


def test_an_artifact_is_found_by_name_while_its_new_version_is_being_added(
    index: Index, collection: CollectionIndex
) -> None:
    inner: Any = collection.vectors
    found = []

    class Adding(ReplacedMeanwhile):
        def add(self, *args: Any, **kwargs: Any) -> None:
            found.append(len(collection.nearest(VECTOR, 10, None, ["a"])))
            inner.add(*args, **kwargs)
            found.append(len(collection.nearest(VECTOR, 10, None, ["a"])))

    adding = Adding(index, inner)
    adding.waiting = []
    collection.vectors = adding  # type: ignore[assignment]
    index.put(version(3))
    assert found == [1, 1]


def test_a_filters_matches_are_searched_and_nothing_else(
    index: Index, collection: CollectionIndex
) -> None:
    index.put(version(3, "b"))
    hits = collection.nearest_of(VECTOR, 10, None, matches(3, 3))
    assert hits is not None
    assert [key for key, _, _ in hits.items()] == [3]


def test_matches_are_void_once_one_of_them_was_replaced(
    index: Index, collection: CollectionIndex
) -> None:
    seen = matches(2, 2)
    index.put(version(3))
    assert collection.nearest_of(VECTOR, 10, None, seen) is None
    assert collection.nearest_of(VECTOR, 10, None, matches(3, 3)) is not None


def test_matches_are_void_once_the_metadata_of_one_of_them_changed(
    index: Index, collection: CollectionIndex
) -> None:
    index.touch(TENANT, "c", "a", 5)
    assert collection.nearest_of(VECTOR, 10, None, matches(4, 2)) is None
    assert collection.nearest_of(VECTOR, 10, None, matches(5, 2)) is not None


def test_matches_stand_when_others_change_or_come_or_go(
    index: Index, collection: CollectionIndex
) -> None:
    index.put(version(3, "b"))
    seen = matches(3, 2)
    index.put(version(4, "b"))
    index.put(version(5, "c"))
    index.drop(TENANT, "c", "b", 6)
    hits = collection.nearest_of(VECTOR, 10, None, seen)
    assert hits is not None
    assert len(hits) == 1


def test_matches_older_than_what_is_remembered_are_void(
    index: Index, collection: CollectionIndex
) -> None:
    index.put(version(3, "b"))
    for seq in range(4, 4 + 5000):
        index.touch(TENANT, "c", "b", seq)
    assert collection.nearest_of(VECTOR, 10, None, matches(3, 2)) is None


def test_a_deletion_applied_late_spares_a_later_version(
    index: Index, collection: CollectionIndex
) -> None:
    index.put(version(9))
    index.drop(TENANT, "c", "a", 5)
    assert len(collection.nearest(VECTOR, 10, None, ["a"])) == 1
    index.drop(TENANT, "c", "a", 10)
    assert len(collection.nearest(VECTOR, 10, None, ["a"])) == 0


def test_a_version_applied_twice_is_there_once(index: Index, collection: CollectionIndex) -> None:
    index.put(version(2))
    assert collection.vectors.rows == 1


def test_a_collection_made_again_begins_empty(index: Index) -> None:
    index.put_collection(CollectionRecord(TENANT, "c", "", "m", "f", 4, 100, created_seq=7))
    again = index.collection(TENANT, "c")
    assert again is not None
    assert again.vectors.rows == 0


def test_deletion_that_is_applied_late_spares_the_collection_made_since(index: Index) -> None:
    index.put_collection(CollectionRecord(TENANT, "c", "", "m", "f", 4, 100, created_seq=8))
    index.put(version(9))
    index.drop_collection(TENANT, "c", 7)
    found = index.collection(TENANT, "c")
    assert found is not None
    assert found.vectors.documents == 1
    index.drop_collection(TENANT, "c", 10)
    assert index.collection(TENANT, "c") is None


def test_matches_are_void_by_a_change_applied_ahead_of_an_earlier_one(
    index: Index, collection: CollectionIndex
) -> None:
    index.put(version(3, "b"))
    index.put(version(10))
    index.touch(TENANT, "c", "b", 5)
    assert collection.nearest_of(VECTOR, 10, None, matches(7, 2)) is None
