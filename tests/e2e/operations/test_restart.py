"""The service is killed or stopped, and goes on where it was.

A detached operation is finished by the next process, whatever stage it was in; an attached one, or
one that lacks something, ends as INTERRUPTED and leaves nothing.
"""

from __future__ import annotations

import hashlib
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw
import grpc
import pytest

from calls import refused, upload
from catalogue_calls import get, listed
from faults.versions import document
from operation_calls import (
    Op,
    Stage,
    at_stage,
    detach,
    ended,
    header,
    make,
    operation,
    pb,
    send,
    spooled,
    texts,
    until,
)
from operation_calls import listed as operations
from slow_files import long_to_read
from treespan.store.upkeep import check_store
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Servers
    from web import Web

DOCUMENT = document("long", 1, 120)
OLD = document("old", 1, 3)
OTHERS = "others"
"""A tenant whose ingests are not disturbed: nothing is shared between tenants."""


@contextmanager
def calling(servers: Servers) -> Iterator[IngestServiceStub]:
    options = (
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.max_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 2000),
    )
    with grpc.insecure_channel(servers.address("ingest"), options=options) as channel:
        ingest = IngestServiceStub(channel)
        for tenant in ("default", OTHERS):
            make(ingest, "c", tenant)
        yield ingest


def fetched(ingest: IngestServiceStub, artifact: str, uri: str) -> str:
    """Begin to fetch something; return the operation."""
    request = pb.IngestUriRequest(
        collection="c",
        artifact=artifact,
        uri=uri,
        options=pb.IngestOptions(detached=True),
    )
    return ingest.IngestUri(request, timeout=30).operation.operation


def check_done(ingest: IngestServiceStub, name: str, data: bytes, file_name: str = "a.md") -> None:
    """The operation did what it was for, as if nothing had happened."""
    done = ended(ingest, name)
    assert done.state == Op.STATE_SUCCEEDED, done
    artifact = get(ingest, "c", "a")
    assert artifact.state == pb.Artifact.STATE_POPULATED
    assert artifact.content_sha256 == hashlib.sha256(data).hexdigest()
    assert (done.node_count, done.chunk_count) == (artifact.node_count, artifact.chunk_count)
    undisturbed = pb.IngestFileHeader(collection="c", artifact="a", file_name=file_name)
    other = ingest.IngestFile(
        upload(undisturbed, data), timeout=60, metadata=(("treespan-tenant", OTHERS),)
    )
    assert texts(ingest, "c", "a") == texts(ingest, "c", "a", OTHERS)
    assert artifact.chunk_count == other.artifact.chunk_count


@contextmanager
def waiting_to_commit(
    servers: Servers, ingest: IngestServiceStub, name: str, *, only: bool
) -> Iterator[None]:
    """Keep the store's lock while the block runs, so that a commit has to wait."""
    if not only:
        yield
        return
    at_stage(ingest, name, Stage.STAGE_EMBEDDING)
    connection = apsw.Connection(str(servers.store / "store.db"))
    connection.set_busy_timeout(10_000)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()


STAGES = {
    "queued": Stage.STAGE_QUEUED,
    "fetching": Stage.STAGE_FETCHING,
    "reading": Stage.STAGE_READING,
    "chunking": Stage.STAGE_CHUNKING,
    "embedding": Stage.STAGE_EMBEDDING,
    "committing": Stage.STAGE_COMMITTING,
}


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("stage", "replaces"),
    [(stage, False) for stage in STAGES] + [("embedding", True), ("committing", True)],
)
def test_killed_in_any_stage_it_is_finished_by_the_next_process(
    own_servers: Servers, web: Web, stage: str, replaces: bool
) -> None:
    own_servers.start("ingest")
    data = long_to_read(100, 12) if stage == "reading" else DOCUMENT
    with calling(own_servers) as ingest:
        if replaces:
            send(ingest, "c", "a", OLD)
        if stage == "queued":
            detach(ingest, "c", "first", long_to_read(100, 12))
        if stage == "fetching":
            web.pages["/a.md"] = data
            web.going_on.clear()
            name = fetched(ingest, "a", web.address("/a.md"))
        else:
            name = detach(ingest, "c", "a", data)
        with waiting_to_commit(own_servers, ingest, name, only=stage == "committing"):
            at_stage(ingest, name, STAGES[stage])
            own_servers.kill("ingest")
        web.going_on.set()
        own_servers.start("ingest")
        if replaces:
            assert get(ingest, "c", "a").state == pb.Artifact.STATE_POPULATED
        check_done(ingest, name, data)
        for each in operations(ingest):
            assert ended(ingest, each.operation).state == Op.STATE_SUCCEEDED
        assert spooled(own_servers) == []
    own_servers.stop()
    assert check_store(own_servers.store, full=True).findings == ()


