"""An operation is watched: as it stands, every change, its end."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import grpc
import pytest

from calls import refused
from catalogue_calls import get
from faults.versions import document
from operation_calls import (
    ENDED,
    Op,
    Stage,
    at_stage,
    detach,
    ended,
    operation,
    pb,
    send,
    watched,
)

if TYPE_CHECKING:
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

ORDER = [
    Stage.STAGE_RECEIVING,
    Stage.STAGE_QUEUED,
    Stage.STAGE_READING,
    Stage.STAGE_CHUNKING,
    Stage.STAGE_EMBEDDING,
    Stage.STAGE_COMMITTING,
]


def test_states_and_stages_come_in_order_at_most_ten_a_second_and_end_with_the_end(
    ingest: IngestServiceStub, collection: str
) -> None:
    name = detach(ingest, collection, "a", document("a", 1, 300))
    start = time.monotonic()
    seen = watched(ingest, name)
    seconds = time.monotonic() - start

    *going, last = seen
    stages = [ORDER.index(each.progress.stage) for each in going]
    assert stages == sorted(stages)
    assert {Stage.STAGE_EMBEDDING} <= {each.progress.stage for each in going}
    states = [each.state for each in seen]
    assert states == sorted(states)
    assert [state for state in states if state in ENDED] == [Op.STATE_SUCCEEDED]
    assert len(seen) <= 10 * seconds + 3

    embedding = [each for each in going if each.progress.stage == Stage.STAGE_EMBEDDING]
    done = [each.progress.done for each in embedding]
    assert done == sorted(done)
    assert embedding[-1].progress.done > embedding[0].progress.done
    assert embedding[0].chunk_count >= embedding[0].progress.total > 0

    artifact = get(ingest, collection, "a")
    assert not last.HasField("progress")
    assert last.end_time.ToMicroseconds() >= last.create_time.ToMicroseconds()
    assert (last.kind, last.collection, last.artifact) == (Op.KIND_INGEST_FILE, collection, "a")
    assert (last.node_count, last.chunk_count) == (artifact.node_count, artifact.chunk_count)
    assert last.seq
    assert last == operation(ingest, name)


def test_the_first_message_is_the_present_state_and_comes_at_once(
    ingest: IngestServiceStub, collection: str
) -> None:
    name = detach(ingest, collection, "b", document("b", 1, 300))
    at_stage(ingest, name, Stage.STAGE_EMBEDDING)
    start = time.monotonic()
    stream = ingest.WatchOperation(pb.WatchOperationRequest(operation=name))
    assert next(stream).operation.progress.stage == Stage.STAGE_EMBEDDING
    assert time.monotonic() - start < 0.5
    stream.cancel()
    assert ended(ingest, name).state == Op.STATE_SUCCEEDED


def test_an_operation_that_has_ended_is_told_once(
    ingest: IngestServiceStub, collection: str
) -> None:
    done = send(ingest, collection, "a", document("a", 1, 3)).operation
    assert done.state == Op.STATE_SUCCEEDED
    assert watched(ingest, done.operation) == [done]


def test_many_watch_and_those_who_go_away_are_no_matter(
    ingest: IngestServiceStub, collection: str
) -> None:
    name = detach(ingest, collection, "a", document("a", 1, 200))
    gone = [ingest.WatchOperation(pb.WatchOperationRequest(operation=name)) for _ in range(20)]
    for stream in gone:
        next(stream)
        stream.cancel()
    with ThreadPoolExecutor(30) as pool:
        ends = list(pool.map(lambda _: ended(ingest, name), range(30)))
    assert {end.state for end in ends} == {Op.STATE_SUCCEEDED}
    assert all(one == other for one, other in pairwise(ends))


@pytest.mark.parametrize("method", ["GetOperation", "WatchOperation", "CancelOperation"])
@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        ("", grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"),
        ("0" * 24, grpc.StatusCode.NOT_FOUND, "OPERATION_NOT_FOUND"),
        ("../../etc", grpc.StatusCode.NOT_FOUND, "OPERATION_NOT_FOUND"),
        ("x" * 5_000, grpc.StatusCode.NOT_FOUND, "OPERATION_NOT_FOUND"),
    ],
    ids=["empty", "unknown", "path", "long"],
)
def test_an_operation_that_is_none_is_not_found(
    ingest: IngestServiceStub, method: str, name: str, code: grpc.StatusCode, reason: str
) -> None:
    request = getattr(pb, f"{method}Request")(operation=name)
    with refused() as told:
        answer = getattr(ingest, method)(request)
        if method == "WatchOperation":
            list(answer)
    assert (told.code, told.reason) == (code, reason)


def test_why_it_failed_stands_in_the_operation_with_its_stage(
    ingest: IngestServiceStub, collection: str
) -> None:
    name = detach(ingest, collection, "a", b"%PDF-1.7\n%broken")
    failed = ended(ingest, name)
    assert failed.state == Op.STATE_FAILED
    assert failed.error.reason == "DAMAGED"
    assert failed.error.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert failed.error.stage == Stage.STAGE_READING
    assert failed.error.message
    assert failed.seq == 0
    with refused() as told:
        get(ingest, collection, "a")
    assert told.reason == "ARTIFACT_NOT_FOUND"
