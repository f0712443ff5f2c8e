"""Several ingests in one call: each is recorded or refused alone. And the bound of the queue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest

from calls import refused
from catalogue_calls import get, names
from faults.versions import document
from operation_calls import Op, ended, pb, reading, send, write

if TYPE_CHECKING:
    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

QUEUE = 24


def text(
    collection: str, artifact: str, words: str = "red blue", **fields: object
) -> pb.BatchIngestItem:
    return pb.BatchIngestItem(
        text=pb.IngestTextRequest(collection=collection, artifact=artifact, text=words, **fields)
    )


def uri(collection: str, artifact: str, where: str) -> pb.BatchIngestItem:
    return pb.BatchIngestItem(
        uri=pb.IngestUriRequest(collection=collection, artifact=artifact, uri=where)
    )


def batch(ingest: IngestServiceStub, items: list[pb.BatchIngestItem]) -> list[pb.BatchIngestResult]:
    return list(ingest.BatchIngest(pb.BatchIngestRequest(items=items), timeout=60).results)


def test_good_ones_go_on_and_bad_ones_are_told_one_by_one(
    ingest: IngestServiceStub, collection: str, settings: dict[str, str]
) -> None:
    file = Path(settings["TREESPAN__INGEST__URI_ROOTS"]) / "page.md"
    file.write_bytes(document("page", 1, 3))
    results = batch(
        ingest,
        [
            text(collection, "good", "red green"),
            text(collection, "empty", " "),
            text(collection, "good", "blue"),
            text("nowhere", "good", "red"),
            text(collection, "a/b", "red"),
            uri(collection, "file", file.as_uri()),
            uri(collection, "secret", "file:///etc/passwd"),
            uri(collection, "ftp", "ftp://example.org/a"),
            pb.BatchIngestItem(),
            text(collection, "typed", "red", media_type="image/png"),
            text(collection, "last", "green"),
        ],
    )
    told = [result.error.reason or result.WhichOneof("result") for result in results]
    assert told == [
        "operation",
        "INVALID_FIELD",
        "INVALID_FIELD",
        "COLLECTION_NOT_FOUND",
        "INVALID_NAME",
        "operation",
        "URI_NOT_ALLOWED",
        "INVALID_FIELD",
        "INVALID_FIELD",
        "INVALID_FIELD",
        "operation",
    ]
    assert "items[0]" in results[2].error.message
    assert results[3].error.code == grpc.StatusCode.NOT_FOUND.value[0]
    for result in results:
        if result.WhichOneof("result") == "operation":
            assert ended(ingest, result.operation.operation).state == Op.STATE_SUCCEEDED
    assert names(ingest, collection) == ["file", "good", "last"]
    assert get(ingest, collection, "file").source_uri == file.as_uri()
    assert get(ingest, collection, "file").file_name == "page.md"


def test_a_batch_sent_again_is_done_once(ingest: IngestServiceStub, collection: str) -> None:
    items = [
        text(collection, f"a{number}", options=pb.IngestOptions(request_id=f"batch {number}"))
        for number in range(5)
    ]
    first, second = batch(ingest, items), batch(ingest, items)
    assert [one.operation.operation for one in first] == [one.operation.operation for one in second]
    for one in first:
        assert ended(ingest, one.operation.operation).state == Op.STATE_SUCCEEDED


@pytest.mark.parametrize("count", [0, 257])
def test_a_batch_of_the_wrong_size_is_refused(
    ingest: IngestServiceStub, collection: str, count: int
) -> None:
    with refused() as told:
        batch(ingest, [text(collection, f"a{number}") for number in range(count)])
    assert (told.reason, told.field) == ("INVALID_FIELD", "items")
    assert names(ingest, collection) == []


def test_over_its_bound_the_queue_takes_nothing_and_says_when_to_try_again(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    with reading(servers, ingest, collection):
        # Words that no artifact holds yet: what is known is done without its turn.
        items = [text(collection, f"a{n}", f"red {n} of the queue") for n in range(QUEUE + 5)]
        results = batch(ingest, items)
        taken = [one.operation.operation for one in results if one.HasField("operation")]
        assert len(taken) == QUEUE - 1
        assert [one.error.reason for one in results[QUEUE - 1 :]] == ["QUEUE_FULL"] * 6
        for call in (
            lambda: send(ingest, collection, "more", b"red"),
            lambda: send(ingest, collection, "more", b"red", detached=True),
            lambda: write(ingest, collection, "more", "red"),
        ):
            with refused() as told:
                call()
            assert (told.code, told.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL")
            assert told.retry_s
    for name in taken:
        assert ended(ingest, name).state == Op.STATE_SUCCEEDED
    assert len(names(ingest, collection)) == QUEUE - 1
    assert send(ingest, collection, "more", b"red").operation.state == Op.STATE_SUCCEEDED
