"""How fast files become searchable, beside the model alone and the PDF library alone.

    python bench/ingest.py [--once]

`embed`: the ingest service as a process takes files over gRPC, four at a time, into an empty
collection, from the first byte sent to the last commit answered. Beside it `model alone` embeds the
very chunks that came of them, all at hand and sorted by length, with the same model and threads.
Expected: at least 0.9 of its speed.

`read`: PDFs become trees with chunks cut and counted and nothing embedded, read by as many reader
processes as the service has by itself. Beside it `get_text("dict")` alone walks the same pages, one
after the other. Expected: at least 0.6 of its speed. `read FILE` has the same of each file in
processor time of one process, which says what a page costs on a busy machine.

`llama-index`, where it is installed (`pip install .[bench]`), takes the same files through its
directory reader, sentence splitter and pipeline with the same model and threads, as it comes and
with chunks of the size used here.

What is compared takes turns, a round each. Files are public ones below TREESPAN_DATA; without it,
and with `--once`, generated ones.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import grpc
import pymupdf

from ingest_svc.chunks import ChunkRules
from ingest_svc.grow import WINDOW_SHARE, Grower
from ingest_svc.operations import Job
from ingest_svc.readers import read_file
from ingest_svc.readers.pool import ReaderPool
from ingest_svc.readers.source import ReadOptions
from ingest_svc.tree import TreeLimits, build_tree
from record import INFO, Record, verdict
from services import Process, ingest_stub
from treespan.config import IngestConfig, ModelsConfig
from treespan.embed import Embedder
from treespan.models.chosen import prepare_chosen
from treespan.store.records import CollectionRecord, Tenant
from treespan.tokens import TokenCounter
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ingest_svc.readers.block import ParsedFile
    from treespan.embed import Ids
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

COLLECTION = "bench"
CHUNK_TOKENS = 100
LEAST_OF_MODEL, LEAST_OF_LIBRARY = 0.9, 0.6
AT_ONCE = 4
_PART = 1 << 20
_TEXTS = ("chroma_chunking/corpus/state_of_the_union.md", "chroma_chunking/corpus/wikitexts.md")
_PDFS = (
    "nasty/pdf/intel-5level-paging.pdf",
    "nasty/pdf/redp5110-sampled.pdf",
    "nasty/pdf/geotopo-german-book.pdf",
)
_LONG_PDFS = ("nasty/pdf/xerox-manual.pdf",)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Files to ingest, and PDFs to read."""

    name: str
    files: tuple[Path, ...]
    pdfs: tuple[Path, ...]


def corpus(folder: Path, *, small: bool) -> Corpus:
    """Return the public files, or generated ones where there are none or few are wanted."""
    data = os.environ.get("TREESPAN_DATA", "")
    if small or not data:
        files = (_text(folder), _pdf(folder))
        return Corpus("generated", files, files[1:])
    root = Path(data)
    return Corpus(
        "public",
        tuple(root / name for name in (*_TEXTS, *_PDFS)),
        tuple(root / name for name in (*_PDFS, *_LONG_PDFS)),
    )


def _text(folder: Path) -> Path:
    path = folder / "generated.md"
    sentence = "The reader of section {0} learns how the valve of machine {1} is set."
    parts = [
        f"# Section {part}\n\n" + " ".join(sentence.format(part, line) for line in range(30))
        for part in range(10)
    ]
    path.write_text("\n\n".join(parts), encoding="utf-8")
    return path


def _pdf(folder: Path) -> Path:
    path = folder / "generated.pdf"
    document = pymupdf.open()
    for number in range(20):
        page = document.new_page()
        for line in range(40):
            page.insert_text((72, 72 + 16 * line), f"Page {number}, line {line} of the handbook.")
    document.save(path)
    return path


@dataclass(slots=True)
class Model:
    """The default model, and what cuts chunks for it."""

    embedder: Embedder
    counter: TokenCounter
    grower: Grower

    @classmethod
    def opened(cls) -> Model:
        """Return the model as the service opens it."""
        config = ModelsConfig()
        embedder = Embedder.open(
            prepare_chosen(config), threads=config.threads, batch_tokens=config.batch_tokens
        )
        counter = TokenCounter(embedder.tokenizer)
        return cls(embedder, counter, Grower(embedder, counter, TreeLimits()))

    def nodes(self, parsed: ParsedFile) -> int:
        """Return the nodes of a file's tree, its chunks cut and its tokens counted."""
        limit = int(self.embedder.max_tokens * WINDOW_SHARE)
        rules = ChunkRules(CHUNK_TOKENS, limit)
        tree, _ = build_tree(parsed, self.counter.count, rules, TreeLimits())
        return len(tree)

    def chunks(self, path: Path) -> list[Ids]:
        """Return the chunks of a file, as the service makes them."""
        collection = CollectionRecord(
            Tenant("bench"),
            COLLECTION,
            "",
            self.embedder.name,
            self.embedder.fingerprint,
            self.embedder.dimension,
            CHUNK_TOKENS,
        )
        return self.grower.grow(_parsed(path), collection, Job()).chunks.ids


