"""The contract of the store: the op log, its order, and how others see that it grew."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from store.samples import ACME, GLOBEX, collection, content, new_artifact, reserved
from treespan.errors import CollectionExists, CollectionNotEmpty
from treespan.store import open_reader, open_writer
from treespan.store.records import Change, LoggedChange

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer


def test_every_visible_change_is_one_row_and_its_seq_is_returned(
    writer: Writer, reader: Reader
) -> None:
    first, second = new_artifact("a", content(1)), new_artifact("a", content(2))
    seqs = [
        writer.create_collection(collection()),
        writer.commit_artifact(first),
        writer.commit_artifact(second),
        writer.update_collection(collection(display_name="x")),
        writer.delete_artifact(ACME, "papers", "a"),
        writer.delete_collection(ACME, "papers", force=False)[0],
        writer.create_collection(collection(tenant=GLOBEX)),
    ]
    assert seqs == [1, 2, 3, 4, 5, 6, 7]
    assert reader.changes_after(0, 100) == [
        LoggedChange(1, Change.COLLECTION_PUT, ACME, "papers"),
        LoggedChange(2, Change.ARTIFACT_PUT, ACME, "papers", "a", first.doc_id),
        LoggedChange(3, Change.ARTIFACT_PUT, ACME, "papers", "a", second.doc_id),
        LoggedChange(4, Change.COLLECTION_PUT, ACME, "papers"),
        LoggedChange(5, Change.ARTIFACT_DELETED, ACME, "papers", "a", second.doc_id),
        LoggedChange(6, Change.COLLECTION_DELETED, ACME, "papers"),
        LoggedChange(7, Change.COLLECTION_PUT, GLOBEX, "papers"),
    ]


def test_deleted_artifact_that_was_never_visible_has_no_document_id(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.reserve_artifact(reserved("a"))
    writer.delete_artifact(ACME, "papers", "a")
    assert writer.changes_after(1, 10) == [
        LoggedChange(2, Change.ARTIFACT_DELETED, ACME, "papers", "a")
    ]


def test_forced_deletion_of_a_collection_is_one_row(writer: Writer) -> None:
    writer.create_collection(collection())
    for name in ("a", "b"):
        writer.commit_artifact(new_artifact(name, content(1)))
    writer.delete_collection(ACME, "papers", force=True)
    assert writer.changes_after(3, 10) == [
        LoggedChange(4, Change.COLLECTION_DELETED, ACME, "papers")
    ]


def test_changes_come_in_pages_after_a_seq(writer: Writer) -> None:
    for name in "abcde":
        writer.create_collection(collection(name))
    assert [change.seq for change in writer.changes_after(0, 2)] == [1, 2]
    assert [change.seq for change in writer.changes_after(2, 2)] == [3, 4]
    assert [change.seq for change in writer.changes_after(4, 2)] == [5]
    assert writer.changes_after(5, 2) == []
    assert writer.changes_after(99, 2) == []
    assert writer.last_seq() == 5


def test_what_is_not_visible_leaves_no_row(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.reserve_artifact(reserved("a"))
    writer.mark_initialized(ACME, "papers", "a")
    writer.abandon_artifact(ACME, "papers", "a")
    writer.abandon_unfinished()
    assert writer.last_seq() == 1


def test_refused_change_leaves_no_gap(writer: Writer) -> None:
    writer.create_collection(collection())
    with pytest.raises(CollectionExists):
        writer.create_collection(collection())
    writer.commit_artifact(new_artifact("a", content(1)))
    with pytest.raises(CollectionNotEmpty):
        writer.delete_collection(ACME, "papers", force=False)
    assert writer.delete_artifact(ACME, "papers", "a") == 3
    assert [change.seq for change in writer.changes_after(0, 10)] == [1, 2, 3]


def test_seq_rises_by_one_whatever_the_number_of_threads(writer: Writer, reader: Reader) -> None:
    writer.create_collection(collection())
    tailed: list[LoggedChange] = []
    done = threading.Event()

    def tail() -> None:
        while len(tailed) < 81 and not done.is_set():
            tailed.extend(reader.changes_after(len(tailed), 7))

    def commit(number: int) -> tuple[int, str]:
        artifact = new_artifact(f"a{number % 30}", content(number % 5))
        return writer.commit_artifact(artifact), artifact.name

    with ThreadPoolExecutor(max_workers=9) as pool:
        tailing = pool.submit(tail)
        acknowledged = list(pool.map(commit, range(80)))
        tailing.result(timeout=30)
        done.set()
    assert sorted(seq for seq, _ in acknowledged) == list(range(2, 82))
    assert [change.seq for change in tailed] == list(range(1, 82))
    assert {change.seq: change.artifact for change in tailed[1:]} == dict(acknowledged)


def test_seq_and_epoch_outlive_a_restart(address: str) -> None:
    with closing(open_writer(address)) as writer:
        writer.create_collection(collection())
        epoch = writer.epoch()
    with closing(open_writer(address)) as writer:
        assert writer.epoch() == epoch != ""
        assert writer.last_seq() == 1
        assert writer.delete_collection(ACME, "papers", force=False) == (2, 0)


def test_changed_is_true_first_and_then_only_after_commits(writer: Writer, address: str) -> None:
    with closing(open_reader(address)) as reader:
        assert [reader.changed() for _ in range(3)] == [True, False, False]
        writer.create_collection(collection())
        assert [reader.changed() for _ in range(3)] == [True, False, False]
        writer.commit_artifact(new_artifact("a", content(1)))
        writer.commit_artifact(new_artifact("b", content(1)))
        assert [reader.changed() for _ in range(3)] == [True, False, False]


def test_reading_is_no_change(writer: Writer, reader: Reader) -> None:
    writer.create_collection(collection())
    reader.changed()
    reader.last_seq()
    reader.collections(ACME, "", 10)
    assert not reader.changed()


def test_writer_sees_its_own_commits_as_changes(writer: Writer) -> None:
    writer.changed()
    writer.create_collection(collection())
    assert writer.changed()
    assert not writer.changed()


def test_engine_names_itself_and_its_version(reader: Reader) -> None:
    name, version = reader.engine().split()
    assert name.isalpha()
    assert int(version.split(".")[0]) >= 3
