"""The contract of the store: operations, from their begin to their end."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from store.samples import ACME, GLOBEX, collection, content, metadata, new_artifact, operation
from store.samples import reserved as reserved_artifact
from treespan.errors import CollectionNotFound, ModelMismatch, OperationNotFound
from treespan.store import open_writer
from treespan.store.records import ArtifactState, OperationKind, OperationState

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer
    from treespan.store.records import OperationRecord

S = OperationState
LONG_AFTER_US = 2**62


@pytest.fixture(autouse=True)
def papers(writer: Writer) -> None:
    writer.create_collection(collection())


def begin(store: Writer, *numbers: int, **fields: str) -> None:
    for number in numbers:
        store.begin_operation(operation(number, **fields), None)  # type: ignore[arg-type]


def number(count: int) -> str:
    return operation(count).operation


def listed(
    store: Reader, *states: OperationState, of: str = "", before: str = "", limit: int = 100
) -> list[int]:
    found = store.operations(ACME, of, states, before, limit)
    return [int(record.operation.split()[1]) for record in found]


def without_times(record: OperationRecord) -> OperationRecord:
    return replace(record, created_us=0, ended_us=0)


@pytest.mark.parametrize("state", [S.QUEUED, S.RUNNING])
@pytest.mark.parametrize("kind", OperationKind)
def test_begun_operation_is_read_back_whole(
    writer: Writer, reader: Reader, kind: OperationKind, state: OperationState
) -> None:
    record = replace(operation(1, "合同", request_id="once"), kind=kind, state=state)
    begun = writer.begin_operation(record, None)
    assert without_times(begun) == record
    assert begun.created_us > 0
    assert begun.ended_us == 0
    for store in (writer, reader):
        assert store.operation(ACME, number(1)) == begun
        assert store.operation_by_request(ACME, "once") == begun
    assert writer.unfinished_operations() == [begun]


def test_operation_reserves_its_artifact_and_is_no_visible_change(
    writer: Writer, reader: Reader
) -> None:
    writer.begin_operation(operation(1), reserved_artifact("a"))
    assert reader.artifact(ACME, "papers", "a") == reserved_artifact("a")
    assert reader.last_seq() == 1
    assert reader.visible() == (1, [])


def test_operation_on_a_populated_artifact_leaves_it_as_it_is(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", content(1)))
    before = writer.artifact(ACME, "papers", "a")
    writer.begin_operation(operation(1), reserved_artifact("a"))
    assert writer.artifact(ACME, "papers", "a") == before


def test_neither_is_recorded_where_the_collection_is_missing(writer: Writer) -> None:
    lost = reserved_artifact("a", collection="lost")
    with pytest.raises(CollectionNotFound, match="lost"):
        writer.begin_operation(operation(1, collection="lost"), lost)
    with pytest.raises(OperationNotFound):
        writer.operation(ACME, number(1))


def test_same_request_begins_once(writer: Writer) -> None:
    first = writer.begin_operation(operation(1, request_id="once"), None)
    again = operation(2, "b", request_id="once")
    assert writer.begin_operation(again, reserved_artifact("b")) == first
    assert listed(writer) == [1]
    assert writer.artifacts(ACME, "papers", "", 10) == []


def test_ended_operation_keeps_its_request_id_unless_it_is_freed(writer: Writer) -> None:
    begin(writer, 1, request_id="kept")
    begin(writer, 2, request_id="freed")
    writer.end_operation(ACME, number(1), S.FAILED, b"why")
    writer.end_operation(ACME, number(2), S.CANCELLED, b"why", free_request_id=True)
    again = operation(3, request_id="kept")
    assert writer.begin_operation(again, None).operation == number(1)
    again = operation(4, request_id="freed")
    assert writer.begin_operation(again, None).operation == number(4)
    assert writer.operation(ACME, number(2)).request_id == ""


def test_request_ids_are_of_a_tenant_and_an_empty_one_is_none(writer: Writer) -> None:
    begin(writer, 1, request_id="once")
    writer.begin_operation(operation(2, tenant=GLOBEX, request_id="once"), None)
    begin(writer, 3, 4)
    assert listed(writer) == [4, 3, 1]
    found = writer.operation_by_request(GLOBEX, "once")
    assert found is not None
    assert found.operation == number(2)
    assert writer.operation_by_request(ACME, "") is None
    assert writer.operation_by_request(ACME, "never") is None


def test_requests_of_many_threads_at_once_begin_once(writer: Writer) -> None:
    together = threading.Barrier(8)

    def call(count: int) -> str:
        together.wait(timeout=30)
        return writer.begin_operation(operation(count, request_id="once"), None).operation

    with ThreadPoolExecutor(max_workers=8) as pool:
        told = set(pool.map(call, range(8)))
    assert len(told) == 1
    assert told == {record.operation for record in writer.operations(ACME, "", (), "", 10)}


@pytest.mark.parametrize("state", [S.SUCCEEDED, S.FAILED, S.CANCELLED])
def test_operation_ends_once_and_keeps_its_request(
    writer: Writer, reader: Reader, state: OperationState
) -> None:
    begun = writer.begin_operation(operation(1, request_id="once"), None)
    writer.end_operation(ACME, number(1), state, b"first", 1)
    ended = reader.operation(ACME, number(1))
    assert ended == replace(begun, state=state, outcome=b"first", seq=1, ended_us=ended.ended_us)
    assert ended.ended_us >= begun.created_us
    assert writer.unfinished_operations() == []
    writer.end_operation(ACME, number(1), S.RUNNING, b"later", 9)
    assert reader.operation(ACME, number(1)) == replace(ended, outcome=b"later")


def test_operation_of_another_tenant_is_not_found(writer: Writer) -> None:
    begin(writer, 1)
    with pytest.raises(OperationNotFound, match=number(1)):
        writer.operation(GLOBEX, number(1))
    with pytest.raises(OperationNotFound):
        writer.end_operation(GLOBEX, number(1), S.CANCELLED, b"")
    assert writer.operations(GLOBEX, "", (), "", 10) == []
    assert writer.operation(ACME, number(1)).state == S.QUEUED


def test_commit_ends_its_operation_with_its_change(writer: Writer, reader: Reader) -> None:
    begin(writer, 1, 2)
    artifact = replace(new_artifact("a", content(1), operation=number(1)), outcome=b"3 nodes")
    assert writer.commit_artifact(artifact) == 2
    done = reader.operation(ACME, number(1))
    assert (done.state, done.seq, done.outcome) == (S.SUCCEEDED, 2, b"3 nodes")
    assert done.ended_us > 0
    assert done.request == operation(1).request
    assert [found.operation for found in writer.unfinished_operations()] == [number(2)]


def test_refused_commit_leaves_its_operation_as_it_is(writer: Writer) -> None:
    begun = writer.begin_operation(operation(1), reserved_artifact("a"))
    with pytest.raises(ModelMismatch):
        writer.commit_artifact(new_artifact("a", content(1, dimension=4), operation=number(1)))
    assert writer.operation(ACME, number(1)) == begun
    assert writer.artifact(ACME, "papers", "a").state == ArtifactState.NOT_INITIALIZED


def test_commit_whose_operation_has_ended_or_is_gone_is_made_all_the_same(writer: Writer) -> None:
    begin(writer, 1)
    writer.end_operation(ACME, number(1), S.CANCELLED, b"too late")
    assert writer.commit_artifact(new_artifact("a", content(1), operation=number(1))) == 2
    assert writer.commit_artifact(new_artifact("b", content(2), operation=number(9))) == 3
    ended = writer.operation(ACME, number(1))
    assert (ended.state, ended.seq, ended.outcome) == (S.CANCELLED, 0, b"too late")


def test_operations_come_newest_first_without_requests_in_pages(writer: Writer) -> None:
    begin(writer, 3, 1, 5, 2, 4)
    assert listed(writer) == [5, 4, 3, 2, 1]
    assert listed(writer, limit=2) == [5, 4]
    assert listed(writer, before=number(4), limit=2) == [3, 2]
    assert listed(writer, before=number(1)) == []
    assert listed(writer, limit=0) == []
    found = writer.operations(ACME, "", (), "", 10)
    assert {record.request for record in found} == {b""}


def test_operations_are_listed_by_collection_and_states(writer: Writer) -> None:
    begin(writer, 1, 2, 3, 4)
    begin(writer, 5, 6, collection="laws")
    writer.end_operation(ACME, number(2), S.FAILED, b"")
    writer.end_operation(ACME, number(3), S.CANCELLED, b"")
    writer.end_operation(ACME, number(6), S.FAILED, b"")
    assert listed(writer, S.FAILED) == [6, 2]
    assert listed(writer, S.FAILED, S.CANCELLED, of="papers") == [3, 2]
    assert listed(writer, S.QUEUED, of="laws") == [5]
    assert listed(writer, S.RUNNING) == []
    assert listed(writer, of="no such collection") == []
    assert listed(writer, S.QUEUED, of="papers", before=number(4), limit=1) == [1]


def test_unfinished_operations_are_those_of_all_tenants_oldest_first(writer: Writer) -> None:
    begin(writer, 3, 1)
    writer.begin_operation(operation(2, tenant=GLOBEX), None)
    writer.end_operation(ACME, number(3), S.FAILED, b"")
    found = writer.unfinished_operations()
    assert [(record.tenant, record.operation) for record in found] == [
        (ACME, number(1)),
        (GLOBEX, number(2)),
    ]
    assert found[0].request == operation(1).request


def test_pruning_drops_what_ended_before_a_time_and_nothing_else(writer: Writer) -> None:
    begin(writer, 1, 2, 3)
    writer.end_operation(ACME, number(1), S.FAILED, b"")
    first_end = writer.operation(ACME, number(1)).ended_us
    assert writer.prune_operations(first_end) == 0
    assert writer.prune_operations(first_end + 1) == 1
    writer.end_operation(ACME, number(2), S.CANCELLED, b"")
    assert writer.prune_operations(LONG_AFTER_US) == 1
    assert writer.prune_operations(LONG_AFTER_US) == 0
    assert listed(writer) == [3]


def test_pruning_nothing_is_no_change_that_readers_see(writer: Writer, reader: Reader) -> None:
    begin(writer, 1)
    reader.changed()
    writer.prune_operations(LONG_AFTER_US)
    assert not reader.changed()


def test_operations_outlive_what_they_were_on(writer: Writer) -> None:
    writer.begin_operation(operation(1), reserved_artifact("a"))
    writer.commit_artifact(new_artifact("a", content(1), operation=number(1)))
    writer.delete_artifact(ACME, "papers", "a")
    writer.delete_collection(ACME, "papers", force=True)
    assert listed(writer, S.SUCCEEDED, of="papers") == [1]


def test_artifact_that_an_operation_goes_on_with_is_not_abandoned(writer: Writer) -> None:
    writer.begin_operation(operation(1, "going on"), reserved_artifact("going on"))
    writer.begin_operation(operation(2, "ended"), reserved_artifact("ended"))
    writer.end_operation(ACME, number(2), S.FAILED, b"")
    writer.reserve_artifact(reserved_artifact("nobody's"))
    # Of the same name, and no other's.
    writer.create_collection(collection("laws"))
    writer.reserve_artifact(reserved_artifact("going on", collection="laws"))
    assert writer.abandon_unfinished() == 3
    assert [found.name for found in writer.artifacts(ACME, "papers", "", 10)] == ["going on"]


def test_operations_are_there_after_a_restart(writer: Writer, address: str) -> None:
    begin(writer, 1, 2, request_id="")
    writer.end_operation(ACME, number(1), S.FAILED, b"why")
    before = writer.operations(ACME, "", (), "", 10)
    unfinished = writer.unfinished_operations()
    writer.close()
    with closing(open_writer(address)) as again:
        assert again.operations(ACME, "", (), "", 10) == before
        assert again.unfinished_operations() == unfinished


def test_large_request_and_outcome_come_back(writer: Writer) -> None:
    record = replace(operation(1), request=bytes(range(256)) * 4096)
    writer.begin_operation(record, None)
    writer.end_operation(ACME, number(1), S.FAILED, metadata(note="天" * 100_000))
    found = writer.operation(ACME, number(1))
    assert found.request == record.request
    assert found.outcome == metadata(note="天" * 100_000)
