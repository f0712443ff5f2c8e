"""Searches with filters, through both services: artifacts and nodes are those that match, no other.

The collection is a small one whose contents are plain to see; what each filter should let through
is read off it by hand.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
import pytest

from calls import refused, upload
from treespan.client import key
from treespan.client.filter_message import filter_message
from treespan.client.metadata import metadata_values
from treespan.v1 import context_filter_pb2
from treespan.v1 import ingest_service_pb2 as ingest_pb
from treespan.v1 import search_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

COLLECTION = "films and rivers"

FILMS = """<html lang="en"><title>Films</title><body><h1>Films</h1>
<p>The archive lists every film with its year and the votes it was given by visitors.</p>
<h2>Nineties</h2>
<table><tr><th>film</th><th>votes</th><th>shown</th><th>colour</th></tr>
<tr><td>Harbour Lights</td><td>1,204</td><td>1994-05-01</td><td>true</td></tr>
<tr><td>The Long Field</td><td>87</td><td>1994-11-20</td><td>false</td></tr>
<tr><td>Night Ferry</td><td>2,310</td><td>1997-02-14</td><td>true</td></tr></table>
</body></html>"""
RIVERS = """# Rivers

The river rises in the hills and reaches the sea after four hundred kilometres.

## Floods

Floods come in April, when the snow of the hills melts within a few days.
"""
TALES = """# 故事

