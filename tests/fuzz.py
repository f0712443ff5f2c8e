"""Feeds damaged files to the readers, and keeps what one of them does not take calmly.

    python tests/fuzz.py [--format docx] [--seconds 300] [--seed 1] [--keep FOLDER] [SEEDS...]

Seeds are the golden documents, what `TREESPAN_DATA` holds, and any files or folders given. Each try
damages one (bits, blocks, numbers, cuts, splices of two files; of ZIP containers the members) and
reads it in a child process. Calm is a parsed file whose text can be written as UTF-8, or a
`FileProblem`. A find is anything else: another exception, a crash, more than `--patience` seconds
of processor time. Finds are written to `--keep`.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import multiprocessing
import os
import random
import resource
import sys
import time
import traceback
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

GOLDEN = Path(__file__).resolve().parent / "golden" / "blocks"
MEMORY = 3 << 30
PATIENCE_S = 20.0
_LARGEST_SEED = 2 << 20
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40)
_WORDS = (
    *(b"<", b">", b"</a>", b"&#0;", b"&x;", b"]]>", b"{", b"}", b"[", b"\\", b"%", b'"'),
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\n", b"\r", b"\t", b"-1", b"1e999", b"9" * 40),
    *(b"A" * 3000, b"(" * 500),
)


@dataclass(slots=True)
class Finds:
    """What was not taken calmly, one example of each kind."""

    examples: dict[str, bytes] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    tries: int = 0

    def add(self, kind: str, data: bytes) -> None:
        self.counts[kind] += 1
        known = self.examples.get(kind)
        if known is None or len(data) < len(known):
            self.examples[kind] = data


def seeds(paths: list[Path], format_: str | None) -> list[tuple[str, bytes]]:
    """Return names and bytes of the files to damage."""
    files: list[Path] = []
    for path in paths:
        files += sorted(path.rglob("*")) if path.is_dir() else [path]
    found = []
    for path in files:
        kinds = (path.suffix.lstrip("."), path.parent.name)
        if not path.is_file() or path.suffix in (".golden", ".tsv"):
            continue
        if format_ and format_ not in kinds:
            continue
        if 0 < path.stat().st_size <= _LARGEST_SEED:
            found.append((path.name, path.read_bytes()))
    return found


def damaged(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Return a file with some damage."""
    if data[:2] == b"PK" and chance.random() < 0.8:
        inner = _damaged_member(data, other, chance)
        if inner is not None:
            return inner
    return _damaged_bytes(data, other, chance)


