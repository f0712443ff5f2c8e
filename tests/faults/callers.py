"""A caller of both services who finds them again after they were away."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np

from calls import upload
from faults.versions import document
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import search_service_pb2 as search_pb
from treespan.v1.context_filter_pb2 import (
    ContextFilter,
    MetadataCondition,
    MetadataFilter,
)
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
from treespan.v1.metadata_pb2 import MetadataValue
from treespan.v1.search_service_pb2_grpc import SearchServiceStub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from servers import Servers

COLLECTION = "faults"
ALL = 10_000
"""The largest limit: every row of these tests."""

_SOON = (
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 2000),
    ("grpc.max_reconnect_backoff_ms", 100),
)
_TIMEOUT_S = 30.0


def until(true: Callable[[], Any], what: str, most_s: float = 20.0) -> None:
    """Wait for something that the services do by themselves."""
    end = time.monotonic() + most_s
    while not true():
        assert time.monotonic() < end, f"not within {most_s:g} s: {what}"
        time.sleep(0.05)


def vector(*elements: float) -> search_pb.Vector:
    return search_pb.Vector(f32_le=np.array(elements, "<f4").tobytes())


def equals(key: str, value: int) -> MetadataFilter:
    return MetadataFilter(
        condition=MetadataCondition(
            key=key,
            operator=MetadataCondition.OPERATOR_EQ,
            value=MetadataValue(int_value=value),
        )
    )


def has_words(key: str, text: str) -> MetadataFilter:
    return MetadataFilter(
        condition=MetadataCondition(
            key=key,
            operator=MetadataCondition.OPERATOR_TEXT_MATCH,
            value=MetadataValue(string_value=text),
        )
    )


@dataclass
class Caller:
    """Calls one process of each service."""

    ingest: IngestServiceStub
    search: SearchServiceStub
    collection: str = COLLECTION
    seqs: dict[str, int] = field(default_factory=dict)
    """By artifact, the change that last put it in, as acknowledged."""

    def create(self) -> None:
        collection = pb.Collection(collection=self.collection)
        self.ingest.CreateCollection(pb.CreateCollectionRequest(collection=collection))

    def put(self, artifact: str, version: int, sections: int = 20) -> pb.Artifact:
        """Ingest a version of an artifact and return it as acknowledged."""
        header = pb.IngestFileHeader(
            collection=self.collection,
            artifact=artifact,
            file_name=f"{artifact}.md",
            metadata={
                "version": MetadataValue(int_value=version),
                "genre": MetadataValue(string_value="manual"),
            },
        )
        data = document(artifact, version, sections)
        answer = self.ingest.IngestFile(upload(header, data), timeout=_TIMEOUT_S)
        self.seqs[artifact] = answer.seq
        return answer.artifact

    def delete(self, artifact: str) -> None:
        self.ingest.DeleteArtifact(
            pb.DeleteArtifactRequest(
                collection=self.collection, artifact=artifact, allow_missing=True
            ),
            timeout=_TIMEOUT_S,
        )

    def listed(self) -> list[pb.Artifact]:
        request = pb.ListArtifactsRequest(collection=self.collection, page_size=1000)
        return list(self.ingest.ListArtifacts(request, timeout=_TIMEOUT_S).artifacts)

    def stats(self) -> pb.CollectionStats:
        request = pb.GetCollectionRequest(collection=self.collection)
        return self.ingest.GetCollection(request, timeout=_TIMEOUT_S).collection.stats

    def nodes(self, artifact: str) -> list[Any]:
        request = pb.ExportTreeRequest(collection=self.collection, artifact=artifact)
        pages = self.ingest.ExportTree(request, timeout=_TIMEOUT_S)
        return [node for page in pages for node in page.nodes]

    def embedded(self) -> set[str]:
        """Ids of the nodes that have a vector, as ingest says."""
        names = [artifact.artifact for artifact in self.listed()]
        return {node.node_id for name in names for node in self.nodes(name) if node.embedded}

    def find(
        self,
        at: search_pb.Vector,
        limit: int = 20,
        *,
        artifacts: Sequence[str] = (),
        where: MetadataFilter | None = None,
        mode: search_pb.ContextOptions.Mode = search_pb.ContextOptions.MODE_TREE,
        min_seq: int = 0,
    ) -> search_pb.SearchResponse:
        request = search_pb.SearchRequest(
            context_filter=ContextFilter(
                collection=self.collection, artifacts=artifacts, metadata_filter=where
            ),
            vector=at,
            limit=limit,
            context=search_pb.ContextOptions(mode=mode, token_budget=512),
            min_seq=min_seq,
        )
        answer: search_pb.SearchResponse = self.search.Search(request, timeout=_TIMEOUT_S)
        return answer

    def everything(self, at: search_pb.Vector, min_seq: int = 0) -> list[tuple[str, float]]:
        """Every row that search finds, best first, as (node id, similarity)."""
        none = search_pb.ContextOptions.MODE_NONE
        chunks = self.find(at, ALL, mode=none, min_seq=min_seq).chunks
        return [(chunk.node_id, chunk.similarity) for chunk in chunks]

    def info(self) -> search_pb.GetServerInfoResponse:
        request = search_pb.GetServerInfoRequest()
        answer: search_pb.GetServerInfoResponse = self.search.GetServerInfo(request, timeout=5)
        return answer

    def held(self) -> search_pb.CollectionInfo:
        """What search holds of the collection; nothing where it does not know it."""
        for held in self.info().collections:
            if held.collection == self.collection:
                return held
        return search_pb.CollectionInfo()


@contextmanager
def calling(
    servers: Servers, search: str = "search", collection: str = COLLECTION
) -> Iterator[Caller]:
    """A caller of ingest and of one of the search processes."""
    with ExitStack() as stack:
        to_ingest, to_search = (
            stack.enter_context(grpc.insecure_channel(servers.address(name), options=_SOON))
            for name in ("ingest", search)
        )
        yield Caller(IngestServiceStub(to_ingest), SearchServiceStub(to_search), collection)