def _parsed(path: Path) -> ParsedFile:
    # Pictures of text cost seconds a page; the library alone does not read them either.
    return read_file(path.read_bytes(), path.name, options=ReadOptions(ocr="off"))


def ingest(stub: IngestServiceStub, files: Sequence[Path]) -> tuple[float, int]:
    """Ingest files into an empty collection; return the seconds and the chunks."""
    stub.DeleteCollection(
        pb.DeleteCollectionRequest(collection=COLLECTION, force=True, allow_missing=True)
    )
    wanted = pb.Collection(collection=COLLECTION, chunk_tokens=CHUNK_TOKENS)
    stub.CreateCollection(pb.CreateCollectionRequest(collection=wanted))
    start = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda path: stub.IngestFile(_upload(path), timeout=3600), files))
    return time.perf_counter() - start, sum(answer.artifact.chunk_count for answer in answers)


def _upload(path: Path) -> Iterator[pb.IngestFileRequest]:
    without = pb.IngestOptions(ocr=pb.IngestOptions.OCR_MODE_OFF)
    header = pb.IngestFileHeader(collection=COLLECTION, artifact=path.name, options=without)
    yield pb.IngestFileRequest(header=header)
    data = path.read_bytes()
    for at in range(0, len(data), _PART):
        yield pb.IngestFileRequest(data=data[at : at + _PART])


def model_alone(embedder: Embedder, ids: Sequence[Ids]) -> float:
    """Return the seconds in which the model embeds chunks that lie ready, longest first."""
    from treespan.embed import first_batch, longest_first

    start = time.perf_counter()
    rest = longest_first(ids)
    while rest:
        batch, rest = first_batch(rest, ModelsConfig().batch_tokens)
        embedder.run(batch)
    return time.perf_counter() - start


def compared_embedding(record: Record, model: Model, files: Sequence[Path], rounds: int) -> None:
    """Measure ingest of files beside the model alone and, where it is there, the peer."""
    ids = [chunk for path in files for chunk in model.chunks(path)]
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, Process("ingest", Path(folder)) as service:
        service.listening()
        stub = ingest_stub(service)
        _wait_until_ready(stub)
        peers = _peers(record, model, files)
        for _ in range(rounds):
            times.setdefault("model alone", []).append(model_alone(model.embedder, ids))
            seconds, chunks = ingest(stub, files)
            times.setdefault("treespan", []).append(seconds)
            for name, run in peers.items():
                times.setdefault(name, []).append(run())
    alone = median(times["model alone"])
    for name, seconds_of in times.items():
        seconds = median(seconds_of)
        share = alone / seconds
        ours = name == "treespan"
        counted = {"model alone": len(ids), "treespan": chunks}.get(name, _PEER_CHUNKS.get(name, 0))
        record.add(
            case="embed",
            what=name,
            files=len(files),
            units=counted,
            seconds=seconds,
            per_second=counted / seconds,
            of_limit=share,
            expected=f"of_limit >= {LEAST_OF_MODEL}" if ours else "",
            verdict=verdict(share >= LEAST_OF_MODEL) if ours else INFO,
        )


def _wait_until_ready(stub: IngestServiceStub) -> None:
    end = time.monotonic() + 600
    while True:
        try:
            stub.ListCollections(pb.ListCollectionsRequest(), timeout=60)
        except grpc.RpcError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


_PEER_CHUNKS: dict[str, int] = {}


