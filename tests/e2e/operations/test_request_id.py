"""A request that is sent again under its id is done once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from calls import refused, upload
from catalogue_calls import get
from faults.versions import document
from operation_calls import (
    Op,
    Stage,
    at_stage,
    cancel,
    ended,
    header,
    operation,
    pb,
    reading,
    send,
    until,
    write,
)
from operation_calls import listed as operations
from slow_files import LONG_TO_EMBED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub


@pytest.mark.parametrize("detached", [False, True])
def test_twenty_at_once_are_one_ingest(
    ingest: IngestServiceStub, collection: str, detached: bool
) -> None:
    data = document(f"twenty{detached}", 1, 60)

    def call(_: int) -> pb.IngestFileResponse:
        options = {"request_id": f"twenty {detached}", "detached": detached}
        return send(ingest, collection, "a", data, **options)

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(call, range(20)))
    [one] = operations(ingest, collection=collection)
    assert {answer.operation.operation for answer in answers} == {one.operation}
    assert ended(ingest, one.operation).state == Op.STATE_SUCCEEDED
    if not detached:
        assert {answer.seq for answer in answers} == {one.seq}
        assert {answer.operation.state for answer in answers} == {Op.STATE_SUCCEEDED}
        assert all(answer.artifact == get(ingest, collection, "a") for answer in answers)


def test_after_its_end_it_is_answered_with_that_and_nothing_is_done(
    ingest: IngestServiceStub, collection: str
) -> None:
    first = send(ingest, collection, "a", document("r", 1, 3), request_id="again")
    send(ingest, collection, "a", document("r", 2, 3))
    second = send(ingest, collection, "a", document("r", 1, 3), request_id="again")
    assert second.operation == first.operation
    assert (second.seq, second.received_bytes) == (first.seq, first.received_bytes)
    assert second.artifact == get(ingest, collection, "a")
    assert len(operations(ingest, collection=collection)) == 2


def test_its_bytes_are_not_asked_for_again(ingest: IngestServiceStub, collection: str) -> None:
    data = b"%PDF-1.7\n%broken" + bytes(20_000_000)
    options = {"request_id": "large", "detached": True}
    first = send(ingest, collection, "a", data, **options)
    assert first.received_bytes == len(data)
    failed = ended(ingest, first.operation.operation)
    sent = 0

    def parts() -> Iterator[pb.IngestFileRequest]:
        nonlocal sent
        for part in upload(header(collection, "a", **options), data):
            sent += len(part.data)
            yield part

    assert ingest.IngestFile(parts(), timeout=30).operation == failed
    assert sent < len(data) / 2


@pytest.mark.parametrize(
    "change",
    [
        {"artifact": "b"},
        {"file_name": "other.md"},
        {"source_uri": "https://example.org/a"},
        {"password": "sesame"},
        {"content_sha256": "0" * 64},
        {"options": pb.IngestOptions(request_id="one", include_hidden=True)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_request_of_the_same_id_is_refused(
    ingest: IngestServiceStub, collection: str, change: dict[str, Any]
) -> None:
    first = send(ingest, collection, "a", document("a", 1, 2), request_id="one " + collection)
    fields = {
        "collection": collection,
        "artifact": "a",
        "file_name": "a.md",
        "options": pb.IngestOptions(request_id="one " + collection),
    } | change
    fields["options"].request_id = "one " + collection
    with refused() as told:
        ingest.IngestFile(upload(pb.IngestFileHeader(**fields), b"red"), timeout=30)
    assert (told.code, told.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_ID_REUSED")
    assert told.field == "options.request_id"
    assert first.operation.operation in told.message


def test_a_text_and_a_file_of_the_same_id_are_two_requests(
    ingest: IngestServiceStub, collection: str
) -> None:
    write(ingest, collection, "a", "red", request_id="kinds")
    with refused() as told:
        send(ingest, collection, "a", b"red", request_id="kinds")
    assert told.reason == "REQUEST_ID_REUSED"


def test_another_tenant_may_use_the_same_id(ingest: IngestServiceStub, collection: str) -> None:
    tenant = (("treespan-tenant", "other-ids"),)
    wanted = pb.CreateCollectionRequest(collection=pb.Collection(collection=collection))
    ingest.CreateCollection(wanted, metadata=tenant)
    mine = send(ingest, collection, "a", b"red", request_id="shared")
    others = send(ingest, collection, "b", b"blue", "other-ids", request_id="shared")
    assert mine.operation.operation != others.operation.operation
    assert others.artifact.artifact == "b"


def test_a_file_that_was_not_taken_is_refused_again_for_the_same_reason(
    ingest: IngestServiceStub, collection: str
) -> None:
    for _ in range(2):
        with refused() as told:
            send(ingest, collection, "a", b"%PDF-1.7\n%broken", request_id="broken")
        assert (told.code, told.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "DAMAGED")
    [one] = operations(ingest, collection=collection)
    detached = send(
        ingest, collection, "a", b"%PDF-1.7\n%broken", request_id="broken", detached=True
    )
    assert detached.operation == one
    assert not detached.HasField("artifact")


def test_one_whose_caller_went_away_is_done_when_it_is_sent_again(
    ingest: IngestServiceStub, collection: str
) -> None:
    data = document("gone", 1, 100)
    call = ingest.IngestFile.future(
        upload(header(collection, "a", request_id="gone"), data), timeout=60
    )
    until(lambda: operations(ingest, collection=collection), "it is recorded")
    [begun] = operations(ingest, collection=collection)
    call.cancel()
    assert ended(ingest, begun.operation).state == Op.STATE_CANCELLED
    assert operation(ingest, begun.operation).request_id == ""
    answer = send(ingest, collection, "a", data, request_id="gone")
    assert answer.operation.operation != begun.operation
    assert answer.operation.state == Op.STATE_SUCCEEDED
    assert answer.operation.request_id == "gone"


def test_one_that_was_cancelled_for_good_is_not_done_when_it_is_sent_again(
    ingest: IngestServiceStub, collection: str
) -> None:
    options = {"request_id": "stopped", "detached": True}
    name = send(ingest, collection, "a", LONG_TO_EMBED, **options).operation.operation
    stopped, _ = cancel(ingest, name)
    again = send(ingest, collection, "a", LONG_TO_EMBED, **options)
    assert again.operation == stopped
    with refused() as told:
        send(ingest, collection, "a", LONG_TO_EMBED, request_id="stopped")
    assert told.code is grpc.StatusCode.CANCELLED


def test_whoever_sends_it_again_keeps_it_going_when_the_first_caller_leaves(
    ingest: IngestServiceStub, collection: str
) -> None:
    text = document("stays", 1, 150).decode()
    request = pb.IngestTextRequest(
        collection=collection,
        artifact="a",
        text=text,
        media_type="text/markdown",
        options=pb.IngestOptions(request_id="stays"),
    )
    first = ingest.IngestText.future(request, timeout=60)
    until(lambda: operations(ingest, collection=collection), "it is recorded")
    [begun] = operations(ingest, collection=collection)
    second = ingest.IngestText.future(request, timeout=60)
    at_stage(ingest, begun.operation, Stage.STAGE_EMBEDDING)
    first.cancel()
    assert second.result().operation.operation == begun.operation
    assert second.result().artifact.state == pb.Artifact.STATE_POPULATED


def test_the_second_call_of_a_broken_upload_is_told_to_send_it_again(
    ingest: IngestServiceStub, collection: str
) -> None:
    breaking = threading.Event()

    def parts() -> Iterator[pb.IngestFileRequest]:
        yield from upload(header(collection, "a", request_id="broken off"), b"red blue ")
        breaking.wait(20)

    first = ingest.IngestFile.future(parts(), timeout=60)
    until(lambda: operations(ingest, collection=collection), "it is recorded")
    again = upload(header(collection, "a", request_id="broken off"), b"red blue ")
    second = ingest.IngestFile.future(again, timeout=60)
    time.sleep(0.3)
    first.cancel()
    breaking.set()
    with refused() as told:
        second.result()
    assert (told.code, told.reason) == (grpc.StatusCode.ABORTED, "INTERRUPTED")
    assert send(ingest, collection, "a", b"red blue ", request_id="broken off").operation.state == (
        Op.STATE_SUCCEEDED
    )


@pytest.mark.parametrize("value", ["x" * 129, "tab\t", "ö"])
def test_an_id_that_is_none_is_refused(
    ingest: IngestServiceStub, collection: str, value: str
) -> None:
    with refused() as told:
        write(ingest, collection, "a", "red", request_id=value)
    assert (told.reason, told.field) == ("INVALID_FIELD", "options.request_id")


def test_an_artifact_has_one_ingest_at_a_time_whatever_its_id(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    with reading(servers, ingest, collection):
        with refused() as told:
            send(ingest, collection, "read", b"red", request_id="another")
        assert (told.code, told.reason) == (grpc.StatusCode.ABORTED, "ARTIFACT_BUSY")
        with refused() as told:
            ingest.DeleteArtifact(pb.DeleteArtifactRequest(collection=collection, artifact="read"))
        assert told.reason == "ARTIFACT_BUSY"
    # A refused request is not recorded, so that its id is still free.
    answer = send(ingest, collection, "read", b"red", request_id="another")
    assert answer.operation.state == Op.STATE_SUCCEEDED
