"""Bad input: its gRPC code, a reason for machines, a sentence that helps, and nothing left."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import grpc
import numpy as np
import pymupdf
import pytest

from calls import ingest_bytes, refused, upload
from treespan.v1 import (
    context_filter_pb2,
    metadata_pb2,
)
from treespan.v1 import (
    ingest_service_pb2 as ingest_pb,
)
from treespan.v1 import (
    search_service_pb2 as search_pb,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

INVALID = grpc.StatusCode.INVALID_ARGUMENT
TEXT = b"The reactor was inspected in May. Every valve passed its test.\n"


def artifacts(ingest: IngestServiceStub, collection: str) -> list[ingest_pb.Artifact]:
    answer = ingest.ListArtifacts(ingest_pb.ListArtifactsRequest(collection=collection))
    return list(answer.artifacts)


def search_request(collection: str, **fields: object) -> search_pb.SearchRequest:
    where = context_filter_pb2.ContextFilter(collection=collection)
    return search_pb.SearchRequest(context_filter=where, **fields)


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"text": "valve", "limit": 0}, "limit", "is 0"),
        ({"text": "valve", "limit": 10_001}, "limit", "10,001"),
        ({"text": ""}, "text", "is empty"),
        ({"text": " \n\t　"}, "text", "is empty"),
        ({"text": "x" * 32_769}, "text", "32,769"),
        ({}, "query", "missing"),
        ({"text": "valve", "score_threshold": 1.5}, "score_threshold", "1.5"),
        ({"text": "valve", "score_threshold": float("nan")}, "score_threshold", "nan"),
        (
            {"text": "valve", "context": search_pb.ContextOptions(token_budget=0)},
            "context.token_budget",
            "is 0",
        ),
        (
            {"text": "valve", "context": search_pb.ContextOptions(sentences=101)},
            "context.sentences",
            "101",
        ),
        ({"text": "valve", "context": search_pb.ContextOptions(mode=99)}, "context.mode", "99"),
    ],
)
def test_a_search_with_a_value_out_of_range_names_the_field(
    search: SearchServiceStub, collection: str, fields: dict[str, object], field: str, words: str
) -> None:
    with refused() as told:
        search.Search(search_request(collection, **fields))
    assert (told.code, told.reason, told.field) == (INVALID, "INVALID_FIELD", field)
    assert words in told.message


def test_an_unknown_collection_is_not_found(
    ingest: IngestServiceStub, search: SearchServiceStub
) -> None:
    with refused() as told:
        search.Search(search_request("nowhere", text="valve"))
    assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "COLLECTION_NOT_FOUND")
    assert "'nowhere'" in told.message
    with refused() as told:
        ingest_bytes(ingest, "nowhere", "a", TEXT)
    assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "COLLECTION_NOT_FOUND")


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        (np.ones(383, "<f4").tobytes(), "383"),
        (np.zeros(384, "<f4").tobytes(), "zero"),
        (np.full(384, np.nan, "<f4").tobytes(), "finite"),
        (b"\0\0\0", "3 bytes"),
        (b"", "0 bytes"),
    ],
)
def test_a_vector_that_cannot_be_compared_is_refused(
    search: SearchServiceStub, collection: str, vector: bytes, words: str
) -> None:
    request = search_request(collection, vector=search_pb.Vector(f32_le=vector))
    with refused() as told:
        search.Search(request)
    assert (told.code, told.reason) == (INVALID, "INVALID_VECTOR")
    assert words in told.message


@pytest.mark.parametrize(
    "name",
    ["", "a/b", "x" * 10_000, "bell\a", ".", ".."],
    ids=["empty", "slash", "long", "control", "dot", "dots"],
)
def test_a_name_that_is_none_is_refused_by_both_services(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str, name: str
) -> None:
    with refused() as told:
        ingest_bytes(ingest, collection, name, TEXT, "a.txt")
    assert (told.code, told.reason, told.field) == (INVALID, "INVALID_NAME", "header.artifact")
    with refused() as told:
        search.Search(search_request(name, text="valve"))
    assert (told.code, told.reason) == (INVALID, "INVALID_NAME")
    assert len(told.message) < 400
    assert not artifacts(ingest, collection)


def test_an_artifact_that_does_not_exist_is_named(
    search: SearchServiceStub, collection: str
) -> None:
    request = search_request(collection, text="valve")
    request.context_filter.artifacts.append("report")
    with refused() as told:
        search.Search(request)
    assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "ARTIFACT_NOT_FOUND")
    assert "report" in told.message
    request.validate = False
    assert not search.Search(request).chunks


def test_an_artifact_that_is_still_arriving_is_refused_and_a_second_upload_too(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    going_on = threading.Event()
    header = ingest_pb.IngestFileHeader(collection=collection, artifact="report")

    def slow() -> Iterator[ingest_pb.IngestFileRequest]:
        yield ingest_pb.IngestFileRequest(header=header)
        going_on.wait(0.9)
        yield ingest_pb.IngestFileRequest(data=TEXT)

    first = ingest.IngestFile.future(slow(), timeout=60)
    wait_for_state(ingest, collection, "report", ingest_pb.Artifact.STATE_NOT_INITIALIZED)
    request = search_request(collection, text="valve")
    request.context_filter.artifacts.append("report")
    with refused() as told:
        search.Search(request)
    assert told.code == grpc.StatusCode.FAILED_PRECONDITION
    assert told.reason == "ARTIFACT_NOT_READY"
    assert "NOT_INITIALIZED" in told.message
    with refused() as told:
        ingest_bytes(ingest, collection, "report", TEXT)
    assert (told.code, told.reason) == (grpc.StatusCode.ABORTED, "ARTIFACT_BUSY")
    going_on.set()
    assert first.result().artifact.state == ingest_pb.Artifact.STATE_POPULATED
    assert search.Search(request).chunks


def wait_for_state(ingest: IngestServiceStub, collection: str, artifact: str, state: int) -> None:
    request = ingest_pb.GetArtifactRequest(collection=collection, artifact=artifact)
    for _ in range(200):
        try:
            if ingest.GetArtifact(request).artifact.state == state:
                return
        except grpc.RpcError:
            pass
        time.sleep(0.005)
    raise AssertionError(f"{artifact} did not become {state}")


def test_an_upload_without_header_is_refused(ingest: IngestServiceStub, collection: str) -> None:
    with refused() as told:
        ingest.IngestFile(iter([ingest_pb.IngestFileRequest(data=TEXT)]))
    assert (told.code, told.reason) == (INVALID, "HEADER_MISSING")
    with refused() as told:
        ingest.IngestFile(iter([]))
    assert (told.code, told.reason) == (INVALID, "HEADER_MISSING")
    assert not artifacts(ingest, collection)


def test_a_header_that_never_comes_ends_the_call(ingest: IngestServiceStub) -> None:
    def silent() -> Iterator[ingest_pb.IngestFileRequest]:
        time.sleep(3)
        yield ingest_pb.IngestFileRequest()

    with refused() as told:
        ingest.IngestFile(silent(), timeout=30)
    assert told.code == grpc.StatusCode.DEADLINE_EXCEEDED
    assert told.reason == "UPLOAD_STALLED"
    assert "header" in told.message


def test_parts_that_stop_end_the_call_and_leave_nothing(
    ingest: IngestServiceStub, collection: str
) -> None:
    header = ingest_pb.IngestFileHeader(collection=collection, artifact="half")

    def stops() -> Iterator[ingest_pb.IngestFileRequest]:
        yield from upload(header, TEXT)
        time.sleep(3)

    with refused() as told:
        ingest.IngestFile(stops(), timeout=30)
    assert told.reason == "UPLOAD_STALLED"
    assert not artifacts(ingest, collection)


def test_a_caller_that_goes_away_leaves_nothing(ingest: IngestServiceStub, collection: str) -> None:
    header = ingest_pb.IngestFileHeader(collection=collection, artifact="gone")

    def endless() -> Iterator[ingest_pb.IngestFileRequest]:
        yield from upload(header, TEXT)
        time.sleep(0.8)

    call = ingest.IngestFile.future(endless(), timeout=30)
    wait_for_state(ingest, collection, "gone", ingest_pb.Artifact.STATE_NOT_INITIALIZED)
    call.cancel()
    for _ in range(200):
        if not artifacts(ingest, collection):
            break
        time.sleep(0.01)
    assert not artifacts(ingest, collection)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"size_bytes": len(TEXT) + 1}, "SIZE_MISMATCH"),
        ({"size_bytes": 0}, "SIZE_MISMATCH"),
        ({"content_sha256": "0" * 64}, "HASH_MISMATCH"),
        ({"content_sha256": "zz"}, "INVALID_FIELD"),
        ({"file_name": "x" * 1025}, "INVALID_FIELD"),
        ({"metadata": {"": metadata_pb2.MetadataValue(int_value=1)}}, "INVALID_FIELD"),
        ({"metadata": {"k": metadata_pb2.MetadataValue()}}, "INVALID_FIELD"),
        (
            {"metadata": {"k": metadata_pb2.MetadataValue(time_value={"seconds": 2**62})}},
            "INVALID_FIELD",
        ),
    ],
)
def test_a_header_that_lies_is_refused_and_leaves_nothing(
    ingest: IngestServiceStub, collection: str, fields: dict[str, object], reason: str
) -> None:
    header = ingest_pb.IngestFileHeader(collection=collection, artifact="a.txt", **fields)
    with refused() as told:
        ingest.IngestFile(upload(header, TEXT), timeout=30)
    assert (told.code, told.reason) == (INVALID, reason)
    assert not artifacts(ingest, collection)


def test_a_part_above_one_mebibyte_is_refused(ingest: IngestServiceStub, collection: str) -> None:
    header = ingest_pb.IngestFileHeader(collection=collection, artifact="a.txt")
    parts = [
        ingest_pb.IngestFileRequest(header=header),
        ingest_pb.IngestFileRequest(data=b"x" * ((1 << 20) + 1)),
    ]
    with refused() as told:
        ingest.IngestFile(iter(parts), timeout=30)
    assert (told.code, told.reason, told.field) == (INVALID, "INVALID_FIELD", "data")
    assert not artifacts(ingest, collection)


@pytest.mark.parametrize(
    ("data", "name", "code", "reason"),
    [
        (b"", "a.txt", INVALID, "EMPTY"),
        (b" \n \t\n", "a.txt", INVALID, "EMPTY"),
        (b"%PDF-1.7\n%broken", "a.pdf", INVALID, "DAMAGED"),
        (
            b"\x7fELF" + bytes(range(256)) * 12,
            "a",
            grpc.StatusCode.UNIMPLEMENTED,
            "UNSUPPORTED",
        ),
    ],
)
def test_a_bad_file_says_why_and_leaves_nothing(
    ingest: IngestServiceStub,
    collection: str,
    data: bytes,
    name: str,
    code: grpc.StatusCode,
    reason: str,
) -> None:
    with refused() as told:
        ingest_bytes(ingest, collection, "bad", data, name)
    assert (told.code, told.reason) == (code, reason)
    assert not artifacts(ingest, collection)


def test_a_failed_replacement_leaves_the_version_before(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    written = ingest_bytes(ingest, collection, "report", TEXT, "report.txt")
    with refused():
        ingest_bytes(ingest, collection, "report", b"", "report.txt")
    [artifact] = artifacts(ingest, collection)
    assert artifact.state == ingest_pb.Artifact.STATE_POPULATED
    request = search_request(collection, text="Which valves passed?", min_seq=written.seq)
    answer = search.Search(request)
    assert "Every valve passed" in answer.chunks[0].text


def test_every_refusal_carries_the_callers_request_id(search: SearchServiceStub) -> None:
    with refused() as told:
        search.Search(
            search_request("nowhere", text="valve"), metadata=(("x-request-id", "abc-123"),)
        )
    assert told.request_id == "abc-123"
    assert told.trailers
    assert told.trailers["x-request-id"] == "abc-123"


def test_a_batch_fails_item_by_item(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    written = ingest_bytes(ingest, collection, "report", TEXT, "report.txt")
    requests = [
        search_request(collection, text="valves", min_seq=written.seq),
        search_request(collection, text=""),
        search_request("nowhere", text="valves"),
    ]
    answer = search.BatchSearch(search_pb.BatchSearchRequest(requests=requests))
    assert [one.WhichOneof("outcome") for one in answer.results] == [
        "response",
        "failure",
        "failure",
    ]
    assert [one.failure.reason for one in answer.results[1:]] == [
        "INVALID_FIELD",
        "COLLECTION_NOT_FOUND",
    ]
    assert answer.results[2].failure.code == grpc.StatusCode.NOT_FOUND.value[0]
    alone = search.Search(requests[0])
    assert answer.results[0].response.chunks == alone.chunks


@pytest.mark.parametrize("count", [0, 65])
def test_a_batch_of_the_wrong_size_is_refused(search: SearchServiceStub, count: int) -> None:
    requests = [search_request("any", text="valves")] * count
    with refused() as told:
        search.BatchSearch(search_pb.BatchSearchRequest(requests=requests))
    assert (told.code, told.field) == (INVALID, "requests")


@pytest.mark.parametrize("method", ["Search", "GetServerInfo"])
def test_bytes_that_are_no_message_are_refused_by_search(servers: Servers, method: str) -> None:
    with grpc.insecure_channel(servers.address("search")) as channel:
        raw = channel.unary_unary(f"/treespan.v1.SearchService/{method}")
        with refused() as told:
            raw(b"\x12\x02\xff\xfe\xff", timeout=10)
    assert (told.code, told.reason) == (INVALID, "INVALID_FIELD")


def test_bytes_that_are_no_message_are_refused_by_ingest(servers: Servers) -> None:
    with grpc.insecure_channel(servers.address("ingest")) as channel:
        for raw in (
            channel.unary_unary("/treespan.v1.IngestService/GetCollection"),
            channel.unary_stream("/treespan.v1.IngestService/ExportTree"),
        ):
            with refused() as told:
                list(raw(b"\x0a\x02\xff\xfe", timeout=10))
            assert (told.code, told.reason) == (INVALID, "INVALID_FIELD")
        upload_raw = channel.stream_unary("/treespan.v1.IngestService/IngestFile")
        with refused() as told:
            upload_raw(iter([b"\x0a\x02\xff\xfe"]), timeout=10)
        assert (told.code, told.reason) == (INVALID, "INVALID_FIELD")


@pytest.mark.parametrize(
    "text",
    [
        "%PDF-1.4 is how a PDF begins.",
        "PK\x03\x04 starts a ZIP.",
        "From: a\nTo: b\nSubject: c\n\nd",
    ],
)
def test_a_text_is_read_as_it_is_said_to_be(
    ingest: IngestServiceStub, collection: str, text: str
) -> None:
    for media_type in ("", "text/plain", "text/markdown"):
        request = ingest_pb.IngestTextRequest(
            collection=collection, artifact=f"t {media_type.replace('/', ' ')}", text=text
        )
        request.media_type = media_type
        answer = ingest.IngestText(request, timeout=60)
        assert answer.artifact.media_type == (media_type or "text/plain")


def test_two_changes_of_different_fields_at_once_both_hold(
    ingest: IngestServiceStub, collection: str
) -> None:
    for number in range(10):
        name, tokens = f"name {number}", 50 + number
        calls = [
            ingest.UpdateCollection.future(
                ingest_pb.UpdateCollectionRequest(
                    collection=ingest_pb.Collection(
                        collection=collection, display_name=name, chunk_tokens=tokens
                    ),
                    update_mask={"paths": [path]},
                )
            )
            for path in ("display_name", "chunk_tokens")
        ]
        for one in calls:
            one.result()
        wanted = ingest_pb.GetCollectionRequest(collection=collection)
        now = ingest.GetCollection(wanted).collection
        assert (now.display_name, now.chunk_tokens) == (name, tokens)


def test_health_is_told_while_every_call_waits(
    servers: Servers, search: SearchServiceStub, collection: str
) -> None:
    far = search_request(collection, text="valve", min_seq=2**63)
    waiting = [search.Search.future(far, timeout=60) for _ in range(40)]
    try:
        servers.wait_healthy("search")
        with refused() as told:
            search.Search(far, timeout=60)
        assert (told.code, told.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL")
        assert told.retry_s
        assert search.Search(search_request(collection, text="valve"), timeout=10) is not None
    finally:
        for one in waiting:
            one.cancel()


def test_an_encrypted_file_is_never_reused_for_another_password(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    data = encrypted_pdf("The vault opens at nine.", password="right")

    def send(artifact: str, password: str) -> ingest_pb.IngestFileResponse:
        header = ingest_pb.IngestFileHeader(
            collection=collection, artifact=artifact, file_name="v.pdf", password=password
        )
        answer: ingest_pb.IngestFileResponse = ingest.IngestFile(upload(header, data), timeout=60)
        return answer

    assert send("first", "right").artifact.page_count == 1
    for password, reason in (("", "ENCRYPTED"), ("wrong", "WRONG_PASSWORD")):
        with refused() as told:
            send("second", password)
        assert (told.code, told.reason) == (grpc.StatusCode.FAILED_PRECONDITION, reason)
    assert send("first", "right").already_ingested
    assert [artifact.artifact for artifact in artifacts(ingest, collection)] == ["first"]


def encrypted_pdf(text: str, password: str) -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), text)
    data: bytes = document.tobytes(
        encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="owner"
    )
    return data
