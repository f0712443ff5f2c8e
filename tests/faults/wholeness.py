"""What must hold of store, index and cache whenever nothing is under way."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from faults.callers import until, vector
from faults.versions import document, marks
from treespan._core import VectorIndex
from treespan.store.upkeep import check_store
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from pathlib import Path

    from faults.callers import Caller
    from faults.load import Ledger
    from servers import Servers

AT = vector(1, 2, 3, 4)
SEAL_ROWS = 200


def check_artifacts(caller: Caller, ledger: Ledger, sections: int) -> set[str]:
    """Compare every artifact with what it may be; return the ids of all nodes with a vector."""
    listed = {artifact.artifact: artifact for artifact in caller.listed()}
    embedded: set[str] = set()
    for name in sorted(set(ledger.possible) - set(listed)):
        ledger.found(name, None)
    for name, artifact in listed.items():
        assert artifact.state == pb.Artifact.STATE_POPULATED
        version = artifact.metadata["version"].int_value
        ledger.found(name, version)
        data = document(name, version, sections)
        assert artifact.content_sha256 == hashlib.sha256(data).hexdigest()
        nodes = caller.nodes(name)
        assert len(nodes) == artifact.node_count
        assert marks(node.text for node in nodes if node.text) == {(name, version)}
        vectors = {node.node_id for node in nodes if node.embedded}
        assert len(vectors) == artifact.chunk_count
        embedded |= vectors
    return embedded


def check_search(caller: Caller, embedded: set[str]) -> None:
    """Search holds what the store shows, no more and no less, and finds all of it."""
    found = caller.everything(AT, min_seq=caller.info().store_seq)
    ids = [node_id for node_id, _ in found]
    assert len(ids) == len(set(ids)), "a row was found twice"
    assert set(ids) == embedded
    held, stats = caller.held(), caller.stats()
    assert (held.documents, held.rows) == (stats.artifacts, stats.vectors)


def check_files(servers: Servers) -> int:
    """Let the store's own check look, and open every segment that the manifest names."""
    report = check_store(servers.store, full=True)
    assert report.findings == ()
    segments = named_segments(servers.store / "cache")
    for segment in segments:
        # Compares the whole file with its hash.
        VectorIndex(4).install(str(servers.store / "cache"), [segment], b"")
    return len(segments)


def named_segments(cache: Path) -> list[tuple[str, int, str]]:
    """Name, size and hash of the segments that the manifest of a cache names."""
    if not (cache / "manifest.json").exists():
        return []
    manifest = json.loads((cache / "manifest.json").read_bytes())
    return [
        (segment["name"], segment["size_bytes"], segment["hash"])
        for collection in manifest["collections"]
        for segment in collection["segments"]
    ]


def settled(caller: Caller) -> None:
    """Wait until no segment is left to be sealed."""
    until(
        lambda: (held := caller.held()).rows - held.sealed_rows < SEAL_ROWS,
        "all rows but the last few are sealed",
    )
