"""The facade of the native index: an artifact is seen in its old version or its new one."""

from __future__ import annotations

from typing import Any

import numpy as np

from search_svc.index import Index
from treespan.config import SearchConfig
from treespan.store.records import CollectionRecord, SearchableDocument, Tenant

TENANT = Tenant("t")
VECTOR = np.array([1, 0, 0, 0], "<f4").tobytes()


def version(number: int) -> SearchableDocument:
    nodes = np.array([1], "<u4").tobytes()
    return SearchableDocument(
        TENANT, "c", "a", f"{number:016x}", "a", "", "text/plain", 0, b"", b"", nodes, VECTOR
    )


class ReplacedMeanwhile:
    """A native index in which the artifact is replaced just before, or just after, a search."""

    def __init__(self, index: Index, inner: Any) -> None:
        self.index, self.inner = index, inner
        self.waiting = [1, 2, 3]

    def add(self, *args: Any, **kwargs: Any) -> None:
        self.inner.add(*args, **kwargs)

    def search(self, *args: Any) -> Any:
        if self.waiting:
            self.index.put(version(self.waiting.pop()))
        return self.inner.search(*args)


def test_an_artifact_replaced_between_its_name_and_the_search_is_not_missed() -> None:
    index = Index(SearchConfig())
    index.put_collection(CollectionRecord(TENANT, "c", "", "m", "f", 4, 100))
    index.put(version(0))
    collection = index.collection(TENANT, "c")
    assert collection is not None
    collection.vectors = ReplacedMeanwhile(index, collection.vectors)  # type: ignore[assignment]
    assert len(collection.nearest(VECTOR, 10, None, ["a"])) == 1


def test_an_artifact_is_found_by_name_while_its_new_version_is_being_added() -> None:
    index = Index(SearchConfig())
    index.put_collection(CollectionRecord(TENANT, "c", "", "m", "f", 4, 100))
    index.put(version(0))
    collection = index.collection(TENANT, "c")
    assert collection is not None
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
    index.put(version(1))
    assert found == [1, 1]
