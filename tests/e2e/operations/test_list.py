"""Operations are listed in pages, kept for some time, and seen by their own tenant alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from calls import refused
from faults.versions import document
from operation_calls import (
    Op,
    cancel,
    detach,
    listed,
    make,
    of,
    operation,
    pb,
    reading,
    send,
    until,
    write,
)
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from servers import Servers


def ids(operations: list[pb.Operation]) -> list[str]:
    return [each.operation for each in operations]


def test_the_newest_come_first_in_pages_of_any_size(
    ingest: IngestServiceStub, collection: str
) -> None:
    begun = [
        write(ingest, collection, f"a{number}", f"red {number}").operation.operation
        for number in range(7)
    ]
    whole = listed(ingest, collection=collection)
    assert ids(whole) == begun[::-1]
    assert [each.artifact for each in whole] == [f"a{number}" for number in range(6, -1, -1)]
    assert whole == [operation(ingest, name) for name in begun[::-1]]
    for size in (1, 3, 7):
        assert listed(ingest, collection=collection, page_size=size) == whole
    assert ids(listed(ingest, page_size=1000))[:7] == begun[::-1]


def test_states_are_those_of_the_moment(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    done = write(ingest, collection, "done", "red").operation.operation
    with refused():
        send(ingest, collection, "failed", b"%PDF-1.7\n%broken")

    def of_states(*states: int, **fields: object) -> list[str]:
        return ids(listed(ingest, collection=collection, states=states, **fields))

    with reading(servers, ingest, collection) as running:
        waiting = [
            detach(ingest, collection, f"w{number}", document(f"w{number}", 1, 2))
            for number in range(3)
        ]
        assert of_states(Op.STATE_RUNNING) == [running]
        assert of_states(Op.STATE_QUEUED) == waiting[::-1]
        assert of_states(Op.STATE_QUEUED, page_size=1) == waiting[::-1]
        assert of_states(Op.STATE_SUCCEEDED) == [done]
        [failed] = of_states(Op.STATE_FAILED)
        assert of_states(Op.STATE_RUNNING, Op.STATE_FAILED) == [running, failed]
        for name in waiting:
            cancel(ingest, name)
    assert of_states(Op.STATE_CANCELLED) == [*waiting[::-1], running]
    assert of_states(Op.STATE_RUNNING, Op.STATE_QUEUED) == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"page_size": 1_001}, "page_size"),
        ({"page_token": "bm8="}, "page_token"),
        ({"states": [0]}, "states"),
        ({"states": [9]}, "states"),
    ],
)
def test_a_list_that_is_asked_for_wrongly_names_the_field(
    ingest: IngestServiceStub, fields: dict[str, object], field: str
) -> None:
    with refused() as told:
        listed(ingest, **fields)
    assert (told.reason, told.field) == ("INVALID_FIELD", field)


def test_a_token_is_of_one_list_alone(ingest: IngestServiceStub, collection: str) -> None:
    for number in range(3):
        write(ingest, collection, f"a{number}", "red")
    request = pb.ListOperationsRequest(collection=collection, page_size=1)
    token = ingest.ListOperations(request).next_page_token
    for fields in ({"collection": "another"}, {"states": [Op.STATE_FAILED]}, {}):
        with refused() as told:
            ingest.ListOperations(pb.ListOperationsRequest(page_token=token, **fields))
        assert told.field == "page_token"


def test_another_tenant_sees_and_stops_none_of_it(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    with reading(servers, ingest, collection) as name:
        check_unseen(ingest, collection, name)


def check_unseen(ingest: IngestServiceStub, collection: str, name: str) -> None:
    make(ingest, collection, "stranger")
    assert listed(ingest, "stranger") == []
    for method in (ingest.GetOperation, ingest.CancelOperation):
        kind = (
            pb.GetOperationRequest if method is ingest.GetOperation else pb.CancelOperationRequest
        )
        with refused() as told:
            method(kind(operation=name), metadata=of("stranger"))
        assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "OPERATION_NOT_FOUND")
    with refused() as told:
        request = pb.WatchOperationRequest(operation=name)
        list(ingest.WatchOperation(request, metadata=of("stranger")))
    assert told.reason == "OPERATION_NOT_FOUND"
    assert operation(ingest, name).state == Op.STATE_RUNNING


def test_one_is_kept_for_its_time_and_not_found_afterwards(own_servers: Servers) -> None:
    own_servers.settings["TREESPAN__INGEST__OPERATIONS_KEPT_S"] = "2"
    own_servers.start("ingest")
    with grpc.insecure_channel(own_servers.address("ingest")) as channel:
        ingest = IngestServiceStub(channel)
        make(ingest, "c")
        first = send(ingest, "c", "a", document("a", 1, 2), request_id="kept").operation
        assert operation(ingest, first.operation) == first
        until(lambda: listed(ingest) == [], "it is dropped")
        with refused() as told:
            operation(ingest, first.operation)
        assert told.reason == "OPERATION_NOT_FOUND"
        again = send(ingest, "c", "a", document("a", 1, 2), request_id="kept")
        assert again.operation.operation > first.operation
        assert again.already_ingested
