"""Files inside files: attachments of a mail, members of an archive, files in a PDF.

Each is read as if it had come alone, within what is left of the outermost file's limits, and its
blocks follow a block that names it. One that cannot be read is named with the reason, and the rest
is read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Warning
from ingest_svc.readers.limits import check, too_large
from treespan.errors import (
    DamagedFile,
    EmptyFile,
    EncryptedFile,
    FileProblem,
    NoTextLayer,
    TooLarge,
    UnsupportedEncryption,
    UnsupportedFile,
    WrongPassword,
)

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_LONGEST_NAME = 1_000
_MOST_WARNINGS = 1_000
_NOTHING_READ = "no file inside can be read: "
_NEVER_IN_NAMES = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Control characters, lone surrogates, and what turns the direction of writing around."""

_MOST_TELLING = (
    EncryptedFile,
    WrongPassword,
    UnsupportedEncryption,
    TooLarge,
    DamagedFile,
    NoTextLayer,
    UnsupportedFile,
    EmptyFile,
)
"""Which of several problems is the one to be told, first the one that a user can do most about."""


@dataclass(slots=True)
class Inside:
    """What was read of the files inside one file."""

    source: Source
    """The file around them."""
    blocks: list[Block] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    read: int = 0
    """Files that were read."""
    problems: list[tuple[str, FileProblem]] = field(default_factory=list)
    """Names of the files that were not read, and why."""
    parts: int = 0
    """Parts that the files inside left out."""

    @property
    def skipped(self) -> int:
        """Return how many files were not read, and parts of those that were."""
        return len(self.problems) + self.parts

    def add(
        self, data: bytes, name: str, read: Callable[[Source], ParsedFile] | None = None
    ) -> ParsedFile | None:
        """Read one file; return what it holds, None where it cannot be read.

        What it unpacked counts: after a bomb the next part of the file around it is refused.

        Args:
            data: Its bytes.
            name: Its name, as the file around it has it.
            read: How to read it; None means by its type.

        Raises:
            TooLarge: with this one the whole has more blocks than allowed.
        """
        self._name(name)
        try:
            parsed = self._read(data, name, read)
        except FileProblem as problem:
            self._skip(name, problem)
            return None
        self._take(parsed, name)
        return parsed

    def attempt(self, data: bytes, name: str) -> FileProblem | None:
        """Read one file that need not be mentioned where it cannot be read; return why not."""
        try:
            parsed = self._read(data, name, None)
        except FileProblem as problem:
            return problem
        self._name(name)
        self._take(parsed, name)
        return None

    def refuse(self, name: str, problem: FileProblem) -> None:
        """Name a file whose bytes could not even be had."""
        self._name(name)
        self._skip(name, problem)

    def most_telling(self) -> FileProblem:
        """Return why nothing was read, where nothing was; `problems` are not empty then."""
        name, problem = min(self.problems, key=lambda found: _rank(found[1]))
        reason = problem.message.removeprefix(_NOTHING_READ)
        return type(problem)(f"{_NOTHING_READ}{shown_name(name)}: {reason}")

    def _name(self, name: str) -> None:
        unpacked = self.source.unpacks()
        unpacked.files += 1
        check(self.source.limits, "max_archive_entries", unpacked.files)
        self.blocks.append(Block(BlockKind.FILE, shown_name(name), level=1))
        check(self.source.limits, "max_nodes", len(self.blocks))

    def _take(self, parsed: ParsedFile, name: str) -> None:
        self.read += 1
        self.parts += parsed.counts.get("skipped", 0)
        self.blocks += [_deeper(block) for block in parsed.blocks]
        check(self.source.limits, "max_nodes", len(self.blocks))
        shown = shown_name(name)
        self.warnings += [
            msgspec.structs.replace(warning, message=f"{shown}: {warning.message}")
            for warning in parsed.warnings[: _MOST_WARNINGS - len(self.warnings)]
        ]

    def _read(
        self, data: bytes, name: str, read: Callable[[Source], ParsedFile] | None
    ) -> ParsedFile:
        limits = self.source.limits
        if self.source.depth >= limits.max_archive_depth:
            raise too_large(limits, "max_archive_depth")
        inner = replace(
            self.source,
            data=data,
            name=name,
            text="",
            progress=None,
            depth=self.source.depth + 1,
            unpacked=self.source.unpacks(),
        )
        try:
            return (read or _by_type)(inner)
        except RecursionError as error:
            raise too_large(limits, "max_nesting") from error
        except MemoryError as error:
            raise too_large(limits, "memory_bytes") from error
        except FileProblem:
            raise
        except Exception as error:  # a fault in its reader must not cost the files beside it
            raise DamagedFile(f"the file cannot be read ({type(error).__name__})") from error

    def _skip(self, name: str, problem: FileProblem) -> None:
        # Without its traceback, which would keep the file's bytes.
        self.problems.append((name, type(problem)(problem.message)))
        if len(self.warnings) >= _MOST_WARNINGS:
            return
        # The same kind as for a file that comes alone: engines for pictures may come later.
        kind = "NO_TEXT_LAYER" if isinstance(problem, NoTextLayer) else "SKIPPED_FILE"
        message = f"{shown_name(name)}: {problem.reason}: {problem.message}"
        self.warnings.append(Warning(kind, message))


def shown_name(name: str) -> str:
    """Return the name of a file inside as people may see it: one line, nothing that misleads."""
    return " ".join(_NEVER_IN_NAMES.sub(" ", name).split())[:_LONGEST_NAME] or "unnamed"


def _by_type(source: Source) -> ParsedFile:
    from ingest_svc.readers import read_source

    return read_source(source)


def _rank(problem: FileProblem) -> int:
    kinds = [at for at, kind in enumerate(_MOST_TELLING) if isinstance(problem, kind)]
    return kinds[0] if kinds else len(_MOST_TELLING)


def _deeper(block: Block) -> Block:
    if block.kind is BlockKind.FILE:
        return msgspec.structs.replace(block, level=block.level + 1)
    return block
