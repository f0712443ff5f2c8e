"""From a commit to its first sight in a search, and reading one's own writes.

    python bench/freshness.py [--once]

Both services run as processes over a store of some thousand rows, with a model so small that it
takes no time. `commit`: a text is ingested; from the reply on, searches of its artifact follow one
another without `min_seq` until one has it; idle, and while another client ingests all the time.
Expected: within 20 ms at the median, 100 ms at the 95th percentile. `min_seq`: after every write, a
search with the seq of its reply must have the new version (a replacement, or nothing after a
deletion); one miss fails the run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import numpy as np

from record import INFO, Record, verdict
from services import Process, ingest_stub, search_request, search_stub, write_tiny_model
from treespan.v1 import ingest_service_pb2 as ingest_pb
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

COLLECTION = "fresh"
P50_MS, P95_MS = 20.0, 100.0
VECTOR = np.array([1, 1, 1, 1])
WORDS = ("red", "green", "blue")
DOCUMENTS, LINES = 40, 100


@dataclass(frozen=True, slots=True)
class Client:
    """Writes through one service and reads through the other."""

    ingest: IngestServiceStub
    search: SearchServiceStub

    def write(self, artifact: str, text: str) -> int:
        """Ingest a text; return the change's seq."""
        request = ingest_pb.IngestTextRequest(collection=COLLECTION, artifact=artifact, text=text)
        return int(self.ingest.IngestText(request, timeout=60).seq)

    def delete(self, artifact: str) -> int:
        """Delete an artifact; return the change's seq."""
        request = ingest_pb.DeleteArtifactRequest(collection=COLLECTION, artifact=artifact)
        return int(self.ingest.DeleteArtifact(request, timeout=60).seq)

    def seen(self, artifact: str, min_seq: int = 0) -> str:
        """Return the text of an artifact as a search shows it now; empty where it shows none."""
        request = search_request(COLLECTION, VECTOR, limit=1, validate=False, min_seq=min_seq)
        request.context_filter.artifacts.append(artifact)
        chunks = self.search.Search(request, timeout=60).chunks
        return chunks[0].text if chunks else ""


def filled(client: Client, documents: int) -> None:
    """Make the collection with documents of `LINES` paragraphs."""
    wanted = ingest_pb.Collection(collection=COLLECTION)
    client.ingest.CreateCollection(ingest_pb.CreateCollectionRequest(collection=wanted))
    chance = np.random.default_rng(5)
    for number in range(documents):
        lines = [" ".join(chance.choice(WORDS, 20)) for _ in range(LINES)]
        client.write(f"stored {number}", "\n\n".join(lines))


def commits(client: Client, name: str, tries: int) -> list[float]:
    """Return the milliseconds from each commit's reply to its first sight."""
    times_ms = []
    for number in range(tries):
        artifact = f"{name} {number}"
        client.write(artifact, f"red blue {artifact}")
        start = time.perf_counter()
        while not client.seen(artifact):
            pass
        times_ms.append(1000 * (time.perf_counter() - start))
    return times_ms


def missed(client: Client, tries: int) -> int:
    """Return how many writes a search with their seq did not show."""
    count = 0
    for number in range(tries):
        artifact = f"own {number % 5}"
        if number % 10 == 9:
            right, seq = "", client.delete(artifact)
        else:
            right = f"green version {number}"
            seq = client.write(artifact, right)
        count += client.seen(artifact, seq) != right
    return count


def _load(address: str) -> None:
    stub = IngestServiceStub(grpc.insecure_channel(address))
    number = 0
    while True:
        text = "\n\n".join(f"blue load {number} {line}" for line in range(LINES))
        request = ingest_pb.IngestTextRequest(
            collection=COLLECTION, artifact=f"load {number % 50}", text=text
        )
        stub.IngestText(request, timeout=60)
        number += 1


@contextmanager
def loaded(address: str) -> Iterator[None]:
    """Let another process ingest all the time meanwhile."""
    other = multiprocessing.get_context("spawn").Process(target=_load, args=(address,), daemon=True)
    other.start()
    try:
        yield
        if not other.is_alive():
            sys.exit("the client that ingests all the time ended too early")
    finally:
        other.terminate()
        other.join()


def report(record: Record, case: str, times_ms: list[float]) -> None:
    """Add the row of one series of commits."""
    p50, p95, most = np.percentile(times_ms, (50, 95, 100)).tolist()
    record.add(
        case=case,
        tries=len(times_ms),
        missed=0,
        **{"p50 ms": p50, "p95 ms": p95, "most ms": most},
        expected=f"p50 <= {P50_MS:g}, p95 <= {P95_MS:g}",
        verdict=verdict(p50 <= P50_MS and p95 <= P95_MS),
    )


def measure(record: Record, client: Client, address: str, tries: int, writes: int) -> None:
    """Measure everything."""
    commits(client, "warm", 20)
    report(record, "commit, idle", commits(client, "idle", tries))
    with loaded(address):
        commits(client, "warm again", 20)
        report(record, "commit, under ingest load", commits(client, "busy", tries))
    misses = missed(client, writes)
    record.add(
        case="min_seq",
        tries=writes,
        missed=misses,
        **dict.fromkeys(("p50 ms", "p95 ms", "most ms"), INFO),
        expected="missed = 0",
        verdict=verdict(misses == 0),
    )


def main() -> None:
    """Start the services, measure, stop them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--once", action="store_true", help="a few tries, to see that it works")
    once = parser.parse_args().once
    record = Record(
        "freshness",
        f"{DOCUMENTS * LINES:,} rows stored before, model of 4 numbers a vector, client and both "
        "services on one machine. commit: from the reply of IngestText to the first search without "
        "min_seq that has it. min_seq: a write, then a search with its seq.",
    )
    with tempfile.TemporaryDirectory(prefix="treespan-bench-") as name:
        folder = Path(name)
        settings = {"TREESPAN__MODELS__EMBEDDING": str(write_tiny_model(folder / "model"))}
        with (
            Process("ingest", folder, settings) as ingest,
            Process("search", folder, settings) as search,
        ):
            ingest.listening()
            search.listening()
            client = Client(ingest_stub(ingest), search_stub(search))
            filled(client, 2 if once else DOCUMENTS)
            tries, writes = (20, 50) if once else (500, 10_000)
            measure(record, client, ingest.address, tries, writes)
    if not once:
        record.finish()
    elif record.rows[-1]["missed"]:
        record.fail_where_missed()


if __name__ == "__main__":
    main()
