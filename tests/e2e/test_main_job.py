"""The main job on our own samples: a question comes back with the right text around it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from calls import ingest_bytes
from treespan.v1 import context_filter_pb2
from treespan.v1 import ingest_service_pb2 as ingest_pb
from treespan.v1 import search_service_pb2 as pb

if TYPE_CHECKING:
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

SAMPLES = Path(__file__).parents[2] / "samples"
FILES = ["q3-report-zh.md", "q3-report-en.pdf", "handbook.md", "product-page.html"]


@pytest.fixture(scope="module")
def library(ingest: IngestServiceStub, search: SearchServiceStub) -> str:
    collection = ingest_pb.Collection(collection="samples")
    ingest.CreateCollection(ingest_pb.CreateCollectionRequest(collection=collection))
    for name in FILES:
        written = ingest_bytes(ingest, "samples", name, (SAMPLES / name).read_bytes())
    request = pb.SearchRequest(
        context_filter=context_filter_pb2.ContextFilter(collection="samples"),
        text="ready",
        min_seq=written.seq,
    )
    search.Search(request)
    return "samples"


def ask(
    search: SearchServiceStub, collection: str, text: str, **context: object
) -> pb.SearchResponse:
    request = pb.SearchRequest(
        context_filter=context_filter_pb2.ContextFilter(collection=collection),
        text=text,
        limit=3,
        context=pb.ContextOptions(**context),
    )
    answer: pb.SearchResponse = search.Search(request, timeout=30)
    return answer


def test_the_chinese_question_finds_the_growth_with_summary_and_reason(
    search: SearchServiceStub, library: str
) -> None:
    chunk = ask(search, library, "第三季度营收为什么增长？", token_budget=500).chunks[0]
    assert chunk.artifact == "q3-report-zh.md"
    assert chunk.text.startswith("第三季度营收同比增长 23.0%")
    assert any("本季度公司业绩稳健向好" in text for text in chunk.previous_texts)
    assert any("设备业务的增加，是因为" in text for text in chunk.next_texts)
    assert chunk.heading_path == ["青禾智控股份有限公司 2025 年第三季度报告", "业绩"]
    assert chunk.total_token_count <= 500


def test_an_answer_in_a_two_column_pdf_comes_in_reading_order(
    search: SearchServiceStub, library: str
) -> None:
    question = "Why did Northgate's revenue grow in the third quarter?"
    chunk = ask(search, library, question, token_budget=400).chunks[0]
    assert chunk.artifact == "q3-report-en.pdf"
    assert chunk.page_start == 1
    told = " ".join([*chunk.previous_texts, chunk.text, *chunk.next_texts])
    places = [
        told.index(words)
        for words in (
            "Revenue grew by 12.6%",
            "The growth has two causes",
            "Price increases agreed in April",
        )
    ]
    assert places == sorted(places)


def test_an_answer_in_a_table_row_names_its_columns(
    search: SearchServiceStub, library: str
) -> None:
    question = "Most per night for a hotel in Edinburgh"
    found = ask(search, library, question, token_budget=200)
    chunk = found.chunks[0]
    assert chunk.text == "Place: Edinburgh, Manchester, Bristol; Most per night: £130"
    assert "Place | Most per night" in chunk.previous_texts
    assert chunk.heading_path[-1] == "2.1 Travel"


def test_an_answer_that_spans_a_section_border_has_both_sides(
    search: SearchServiceStub, library: str
) -> None:
    """The rule on illness stands in 1.3.2, that on family illness behind the heading 1.3.3."""
    question = "What do I do when I am ill, and what about an ill child?"
    chunk = ask(search, library, question, token_budget=400).chunks[0]
    told = "\n".join([*chunk.previous_texts, chunk.text, *chunk.next_texts])
    places = [
        told.index(words)
        for words in (
            "1.3.2 Illness",
            "If you are ill, tell your team lead",
            "1.3.3 Parental and family leave",
            "For the illness of a child",
        )
    ]
    assert places == sorted(places)


def test_every_text_returned_is_the_documents_own(
    ingest: IngestServiceStub, search: SearchServiceStub, library: str
) -> None:
    for chunk in ask(search, library, "How many days of leave?", nodes=True).chunks:
        for told in chunk.context_nodes:
            request = ingest_pb.GetNodeRequest(collection=library, node_id=told.node_id)
            node = ingest.GetNode(request).node
            assert (node.text, node.own_tokens) == (told.text, told.token_count)


def test_a_committed_file_is_searchable_within_100_ms_and_a_deleted_one_gone(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    request = pb.SearchRequest(
        context_filter=context_filter_pb2.ContextFilter(collection=collection), text="lighthouse"
    )
    search.Search(request)  # the query's vector is known from now on

    def becomes(expected: int) -> float:
        start = time.monotonic()
        while len(search.Search(request).chunks) != expected:
            assert time.monotonic() < start + 5
        return time.monotonic() - start

    waits = []
    for number in range(10):
        ingest_bytes(ingest, collection, "note", f"Lighthouse number {number}.".encode(), "n.txt")
        waits.append(becomes(1))
        wanted = ingest_pb.DeleteArtifactRequest(collection=collection, artifact="note")
        ingest.DeleteArtifact(wanted)
        waits.append(becomes(0))
    assert sorted(waits)[len(waits) // 2] < 0.1


def test_min_seq_reads_what_was_written(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    for number in range(20):
        text = f"Harbour {number} was dredged.".encode()
        written = ingest_bytes(ingest, collection, f"note {number}", text, "n.txt")
        request = pb.SearchRequest(
            context_filter=context_filter_pb2.ContextFilter(
                collection=collection, artifacts=[f"note {number}"]
            ),
            text="harbour",
            min_seq=written.seq,
        )
        answer = search.Search(request)
        assert [chunk.text for chunk in answer.chunks] == [f"Harbour {number} was dredged."]
        assert answer.applied_seq >= written.seq


def test_the_same_bytes_are_not_embedded_again(ingest: IngestServiceStub, collection: str) -> None:
    text = b"The tower was painted in June."
    first = ingest_bytes(ingest, collection, "a", text, "a.txt")
    again = ingest_bytes(ingest, collection, "a", text, "a.txt")
    other = ingest_bytes(ingest, collection, "b", text, "b.txt")
    assert (first.already_ingested, again.already_ingested) == (False, True)
    assert again.seq == first.seq
    assert not other.already_ingested
    assert other.seq == first.seq + 1


def test_tenants_see_nothing_of_each_other(
    ingest: IngestServiceStub, search: SearchServiceStub
) -> None:
    wanted = ingest_pb.CreateCollectionRequest(
        collection=ingest_pb.Collection(collection="shared name")
    )
    for tenant in ("left", "right"):
        ingest.CreateCollection(wanted, metadata=(("treespan-tenant", tenant),))
    written = ingest.IngestText(
        ingest_pb.IngestTextRequest(
            collection="shared name", artifact="secret", text="The key is under the mat."
        ),
        metadata=(("treespan-tenant", "left"),),
    )
    request = pb.SearchRequest(
        context_filter=context_filter_pb2.ContextFilter(collection="shared name"),
        text="key",
        min_seq=written.seq,
    )
    found = {
        tenant: len(search.Search(request, metadata=(("treespan-tenant", tenant),)).chunks)
        for tenant in ("left", "right")
    }
    assert found == {"left": 1, "right": 0}
