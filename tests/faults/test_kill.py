"""Either service is killed (-9) at random moments: nothing acknowledged is lost, nothing half left.

TREESPAN_KILLS sets how often (default 6; 50 in the long form), TREESPAN_SEED the moments.
"""

from __future__ import annotations

import hashlib
import os
import random
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw
import grpc
import pytest

from calls import PART
from servers import Servers
from tiny_model import write_tiny_model
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import search_service_pb2 as search_pb
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
from treespan.v1.search_service_pb2_grpc import SearchServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KILLS = int(os.environ.get("TREESPAN_KILLS", "6"))
SEED = int(os.environ.get("TREESPAN_SEED", "20"))
COLLECTION = "faults"
ARTIFACTS = 12


def document(artifact: int, version: int) -> bytes:
    """A file that says on every line which version of which artifact it is."""
    mark = f"artifact {artifact} version {version}"
    sections = [
        f"# Section {number} of {mark}\n\n" + f"This is sentence {number} of {mark}. " * 12
        for number in range(20)
    ]
    return "\n\n".join(sections).encode()


@dataclass
class Writing:
    """A client that replaces artifacts one after another and notes what was acknowledged."""

    address: str
    seed: int
    versions: dict[int, int] = field(default_factory=dict)
    """Newest version acknowledged of every artifact."""
    begun: dict[int, int] = field(default_factory=dict)
    """Newest version that was ever sent."""
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        order = random.Random(self.seed)
        with grpc.insecure_channel(self.address) as channel:
            stub = IngestServiceStub(channel)
            while not self.stop.is_set():
                artifact = order.randrange(ARTIFACTS)
                version = self.begun.get(artifact, 0) + 1
                self.begun[artifact] = version
                try:
                    stub.IngestFile(parts(artifact, version), timeout=30)
                except grpc.RpcError:
                    continue
                self.versions[artifact] = version


def parts(artifact: int, version: int) -> Iterator[pb.IngestFileRequest]:
    header = pb.IngestFileHeader(
        collection=COLLECTION, artifact=f"a{artifact}", file_name=f"a{artifact}.md"
    )
    yield pb.IngestFileRequest(header=header)
    data = document(artifact, version)
    for start in range(0, len(data), PART):
        yield pb.IngestFileRequest(data=data[start : start + PART])


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    model = write_tiny_model(tmp_path / "model", max_tokens=512)
    running = Servers(tmp_path, {"TREESPAN__MODELS__EMBEDDING": str(model)})
    running.start()
    with grpc.insecure_channel(running.address("ingest")) as channel:
        collection = pb.Collection(collection=COLLECTION)
        IngestServiceStub(channel).CreateCollection(
            pb.CreateCollectionRequest(collection=collection)
        )
    yield running
    running.stop()


def check_store(servers: Servers, writing: Writing) -> None:
    with grpc.insecure_channel(servers.address("ingest")) as channel:
        stub = IngestServiceStub(channel)
        listed = stub.ListArtifacts(pb.ListArtifactsRequest(collection=COLLECTION)).artifacts
        found = {int(artifact.artifact[1:]): artifact for artifact in listed}
        assert set(writing.versions) <= set(found), "an acknowledged file is lost"
        for number, artifact in found.items():
            assert artifact.state == pb.Artifact.STATE_POPULATED
            whole = {
                hashlib.sha256(document(number, version)).hexdigest(): version
                for version in range(1, writing.begun[number] + 1)
            }
            version = whole[artifact.content_sha256]
            assert version >= writing.versions.get(number, 0), "an acknowledged version is lost"
            check_tree(stub, artifact, number, version)
    connection = apsw.Connection(str(servers.data / "store" / "store.db"))
    assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    contents = connection.execute("SELECT count(*) FROM content").fetchone()
    assert contents == (len(found),), "a content without an artifact is left"
    connection.close()


def check_tree(stub: IngestServiceStub, artifact: pb.Artifact, number: int, version: int) -> None:
    request = pb.ExportTreeRequest(collection=COLLECTION, artifact=artifact.artifact)
    nodes = [node for page in stub.ExportTree(request) for node in page.nodes]
    assert len(nodes) == artifact.node_count
    mark = f"artifact {number} version {version}"
    written = [node.text for node in nodes if node.text]
    assert len([node for node in nodes if node.embedded]) == artifact.chunk_count
    assert all(mark in text for text in written)


def check_search(servers: Servers) -> None:
    """Search holds what the store shows, no more and no less."""
    with grpc.insecure_channel(servers.address("ingest")) as channel:
        answer = IngestServiceStub(channel).GetCollection(
            pb.GetCollectionRequest(collection=COLLECTION)
        )
    with grpc.insecure_channel(servers.address("search")) as channel:
        stub = SearchServiceStub(channel)
        wanted = stub.GetServerInfo(search_pb.GetServerInfoRequest()).store_seq
        stub.Expand(
            search_pb.ExpandRequest(
                collection=COLLECTION, node_ids=["0" * 16 + "-0"], min_seq=wanted
            ),
            timeout=10,
        )
        [held] = stub.GetServerInfo(search_pb.GetServerInfoRequest()).collections
    assert held.documents == answer.collection.stats.artifacts
    assert held.rows == answer.collection.stats.vectors


@pytest.mark.timeout(60 + 20 * KILLS)
def test_a_kill_at_any_moment_loses_nothing_acknowledged_and_leaves_nothing_half(
    servers: Servers,
) -> None:
    moments = random.Random(SEED)
    writing = Writing(servers.address("ingest"), SEED)
    for round_ in range(KILLS):
        writer = threading.Thread(target=writing.run)
        writer.start()
        threading.Event().wait(moments.uniform(0.02, 1.2))
        name = "search" if round_ % 4 == 3 else "ingest"
        servers.kill(name)
        writing.stop.set()
        writer.join()
        writing.stop.clear()
        servers.start(name)
        check_store(servers, writing)
        check_search(servers)
    assert writing.versions, "nothing was ever acknowledged, so nothing was tried"