def _peers(record: Record, model: Model, files: Sequence[Path]) -> dict[str, Callable[[], float]]:
    try:
        from peers.llama import Peer
    except ImportError as error:
        record.notes += f" LlamaIndex was not measured: {error}."
        return {}

    def run(name: str, chunk_tokens: int | None) -> Callable[[], float]:
        peer = Peer(model.embedder, chunk_tokens)

        def once() -> float:
            start = time.perf_counter()
            _PEER_CHUNKS[name] = peer.ingest(files)
            return time.perf_counter() - start

        return once

    return {
        "llama-index, defaults": run("llama-index, defaults", None),
        f"llama-index, chunks of {CHUNK_TOKENS} tokens": run(
            f"llama-index, chunks of {CHUNK_TOKENS} tokens", CHUNK_TOKENS
        ),
    }


def library_alone(path: Path) -> int:
    """Walk a PDF's pages as the reader's library gives them; return their number."""
    flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES
    with pymupdf.open(path) as document:
        for page in document:
            page.get_text("dict", flags=flags)
        return len(document)


class Readers:
    """The reader processes of a service, and what makes trees of what they read."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._loop = asyncio.new_event_loop()
        self._pool = ReaderPool(IngestConfig().concurrent_files, nice=IngestConfig().nice)

    def read(self, paths: Sequence[Path]) -> int:
        """Read files, as many at a time as there are readers; return the nodes of their trees."""
        return self._loop.run_until_complete(self._read(paths))

    def close(self) -> None:
        """End the processes."""
        self._loop.run_until_complete(self._pool.close())
        self._loop.close()

    async def _read(self, paths: Sequence[Path]) -> int:
        return sum(await asyncio.gather(*map(self._read_one, paths)))

    async def _read_one(self, path: Path) -> int:
        parsed = await self._pool.read(path, path.name, options=ReadOptions(ocr="off"))
        return await asyncio.to_thread(self._model.nodes, parsed)


def compared_reading(record: Record, model: Model, paths: Sequence[Path], rounds: int) -> None:
    """Measure reading of PDFs beside their library alone: of all in seconds, of each in work."""
    readers = Readers(model)
    pages = {path: library_alone(path) for path in paths}
    try:
        readers.read(paths)  # starts the processes
        whole = _in_turns(
            {
                "library alone": lambda: [library_alone(path) for path in paths],
                "treespan": lambda: readers.read(paths),
            },
            rounds,
            time.perf_counter,
        )
    finally:
        readers.close()
    _add_reading(record, "read", (len(paths), sum(pages.values())), whole, LEAST_OF_LIBRARY)
    for path in paths:
        each = _in_turns(
            {
                "library alone": partial(library_alone, path),
                "treespan": lambda path=path: model.nodes(_parsed(path)),
            },
            rounds,
            time.process_time,
        )
        _add_reading(record, f"read {path.name}", (1, pages[path]), each, None)


def _in_turns(
    runs: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Return the least time of each of several runs that take turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            gc.collect()
            start = clock()
            run()
            times[name].append(clock() - start)
    return {name: min(seconds) for name, seconds in times.items()}


def _add_reading(
    record: Record,
    case: str,
    amounts: tuple[int, int],
    times: Mapping[str, float],
    least: float | None,
) -> None:
    files, pages = amounts
    for name, seconds in times.items():
        share = times["library alone"] / seconds
        judged = least is not None and name == "treespan"
        record.add(
            case=case,
            what=name,
            files=files,
            units=pages,
            seconds=seconds,
            per_second=pages / seconds,
            of_limit=share,
            expected=f"of_limit >= {least}" if judged else "",
            verdict=verdict(share >= (least or 0)) if judged else INFO,
        )


def main() -> None:
    """Run the suite."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--once", action="store_true", help="small, once; no record")
    options = parser.parse_args()
    # One thread for everything that is compared in processor time.
    os.environ["RAYON_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        chosen = corpus(Path(folder), small=options.once)
        record = Record(
            "ingest",
            f"Corpus {chosen.name}; embed: chunks, wall time, medians of 3 rounds; read: pages, "
            f"wall time with {IngestConfig().concurrent_files} readers; read of one file: pages, "
            "processor time; both the fastest of 3 rounds.",
        )
        model = Model.opened()
        rounds = 1 if options.once else 3
        compared_reading(record, model, chosen.pdfs, rounds)
        compared_embedding(record, model, chosen.files, rounds)
    if options.once:
        _check(record)
    else:
        record.finish()


def _check(record: Record) -> None:
    """End with an error where the service made other chunks than the same code does here."""
    counted = {row["what"]: row["units"] for row in record.rows if row["case"] == "embed"}
    if counted["treespan"] < counted["model alone"]:
        sys.exit(f"the service made {counted['treespan']} chunks, expected {counted}")


if __name__ == "__main__":
    main()
