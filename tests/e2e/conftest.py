"""Both services, started once for all end-to-end tests that only need them running."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from servers import Servers
from treespan.v1 import ingest_service_pb2 as ingest_pb
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
from treespan.v1.search_service_pb2_grpc import SearchServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    running = Servers(
        tmp_path_factory.mktemp("e2e"),
        {"TREESPAN__INGEST__UPLOAD_STALL_S": "1", "TREESPAN__LOG__LEVEL": "debug"},
    )
    try:
        running.start()
        yield running
    finally:
        codes = running.stop()
    assert codes == {"ingest": 0, "search": 0}


@pytest.fixture(scope="session")
def ingest(servers: Servers) -> Iterator[IngestServiceStub]:
    with grpc.insecure_channel(servers.address("ingest")) as channel:
        yield IngestServiceStub(channel)


@pytest.fixture(scope="session")
def search(servers: Servers) -> Iterator[SearchServiceStub]:
    with grpc.insecure_channel(servers.address("search")) as channel:
        yield SearchServiceStub(channel)


@pytest.fixture
def collection(request: pytest.FixtureRequest, ingest: IngestServiceStub) -> str:
    """A collection of the test's own."""
    name = request.node.name[:200]
    wanted = ingest_pb.Collection(collection=name.replace("/", "_"))
    answer = ingest.CreateCollection(ingest_pb.CreateCollectionRequest(collection=wanted))
    return answer.collection.collection
