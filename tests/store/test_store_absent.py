"""The contract of the store: readers that were there before it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from store.samples import ACME, collection, content, new_artifact, operation
from treespan.errors import CollectionNotFound, OperationNotFound, StoreUnavailable
from treespan.store import open_reader, open_writer

if TYPE_CHECKING:
    from pathlib import Path

    from treespan.store.interface import Reader


def test_store_that_does_not_exist_reads_as_an_empty_one(reader: Reader) -> None:
    assert reader.epoch() == ""
    assert reader.last_seq() == 0
    assert reader.changes_after(0, 10) == []
    assert reader.all_collections() == []
    assert reader.collections(ACME, "", 10) == []
    assert reader.visible() == (0, [])
    assert reader.searchable(ACME, "papers", "0" * 16) is None
    assert not reader.has_content(ACME, content(1).content_id)
    with pytest.raises(CollectionNotFound):
        reader.text_hits(ACME, "papers", '"part"', 10)
    with pytest.raises(CollectionNotFound):
        reader.artifacts(ACME, "papers", "", 10)


def test_store_that_does_not_exist_has_no_operations_and_no_drafts(reader: Reader) -> None:
    assert reader.operations(ACME, "", (), "", 10) == []
    assert reader.operation_by_request(ACME, "once") is None
    with pytest.raises(OperationNotFound):
        reader.operation(ACME, operation(1).operation)
    with pytest.raises(CollectionNotFound):
        reader.draft(ACME, "papers", "a")
    with pytest.raises(CollectionNotFound):
        reader.draft_by_doc_id(ACME, "papers", "0" * 16)


def test_reader_creates_nothing(address: str, tmp_path: Path) -> None:
    with closing(open_reader(address)) as reader:
        reader.last_seq()
        reader.changed()
    assert list(tmp_path.iterdir()) == []


def test_creation_of_the_store_is_a_change_that_readers_see(reader: Reader, address: str) -> None:
    assert [reader.changed() for _ in range(2)] == [True, False]
    assert reader.last_seq() == 0
    with closing(open_writer(address)) as writer:
        assert reader.changed()
        assert reader.epoch() == writer.epoch() != ""
        writer.create_collection(collection())
        assert reader.changed()
        assert reader.collection(ACME, "papers").display_name == "PAPERS"


def test_reader_goes_on_when_the_writer_stops_and_comes_back(reader: Reader, address: str) -> None:
    with closing(open_writer(address)) as writer:
        writer.create_collection(collection())
        assert reader.last_seq() == 1
    assert reader.last_seq() == 1
    with closing(open_writer(address)) as writer:
        writer.commit_artifact(new_artifact("a", content(1)))
        assert reader.last_seq() == 2
    with closing(open_reader(address)) as late:
        assert late.last_seq() == 2


def test_no_reading_fails_while_the_store_is_created(address: str) -> None:
    """Readers poll hard at the very moment of creation; every answer is empty or the first row."""
    stop = threading.Event()

    def poll() -> set[tuple[str, int]]:
        seen = set()
        with closing(open_reader(address)) as reader:
            while not stop.is_set():
                reader.changed()
                seen.add((reader.epoch(), reader.last_seq()))
        return seen

    with ThreadPoolExecutor(max_workers=3) as pool:
        polling = [pool.submit(poll) for _ in range(3)]
        with closing(open_writer(address)) as writer:
            writer.create_collection(collection())
            epoch = writer.epoch()
            stop.set()
            seen = set.union(*(future.result(timeout=30) for future in polling))
    # Two calls are two states: the store may appear in between.
    assert seen <= {("", 0), ("", 1), (epoch, 0), (epoch, 1)}


def test_closed_store_says_so(address: str) -> None:
    writer = open_writer(address)
    reader = open_reader(address)
    for store in (writer, reader):
        store.close()
        store.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            store.last_seq()
        with pytest.raises(StoreUnavailable, match="closed"):
            store.changed()
    with pytest.raises(StoreUnavailable, match="closed"):
        writer.create_collection(collection())


@pytest.mark.parametrize("open_store", [open_reader, open_writer])
def test_unknown_engine_is_refused_without_showing_the_address(open_store: object) -> None:
    with pytest.raises(StoreUnavailable, match="bigtable") as refused:
        open_store("bigtable://user:secret@host/store")  # type: ignore[operator]
    assert "secret" not in str(refused.value)
