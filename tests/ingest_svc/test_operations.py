"""Operations under way, their ids and their ends: what may happen beside what, and what is kept."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ingest_svc.operations import ArtifactKey, Job, Live, Operations, Stage, packed_outcome
from ingest_svc.operations.endings import Endings
from ingest_svc.operations.ids import OperationIds, check_operation_id
from ingest_svc.operations.outcome import error_of, is_cut_off, outcome_of, problem_of
from ingest_svc.operations.request import Kept, kept_request, packed_request
from ingest_svc.pipeline import Outcome
from treespan import errors
from treespan.errors import (
    ArtifactBusy,
    CallCancelled,
    DamagedFile,
    InvalidField,
    NotServing,
    OperationNotFound,
    QueueFull,
    StoreUnavailable,
    TreespanError,
)
from treespan.store import open_writer
from treespan.store.records import (
    ArtifactRecord,
    ArtifactState,
    CollectionRecord,
    OperationKind,
    OperationRecord,
    OperationState,
    Tenant,
    WarningRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from treespan.store.interface import Writer

T = Tenant("default")
OTHER = Tenant("other")
PROBLEM_KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, TreespanError)
    and "reason" in vars(kind)
    # What is refused at the door is not recorded.
    and kind is not QueueFull
]


def live(artifact: str = "a", tenant: Tenant = T, number: int = 0, request_id: str = "") -> Live:
    record = OperationRecord(
        tenant,
        f"{artifact}{number}",
        OperationKind.INGEST_FILE,
        "c",
        artifact,
        request_id=request_id,
    )
    return Live(record, Kept())


# What is under way.


def test_an_artifact_has_one_operation_at_a_time() -> None:
    operations = Operations(8)
    first, second = live("a"), live("b")
    operations.claim(first)
    assert operations.of(first.key) is first.job
    with pytest.raises(ArtifactBusy, match="'a' is under way"):
        operations.claim(live("a", number=1))
    operations.claim(second)
    assert operations.under_way(T, "c") == ["a", "b"]
    operations.release(first)
    operations.release(second)
    assert operations.of(first.key) is None
    assert operations.under_way(T, "c") == []


def test_more_operations_than_allowed_are_refused_but_not_those_of_before_a_restart() -> None:
    operations = Operations(1)
    operations.claim(live("a"))
    with pytest.raises(QueueFull, match="the most is 1") as told:
        operations.claim(live("b"))
    assert told.value.retry_after_s
    operations.claim(live("b"), resumed=True)


def test_an_artifact_is_not_changed_beside_its_ingest() -> None:
    operations = Operations(8)
    a, b = live("a"), live("b")
    operations.claim(b)
    with (
        pytest.raises(ArtifactBusy, match="'b' is under way"),
        operations.changing([a.key, b.key]),
    ):
        pass
    operations.release(b)
    with operations.changing([a.key, b.key]), pytest.raises(ArtifactBusy, match="being changed"):
        operations.claim(a)
    operations.claim(a)


def test_changes_are_no_operations_and_need_no_place_in_the_queue() -> None:
    operations = Operations(1)
    operations.claim(live("a"))
    with operations.changing([ArtifactKey(T, "c", "b")]):
        assert operations.under_way(T, "c") == ["a"]


def test_another_tenant_or_collection_is_no_matter() -> None:
    operations = Operations(8)
    mine = live("a", request_id="one")
    operations.claim(mine)
    assert operations.under_way(OTHER, "c") == []
    assert operations.by_id(OTHER, mine.record.operation) is None
    assert operations.by_id(T, mine.record.operation) is mine
    assert operations.by_request(OTHER, "one") is None
    assert operations.by_request(T, "one") is mine
    operations.check_idle(T, "d")
    with pytest.raises(ArtifactBusy, match="of artifact 'a'"):
        operations.check_idle(T, "c")


def test_nothing_begins_while_the_service_stops_and_those_who_watch_are_woken() -> None:
    operations = Operations(8)
    running = live("a")
    operations.claim(running)
    told = []
    with running.job.watched(lambda: told.append(True)):
        operations.drain()
    assert told == [True]
    with pytest.raises(NotServing):
        operations.claim(live("b"))
    with pytest.raises(NotServing):
        operations.changing([live("b").key]).__enter__()


def test_a_job_waits_until_its_turn_has_come_and_then_runs_to_the_end() -> None:
    one = live("a")
    seen = []
    for stage in (Stage.QUEUED, Stage.FETCHING, Stage.QUEUED, Stage.READING):
        one.job.enter(stage)
        seen.append(one.state)
    assert seen == [OperationState.QUEUED, *[OperationState.RUNNING] * 3]


def test_a_cancelled_job_enters_no_stage() -> None:
    job = Job(cancelled=True)
    with pytest.raises(CallCancelled):
        job.enter(Stage.COMMITTING)
    assert job.stage is Stage.RECEIVING


# Ids.


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    opened = open_writer(tmp_path)
    opened.create_collection(CollectionRecord(T, "c", "", "tiny", "f", 4, 100))
    yield opened
    opened.close()


def begin(writer: Writer, operation: str, tenant: Tenant = T) -> OperationRecord:
    return writer.begin_operation(
        OperationRecord(tenant, operation, OperationKind.INGEST_FILE, "c", "a"),
        ArtifactRecord(tenant, "c", "a", ArtifactState.NOT_INITIALIZED),
    )


def test_ids_rise_even_where_the_clock_goes_back(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def some(count: int) -> list[str]:
        ids = OperationIds(writer)
        return [await ids.new(T) for _ in range(count)]

    first = asyncio.run(some(100))
    begin(writer, first[-1])
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now - 3600 * 10**9)
    second = asyncio.run(some(100))
    assert sorted(first + second) == first + second
    assert len(set(first + second)) == 200
    for one in second:
        check_operation_id(one)


@pytest.mark.parametrize("value", ["0" * 23, "0" * 25, "G" * 24, "../" * 8])
def test_what_is_no_id_is_not_looked_for(value: str) -> None:
    with pytest.raises(OperationNotFound):
        check_operation_id(value)
    with pytest.raises(InvalidField, match="is empty"):
        check_operation_id("")


# Ends.


def test_what_came_of_an_operation_is_kept() -> None:
    job = Job(
        received_bytes=10,
        page_count=2,
        node_count=3,
        chunk_count=4,
        warnings=(WarningRecord("DAMAGED", "One page is damaged.", (2,)),),
        counts=(("sheets", 3),),
    )
    kept = outcome_of(packed_outcome(job, already_ingested=True))
    assert kept.already_ingested
    assert (kept.received_bytes, kept.page_count, kept.node_count, kept.chunk_count) == (
        10,
        2,
        3,
        4,
    )
    assert (kept.warnings, kept.counts, kept.problem) == (job.warnings, job.counts, None)
    assert outcome_of(b"").node_count == 0


@pytest.mark.parametrize("kind", PROBLEM_KINDS, ids=lambda kind: kind.__name__)
def test_an_error_that_is_told_again_has_its_code_reason_and_words(
    kind: type[TreespanError],
) -> None:
    error = kind.__new__(kind)
    TreespanError.__init__(error, "what was wrong")
    again = error_of(problem_of(error))
    assert (again.code, again.reason, again.message) == (kind.code, kind.reason, "what was wrong")


def test_a_request_may_be_made_again_only_where_nothing_came_of_it_by_no_fault_of_its_own() -> None:
    assert is_cut_off(CallCancelled("gone"))
    assert is_cut_off(StoreUnavailable("full"))
    assert not is_cut_off(DamagedFile("broken"))
    assert not is_cut_off(InvalidField("a", "b"))


def recorded(writer: Writer, request_id: str = "") -> Live:
    """An operation that the store has, with its artifact reserved."""
    one = live("a", request_id=request_id)
    reserved = ArtifactRecord(T, "c", "a", ArtifactState.NOT_INITIALIZED)
    one.record = writer.begin_operation(one.record, reserved)
    return one


def names(writer: Writer) -> list[str]:
    return [artifact.name for artifact in writer.artifacts(T, "c", "", 10)]


def test_a_failed_one_leaves_nothing_but_its_reason(writer: Writer) -> None:
    one = recorded(writer, "once")
    one.job.stage = Stage.READING
    ended = asyncio.run(Endings(writer).failed(one, DamagedFile("broken")))
    assert ended == writer.operation(T, one.record.operation)
    assert ended.state is OperationState.FAILED
    problem = outcome_of(ended.outcome).problem
    assert problem is not None
    assert (problem.reason, problem.message, problem.stage) == ("DAMAGED", "broken", Stage.READING)
    assert ended.request_id == "once"
    assert names(writer) == []


def test_a_draft_that_was_there_before_stays(writer: Writer) -> None:
    one = recorded(writer)
    one.kept = Kept(had_draft=True)
    asyncio.run(Endings(writer).failed(one, DamagedFile("broken")))
    assert names(writer) == ["a"]


@pytest.mark.parametrize("for_good", [False, True])
def test_a_cancelled_one_frees_its_request_unless_it_was_cancelled_for_good(
    writer: Writer, for_good: bool
) -> None:
    one = recorded(writer, "once")
    one.keeps_request_id = for_good
    ended = asyncio.run(Endings(writer).failed(one, CallCancelled("stopped")))
    assert ended.state is OperationState.CANCELLED
    assert ended.request_id == ("once" if for_good else "")
    assert (writer.operation_by_request(T, "once") is not None) is for_good


def test_one_that_ended_with_its_commit_stays_so_whatever_fails_afterwards(writer: Writer) -> None:
    one = recorded(writer)
    done = packed_outcome(one.job)
    writer.end_operation(T, one.record.operation, OperationState.SUCCEEDED, done, 7)
    ended = asyncio.run(Endings(writer).failed(one, CallCancelled("too late")))
    assert (ended.state, ended.seq, ended.outcome) == (OperationState.SUCCEEDED, 7, done)
    assert names(writer) == ["a"]


def test_one_that_changed_nothing_ends_with_what_its_artifact_has(writer: Writer) -> None:
    one = recorded(writer)
    ended = asyncio.run(Endings(writer).succeeded(one, Outcome(5, already_ingested=True)))
    assert (ended.state, ended.seq) == (OperationState.SUCCEEDED, 5)
    assert outcome_of(ended.outcome).already_ingested


def test_an_end_that_cannot_be_written_is_told_now_and_written_later(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = recorded(writer)
    endings = Endings(writer)

    def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(writer, "end_operation", full)
        ended = asyncio.run(endings.failed(one, DamagedFile("broken")))
        with pytest.raises(StoreUnavailable):
            asyncio.run(endings.retry())
    assert ended.state is OperationState.FAILED
    assert endings.of(one.record.operation) is not None
    assert writer.operation(T, one.record.operation).state is OperationState.QUEUED
    assert names(writer) == ["a"]
    asyncio.run(endings.retry())
    assert endings.of(one.record.operation) is None
    kept = writer.operation(T, one.record.operation)
    assert replace(kept, ended_us=0) == replace(ended, ended_us=0)
    assert names(writer) == []


def test_an_artifact_that_another_operation_has_taken_over_is_left_to_it(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = recorded(writer)
    endings = Endings(writer)

    def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(writer, "end_operation", full)
        asyncio.run(endings.failed(one, DamagedFile("broken")))
    endings.take_over(one.key)
    asyncio.run(endings.retry())
    assert writer.operation(T, one.record.operation).state is OperationState.FAILED
    assert names(writer) == ["a"]


# Requests.


def test_a_request_is_kept_as_it_was_without_its_password() -> None:
    kept = Kept(file_name="a.pdf", metadata=b"\x01", summary="S", detached=True, has_password=True)
    packed = packed_request(kept)
    assert kept_request(packed) == kept
    assert "password" not in {name for name in Kept.__struct_fields__ if name != "has_password"}
