"""A large store: searches while it is sealed, the restart from sealed files, and memory.

    python bench/scale.py [--rows N] [--once]

A million generated rows of 384 elements (20,000 documents of 50 rows) are written into a store
below the folder for temporary files (about 9 GB with the sealed segments; deleted afterwards). A
search process loads and seals them while a client searches on; is started again, with the small
model and with the default one, and answers from the sealed files; is joined by a second process
over the same store and cache. Expected: recall@10 of at least 0.99, an answer within 3 s of the
start, at most 1.3 times the bytes of what is mapped (BF16 rows and graph) and the rows without a
graph as memory of a process, and less than 20 % more memory for the second process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import stored
from record import INFO, Record, verdict
from services import Process, search_request, search_stub, write_tiny_model
from treespan.config import Config
from treespan.v1 import search_service_pb2 as pb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

LIMIT = 10
SEARCHES = 2_000
COMPARED = 200
LEAST_RECALL = 0.99
MOST_START_S = 3.0
MOST_MEMORY = 1.3
MOST_ADDED = 0.2
STARTS = 3
_DOCUMENT_CACHE_BYTES = 32 << 20
_IMPORTS = "import search_svc.__main__"
_MODEL = (
    "import time; from treespan.config import load; from treespan.embed import Embedder;"
    "from treespan.models.chosen import prepare_chosen; start = time.perf_counter();"
    "Embedder.open(prepare_chosen(load()[0].models)); print(time.perf_counter() - start)"
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done."""

    rows: int
    seal_rows: int
    searches: int
    starts: int
    quiet_s: float
    """Nothing is left to seal when nothing was built for as long as this."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all measurements share."""

    record: Record
    size: Size
    folder: Path
    questions: NDArray[np.float32]
    once: bool

    def search(self, **settings: str) -> Process:
        """Return a search process, not started yet."""
        small = {
            "TREESPAN__MODELS__EMBEDDING": str(self.folder / "model"),
            "TREESPAN__SEARCH__SEAL_ROWS": str(self.size.seal_rows),
            "TREESPAN__SEARCH__DOCUMENT_CACHE_BYTES": str(_DOCUMENT_CACHE_BYTES),
        }
        return Process("search", self.folder, small | settings)

    def request(self, number: int) -> pb.SearchRequest:
        """Return a search; the same for the same number."""
        vector = self.questions[number % len(self.questions)]
        return search_request(stored.COLLECTION, vector, limit=LIMIT)

    def ask(self, stub: SearchServiceStub, count: int) -> list[float]:
        """Search `count` times; return the milliseconds of each."""
        return [self.timed_ms(stub, number) for number in range(count)]

    def timed_ms(self, stub: SearchServiceStub, number: int) -> float:
        """Search once; return the milliseconds."""
        start = time.perf_counter()
        stub.Search(self.request(number), timeout=60)
        return 1000 * (time.perf_counter() - start)

    def say(
        self, what: str, value: float, unit: str, expected: str = INFO, good: bool = True
    ) -> None:
        """Add a row; times are no expectation with --once."""
        judged = expected and not (self.once and unit in ("s", "MB", "%"))
        self.record.add(
            measure=what,
            value=value,
            unit=unit,
            expected=expected,
            verdict=verdict(good) if judged else INFO,
        )

    def say_latency(self, when: str, times_ms: list[float]) -> None:
        """Add the rows of a series of searches."""
        for share in (50, 99):
            value = float(np.percentile(times_ms, share))
            self.say(f"search {when}, p{share} of {len(times_ms):,}", value, "ms")


def held(stub: SearchServiceStub) -> pb.CollectionInfo:
    """Return what a search process says of the collection."""
    [info] = stub.GetServerInfo(pb.GetServerInfoRequest(), timeout=60).collections
    return info


def sealed_while_searched(bench: Bench) -> None:
    """Load the store into a process that has no segments; search until all are sealed."""
    with bench.search() as builder:
        builder.first_answer(bench.request(0))
        bench.say("first start, without segments", time.perf_counter() - builder.started, "s")
        stub = search_stub(builder)
        start = time.perf_counter()
        during = _until_sealed(bench, stub)
        bench.say_latency("while sealing", during)
        sealing_s = time.perf_counter() - start - bench.size.quiet_s
        bench.say("sealing, searches beside it", sealing_s, "s")
        bench.say("rows sealed", bench.size.rows / sealing_s, "a second")
        info = held(stub)
        bench.say("segments", info.segments, "")
        bench.say("rows without a graph", info.rows - info.sealed_rows, "")
        bench.ask(stub, 50)
        bench.say_latency("sealed", bench.ask(stub, bench.size.searches))
        say_recall(bench, stub)
        say_memory(bench, builder, stub, "of the process that sealed")


def _until_sealed(bench: Bench, stub: SearchServiceStub) -> list[float]:
    cache = bench.folder / "store" / "cache"
    times_ms: list[float] = []
    said = last_built = time.monotonic()
    while time.monotonic() < last_built + bench.size.quiet_s:
        times_ms.append(bench.timed_ms(stub, len(times_ms)))
        info = held(stub)
        if info.rows - info.sealed_rows >= bench.size.seal_rows or any(cache.glob("*.tmp")):
            last_built = time.monotonic()
        if time.monotonic() > said + 30:
            said = time.monotonic()
            print(f"{info.sealed_rows:,} rows sealed in {info.segments} segments", flush=True)
        time.sleep(0.02)
    return times_ms


