"""Ingests with their options, and operations, by both clients."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

from fake_services import FakeIngest, serving
from treespan import errors
from treespan.client import AsyncClient, Client, text_request, uri_artifact, uri_request
from treespan.client.operations import Patience
from treespan.v1.ingest_service_pb2 import Artifact, Collection, IngestOptions, Operation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

ALL_OPTIONS = {
    "request_id": "r-1",
    "detached": True,
    "initialize_only": True,
    "pdf_mode": "layout",
    "ocr": "force",
    "ocr_languages": ["eng", "chi_sim+deu"],
    "include_hidden": True,
}
PACKED = IngestOptions(
    request_id="r-1",
    detached=True,
    initialize_only=True,
    pdf_mode=IngestOptions.PDF_MODE_LAYOUT,
    ocr=IngestOptions.OCR_MODE_FORCE,
    ocr_languages=["eng", "chi_sim", "deu"],
    include_hidden=True,
)


@pytest.fixture
def ingest() -> FakeIngest:
    fake = FakeIngest()
    fake.collections["papers"] = Collection(collection="papers")
    return fake


@pytest.fixture
def address(ingest: FakeIngest) -> Iterator[str]:
    with serving(ingest) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, address, timeout_s=10) as client:
        yield client


def in_asyncio(address: str, use: Callable[[AsyncClient], Awaitable[object]]) -> object:
    async def run() -> object:
        async with AsyncClient(address, address, timeout_s=10) as client:
            return await use(client)

    return asyncio.run(run())


def begun(ingest: FakeIngest, client: Client, data: bytes = b"text", name: str = "a") -> str:
    """Begin an operation that stays under way."""
    ingest.held.add(name)
    return client.ingest_bytes(data, "papers", name, detached=True).operation.operation


# Requests


def test_a_file_carries_its_options_its_summary_and_where_it_is_from(
    client: Client, ingest: FakeIngest
) -> None:
    client.ingest_bytes(
        b"text", "papers", "a", summary="In short.", source_uri="https://x.y/a", **ALL_OPTIONS
    )
    header = ingest.headers["a"]
    assert header.options == PACKED
    assert (header.summary, header.source_uri) == ("In short.", "https://x.y/a")


def test_a_text_carries_the_same(client: Client, ingest: FakeIngest) -> None:
    client.ingest_text(
        "text", "papers", "a", file_name="n", summary="S", source_uri="u", **ALL_OPTIONS
    )
    sent = ingest.texts[0]
    assert sent.options == PACKED
    assert (sent.file_name, sent.summary, sent.source_uri) == ("n", "S", "u")


def test_a_uri_carries_the_same_and_names_its_artifact(client: Client, ingest: FakeIngest) -> None:
    answer = client.ingest_uri(
        "https://x.org/docs/a.pdf", "papers", password="pw", summary="S", **ALL_OPTIONS
    )
    sent = ingest.uris[0]
    assert sent.options == PACKED
    assert (sent.uri, sent.artifact) == ("https://x.org/docs/a.pdf", "x.org:docs:a.pdf")
    assert (sent.password, sent.summary) == ("pw", "S")
    assert answer.operation.kind == Operation.KIND_INGEST_URI


def test_without_options_the_server_decides(client: Client, ingest: FakeIngest) -> None:
    client.ingest_bytes(b"text", "papers", "a")
    assert ingest.headers["a"].options == IngestOptions()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pdf_mode": "slow"}, r"options\.pdf_mode: 'slow' is none of fast, layout"),
        ({"ocr": "on"}, r"options\.ocr: 'on' is none of off, auto, force"),
        ({"ocr": "mode_unspecified"}, r"options\.ocr: .* is none of off, auto, force"),
    ],
)
def test_an_unknown_mode_names_the_known_ones(
    client: Client, options: dict[str, str], said: str
) -> None:
    with pytest.raises(errors.InvalidField, match=said):
        client.ingest_bytes(b"text", "papers", "a", **options)


def test_an_unknown_keyword_is_a_type_error(client: Client) -> None:
    with pytest.raises(TypeError, match="'sumary'"):
        client.ingest_bytes(b"text", "papers", "a", sumary="x")
    with pytest.raises(TypeError, match="'source_uri'"):
        uri_request("https://x.org/", "papers", source_uri="x")


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("https://x.org/docs/m%C3%BChle.pdf", "x.org:docs:mühle.pdf"),
        ("https://me@x.org:8080/", "x.org:8080"),
        ("file:///srv/docs/a.pdf", "srv:docs:a.pdf"),
        ("https://x.org/a%0Ab", "x.org:a\ufffdb"),
    ],
)
def test_an_address_names_its_artifact(uri: str, name: str) -> None:
    assert uri_artifact(uri) == name


def test_addresses_that_differ_in_their_query_or_are_long_have_names_of_their_own() -> None:
    names = {uri_artifact(f"https://x.org/get?id={number}") for number in range(3)}
    assert len(names) == 3
    long = [uri_artifact(f"https://x.org/{'a' * 300}{number}") for number in range(2)]
    assert [len(name) for name in long] == [255, 255]
    assert long[0] != long[1]


def test_a_batch_answers_with_operations_and_refusals_in_order(
    client: Client, ingest: FakeIngest
) -> None:
    done, refused, fetched = client.batch_ingest(
        [
            text_request("text", "papers", "a"),
            text_request("", "papers", "b"),
            uri_request("https://x.org/c", "papers"),
        ]
    )
    assert isinstance(done, Operation)
    assert isinstance(refused, errors.EmptyFile)
    assert isinstance(fetched, Operation)
    assert (done.artifact, fetched.artifact) == ("a", "x.org:c")


def test_populate_names_the_artifact(client: Client, ingest: FakeIngest) -> None:
    ingest.artifacts["a"] = Artifact(artifact="a", state=Artifact.STATE_INITIALIZED)
    answer = client.populate_artifact("a", "papers", request_id="r", detached=True)
    assert answer.artifact.state == Artifact.STATE_POPULATED
    assert answer.operation.request_id == "r"


def test_a_summary_is_updated_alone(client: Client, ingest: FakeIngest) -> None:
    ingest.artifacts["a"] = Artifact(artifact="a", file_name="a.pdf")
    changed = client.update_artifact("a", "papers", summary="In short.").artifact
    assert (changed.summary, changed.file_name) == ("In short.", "a.pdf")
    assert client.update_artifact("a", "papers", summary="").artifact.summary == ""


# Operations


def test_operations_are_listed_through_all_pages_newest_first(
    client: Client, ingest: FakeIngest
) -> None:
    for name in "abcde":
        client.ingest_bytes(b"text", "papers", name, detached=True)
    assert [found.artifact for found in client.list_operations()] == list("edcba")
    assert ingest.calls.count("ListOperations") == 3
    assert list(client.list_operations("other")) == []


def test_operations_are_listed_by_their_state(client: Client, ingest: FakeIngest) -> None:
    client.ingest_bytes(b"text", "papers", "a", detached=True)
    running = begun(ingest, client, name="b")
    listed = client.list_operations("papers", states=["queued", "running"])
    assert [found.operation for found in listed] == [running]
    with pytest.raises(errors.InvalidField, match="queued, running, succeeded, failed, cancelled"):
        list(client.list_operations(states=["done"]))


def test_an_operation_is_watched_from_its_present_state_to_its_end(
    client: Client, ingest: FakeIngest
) -> None:
    operation = begun(ingest, client)
    states = []
    for known in client.watch_operation(operation):
        states.append(known.state)
        if known.state == Operation.STATE_RUNNING:
            ingest.release(operation)
    assert states == [Operation.STATE_RUNNING, Operation.STATE_SUCCEEDED]


def test_a_watch_left_early_ends_the_call(client: Client, ingest: FakeIngest) -> None:
    watched = client.watch_operation(begun(ingest, client))
    next(watched)
    watched.close()
    assert client.cancel_operation("op-001").state == Operation.STATE_CANCELLED


def test_an_operation_that_is_not_known_says_so(client: Client) -> None:
    with pytest.raises(errors.OperationNotFound, match="'x'"):
        client.get_operation("x")
    with pytest.raises(errors.OperationNotFound):
        client.wait_operation("x")


def test_waiting_returns_the_operation_at_its_end(client: Client, ingest: FakeIngest) -> None:
    operation = begun(ingest, client)
    seen = []

    def progress(known: Operation) -> None:
        seen.append(known.state)
        if known.state == Operation.STATE_RUNNING:
            threading.Timer(0.05, ingest.release, [operation]).start()

    assert client.wait_operation(operation, progress=progress).seq == 7
    assert seen == [Operation.STATE_RUNNING, Operation.STATE_SUCCEEDED]


def test_waiting_raises_what_the_call_would_have_raised(client: Client) -> None:
    sent = client.ingest_bytes(b"bad", "papers", "a", detached=True)
    with pytest.raises(errors.DamagedFile, match=r"^page 3 cannot be read$"):
        client.wait_operation(sent.operation)


def test_waiting_for_what_was_cancelled_says_so(client: Client, ingest: FakeIngest) -> None:
    operation = begun(ingest, client)
    assert client.cancel_operation(operation).state == Operation.STATE_CANCELLED
    with pytest.raises(errors.CallCancelled):
        client.wait_operation(operation)


def test_waiting_goes_on_after_the_connection_was_lost(client: Client, ingest: FakeIngest) -> None:
    operation = begun(ingest, client)
    ingest.cut_watches = 3
    timer = threading.Timer(0.3, ingest.release, [operation])
    timer.start()
    assert client.wait_operation(operation).state == Operation.STATE_SUCCEEDED
    assert ingest.calls.count("WatchOperation") >= 4


def test_waiting_goes_on_when_the_server_comes_back_at_its_address(ingest: FakeIngest) -> None:
    waited: list[Operation] = []
    with serving(ingest) as address:
        client = Client(address, address)
        operation = begun(ingest, client)
        thread = threading.Thread(
            target=lambda: waited.append(client.wait_operation(operation, patience_s=30))
        )
        thread.start()
        while "WatchOperation" not in ingest.calls:
            time.sleep(0.01)
    ingest.release(operation)
    with serving(ingest, port=int(address.rpartition(":")[2])):
        thread.join(30)
        client.close()
    assert [known.state for known in waited] == [Operation.STATE_SUCCEEDED]


def test_waiting_gives_up_a_server_that_stays_away(ingest: FakeIngest) -> None:
    with serving(ingest) as address:
        client = Client(address, address)
        operation = begun(ingest, client)
    with client, pytest.raises(errors.NotServing, match="treespan serve"):
        client.wait_operation(operation, patience_s=0.2)


def test_waiting_ends_at_its_time_limit(client: Client, ingest: FakeIngest) -> None:
    with pytest.raises(errors.DeadlineExceeded):
        client.wait_operation(begun(ingest, client), timeout_s=0.2)


def test_pauses_grow_while_the_server_is_away_and_begin_anew_when_it_is_heard() -> None:
    patience = Patience(None, 60)
    grown = [patience.pause_s(None) for _ in range(7)]
    assert grown == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    patience.heard()
    assert patience.pause_s(None) == 0.1


def test_the_async_client_does_the_same(address: str, ingest: FakeIngest) -> None:
    async def use(client: AsyncClient) -> None:
        ingest.held.add("a")
        ingest.cut_watches = 1
        sent = await client.ingest_bytes(b"text", "papers", "a", detached=True, ocr="auto")
        operation = sent.operation.operation
        waiting = asyncio.ensure_future(client.wait_operation(operation))
        while ingest.calls.count("WatchOperation") < 2:  # noqa: ASYNC110 - set in threads
            await asyncio.sleep(0.01)
        assert (await client.get_operation(operation)).state == Operation.STATE_RUNNING
        ingest.release(operation)
        assert (await waiting).seq == 7
        assert [found.artifact async for found in client.list_operations("papers")] == ["a"]
        states = [known.state async for known in client.watch_operation(operation)]
        assert states == [Operation.STATE_SUCCEEDED]
        await client.ingest_uri("https://x.org/b", "papers", summary="S")
        batch = await client.batch_ingest([text_request("", "papers", "c")])
        assert isinstance(batch[0], errors.EmptyFile)
        await client.populate_artifact("a", "papers")
        failed = await client.ingest_bytes(b"bad", "papers", "d", detached=True)
        with pytest.raises(errors.DamagedFile):
            await client.wait_operation(failed.operation)
        ended = await client.cancel_operation(operation)
        assert ended.state == Operation.STATE_SUCCEEDED
        ingest.held.add("e")
        stuck = await client.ingest_bytes(b"text", "papers", "e", detached=True)
        with pytest.raises(errors.DeadlineExceeded):
            await client.wait_operation(stuck.operation, timeout_s=0.2)

    in_asyncio(address, use)
