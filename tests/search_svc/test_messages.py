"""Replies that are put together from bytes read as protobuf's own serialiser writes them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from search_svc import messages
from search_svc.answer import Answer, Times
from store import samples
from treespan.v1 import chunk_pb2
from treespan.v1 import search_service_pb2 as pb


def answer(*texts: str) -> Answer:
    chunks = pb.SearchResponse(chunks=[chunk_pb2.Chunk(text=text) for text in texts])
    hits = SimpleNamespace(
        graph_segments=1,
        exact_segments=1,
        rows=9,
        allowed_rows=8,
        compared_rows=7,
        below_threshold=6,
    )
    return Answer(chunks.SerializeToString(), 5, hits, 3, Times(0.1, 0.2, 0.3, 0.6))  # type: ignore[arg-type]


def test_the_head_of_a_chunk_says_whose_it_is_and_what_its_file_states() -> None:
    artifact = samples.new_artifact("a", samples.content(1), note="mine")
    head = chunk_pb2.Chunk.FromString(
        messages.document_head(samples.searchable(artifact, samples.content(1), 2))
    )
    assert head.artifact == "a"
    assert {key: value.string_value for key, value in head.metadata.items()} == {
        "named": "a",
        "note": "mine",
    }
    document = head.document
    assert (document.artifact, document.collection, document.title) == ("a", "papers", "Title 1")
    assert document.source_uri == "https://example.org/a"
    stated = {key: value.string_value for key, value in document.file_metadata.items()}
    assert stated == {"author": "writer 1"}


def test_a_search_response_has_chunks_and_the_rest() -> None:
    told = pb.SearchResponse.FromString(messages.search_response(answer("a", "b")))
    assert [chunk.text for chunk in told.chunks] == ["a", "b"]
    assert (told.applied_seq, told.token_count) == (3, 5)
    assert told.timings.recall.ToMilliseconds() == 200


def test_an_explanation_wraps_the_response() -> None:
    told = pb.ExplainResponse.FromString(messages.explain_response(answer("a"), 2, "model"))
    assert told.response.chunks[0].text == "a"
    assert told.plan.method == pb.RecallPlan.METHOD_MIXED
    assert (told.plan.rows, told.plan.allowed_rows, told.plan.compared_rows) == (9, 8, 7)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_100_000])
def test_a_batch_holds_answers_of_any_size(size: int) -> None:
    one = messages.search_response(answer("x" * size))
    wire = messages.batch_result(one) + messages.batch_failure(5, "R", "m")
    told = pb.BatchSearchResponse.FromString(wire)
    expected = pb.BatchSearchResponse(
        results=[
            {"response": pb.SearchResponse.FromString(one)},
            {"failure": pb.Failure(code=5, reason="R", message="m")},
        ]
    )
    assert told == expected
