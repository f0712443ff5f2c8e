"""The ingest service alone, with a tiny model: the catalogue needs no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from servers import Servers
from tiny_model import write_tiny_model
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("catalogue")
    model = write_tiny_model(folder / "model", max_tokens=512)
    running = Servers(folder, {"TREESPAN__MODELS__EMBEDDING": str(model)})
    try:
        running.start("ingest")
        yield running
    finally:
        codes = running.stop()
    assert codes == {"ingest": 0}


@pytest.fixture(scope="session")
def ingest(servers: Servers) -> Iterator[IngestServiceStub]:
    with grpc.insecure_channel(servers.address("ingest")) as channel:
        yield IngestServiceStub(channel)
