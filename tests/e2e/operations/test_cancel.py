"""An operation is cancelled: within two seconds, wherever it is, and nothing of it is left."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import grpc
import pytest

from calls import refused, upload
from catalogue_calls import get, listed
from faults.versions import document
from operation_calls import (
    Op,
    Stage,
    at_stage,
    cancel,
    detach,
    ended,
    header,
    operation,
    pb,
    reading,
    send,
    spooled,
    texts,
    until,
)
from operation_calls import listed as operations
from slow_files import LONG_TO_EMBED, long_to_read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from web import Web

SOON_S = 2.0


def check_cancelled(stopped: pb.Operation, stage: int) -> None:
    assert stopped.state == Op.STATE_CANCELLED
    assert (stopped.error.reason, stopped.error.stage) == ("CANCELLED", stage)
    assert stopped.error.code == grpc.StatusCode.CANCELLED.value[0]
    assert stopped.HasField("end_time")
    assert not stopped.HasField("progress")


@pytest.mark.parametrize("stage", [Stage.STAGE_READING, Stage.STAGE_EMBEDDING])
def test_inside_a_reader_or_a_batch_of_embeddings(
    servers: Servers, ingest: IngestServiceStub, collection: str, stage: int
) -> None:
    data = long_to_read() if stage == Stage.STAGE_READING else LONG_TO_EMBED
    name = detach(ingest, collection, "a", data)
    at_stage(ingest, name, stage)
    stopped, seconds = cancel(ingest, name)
    check_cancelled(stopped, stage)
    assert seconds < SOON_S
    assert listed(ingest, collection) == []
    assert spooled(servers) == []
    assert operation(ingest, name) == stopped
    # Its place is free: the next file is read at once, and whole.
    assert send(ingest, collection, "a", document("a", 1, 3)).operation.state == Op.STATE_SUCCEEDED


def test_while_it_waits_for_its_turn(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    with reading(servers, ingest, collection) as first:
        second = detach(ingest, collection, "second", document("second", 1, 3))
        assert operation(ingest, second).state == Op.STATE_QUEUED
        stopped, seconds = cancel(ingest, second)
        check_cancelled(stopped, Stage.STAGE_QUEUED)
        assert seconds < SOON_S
        assert [each.artifact for each in listed(ingest, collection)] == ["read"]
        assert [path.name for path in spooled(servers)] == [first]
        assert operation(ingest, first).state == Op.STATE_RUNNING


def test_while_it_is_fetched(
    servers: Servers, ingest: IngestServiceStub, collection: str, web: Web
) -> None:
    web.pages["/slow.md"] = document("slow", 1, 5)
    web.going_on.clear()
    request = pb.IngestUriRequest(
        collection=collection,
        artifact="a",
        uri=web.address("/slow.md"),
        options=pb.IngestOptions(detached=True),
    )
    try:
        name = ingest.IngestUri(request, timeout=30).operation.operation
        at_stage(ingest, name, Stage.STAGE_FETCHING)
        stopped, seconds = cancel(ingest, name)
    finally:
        web.going_on.set()
    check_cancelled(stopped, Stage.STAGE_FETCHING)
    assert seconds < SOON_S
    assert listed(ingest, collection) == []
    assert spooled(servers) == []


def test_while_its_bytes_arrive_ends_the_upload(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    stopping = threading.Event()

    def parts() -> Iterator[pb.IngestFileRequest]:
        yield from upload(header(collection, "a", detached=True), b"red blue ")
        stopping.wait(20)

    call = ingest.IngestFile.future(parts(), timeout=60)
    until(lambda: operations(ingest, collection=collection), "it is recorded")
    [begun] = operations(ingest, collection=collection)
    assert (begun.state, begun.progress.stage) == (Op.STATE_QUEUED, Stage.STAGE_RECEIVING)
    stopped, seconds = cancel(ingest, begun.operation)
    stopping.set()
    check_cancelled(stopped, Stage.STAGE_RECEIVING)
    assert seconds < SOON_S
    with refused() as told:
        call.result()
    assert (told.code, told.reason) == (grpc.StatusCode.CANCELLED, "CANCELLED")
    assert listed(ingest, collection) == []
    assert spooled(servers) == []


@pytest.mark.parametrize("stage", [Stage.STAGE_READING, Stage.STAGE_EMBEDDING])
def test_the_version_before_stays(ingest: IngestServiceStub, collection: str, stage: int) -> None:
    send(ingest, collection, "a", document("a", 1, 3))
    before, words = get(ingest, collection, "a"), texts(ingest, collection, "a")
    data = long_to_read() if stage == Stage.STAGE_READING else LONG_TO_EMBED
    name = detach(ingest, collection, "a", data)
    at_stage(ingest, name, stage)
    cancel(ingest, name)
    assert get(ingest, collection, "a") == before
    assert texts(ingest, collection, "a") == words


def test_one_that_has_ended_stays_as_it_ended(ingest: IngestServiceStub, collection: str) -> None:
    done = send(ingest, collection, "a", document("a", 1, 3)).operation
    stopped, _ = cancel(ingest, done.operation)
    assert stopped == done
    assert get(ingest, collection, "a").state == pb.Artifact.STATE_POPULATED


def test_two_cancel_at_once_and_both_are_told(ingest: IngestServiceStub, collection: str) -> None:
    name = detach(ingest, collection, "a", LONG_TO_EMBED)
    at_stage(ingest, name, Stage.STAGE_EMBEDDING)
    request = pb.CancelOperationRequest(operation=name)
    calls = [ingest.CancelOperation.future(request, timeout=30) for _ in range(5)]
    assert {call.result().operation.state for call in calls} == {Op.STATE_CANCELLED}


def test_a_caller_that_waits_is_told(ingest: IngestServiceStub, collection: str) -> None:
    call = ingest.IngestFile.future(upload(header(collection, "a"), LONG_TO_EMBED), timeout=60)
    until(lambda: operations(ingest, collection=collection), "it is recorded")
    [begun] = operations(ingest, collection=collection)
    at_stage(ingest, begun.operation, Stage.STAGE_EMBEDDING)
    cancel(ingest, begun.operation)
    with refused() as told:
        call.result()
    assert (told.code, told.reason) == (grpc.StatusCode.CANCELLED, "CANCELLED")


@pytest.mark.parametrize("stage", [Stage.STAGE_READING, Stage.STAGE_EMBEDDING])
def test_an_attached_one_ends_with_its_caller(
    servers: Servers, ingest: IngestServiceStub, collection: str, stage: int
) -> None:
    data = long_to_read() if stage == Stage.STAGE_READING else LONG_TO_EMBED
    call = ingest.IngestFile.future(upload(header(collection, "a"), data), timeout=60)
    until(lambda: operations(ingest, collection=collection), "it is recorded")
    [begun] = operations(ingest, collection=collection)
    at_stage(ingest, begun.operation, stage)
    call.cancel()
    stopped = ended(ingest, begun.operation)
    check_cancelled(stopped, stage)
    assert listed(ingest, collection) == []
    assert spooled(servers) == []


def test_a_detached_one_goes_on_without_its_caller(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    with grpc.insecure_channel(servers.address("ingest")) as channel:
        stub = type(ingest)(channel)
        answer = send(stub, collection, "a", document("a", 1, 100), detached=True)
    assert answer.received_bytes == len(document("a", 1, 100))
    assert answer.artifact.state != pb.Artifact.STATE_POPULATED
    assert answer.seq == 0
    assert ended(ingest, answer.operation.operation).state == Op.STATE_SUCCEEDED
    assert get(ingest, collection, "a").state == pb.Artifact.STATE_POPULATED


def test_detached_uploads_that_break_off_are_not_taken_for_whole_ones(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    """To the service, an upload that breaks off looks much like one that ends."""
    stopping = threading.Event()

    def parts(number: int) -> Iterator[pb.IngestFileRequest]:
        yield from upload(header(collection, f"a{number}", detached=True), b"red blue ")
        stopping.wait(20)

    calls = [ingest.IngestFile.future(parts(number), timeout=60) for number in range(20)]
    until(lambda: len(operations(ingest, collection=collection)) == 20, "all are recorded")
    begun = operations(ingest, collection=collection)
    for call in calls:
        call.cancel()
    stopping.set()
    for each in begun:
        check_cancelled(ended(ingest, each.operation), Stage.STAGE_RECEIVING)
    assert listed(ingest, collection) == []
    assert spooled(servers) == []


def test_calls_that_are_cancelled_at_once_leave_nothing(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    for number in range(60):
        request = pb.IngestTextRequest(
            collection=collection, artifact=f"a{number % 5}", text=f"red {number}"
        )
        call = ingest.IngestText.future(request, timeout=30)
        threading.Event().wait(number * 0.0001)
        call.cancel()
    for each in operations(ingest, collection=collection):
        ended(ingest, each.operation)
    until(lambda: not spooled(servers), "nothing is under way")
    for number in range(5):
        data = document(f"a{number}", 1, 2)
        assert send(ingest, collection, f"a{number}", data).operation.state == Op.STATE_SUCCEEDED
