"""Program code: blocks that end at blank lines between definitions, never within a line.

A function or class that is short stays whole; a long one is cut at its own blank lines. Lines of
comments are code like others: a "#" in front makes no heading.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind, ParsedFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ingest_svc.readers.source import Source

LANGUAGES = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    ".rs": "rust",
    ".go": "go",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts", ".tsx"), "typescript"),
    ".java": "java",
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"), "cpp"),
    ".cs": "csharp",
    ".rb": "ruby",
    ".php": "php",
    **dict.fromkeys((".sh", ".bash", ".zsh"), "shell"),
    ".sql": "sql",
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    ".swift": "swift",
    ".scala": "scala",
    ".lua": "lua",
    ".r": "r",
    ".jl": "julia",
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    ".toml": "toml",
    **dict.fromkeys((".ini", ".cfg", ".conf"), "ini"),
    ".proto": "protobuf",
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    ".erl": "erlang",
    ".hs": "haskell",
    **dict.fromkeys((".clj", ".cljs"), "clojure"),
    ".dart": "dart",
    **dict.fromkeys((".m", ".mm"), "objective-c"),
    ".ps1": "powershell",
    ".bat": "batch",
    **dict.fromkeys((".css", ".scss", ".less"), "css"),
    ".vue": "vue",
    ".tf": "terraform",
    ".gradle": "groovy",
    ".groovy": "groovy",
    ".zig": "zig",
    ".nim": "nim",
    ".f90": "fortran",
}
"""Language by suffix."""

NAMES = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    **dict.fromkeys(("makefile", "gnumakefile"), "makefile"),
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
    **dict.fromkeys(("rakefile", "gemfile", "vagrantfile"), "ruby"),
    **dict.fromkeys((".bashrc", ".bash_profile", ".profile", ".zshrc"), "shell"),
}
"""Language by the whole name, in lower case."""

_SHEBANG = re.compile(r"#!.*?\b(python|bash|sh|zsh|node|ruby|perl|php|lua)[\d.]*\b")
_SHELLS = {"bash": "shell", "sh": "shell", "zsh": "shell", "node": "javascript"}
_LEAST_LINES, _MOST_LINES = 12, 60
_CLOSING = re.compile(r"\s*[)\]}]|\s*end\b")


def language_of_code(name: str, text: str = "") -> str:
    """Return the language of a file of code, by its name, else by its first line; else empty."""
    path = PurePath(name)
    known = NAMES.get(path.name.lower()) or LANGUAGES.get(path.suffix.lower())
    if known or not text.startswith("#!"):
        return known or ""
    found = _SHEBANG.match(text)
    return _SHELLS.get(found[1], found[1]) if found else ""


def read_code(source: Source) -> ParsedFile:
    """Return the blocks of a file of code."""
    language = language_of_code(source.name, source.text)
    lines = source.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return ParsedFile(
        blocks=[
            Block(BlockKind.CODE, text, language=language)
            for text in map(_joined, _packed(_units(lines)))
            if text.strip()
        ],
        media_type="text/x-source",
        metadata={"programming_language": language} if language else {},
    )


def _units(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield runs of lines: each starts at the left behind a blank line, as definitions do."""
    unit: list[str] = []
    for line in lines:
        starts = line[:1] not in ("", " ", "\t") and not _CLOSING.match(line)
        if starts and unit and not unit[-1].strip():
            yield from _cut(unit)
            unit = []
        unit.append(line)
    yield from _cut(unit)


def _cut(unit: list[str]) -> Iterator[list[str]]:
    """Yield a run, cut at its least indented blank lines where it is long."""
    start = 0
    while len(unit) - start > _MOST_LINES:
        end = _best_cut(unit, start)
        yield unit[start:end]
        start = end
    yield unit[start:]


def _best_cut(unit: Sequence[str], start: int) -> int:
    """Return before which line a long run is best cut, from `start` on."""
    best, least = start + _MOST_LINES, 1 << 30
    for at in range(start + _LEAST_LINES, start + _MOST_LINES + 1):
        if unit[at - 1].strip() or not unit[at].strip():
            continue
        line = unit[at].expandtabs()
        indent = len(line) - len(line.lstrip())
        if indent <= least:
            best, least = at, indent
    return best


def _packed(units: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield runs with short ones, such as imports and constants, put together."""
    held: list[str] = []
    for unit in units:
        both = len(held) + len(unit)
        if held and (both > _MOST_LINES or (len(held) >= _LEAST_LINES <= len(unit))):
            yield held
            held = []
        held = held + unit
    yield held


def _joined(unit: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in unit).strip("\n")