@pytest.mark.timeout(180)
def test_killed_again_and_again_all_are_finished_in_their_order(own_servers: Servers) -> None:
    own_servers.start("ingest")
    with calling(own_servers) as ingest:
        begun = [
            detach(ingest, "c", f"a{number}", document(f"a{number}", 1, 40)) for number in range(8)
        ]
        for _ in range(4):
            threading.Event().wait(0.7)
            own_servers.kill("ingest")
            own_servers.start("ingest")
        done = [ended(ingest, name) for name in begun]
        assert {each.state for each in done} == {Op.STATE_SUCCEEDED}
        artifacts = listed(ingest, "c")
        assert [each.artifact for each in artifacts] == [f"a{number}" for number in range(8)]
        for number, artifact in enumerate(artifacts):
            data = document(f"a{number}", 1, 40)
            assert artifact.content_sha256 == hashlib.sha256(data).hexdigest()
        assert spooled(own_servers) == []


@pytest.mark.parametrize("stage", ["reading", "embedding"])
def test_killed_an_attached_one_is_interrupted_and_leaves_nothing(
    own_servers: Servers, stage: str
) -> None:
    own_servers.start("ingest")
    data = long_to_read(100, 12) if stage == "reading" else DOCUMENT
    with calling(own_servers) as ingest:
        parts = upload(header("c", "a", request_id="once"), data)
        call = ingest.IngestFile.future(parts, timeout=60)
        until(lambda: operations(ingest), "it is recorded")
        [begun] = operations(ingest)
        at_stage(ingest, begun.operation, STAGES[stage])
        own_servers.kill("ingest")
        with refused() as told:
            call.result()
        assert told.code is grpc.StatusCode.UNAVAILABLE
        own_servers.start("ingest")
        check_interrupted(own_servers, ingest, begun.operation)
        # Nothing came of it, so the same request may be made again.
        assert send(ingest, "c", "a", data, request_id="once").artifact.content_sha256


def check_interrupted(servers: Servers, ingest: IngestServiceStub, name: str) -> None:
    lost = operation(ingest, name)
    assert lost.state == Op.STATE_FAILED
    assert lost.error.reason == "INTERRUPTED"
    assert lost.error.code == grpc.StatusCode.ABORTED.value[0]
    assert listed(ingest, "c") == []
    assert spooled(servers) == []


def test_killed_while_its_bytes_arrive_even_a_detached_one_is_interrupted(
    own_servers: Servers,
) -> None:
    own_servers.start("ingest")
    going_on = threading.Event()

    def parts() -> Iterator[pb.IngestFileRequest]:
        yield from upload(header("c", "a", detached=True), b"red blue ")
        going_on.wait(30)

    with calling(own_servers) as ingest:
        call = ingest.IngestFile.future(parts(), timeout=60)
        until(lambda: operations(ingest) and spooled(own_servers), "it is recorded")
        [begun] = operations(ingest)
        own_servers.kill("ingest")
        going_on.set()
        with refused():
            call.result()
        own_servers.start("ingest")
        check_interrupted(own_servers, ingest, begun.operation)


def test_one_with_a_password_is_interrupted_since_passwords_are_never_kept(
    own_servers: Servers,
) -> None:
    own_servers.start("ingest")
    with calling(own_servers) as ingest:
        wanted = header("c", "a", detached=True)
        wanted.password = "sesame-and-rice"
        answer = ingest.IngestFile(upload(wanted, long_to_read(100, 12)), timeout=60)
        name = answer.operation.operation
        at_stage(ingest, name, Stage.STAGE_READING)
        own_servers.kill("ingest")
        for path in own_servers.store.rglob("*"):
            assert not path.is_file() or b"sesame-and-rice" not in path.read_bytes()
        own_servers.start("ingest")
        check_interrupted(own_servers, ingest, name)
        assert "password" in operation(ingest, name).error.message
    assert "sesame" not in own_servers.log("ingest")