def say_recall(bench: Bench, stub: SearchServiceStub) -> None:
    """Compare answers with those of a search through all rows in numpy."""
    compared = bench.questions[:COMPARED]
    right = stored.nearest(compared, bench.size.rows, LIMIT)
    found = 0
    for number, wanted in enumerate(right):
        chunks = stub.Search(bench.request(number), timeout=60).chunks
        found += len(wanted & {stored.row_of(chunk.text) for chunk in chunks})
    recall = found / (LIMIT * len(right))
    bench.say(
        f"recall@{LIMIT} of {len(right)}", recall, "", f">= {LEAST_RECALL}", recall >= LEAST_RECALL
    )


def say_memory(bench: Bench, process: Process, stub: SearchServiceStub, of: str) -> None:
    """Compare the memory of a process with what it holds."""
    info = held(stub)
    delta = (info.rows - info.sealed_rows) * stored.DIMENSION * 4 / 1e6
    mapped = info.memory_bytes / 1e6 - delta
    most = MOST_MEMORY * mapped + delta
    memory = process.memory_kb()
    rss, pss, own = (memory[name] / 1000 for name in ("Rss", "Pss", "Anonymous"))
    bench.say(f"memory {of}: mapped rows and graphs", mapped, "MB")
    bench.say(f"memory {of}: rows without a graph", delta, "MB")
    bench.say(f"memory {of}: RSS", rss, "MB", f"<= {most:.0f}", rss <= most)
    bench.say(f"memory {of}: PSS", pss, "MB")
    bench.say(f"memory {of}: anonymous", own, "MB")


def restarts(bench: Bench) -> None:
    """Start again from the sealed files, with each model."""
    for name, settings in (("small model", {}), ("default model", _default_model())):
        totals, loads = [], []
        for _ in range(bench.size.starts):
            with bench.search(**settings) as again:
                answer = again.first_answer(bench.request(0))
                totals.append(time.perf_counter() - again.started)
                [loaded] = again.said("loaded the store")
                loads.append(loaded["seconds"])
                assert len(answer.chunks) == LIMIT
                assert loaded["from_cache"] == loaded["documents"], "segments were not used"
        total = float(np.median(totals))
        imports_s = _timed(_IMPORTS, settings)
        model_s = float(_output(_MODEL, {**bench.search().settings, **settings}))
        expected, good = f"<= {MOST_START_S:g}", total <= MOST_START_S
        bench.say(f"start to first answer, {name}", total, "s", expected, good)
        bench.say(f"of it the interpreter and imports, {name}", imports_s, "s")
        bench.say(f"of it the model, {name}", model_s, "s")
        bench.say(f"beside it the load from sealed files, {name}", float(np.median(loads)), "s")


def _default_model() -> dict[str, str]:
    return {"TREESPAN__MODELS__EMBEDDING": Config().models.embedding}


def _timed(code: str, settings: dict[str, str]) -> float:
    start = time.perf_counter()
    _output(code, settings)
    return time.perf_counter() - start


def _output(code: str, settings: dict[str, str]) -> str:
    words = ["/usr/bin/env", *(f"{name}={value}" for name, value in settings.items())]
    done = subprocess.run(
        [*words, sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout


def two_processes(bench: Bench) -> None:
    """Measure what a second process over the same store and cache adds."""
    with bench.search() as one:
        one.first_answer(bench.request(0))
        stub = search_stub(one)
        bench.ask(stub, bench.size.searches)
        say_memory(bench, one, stub, "started from sealed files")
        alone = one.memory_kb()["Pss"]
        with bench.search() as two:
            two.first_answer(bench.request(0))
            other = search_stub(two)
            bench.ask(other, bench.size.searches)
            for number in range(20):
                assert _answers(bench, stub, number) == _answers(bench, other, number)
            both = one.memory_kb()["Pss"] + two.memory_kb()["Pss"]
    added = (both - alone) / alone
    bench.say("PSS of one process", alone / 1000, "MB")
    bench.say("PSS of both", both / 1000, "MB")
    bench.say("the second process adds", 100 * added, "%", "< 20", added < MOST_ADDED)


def _answers(bench: Bench, stub: SearchServiceStub, number: int) -> list[tuple[str, float]]:
    chunks = stub.Search(bench.request(number), timeout=60).chunks
    return [(chunk.text, chunk.similarity) for chunk in chunks]


def main() -> None:
    """Write the store, measure, delete it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--once", action="store_true", help="5,000 rows, to see that it works")
    chosen = parser.parse_args()
    size = Size(chosen.rows, Config().search.seal_rows, SEARCHES, STARTS, 5.0)
    if chosen.once:
        size = Size(5_000, 1_000, 100, 1, 1.0)
    record = Record(
        "scale",
        f"{size.rows:,} generated rows of {stored.DIMENSION}, {stored.ROWS_A_DOCUMENT} a "
        f"document; seal_rows {size.seal_rows:,}; limit {LIMIT}, one client, no context; "
        f"document_cache_bytes {_DOCUMENT_CACHE_BYTES >> 20} MB. Files were written just before "
        "and lie in the page cache. Memory after the searches, with the small model.",
    )
    with tempfile.TemporaryDirectory(prefix="treespan-bench-") as name:
        folder = Path(name)
        write_tiny_model(folder / "model")
        questions = stored.questions(size.searches, size.rows)
        bench = Bench(record, size, folder, questions, chosen.once)
        start = time.perf_counter()
        stored.fill(folder / "store", size.rows)
        documents = -(-size.rows // stored.ROWS_A_DOCUMENT)
        bench.say("documents written", documents / (time.perf_counter() - start), "a second")
        sealed_while_searched(bench)
        restarts(bench)
        two_processes(bench)
    if chosen.once:
        record.fail_where_missed()
    else:
        record.finish()


if __name__ == "__main__":
    main()
