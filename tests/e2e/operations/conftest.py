"""The ingest service with a slow model and one reader, so that every stage can be caught."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from operation_calls import make, spooled
from servers import Servers
from tiny_model import write_tiny_model
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
from treespan.v1.search_service_pb2_grpc import SearchServiceStub
from web import Web, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    with serving() as opened:
        yield opened


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory, web: Web) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("slow")
    (folder / "files").mkdir()
    model = write_tiny_model(folder / "model", max_tokens=512, slowness=2)
    return {
        "TREESPAN__MODELS__EMBEDDING": str(model),
        "TREESPAN__INGEST__CONCURRENT_FILES": "1",
        "TREESPAN__INGEST__QUEUE_LENGTH": "24",
        "TREESPAN__INGEST__UPLOAD_STALL_S": "5",
        "TREESPAN__INGEST__URI_ROOTS": str(folder / "files"),
        "TREESPAN__INGEST__URI_HOSTS": f"127.0.0.1:{web.port}",
        "TREESPAN__INGEST__URI_PRIVATE_HOSTS": "127.0.0.1",
    }


@pytest.fixture(scope="session")
def servers(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]
) -> Iterator[Servers]:
    running = Servers(tmp_path_factory.mktemp("operations"), dict(settings))
    try:
        running.start()
        yield running
    finally:
        codes = running.stop()
    assert codes == {"ingest": 0, "search": 0}
    assert spooled(running) == []
    assert "fault in" not in running.log("ingest")


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
    name = request.node.name[:200].replace("/", "_")
    make(ingest, name)
    return name


@pytest.fixture
def own_servers(tmp_path: Path, settings: dict[str, str]) -> Iterator[Servers]:
    """Services of the test's own, which it may kill; nothing runs yet."""
    own = Servers(tmp_path, dict(settings))
    yield own
    own.stop()