def _damaged_bytes(data: bytes, other: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if changed:
            chance.choice(_DAMAGES)(changed, chance.randrange(len(changed)), other, chance)
    return bytes(changed)


def _flip(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    changed[at] ^= 1 << chance.randrange(8)


def _scramble(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    size = chance.choice(_SIZES)
    changed[at : at + size] = chance.randbytes(size)


def _leave_out(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    del changed[at : at + chance.choice(_SIZES)]


def _repeat(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    changed[at:at] = changed[at : at + chance.choice(_SIZES)] * chance.choice((1, 3, 50))


def _number(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    number = chance.choice(_NUMBERS) & 0xFFFFFFFF
    changed[at : at + 4] = number.to_bytes(4, chance.choice(("little", "big")))


def _insert(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    changed[at:at] = chance.choice(_WORDS)


def _cut(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    del changed[at:]


def _digits(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    places = [
        place for place in range(at, min(len(changed), at + 4096)) if 48 <= changed[place] < 58
    ]
    if places:
        place = chance.choice(places)
        changed[place : place + 1] = str(chance.choice(_NUMBERS)).encode()


def _splice(changed: bytearray, at: int, other: bytes, chance: random.Random) -> None:
    if other:
        start = chance.randrange(len(other))
        changed[at:at] = other[start : start + chance.choice((16, 256, 4096))]


_SIZES = (1, 2, 4, 16, 64, 512)
_DAMAGES = (_flip, _scramble, _leave_out, _repeat, _number, _insert, _cut, _digits, _splice)


def _damaged_member(data: bytes, other: bytes, chance: random.Random) -> bytes | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > 16 << 20:
                return None
            members = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError, ValueError):
        return None
    if not members:
        return None
    target = chance.randrange(len(members))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, (name, content) in enumerate(members):
            if place == target:
                if chance.random() < 0.05:
                    continue
                content = _damaged_bytes(content, other, chance)
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _read(connection: Connection, patience_s: float) -> None:
    """Read what is sent until the end; the answer is empty, or says what kind of find it is."""
    from ingest_svc.readers import read_file
    from ingest_svc.readers.frames import Finished, packed
    from treespan.config import OcrConfig
    from treespan.errors import FileProblem

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        name, data = connection.recv()
        faulthandler.dump_traceback_later(patience_s * 4, exit=True)
        started = time.process_time()
        find = ""
        try:
            parsed = read_file(data, name, ocr=OcrConfig(mode="off"))
            msgspec.msgpack.decode(packed(Finished(parsed)))
        except FileProblem as problem:
            problem.message.encode()
        except MemoryError:
            pass  # the worker's answer to it is TOO_LARGE
        except RecursionError as error:
            find = f"RecursionError {_place(error)}"
        except BaseException as error:
            find = f"{type(error).__name__} {_place(error)}"
        if not find and time.process_time() - started > patience_s:
            find = f"slow {Path(name).suffix}"
        faulthandler.cancel_dump_traceback_later()
        connection.send(find)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "ingest_svc" in frame.filename] or list(frames)
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"


class Child:
    """A process that reads; started again after a crash."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_read, args=(there, self._patience_s), daemon=True)
        self._process.start()
        there.close()

    def read(self, name: str, data: bytes) -> str:
        """Return the kind of find that a file is; empty where it was taken calmly."""
        self._here.send((name, data))
        if self._here.poll(self._patience_s * 8):
            try:
                return str(self._here.recv())
            except EOFError:
                pass
        self._process.kill()
        self._process.join()
        status = self._process.exitcode
        self._start()
        return f"crash or hang, exit status {status} {Path(name).suffix}"

    def close(self) -> None:
        self._process.kill()
        self._process.join()


def run(
    found: list[tuple[str, bytes]],
    seconds: float,
    seed: int,
    patience_s: float = PATIENCE_S,
    tries: int = 0,
) -> Finds:
    """Damage and read files for some time, and at least some times."""
    chance = random.Random(seed)
    finds = Finds()
    child = Child(patience_s)
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end or finds.tries < tries:
            name, data = chance.choice(found)
            hurt = damaged(data, chance.choice(found)[1], chance)
            finds.tries += 1
            if kind := child.read(name, hurt):
                finds.add(kind, hurt)
    finally:
        child.close()
    return finds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--format", help="a suffix, or a folder's name, of the seeds")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--patience", type=float, default=PATIENCE_S)
    parser.add_argument("--keep", type=Path, default=Path("finds"))
    options = parser.parse_args()
    places = [*options.paths, GOLDEN]
    if data := os.environ.get("TREESPAN_DATA"):
        places.append(Path(data) / "nasty")
    found = seeds(places, options.format)
    if not found:
        sys.exit(f"no seeds of format {options.format!r}")
    finds = run(found, options.seconds, options.seed, options.patience)
    sys.stdout.write(
        f"seed {options.seed}: {finds.tries} tries of {len(found)} seeds, {len(finds.counts)} kinds"
        " of finds\n"
    )
    for kind, count in finds.counts.most_common():
        options.keep.mkdir(parents=True, exist_ok=True)
        path = options.keep / "".join(c if c.isalnum() else "-" for c in kind)
        path.write_bytes(finds.examples[kind])
        sys.stdout.write(f"{count:6}  {kind}  {path}\n")
    sys.exit(1 if finds.counts else 0)


if __name__ == "__main__":
    main()