def test_populating_is_finished_by_the_next_process(own_servers: Servers) -> None:
    own_servers.start("ingest")
    with calling(own_servers) as ingest:
        send(ingest, "c", "a", DOCUMENT, initialize_only=True)
        request = pb.PopulateArtifactRequest(
            collection="c", artifact="a", options=pb.IngestOptions(detached=True)
        )
        name = ingest.PopulateArtifact(request, timeout=30).operation.operation
        at_stage(ingest, name, Stage.STAGE_EMBEDDING)
        own_servers.kill("ingest")
        own_servers.start("ingest")
        check_done(ingest, name, DOCUMENT)


def test_a_version_that_waits_outlives_a_kill_during_another_ingest(own_servers: Servers) -> None:
    own_servers.start("ingest")
    with calling(own_servers) as ingest:
        send(ingest, "c", "a", OLD, initialize_only=True)
        call = ingest.IngestFile.future(upload(header("c", "a"), DOCUMENT), timeout=60)
        until(lambda: len(operations(ingest)) == 2, "it is recorded")
        at_stage(ingest, operations(ingest)[0].operation, Stage.STAGE_EMBEDDING)
        own_servers.kill("ingest")
        with refused():
            call.result()
        own_servers.start("ingest")
        assert get(ingest, "c", "a").state == pb.Artifact.STATE_INITIALIZED
        assert get(ingest, "c", "a").has_draft
        request = pb.PopulateArtifactRequest(collection="c", artifact="a")
        assert ingest.PopulateArtifact(request, timeout=30).artifact.content_sha256 == (
            hashlib.sha256(OLD).hexdigest()
        )


def test_files_in_the_spool_that_belong_to_nothing_are_removed(own_servers: Servers) -> None:
    spool = own_servers.store / "spool"
    spool.mkdir(parents=True)
    for name in ("0" * 24, "0" * 24 + ".part", "what is this"):
        (spool / name).write_bytes(b"red")
    own_servers.start("ingest")
    assert spooled(own_servers) == []


def test_stopped_in_order_detached_ones_are_left_and_the_next_process_goes_on(
    own_servers: Servers,
) -> None:
    own_servers.start("ingest")
    with calling(own_servers) as ingest:
        name = detach(ingest, "c", "a", DOCUMENT)
        second = detach(ingest, "c", "b", document("b", 1, 3))
        at_stage(ingest, name, Stage.STAGE_EMBEDDING)
        stream = ingest.WatchOperation(pb.WatchOperationRequest(operation=name), timeout=60)
        next(stream)
        assert own_servers.stop("ingest") == {"ingest": 0}
        with refused() as told:
            list(stream)
        assert (told.code, told.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
        own_servers.start("ingest")
        check_done(ingest, name, DOCUMENT)
        assert ended(ingest, second).state == Op.STATE_SUCCEEDED
        assert spooled(own_servers) == []
    assert "fault in" not in own_servers.log("ingest")


def test_stopped_in_order_attached_ones_may_end_within_their_time(own_servers: Servers) -> None:
    own_servers.start("ingest")
    with calling(own_servers) as ingest:
        call = ingest.IngestFile.future(upload(header("c", "a"), DOCUMENT), timeout=60)
        until(lambda: operations(ingest), "it is recorded")
        at_stage(ingest, operations(ingest)[0].operation, Stage.STAGE_EMBEDDING)
        assert own_servers.stop("ingest") == {"ingest": 0}
        assert call.result().artifact.state == pb.Artifact.STATE_POPULATED


def test_stopped_in_order_attached_ones_that_take_longer_are_interrupted(
    own_servers: Servers,
) -> None:
    own_servers.settings["TREESPAN__INGEST__DRAIN_S"] = "0.3"
    own_servers.start("ingest")
    with calling(own_servers) as ingest:
        call = ingest.IngestFile.future(upload(header("c", "a"), document("x", 1, 500)), timeout=60)
        until(lambda: operations(ingest), "it is recorded")
        [begun] = operations(ingest)
        at_stage(ingest, begun.operation, Stage.STAGE_EMBEDDING)
        assert own_servers.stop("ingest") == {"ingest": 0}
        with refused():
            call.result()
        own_servers.start("ingest")
        check_interrupted(own_servers, ingest, begun.operation)
