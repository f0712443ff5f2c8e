"""A search with `min_seq` shows the write that returned it, always.

The long form, ten thousand writes, is in `bench/freshness.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treespan.v1 import context_filter_pb2
from treespan.v1 import ingest_service_pb2 as ingest_pb
from treespan.v1 import search_service_pb2 as pb

if TYPE_CHECKING:
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

TRIES = 200
ARTIFACTS = 5


def texts(search: SearchServiceStub, collection: str, artifact: str, min_seq: int) -> list[str]:
    """Return what a search of one artifact shows, as of a change."""
    request = pb.SearchRequest(
        context_filter=context_filter_pb2.ContextFilter(
            collection=collection, artifacts=[artifact]
        ),
        text="Which version is this?",
        min_seq=min_seq,
        validate=False,
        context=pb.ContextOptions(mode=pb.ContextOptions.MODE_NONE),
    )
    answer = search.Search(request, timeout=60)
    assert answer.applied_seq >= min_seq
    return [chunk.text for chunk in answer.chunks]


def test_every_write_is_seen_by_a_search_that_waits_for_its_seq(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    for number in range(TRIES):
        artifact = f"a{number % ARTIFACTS}"
        right = f"This is version {number} of the text."
        written = ingest.IngestText(
            ingest_pb.IngestTextRequest(collection=collection, artifact=artifact, text=right),
            timeout=60,
        )
        assert texts(search, collection, artifact, written.seq) == [right]


def test_a_deletion_is_seen_by_a_search_that_waits_for_its_seq(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    for number in range(20):
        ingest.IngestText(
            ingest_pb.IngestTextRequest(
                collection=collection, artifact="a", text=f"Text {number}."
            ),
            timeout=60,
        )
        deleted = ingest.DeleteArtifact(
            ingest_pb.DeleteArtifactRequest(collection=collection, artifact="a"), timeout=60
        )
        assert texts(search, collection, "a", deleted.seq) == []
