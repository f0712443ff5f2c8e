"""How fast files become searchable, beside the model alone and the PDF library alone.

    python bench/ingest.py [--once]

`embed`: the ingest service as a process takes files over gRPC, four at a time, into an empty
collection, from the first byte sent to the last commit answered. Beside it `model alone` embeds the
very chunks that came of them, all at hand and sorted by length, with the same model and threads.
Expected: at least 0.9 of its speed.

`read`: PDFs become trees with chunks cut and counted and nothing embedded, in processor time of one
process. Beside it `get_text("dict")` alone walks the same pages. Expected: at least 0.6 of its
speed.

`llama-index`, where it is installed (`pip install .[bench]`), takes the same files through its
directory reader, sentence splitter and pipeline with the same model and threads, as it comes and
with chunks of the size used here.

What is compared takes turns, a round each. Files are public ones below TREESPAN_DATA; without it,
and with `--once`, generated ones.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import grpc
import pymupdf

from ingest_svc.grow import Grower
from ingest_svc.operations import Job
from ingest_svc.readers import read_file
from ingest_svc.readers.source import ReadOptions
from ingest_svc.tree import TreeLimits
from record import INFO, Record, verdict
from services import Process, ingest_stub
from treespan.config import ModelsConfig
from treespan.embed import Embedder
from treespan.models.chosen import prepare_chosen
from treespan.store.records import CollectionRecord, Tenant
from treespan.tokens import TokenCounter
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    grower: Grower

    @classmethod
    def opened(cls) -> Model:
        """Return the model as the service opens it."""
        config = ModelsConfig()
        embedder = Embedder.open(
            prepare_chosen(config), threads=config.threads, batch_tokens=config.batch_tokens
        )
        counter = TokenCounter(embedder.tokenizer)
        return cls(embedder, Grower(embedder, counter, TreeLimits()))

    def chunks(self, path: Path) -> list[Ids]:
        """Return the chunks of a file, as the service makes them."""
        # Pictures of text cost seconds a page; the library alone does not read them either.
        parsed = read_file(path.read_bytes(), path.name, options=ReadOptions(ocr="off"))
        collection = CollectionRecord(
            Tenant("bench"),
            COLLECTION,
            "",
            self.embedder.name,
            self.embedder.fingerprint,
            self.embedder.dimension,
            CHUNK_TOKENS,
        )
        return self.grower.grow(parsed, collection, Job()).chunks.ids


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


def compared_reading(record: Record, model: Model, path: Path, rounds: int) -> None:
    """Measure reading of a PDF, in processor time, beside its library alone."""
    pages = library_alone(path)
    model.chunks(path)
    times: dict[str, list[float]] = {"library alone": [], "treespan": []}
    for _ in range(rounds):
        for name, run in (("library alone", library_alone), ("treespan", model.chunks)):
            gc.collect()
            start = time.process_time()
            run(path)
            times[name].append(time.process_time() - start)
    alone = min(times["library alone"])
    for name, seconds_of in times.items():
        share = alone / min(seconds_of)
        ours = name == "treespan"
        record.add(
            case=f"read {path.name}",
            what=name,
            files=1,
            units=pages,
            seconds=min(seconds_of),
            per_second=pages / min(seconds_of),
            of_limit=share,
            expected=f"of_limit >= {LEAST_OF_LIBRARY}" if ours else "",
            verdict=verdict(share >= LEAST_OF_LIBRARY) if ours else INFO,
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
            "processor time, the fastest of 3 rounds.",
        )
        model = Model.opened()
        rounds = 1 if options.once else 3
        for path in chosen.pdfs:
            compared_reading(record, model, path, rounds)
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
