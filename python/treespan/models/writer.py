"""Writes the folder of a known model; `treespan.models.convert` runs this as a child process.

A process of its own because a conversion takes up to a gigabyte and imports `onnx`, and both go
away with it. The job comes as JSON on standard input; every line of standard output is JSON:
{"step": ...} or, last and with exit code 1, {"error": ...}.
"""

from __future__ import annotations

import importlib.resources
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from treespan.models.card import (
    CARD_FILE,
    PACKED_FILE,
    PADDED_FILE,
    TOKENIZER_FILE,
    ModelError,
    file_sha256,
)
from treespan.models.convert import Job, Line
from treespan.models.pack import Pack
from treespan.models.packages import E5_SMALL, KnownModel, known_model, verified
from treespan.models.weights import Encoder, read_minilm

if TYPE_CHECKING:
    from collections.abc import Callable


def write(job: Job, progress: Callable[[str], None]) -> None:
    """Write a model folder: graph, tokenizer, licence and, last, the card.

    Raises:
        ModelError: the weights are not the expected ones, or the model is not known.
    """
    # Imported here: `onnx` costs 0.3 s, for nothing where the weights are refused.
    from treespan.models.encoder import build

    model = known_model(job.model)
    if model is None:
        raise ModelError(f"there is no known model {job.model!r}")
    folder, weights = Path(job.folder), Path(job.weights)
    progress(f"checking {weights.name}")
    verified(weights, model.weights)
    progress(f"reading {weights.name}")
    encoder = _read(model, weights, folder)
    progress(f"building the graph ({job.precision})")
    graph = folder / (PACKED_FILE if job.form == "packed" else PADDED_FILE)
    data = build(encoder, job.precision, job.form).SerializeToString(deterministic=True)
    graph.write_bytes(data)
    _write_licence(model, weights, folder)
    card = msgspec.structs.replace(
        model.card(job.precision),
        files={path.name: file_sha256([path]) for path in (graph, folder / TOKENIZER_FILE)},
    )
    (folder / CARD_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=2))
    _sync(folder)
    progress(f"wrote {graph.name}, {len(data):,} bytes")


def _read(model: KnownModel, weights: Path, folder: Path) -> Encoder:
    """Return the weights; writes the tokenizer on the way."""
    target = folder / TOKENIZER_FILE
    if model.tokenizer is not None:
        source = verified(weights.with_name(model.tokenizer.name), model.tokenizer)
        shutil.copyfile(source, target)
    if model.name != E5_SMALL.name:
        return read_minilm(weights)

    from treespan.models.tokenizer import build_tokenizer

    pack = Pack(weights)
    build_tokenizer(pack.vocabulary).save(str(target))
    return pack.encoder()


def _write_licence(model: KnownModel, weights: Path, folder: Path) -> None:
    notices = importlib.resources.files("treespan.models").joinpath("notices")
    notice = notices.joinpath(model.name + ".txt").read_bytes()
    (folder / "NOTICE.treespan").write_bytes(notice)
    for name in model.licence_files:
        source = weights.with_name(name)
        if source.is_file():
            shutil.copyfile(source, folder / name)


def _sync(folder: Path) -> None:
    """Bring files and folder to the disk, so that a rename cannot outlive what it names."""
    for path in (*folder.iterdir(), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def main() -> int:
    """Run the job on standard input and return the exit code."""

    def say(line: Line) -> None:
        sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
        sys.stdout.flush()

    try:
        job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
        write(job, lambda step: say(Line(step=step)))
    except (ModelError, OSError) as error:
        say(Line(error=str(error)))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
