"""Ingests every difficult file of the public collection through a running service, and reports.

    python tests/nasty.py --ingest 127.0.0.1:50051 [--data FOLDER] [FORMAT...]

Per format: how many of the manifest's expectations hold for what the service made of its files,
then every one that does not, the time of all and the ten slowest files. Pictures of text must be
said to be such where they are not read, and are read then. What the tree shows is checked on the
tree; what only a reader knows (levels of headings as written, sentences) on the reader. Time limits
are on the whole ingest.

The folder of the data is taken from TREESPAN_DATA.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.source import ReadOptions
from manifest import Entry, FileView, Outcome, Problem, Result, check, entries, view
from treespan.errors import FileProblem
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import node_pb2
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PART = 1 << 20
COLLECTION = "nasty"
_TIMEOUT_S = 300.0
_SLOWEST = 10
_LONGEST_HEADING = 1_000
_MODES = {"off": pb.IngestOptions.OCR_MODE_OFF, "auto": pb.IngestOptions.OCR_MODE_AUTO}


@dataclass
class Score:
    """Expectations of one format."""

    files: int = 0
    met: int = 0
    total: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """By file."""

    @property
    def is_good(self) -> bool:
        """Whether enough holds: more is asked of formats with many files."""
        return self.met >= (0.95 if self.files >= 5 else 0.9) * self.total

    def add(self, path: str, outcome: Outcome, seconds: float) -> None:
        self.seconds[path] = seconds
        self.files += 1
        self.met += outcome.met
        self.total += outcome.total
        self.failures += [f"{path}: {failure}" for failure in outcome.failures]


class Trial:
    """The collection's files against one running service."""

    def __init__(self, channel: grpc.Channel, data: Path) -> None:
        self._stub = IngestServiceStub(channel)
        self._data = data
        collection = pb.Collection(collection=COLLECTION)
        self._stub.CreateCollection(pb.CreateCollectionRequest(collection=collection))

    def outcome(self, entry: Entry) -> Outcome:
        """Ingest a file, without its password first where it has one, and check what came of it.

        A picture of text must be said to be one where it is not read, and then be read.
        """
        password = str(entry.expected.get("password", ""))
        bare = self.result(entry.path, "") if password else None
        if "needs_ocr" not in entry.expected:
            return check(entry.expected, self.result(entry.path, password), bare)
        said = check({"needs_ocr": True}, self.result(entry.path, password))
        wanted = {key: held for key, held in entry.expected.items() if key != "needs_ocr"}
        if "ocr_phrases" in wanted:
            wanted["phrases"] = wanted.pop("ocr_phrases")
        read = check(wanted, self.result(entry.path, password, ocr="auto"), bare)
        return Outcome(said.met + read.met, said.total + read.total, said.failures + read.failures)

    def result(self, path: str, password: str, ocr: Literal["off", "auto"] = "off") -> Result:
        started = time.monotonic()
        name = path.replace("/", ":")
        upload = self._upload(name, path, password, ocr)
        try:
            answer = self._stub.IngestFile(upload, timeout=_TIMEOUT_S)
        except grpc.RpcError as error:
            return Problem(*_refusal(error), time.monotonic() - started)
        seconds = time.monotonic() - started
        return replace(self._shown(answer.artifact, path, password, ocr), seconds=seconds)

    def _upload(
        self, name: str, path: str, password: str, ocr: str
    ) -> Iterator[pb.IngestFileRequest]:
        header = pb.IngestFileHeader(
            collection=COLLECTION,
            artifact=name,
            file_name=path.rpartition("/")[2],
            password=password,
            options=pb.IngestOptions(ocr=_MODES[ocr]),
        )
        yield pb.IngestFileRequest(header=header)
        data = (self._data / path).read_bytes()
        for start in range(0, len(data), PART):
            yield pb.IngestFileRequest(data=data[start : start + PART])

    def _shown(
        self, artifact: pb.Artifact, path: str, password: str, ocr: Literal["off", "auto"]
    ) -> FileView:
        """Return what the service shows of a file, and what only its reader knows beside it."""
        try:
            data = (self._data / path).read_bytes()
            name = path.rpartition("/")[2]
            parsed = read_file(data, name, password=password, options=ReadOptions(ocr=ocr))
        except FileProblem as problem:
            raise AssertionError(f"{path}: ingested, but its reader refuses it") from problem
        request = pb.ExportTreeRequest(collection=COLLECTION, artifact=artifact.artifact)
        nodes = [node for page in self._stub.ExportTree(request) for node in page.nodes]
        assert len(nodes) == artifact.node_count
        sections = [node for node in nodes if node.kind == node_pb2.NODE_KIND_SECTION]
        headings = [block for block in parsed.blocks if block.kind is BlockKind.HEADING]
        short = [block for block in headings if len(block.text) <= _LONGEST_HEADING]
        assert [node.text for node in sections] == [
            f"{block.marker} {block.text.strip()}".strip() for block in short
        ]
        known = view(parsed)
        tables = [node for node in nodes if node.kind == node_pb2.NODE_KIND_TABLE]
        assert len(tables) == len(known.tables)
        return replace(
            known,
            body="\n".join(node.text for node in nodes),
            title=artifact.title,
            media_type=artifact.media_type,
            warnings=frozenset(warning.kind for warning in artifact.warnings),
            counts={**known.counts, "pages": artifact.page_count},
        )


def _refusal(error: grpc.RpcError) -> tuple[str, str]:
    status = rpc_status.from_call(error)
    info = error_details_pb2.ErrorInfo()
    for detail in status.details if status else ():
        if detail.Unpack(info):
            return info.reason, error.details()
    return error.code().name, error.details()


def run(address: str, data: Path, formats: Sequence[str]) -> dict[str, Score]:
    """Ingest the files of some formats (all without any); return the scores by format."""
    scores: dict[str, Score] = defaultdict(Score)
    with grpc.insecure_channel(address) as channel:
        trial = Trial(channel, data)
        for entry in entries(data / "MANIFEST.tsv"):
            format_ = entry.path.partition("/")[0]
            if not formats or format_ in formats:
                started = time.monotonic()
                outcome = trial.outcome(entry)
                scores[format_].add(entry.path, outcome, time.monotonic() - started)
    return scores


def report(scores: dict[str, Score]) -> str:
    """Return the scores as a table."""
    lines = [f"{'format':<10} {'files':>5} {'met':>5} {'of':>5} {'share':>7}"]
    whole = Score()
    for format_, score in [*sorted(scores.items()), ("all", whole)]:
        share = 100 * score.met / score.total if score.total else 100.0
        lines.append(
            f"{format_:<10} {score.files:>5} {score.met:>5} {score.total:>5} {share:>6.1f}%"
        )
        if score is not whole:
            whole.files += score.files
            whole.met += score.met
            whole.total += score.total
    failures = [failure for score in scores.values() for failure in score.failures]
    seconds = {path: s for score in scores.values() for path, s in score.seconds.items()}
    slowest = sorted(seconds.items(), key=lambda entry: -entry[1])[:_SLOWEST]
    return "\n".join(
        [
            *lines,
            "",
            *failures,
            "",
            f"{sum(seconds.values()):.1f} s in all; the slowest:",
            *(f"{took:>7.1f} s  {path}" for path, took in slowest),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ingest", default="127.0.0.1:50051", help="address of the service")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TREESPAN_DATA", ".")))
    parser.add_argument("formats", nargs="*", help="only these formats")
    options = parser.parse_args()
    scores = run(options.ingest, options.data / "nasty", options.formats)
    sys.stdout.write(report(scores) + "\n")


if __name__ == "__main__":
    main()
