"""In two steps: a tree first, which can be read, then its vectors, which make it searchable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import numpy as np

from calls import refused
from catalogue_calls import get, names
from faults.versions import document, marks
from operation_calls import (
    Op,
    Stage,
    at_stage,
    cancel,
    ended,
    pb,
    send,
    texts,
    write,
)
from slow_files import LONG_TO_EMBED
from treespan.v1 import context_filter_pb2
from treespan.v1 import search_service_pb2 as search_pb

if TYPE_CHECKING:
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from treespan.v1.search_service_pb2_grpc import SearchServiceStub


def populate(
    ingest: IngestServiceStub, collection: str, artifact: str, **options: object
) -> pb.PopulateArtifactResponse:
    request = pb.PopulateArtifactRequest(
        collection=collection, artifact=artifact, options=pb.IngestOptions(**options)
    )
    answer: pb.PopulateArtifactResponse = ingest.PopulateArtifact(request, timeout=60)
    return answer


def found(search: SearchServiceStub, collection: str, min_seq: int = 0) -> set[tuple[str, int]]:
    """The artifacts and versions that search finds."""
    request = search_pb.SearchRequest(
        context_filter=context_filter_pb2.ContextFilter(collection=collection),
        vector=search_pb.Vector(f32_le=np.array([1, 2, 3, 4], "<f4").tobytes()),
        limit=1000,
        min_seq=min_seq,
    )
    return marks(chunk.text for chunk in search.Search(request, timeout=30).chunks)


def test_a_tree_is_read_before_it_is_searchable_and_the_same_afterwards(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    begun = send(ingest, collection, "a", document("a", 7, 5), initialize_only=True)
    assert begun.artifact.state == pb.Artifact.STATE_INITIALIZED
    assert begun.artifact.has_draft
    assert begun.seq == 0
    assert begun.operation.state == Op.STATE_SUCCEEDED
    assert begun.operation.node_count == len(texts(ingest, collection, "a")) > 5
    before = nodes(ingest, collection, "a")
    assert marks(node.text for node in before if node.text) == {("a", 7)}
    with refused() as told:
        request = search_pb.SearchRequest(
            context_filter=context_filter_pb2.ContextFilter(collection=collection, artifacts=["a"]),
            text="red",
        )
        search.Search(request, timeout=30)
    assert told.reason in ("ARTIFACT_NOT_READY", "COLLECTION_NOT_FOUND")

    done = populate(ingest, collection, "a")
    assert done.artifact.state == pb.Artifact.STATE_POPULATED
    assert not done.artifact.has_draft
    assert done.operation.kind == Op.KIND_POPULATE_ARTIFACT
    assert done.operation.node_count == begun.operation.node_count
    assert done.seq
    assert nodes(ingest, collection, "a") == before
    assert found(search, collection, done.seq) == {("a", 7)}


def nodes(ingest: IngestServiceStub, collection: str, artifact: str) -> list[pb.GetNodeResponse]:
    request = pb.ExportTreeRequest(collection=collection, artifact=artifact)
    return [node for page in ingest.ExportTree(request) for node in page.nodes]


def test_a_node_says_what_is_embedded_for_it_populated_or_not(
    ingest: IngestServiceStub, collection: str
) -> None:
    text = "# Valves\n\n## Red ones\n\nThe red valve leaks.\n"
    write_markdown(ingest, collection, "a", text, initialize_only=True)
    [leaf] = [one for one in nodes(ingest, collection, "a") if one.text == "The red valve leaks."]
    section = next(one for one in nodes(ingest, collection, "a") if one.text == "Red ones")
    waiting = node(ingest, collection, leaf.node_id)
    assert waiting.node == leaf
    assert waiting.artifact == "a"
    assert waiting.indexed_text.endswith("Valves > Red ones\nThe red valve leaks.")
    assert node(ingest, collection, section.node_id).indexed_text == ""
    populate(ingest, collection, "a")
    assert node(ingest, collection, leaf.node_id) == waiting


def write_markdown(
    ingest: IngestServiceStub, collection: str, artifact: str, text: str, **options: object
) -> None:
    request = pb.IngestTextRequest(
        collection=collection,
        artifact=artifact,
        text=text,
        media_type="text/markdown",
        options=pb.IngestOptions(**options),
    )
    ingest.IngestText(request, timeout=60)


def node(ingest: IngestServiceStub, collection: str, node_id: str) -> pb.GetNodeResponse:
    request = pb.GetNodeRequest(collection=collection, node_id=node_id)
    answer: pb.GetNodeResponse = ingest.GetNode(request)
    return answer


def test_what_was_populated_answers_until_the_new_version_is(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    old = send(ingest, collection, "a", document("a", 1, 4))
    begun = send(ingest, collection, "a", document("a", 2, 4), initialize_only=True)
    assert begun.artifact.state == pb.Artifact.STATE_POPULATED
    assert begun.artifact.has_draft
    assert begun.artifact.content_sha256 == old.artifact.content_sha256
    assert found(search, collection, old.seq) == {("a", 1)}
    assert {version for _, version in marks(filter(None, texts(ingest, collection, "a")))} == {1}
    done = populate(ingest, collection, "a")
    assert not done.artifact.has_draft
    assert found(search, collection, done.seq) == {("a", 2)}


def test_the_version_that_waits_is_replaced_by_a_later_one(
    ingest: IngestServiceStub, collection: str
) -> None:
    for version in (1, 2):
        send(ingest, collection, "a", document("a", version, 4), initialize_only=True)
    assert marks(filter(None, texts(ingest, collection, "a"))) == {("a", 2)}
    send(ingest, collection, "a", document("a", 3, 4))
    assert not get(ingest, collection, "a").has_draft
    with refused() as told:
        populate(ingest, collection, "a")
    assert (told.code, told.reason) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "ARTIFACT_NOT_READY",
    )
    assert "initialize_only" in told.message


def test_a_version_that_waits_outlives_an_ingest_that_fails_or_is_cancelled(
    ingest: IngestServiceStub, collection: str
) -> None:
    send(ingest, collection, "a", document("a", 1, 4), initialize_only=True)
    with refused():
        send(ingest, collection, "a", b"%PDF-1.7\n%broken")
    name = send(ingest, collection, "a", LONG_TO_EMBED, detached=True).operation.operation
    at_stage(ingest, name, Stage.STAGE_EMBEDDING)
    cancel(ingest, name)
    assert get(ingest, collection, "a").state == pb.Artifact.STATE_INITIALIZED
    assert marks(filter(None, texts(ingest, collection, "a"))) == {("a", 1)}
    assert populate(ingest, collection, "a").artifact.state == pb.Artifact.STATE_POPULATED


def test_populating_is_cancelled_and_begun_again(
    ingest: IngestServiceStub, collection: str
) -> None:
    send(ingest, collection, "a", document("again", 1, 300), initialize_only=True)
    begun = populate(ingest, collection, "a", detached=True)
    assert begun.artifact.state == pb.Artifact.STATE_INITIALIZED
    at_stage(ingest, begun.operation.operation, Stage.STAGE_EMBEDDING)
    stopped, seconds = cancel(ingest, begun.operation.operation)
    assert stopped.state == Op.STATE_CANCELLED
    assert seconds < 2
    assert get(ingest, collection, "a").has_draft
    again = populate(ingest, collection, "a", detached=True).operation.operation
    assert ended(ingest, again).state == Op.STATE_SUCCEEDED
    assert get(ingest, collection, "a").state == pb.Artifact.STATE_POPULATED


def test_populating_again_under_the_same_id_is_answered_with_the_first(
    ingest: IngestServiceStub, collection: str
) -> None:
    send(ingest, collection, "a", document("a", 1, 4), initialize_only=True)
    first = populate(ingest, collection, "a", request_id="populate")
    assert populate(ingest, collection, "a", request_id="populate") == first


def test_what_is_not_there_is_not_populated(ingest: IngestServiceStub, collection: str) -> None:
    with refused() as told:
        populate(ingest, collection, "a")
    assert told.reason == "ARTIFACT_NOT_FOUND"
    with refused() as told:
        populate(ingest, "nowhere", "a")
    assert told.reason == "COLLECTION_NOT_FOUND"
    write(ingest, collection, "a", "red", initialize_only=True)
    ingest.DeleteArtifact(pb.DeleteArtifactRequest(collection=collection, artifact="a"))
    assert names(ingest, collection) == []
