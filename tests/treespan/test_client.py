"""Both clients against services in this process."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import struct
import time
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from fake_services import FakeIngest, FakeSearch, serving
from treespan import errors
from treespan.client import AsyncClient, Client, metadata_of, search_request
from treespan.client.channel import TENANT_KEY
from treespan.client.failures import DOMAIN, errors_by_reason
from treespan.client.metadata import metadata_values
from treespan.client.upload import PART_BYTES
from treespan.errors import TreespanError
from treespan.rpc import call as server_call
from treespan.rpc import status as server_status
from treespan.v1.error_reason_pb2 import ErrorReason
from treespan.v1.ingest_service_pb2 import Artifact, Collection, Progress
from treespan.v1.metadata_pb2 import MetadataValue
from treespan.v1.node_pb2 import Node
from treespan.v1.search_service_pb2 import ContextOptions, SearchResponse


@pytest.fixture
def ingest():
    fake = FakeIngest()
    fake.collections["papers"] = Collection(collection="papers")
    return fake


@pytest.fixture
def search():
    return FakeSearch()


@pytest.fixture
def address(ingest, search):
    with serving(ingest, search) as address:
        yield address


@pytest.fixture
def client(address):
    with Client(address, address, timeout_s=10) as client:
        yield client


def with_async_client(address, use):
    async def run():
        async with AsyncClient(address, address, timeout_s=10) as client:
            return await use(client)

    return asyncio.run(run())


# Metadata


def test_metadata_comes_back_as_it_was_given():
    given = {
        "title": "第一章",
        "year": 2017,
        "ratio": 0.5,
        "draft": False,
        "at": datetime(2024, 2, 29, 12, 30, 1, 250_000, tzinfo=UTC),
        "authors": ["Vaswani", "Shazeer"],
        "flags": [True, False],
        "least": -(2**63),
        "none": [],
    }
    assert metadata_of(metadata_values(given)) == given


def test_bool_stays_bool_and_int_stays_int():
    values = metadata_values({"yes": True, "one": 1})
    assert values["yes"].WhichOneof("value") == "bool_value"
    assert values["one"].WhichOneof("value") == "int_value"


def test_date_is_its_midnight_in_utc():
    back = metadata_of(metadata_values({"day": date(2024, 5, 17)}))
    assert back == {"day": datetime(2024, 5, 17, tzinfo=UTC)}


def test_time_of_another_zone_is_the_same_instant_in_utc():
    shanghai = timezone(timedelta(hours=8))
    back = metadata_of(metadata_values({"at": datetime(2024, 1, 1, 6, tzinfo=shanghai)}))
    assert back == {"at": datetime(2023, 12, 31, 22, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (datetime(2024, 1, 1), "no time zone"),  # noqa: DTZ001 - what is refused
        (float("nan"), "not a finite number"),
        (2**63, "does not fit 64 bits"),
        ({"a": 1}, "type dict"),
        ([1, "a"], "mixes int and string values"),
        ([1, 2.0], "mixes double and int values"),
        ([[1]], "type list"),
        (None, "type NoneType"),
    ],
)
def test_metadata_without_counterpart_is_refused_by_key(value, said):
    with pytest.raises(errors.InvalidField, match=said) as caught:
        metadata_values({"key": value})
    assert caught.value.field.startswith("metadata['key']")


def test_metadata_value_without_value_is_an_error():
    with pytest.raises(ValueError, match="without any value"):
        metadata_of({"key": MetadataValue()})


# Requests


def test_search_request_leaves_unset_what_is_not_given():
    request = search_request("why?", "papers")
    assert request.context_filter.collection == "papers"
    assert request.text == "why?"
    unset = ("limit", "score_threshold", "validate")
    assert not any(request.HasField(name) for name in unset)
    assert not request.context.HasField("token_budget")
    assert request.context.mode == ContextOptions.MODE_UNSPECIFIED


def test_search_request_carries_all_that_is_given():
    request = search_request(
        "why?",
        "papers",
        artifacts=["a", "b"],
        limit=3,
        score_threshold=0.0,
        mode="sentence-window",
        token_budget=100,
        answer_token_budget=500,
        gaps=True,
        merge=True,
        sentences=0,
        nodes=True,
        trace=True,
        validate=False,
        min_seq=9,
    )
    assert list(request.context_filter.artifacts) == ["a", "b"]
    assert (request.limit, request.min_seq, request.validate) == (3, 9, False)
    assert request.HasField("validate")
    assert request.HasField("score_threshold")
    assert request.context == ContextOptions(
        mode=ContextOptions.MODE_SENTENCE_WINDOW,
        token_budget=100,
        answer_token_budget=500,
        gaps=True,
        merge=True,
        sentences=0,
        nodes=True,
        trace=True,
    )


@pytest.mark.parametrize("vector", [[1.0, -2.5], (1, -2.5), np.array([1, -2.5])])
def test_vector_is_sent_as_little_endian_floats(vector):
    assert search_request(vector).vector.f32_le == struct.pack("<2f", 1.0, -2.5)


@pytest.mark.parametrize("matrix", [np.zeros((2, 3)), [[1.0], [2.0]], [1.0, "x"]])
def test_what_is_not_one_row_of_numbers_is_no_vector(matrix):
    with pytest.raises(errors.InvalidField, match=r"vector: .*; give one row of numbers"):
        search_request(matrix)


def test_one_artifact_may_be_given_as_a_string():
    assert list(search_request("q", artifacts="abc").context_filter.artifacts) == ["abc"]


def test_unknown_keyword_is_a_type_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'limits'"):
        search_request("q", limits=3)


def test_unknown_mode_names_the_known_ones():
    with pytest.raises(errors.InvalidField, match="none, tree, sentence-window, linear, parent"):
        search_request("q", mode="window")


def test_text_beyond_one_message_is_refused_with_the_way_out(client):
    with pytest.raises(errors.InvalidField, match=r"1,048,578 bytes.*use ingest_bytes"):
        client.ingest_text("你" * 349_526, "papers", "a")


# Errors


def leaves(kind=TreespanError):
    return [kind, *(leaf for below in kind.__subclasses__() for leaf in leaves(below))]


def made(kind):
    if issubclass(kind, errors.InvalidArgument):
        return kind("context.token_budget", "0 is too small; at least 1")
    if issubclass(kind, errors.NotFound):
        return kind("报告.pdf")
    if issubclass(kind, errors.FailedPrecondition):
        return kind("papers", "it is not so")
    if issubclass(kind, errors.QueueFull):
        return kind("400 files wait", 2.5)
    return kind("what was wrong")


@pytest.mark.parametrize("kind", errors_by_reason().values(), ids=lambda kind: kind.__name__)
def test_error_arrives_as_it_was_raised(client, search, kind):
    search.fail_with = sent = made(kind)
    with pytest.raises(TreespanError) as caught:
        client.search("q")
    assert type(caught.value) is kind
    assert caught.value.message == sent.message
    assert caught.value.retry_after_s == sent.retry_after_s
    for attribute in ("field", "name", "subject"):
        assert getattr(caught.value, attribute, None) == getattr(sent, attribute, None)


def test_every_reason_has_its_class():
    sent = {name.removeprefix("ERROR_REASON_") for name, _ in ErrorReason.items()}
    assert errors_by_reason().keys() == sent - {"UNSPECIFIED", "INTERNAL"}


def test_fault_of_the_server_names_the_request(client, search):
    search.fail_with = TreespanError("a fault")
    with pytest.raises(TreespanError, match=r"^a fault \(request req-1\)$"):
        client.search("q")


def test_refused_connection_names_the_address_and_the_way_out():
    with (
        Client("127.0.0.1:1", "127.0.0.1:1", timeout_s=5) as client,
        pytest.raises(
            errors.NotServing, match=r"127\.0\.0\.1:1 .*refused.*treespan serve"
        ) as caught,
    ):
        client.search("q")
    assert "\n" not in caught.value.message


def test_deadline_passes_as_an_error_of_its_own(address, ingest):
    ingest.stages = [Progress()]
    with (
        Client(address, address, ingest_timeout_s=0.3) as client,
        pytest.raises(errors.DeadlineExceeded),
    ):
        client.ingest_bytes(b"text", "papers", "a")


def test_message_beyond_the_clients_size_says_so(client, search):
    search.answer = SearchResponse()
    search.answer.chunks.add(text="x" * (65 * 1024 * 1024))
    with pytest.raises(errors.ResponseTooLarge, match="larger than max"):
        client.search("q")


def test_client_and_server_agree_on_names():
    assert DOMAIN == server_status.DOMAIN
    assert TENANT_KEY == server_call.TENANT_KEY


# Retries and headers


def test_read_is_tried_again_while_the_server_is_unavailable(client, search):
    search.unavailable_times = 2
    client.search("q")
    assert search.calls == ["Search"] * 3


def test_write_is_tried_once(client, ingest):
    ingest.unavailable_times = 1
    with pytest.raises(errors.NotServing):
        client.create_collection("new")
    assert ingest.calls == ["CreateCollection"]


def test_tenant_goes_with_every_call(address, ingest, search):
    with Client(address, address, tenant="acme") as client:
        client.search("q")
        client.ingest_bytes(b"text", "papers", "a")
        list(client.list_artifacts("papers"))
    assert ingest.tenants == search.tenants == {"acme"}


# Collections and artifacts


def test_collection_is_created_once_with_exist_ok(client, ingest):
    made = client.create_collection("new", display_name="New", chunk_tokens=200)
    assert (made.display_name, made.chunk_tokens) == ("New", 200)
    assert client.create_collection("new", exist_ok=True).display_name == "New"
    with pytest.raises(errors.CollectionExists):
        client.create_collection("new")


def test_update_changes_only_what_is_given(client, ingest):
    ingest.collections["papers"].chunk_tokens = 100
    changed = client.update_collection("papers", display_name="Papers")
    assert (changed.display_name, changed.chunk_tokens) == ("Papers", 100)


def test_lists_go_through_all_pages(client, ingest):
    for name in "abcde":
        ingest.artifacts[name] = Artifact(artifact=name)
        ingest.collections[name] = Collection(collection=name)
    assert [found.artifact for found in client.list_artifacts("papers")] == list("abcde")
    assert ingest.calls.count("ListArtifacts") == 3
    names = [found.collection for found in client.list_collections()]
    assert names == [*"abcde", "papers"]


def test_deleting_what_is_missing_is_an_error_unless_allowed(client, ingest):
    ingest.artifacts["a"] = Artifact(artifact="a")
    assert client.delete_artifact("a", "papers") == 8
    assert client.delete_artifact("a", "papers", missing_ok=True) == 0
    with pytest.raises(errors.ArtifactNotFound) as caught:
        client.delete_artifact("a", "papers")
    assert caught.value.name == "a"


def test_file_is_sent_in_parts_with_its_size_and_hash(client, ingest, tmp_path):
    data = bytes(range(256)) * 5000
    path = tmp_path / "big.bin"
    path.write_bytes(data)
    answer = client.ingest_file(path, "papers", metadata={"year": 2017}, password="pw")
    assert answer.received_bytes == len(data)
    header = ingest.headers["big.bin"]
    assert header.file_name == "big.bin"
    assert header.size_bytes == len(data)
    assert header.content_sha256 == hashlib.sha256(data).hexdigest()
    assert header.password == "pw"
    assert metadata_of(header.metadata) == {"year": 2017}
    assert ingest.part_sizes == [PART_BYTES, PART_BYTES, len(data) - 2 * PART_BYTES]


def test_empty_file_is_for_the_server_to_judge(client, ingest):
    assert client.ingest_bytes(b"", "papers", "empty").received_bytes == 0


def test_text_is_sent_in_one_message(client, ingest):
    answer = client.ingest_text("# Title", "papers", "a", media_type="text/markdown")
    assert answer.artifact.size_bytes == 7


def test_progress_shows_the_stages_of_the_server(client, ingest):
    ingest.stages = [
        Progress(stage=Progress.STAGE_READING, done=1, total=4),
        Progress(stage=Progress.STAGE_EMBEDDING, done=30, total=60),
    ]
    stages = list(ingest.stages)
    seen = []
    client.ingest_bytes(b"text", "papers", "a", progress=seen.append)
    assert [one for one in seen if one.stage != Progress.STAGE_RECEIVING] == stages


def test_large_file_refused_at_its_header_fails_at_once(client, tmp_path):
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with pytest.raises(errors.CollectionNotFound):
        client.ingest_file(path, "missing")


def test_missing_file_is_an_os_error(client, tmp_path):
    with pytest.raises(FileNotFoundError):
        client.ingest_file(tmp_path / "none", "papers")


def test_export_yields_all_nodes_in_order(client, ingest):
    ingest.nodes = [Node(node_id=str(at), position=at) for at in range(10)]
    assert [node.position for node in client.export_tree("a", "papers")] == list(range(10))


def test_export_left_early_ends_the_call(client, ingest):
    ingest.nodes = [Node(node_id=str(at), text="x" * 100_000) for at in range(1000)]
    nodes = client.export_tree("a", "papers")
    next(nodes)
    nodes.close()
    assert ingest.export_ended.wait(5)


def test_node_comes_with_its_artifact(client, ingest):
    ingest.nodes = [Node(node_id="n1", text="one")]
    found = client.get_node("n1", "papers")
    assert (found.node.text, found.artifact) == ("one", "a")
    assert found.indexed_text == "Title\none"
    with pytest.raises(errors.NodeNotFound):
        client.get_node("n2", "papers")


def test_closing_ends_calls_under_way(address, ingest):
    ingest.stages = [Progress()] * 1000
    client = Client(address, address)
    with pytest.raises(errors.CallCancelled):
        client.ingest_bytes(b"text", "papers", "a", progress=lambda _: client.close())


# Search


def test_batch_holds_answers_and_failures_in_order(client, search):
    search.answer.chunks.add(text="found")
    found, missing, fault = client.batch_search([search_request("q")] * 3)
    assert found.chunks[0].text == "found"
    assert isinstance(missing, errors.CollectionNotFound)
    assert missing.message == "there is no collection 'x'"
    assert type(fault) is TreespanError
    assert "INTERNAL: see the log" in fault.message


def test_expand_sends_nodes_and_context(client, search):
    answer = client.expand(["n1", "n2"], "papers", token_budget=50, min_seq=4)
    assert list(answer.missing_node_ids) == ["n1", "n2"]
    assert search.expand_request.context.token_budget == 50
    assert search.expand_request.min_seq == 4


def test_explain_carries_the_search(client, search):
    search.plan.rows = 12
    assert client.explain("why?", "papers", limit=2).plan.rows == 12
    assert (search.request.text, search.request.limit) == ("why?", 2)


def test_server_says_what_it_is_and_whether_it_is_ready(client):
    assert client.server_info().version == "1.2.3"
    assert client.is_serving("ingest")
    assert client.is_serving("search")


# asyncio


def public(kind):
    return {
        name: list(inspect.signature(method).parameters)
        for name, method in inspect.getmembers(kind, callable)
        if not name.startswith("_") or name == "__init__"
    }


def test_both_clients_have_the_same_methods_and_parameters():
    assert public(AsyncClient) == public(Client)


def test_async_client_does_the_same(address, ingest, search, tmp_path):
    ingest.nodes = [Node(node_id=str(at), position=at) for at in range(7)]
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * (PART_BYTES + 1))

    async def use(client):
        await client.create_collection("new", exist_ok=True)
        await client.create_collection("new", exist_ok=True)
        written = await client.ingest_file(path, "papers")
        await client.ingest_text("text", "papers", "b")
        answer = await client.search("q", min_seq=written.seq)
        artifacts = [found.artifact async for found in client.list_artifacts("papers")]
        nodes = [node.position async for node in client.export_tree("a.txt", "papers")]
        collections = [found.collection async for found in client.list_collections()]
        ready = await client.is_serving("search")
        batch = await client.batch_search([search_request("q")] * 2)
        return answer, artifacts, nodes, collections, ready, batch

    answer, artifacts, nodes, collections, ready, batch = with_async_client(address, use)
    assert answer == search.answer
    assert search.request.text == "q"
    assert ingest.part_sizes[:2] == [PART_BYTES, 1]
    assert artifacts == ["a.txt", "b"]
    assert nodes == list(range(7))
    assert collections == ["new", "papers"]
    assert ready
    assert isinstance(batch[1], errors.CollectionNotFound)


@pytest.mark.parametrize("kind", errors_by_reason().values(), ids=lambda kind: kind.__name__)
def test_error_arrives_at_the_async_client_as_it_was_raised(address, search, kind):
    search.fail_with = sent = made(kind)

    async def use(client):
        with pytest.raises(TreespanError) as caught:
            await client.search("q")
        return caught.value

    caught = with_async_client(address, use)
    assert type(caught) is kind
    assert caught.message == sent.message


def test_async_progress_shows_the_stages_of_the_server(address, ingest):
    ingest.stages = [Progress(stage=Progress.STAGE_COMMITTING, done=1, total=4)]
    stages = list(ingest.stages)
    seen = []

    async def use(client):
        return await client.ingest_bytes(b"text", "papers", "a", progress=seen.append)

    with_async_client(address, use)
    assert [one for one in seen if one.stage != Progress.STAGE_RECEIVING] == stages


def test_async_large_file_refused_at_its_header_fails_at_once(address, tmp_path):
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)

    async def use(client):
        with pytest.raises(errors.CollectionNotFound):
            await client.ingest_file(path, "missing")

    with_async_client(address, use)


def test_async_ingest_can_be_cancelled(address, ingest):
    ingest.stages = [Progress()]

    async def use(client):
        task = asyncio.ensure_future(client.ingest_bytes(b"text", "papers", "a"))
        await asyncio.sleep(0.2)
        task.cancel()
        started = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        ingest.stages = []
        return time.monotonic() - started

    assert with_async_client(address, use) < 2