很久以前，河边住着一位老渔夫，他每天清晨划船出去打鱼。
"""
FILES = {
    "films": ("films.html", FILMS, {"year": 2020, "tags": ["list", "film"], "draft": False}),
    "rivers": ("rivers.md", RIVERS, {"year": 2024, "tags": ["water"], "rating": 4.5}),
    "tales": ("tales.md", TALES, {"tags": [], "at": datetime(2024, 3, 1, tzinfo=UTC)}),
}


@pytest.fixture(scope="module")
def seq(ingest: IngestServiceStub) -> int:
    """The change after which everything is there."""
    wanted = ingest_pb.Collection(collection=COLLECTION)
    ingest.CreateCollection(ingest_pb.CreateCollectionRequest(collection=wanted))
    last = 0
    for name, (file_name, text, metadata) in FILES.items():
        header = ingest_pb.IngestFileHeader(
            collection=COLLECTION,
            artifact=name,
            file_name=file_name,
            metadata=metadata_values(metadata),
        )
        last = ingest.IngestFile(upload(header, text.encode()), timeout=60).seq
    return last


@pytest.fixture(scope="module")
def dimension(ingest: IngestServiceStub, seq: int) -> int:
    request = ingest_pb.GetCollectionRequest(collection=COLLECTION)
    return ingest.GetCollection(request).collection.dimension


@pytest.fixture
def found(search: SearchServiceStub, seq: int, dimension: int) -> Any:
    """Return the chunks that a filter lets through, all of them, whatever they say."""

    def search_all(where: Any, *artifacts: str, limit: int = 100) -> list[Any]:
        request = pb.SearchRequest(
            context_filter=context_filter_pb2.ContextFilter(
                collection=COLLECTION,
                artifacts=artifacts,
                metadata_filter=filter_message(where),
            ),
            vector=pb.Vector(f32_le=np.ones(dimension, "<f4").tobytes()),
            limit=limit,
            min_seq=seq,
            context=pb.ContextOptions(mode=pb.ContextOptions.MODE_NONE),
        )
        return list(search.Search(request, timeout=20).chunks)

    return search_all


ARTIFACTS = [
    (key("year") == 2020, {"films"}),
    (key("year") == 2020.0, {"films"}),
    (key("year") != 2020, {"rivers", "tales"}),
    (key("year") > 2020, {"rivers"}),
    (key("year").is_in([2020, 2024]), {"films", "rivers"}),
    (key("tags").contains("film"), {"films"}),
    (key("tags") == "water", {"rivers"}),
    (key("tags").contains_any(["film", "water"]), {"films", "rivers"}),
    (key("tags").contains_all(["film", "list"]), {"films"}),
    (key("tags").is_empty(), {"tales"}),
    (key("year").exists(), {"films", "rivers"}),
    (key("nobody").is_empty(), {"films", "rivers", "tales"}),
    (key("nobody") == 1, set()),
    (key("draft") == False, {"films"}),  # noqa: E712
    (key("rating") >= 4.5, {"rivers"}),
    (key("at") < datetime(2024, 3, 2, tzinfo=UTC), {"tales"}),
    (key("language") == "zh", {"tales"}),
    (key("language") == "en", {"films", "rivers"}),
    (key("file_name").contains("rivers"), {"rivers"}),
    (key("media_type") == "text/html", {"films"}),
    (key("artifact") == "tales", {"tales"}),
    (key("title").matches("FILMS"), {"films"}),
    (key("ingested_at") > datetime(2020, 1, 1, tzinfo=UTC), {"films", "rivers", "tales"}),
    (~(key("year") == 2020), {"rivers", "tales"}),
    ((key("year") == 2020) | (key("tags") == "water"), {"films", "rivers"}),
    ((key("year") >= 2020) & ~(key("tags") == "film"), {"rivers"}),
]


@pytest.mark.parametrize(("where", "artifacts"), ARTIFACTS, ids=lambda value: str(value)[:60])
def test_artifacts_are_those_that_match(found: Any, where: Any, artifacts: set[str]) -> None:
    assert {chunk.artifact for chunk in found(where)} == artifacts


def test_named_artifacts_must_match_too(found: Any) -> None:
    where = key("year").exists()
    assert {chunk.artifact for chunk in found(where, "films", "tales")} == {"films"}


@pytest.mark.parametrize(
    ("where", "films"),
    [
        (key("row.votes") > 1000, {"Harbour Lights", "Night Ferry"}),
        (key("row.votes") == 87, {"The Long Field"}),
        (key("row.film") == "Night Ferry", {"Night Ferry"}),
        (key("row.colour") == False, {"The Long Field"}),  # noqa: E712
        (key("row.shown") < datetime(1995, 1, 1, tzinfo=UTC), {"Harbour Lights", "The Long Field"}),
        ((key("row.votes") > 1000) & (key("row.film").contains("Harbour")), {"Harbour Lights"}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_rows_are_found_by_their_cells(found: Any, where: Any, films: set[str]) -> None:
    chunks = found(where)
    assert {chunk.text.removeprefix("film: ").partition(";")[0] for chunk in chunks} == films


def test_nodes_are_found_by_the_headings_above_them(found: Any) -> None:
    [flood] = found(key("heading") == "Floods")
    assert flood.text.startswith("Floods come in April")


def test_nodes_are_found_by_their_kind(found: Any) -> None:
    assert len(found(key("kind") == "TABLE_ROW")) == 3


def test_conditions_on_nodes_and_artifacts_go_together(found: Any) -> None:
    where = (key("kind") == "TABLE_ROW") | (key("language") == "zh")
    kinds = sorted((chunk.artifact, "film" in chunk.text) for chunk in found(where))
    assert kinds == [("films", True)] * 3 + [("tales", False)]


def test_as_many_come_back_as_are_asked_for_whenever_they_match(found: Any) -> None:
    assert len(found(key("kind") == "TABLE_ROW", limit=2)) == 2


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (key("year") == "2020", ["year", "number", "string"]),
        (key("tags") > 5, ["tags", "string", "number"]),
        (key("page") == "one", ["page", "number", "string"]),
        (key("kind") == "ROW", ["kind", "TABLE_ROW"]),
        (key("row.votes") == "87", ["row.votes", "number", "string"]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_type_is_refused_in_words(found: Any, where: Any, said: list[str]) -> None:
    with refused() as told:
        found(where)
    assert told.code is grpc.StatusCode.INVALID_ARGUMENT
    assert told.reason == "INVALID_FIELD"
    assert told.field.startswith("context_filter.metadata_filter")
    for word in said:
        assert word in told.message


@pytest.fixture
def own_artifact(ingest: IngestServiceStub, collection: str) -> Iterator[str]:
    header = ingest_pb.IngestFileHeader(
        collection=collection, artifact="a", metadata=metadata_values({"stage": "first"})
    )
    ingest.IngestFile(upload(header, b"One plain sentence about tides."), timeout=60)
    return collection  # type: ignore[return-value]


def test_metadata_changed_afterwards_is_what_filters_and_chunks_show(
    servers: Servers, ingest: IngestServiceStub, search: SearchServiceStub, own_artifact: str
) -> None:
    def hits(stage: str, min_seq: int = 0) -> list[Any]:
        where = context_filter_pb2.ContextFilter(
            collection=own_artifact, metadata_filter=filter_message(key("stage") == stage)
        )
        request = pb.SearchRequest(context_filter=where, text="tides", min_seq=min_seq)
        return list(search.Search(request, timeout=20).chunks)

    artifact = ingest.GetArtifact(
        ingest_pb.GetArtifactRequest(collection=own_artifact, artifact="a")
    ).artifact
    [before] = hits("first", 1)
    artifact.metadata.clear()
    for name, value in metadata_values({"stage": "second"}).items():
        artifact.metadata[name].CopyFrom(value)
    change = ingest_pb.UpdateArtifactRequest(artifact=artifact)
    change.update_mask.paths.append("metadata")
    changed = ingest.UpdateArtifact(change)
    assert hits("first", changed.seq) == []
    [after] = hits("second", changed.seq)
    assert after.metadata["stage"].string_value == "second"
    assert after.node_id == before.node_id
