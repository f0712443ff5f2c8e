"""Checks what a reader made of a file against what a manifest of difficult files expects of it.

Each key of an expectation is one check, except `note`, `password` and `ocr_phrases`. Texts are
compared after NFKC, without white space and soft hyphens, in lower case; `a|b` means either. Where
an error is allowed and happened, the keys about content are not counted.
"""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from ingest_svc.readers.block import Block, BlockKind, ParsedFile
from treespan.segmentation import sentences

Grid = Sequence[Sequence[str]]

_NO_CHECK = frozenset({"note", "password", "ocr_phrases"})
_ANY_PROBLEM = frozenset({"UNSAFE", "TOO_DEEP"})
"""Kinds of error that only say that a file is hostile; any refusal is right."""
_MEDIA_TYPES = {
    "application/epub+zip": "epub",
    "application/json": "json",
    "application/jsonl": "jsonl",
    "application/rtf": "rtf",
    "application/vnd.ms-outlook": "msg",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/x-ipynb+json": "ipynb",
    "application/xml": "xml",
    "application/zip": "zip",
    "image/svg+xml": "svg",
    "message/rfc822": "eml",
    "text/x-org": "org",
    "application/pdf": "pdf",
    "application/vnd.ms-excel": "xls",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
}


@dataclass(frozen=True, slots=True)
class FileView:
    """What was read, as far as expectations speak of it."""

    headings: Sequence[tuple[int, str]] = ()
    body: str = ""
    """All words of the document, headings and cells too, in order."""
    tables: Sequence[Grid] = ()
    """Each with its header row first, where it has one."""
    sentences: Sequence[str] = ()
    title: str = ""
    media_type: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: frozenset[str] = frozenset()
    counts: Mapping[str, object] = field(default_factory=dict)
    """Pages, slides, outline and what else is counted, by the key of the expectation."""
    seconds: float | None = None
    memory_mb: float | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that was refused."""

    kind: str
    """The reason, for example "EMPTY"."""
    message: str = ""
    seconds: float | None = None
    memory_mb: float | None = None


Result = FileView | Problem


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many checks of a file hold, and which do not."""

    met: int
    total: int
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a manifest."""

    path: str
    expected: Mapping[str, Any]


def entries(manifest: Path) -> list[Entry]:
    """Return the lines of a MANIFEST.tsv."""
    with manifest.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Entry(row["path"], json.loads(row["expected_json"])) for row in rows]


def view(parsed: ParsedFile, seconds: float | None = None, mb: float | None = None) -> FileView:
    """Return a file that was read as expectations speak of it."""
    headings = [block for block in parsed.blocks if block.kind is BlockKind.HEADING]
    tables = [block.table for block in parsed.blocks if block.table is not None]
    return FileView(
        headings=[(block.level, block.text) for block in headings],
        body="\n".join(chain.from_iterable(_words(block) for block in parsed.blocks)),
        tables=[
            [table.header, *table.rows] if any(table.header) else table.rows for table in tables
        ],
        sentences=[
            block.text[start:end]
            for block in parsed.blocks
            for start, end in sentences(block.text.strip())
        ],
        title=parsed.title,
        media_type=parsed.media_type,
        metadata=parsed.metadata,
        warnings=frozenset(warning.kind for warning in parsed.warnings),
        counts={
            "pages": parsed.page_count,
            "slides": parsed.page_count,
            "outline": 0,
            "attachments": 0,
            "delimiter": parsed.metadata.get("delimiter", ""),
            **parsed.counts,
        },
        seconds=seconds,
        memory_mb=mb,
    )


def check(
    expected: Mapping[str, Any], result: Result, without_password: Result | None = None
) -> Outcome:
    """Return how a result meets an expectation.

    Args:
        expected: The keys of one file.
        result: What was read, with the password where the expectation states one.
        without_password: What is read without it; None means `result`.
    """
    keys = [key for key in expected if key not in _NO_CHECK]
    if isinstance(result, Problem) and _is_allowed(expected, result):
        keys = [key for key in keys if key.startswith("error") or key in ("time_s", "mem_mb")]
    failures = []
    total = 0
    for key in keys:
        subject = result
        if key == "error_without_password" and without_password is not None:
            subject = without_password
        fault = _fault(key, expected[key], subject)
        if fault is not None:
            total += 1
            failures += [f"{key}: {fault}"] if fault else []
    return Outcome(total - len(failures), total, tuple(failures))


def plain(text: str) -> str:
    """Return a text in the form in which texts are compared."""
    text = unicodedata.normalize("NFKC", text).replace("\xad", "")
    return "".join(text.split()).lower()


def _words(block: Block) -> list[str]:
    if block.table is None:
        return [f"{block.marker} {block.text}" if block.marker else block.text]
    rows = [[block.table.caption], block.table.header, *block.table.rows]
    return [" ".join(row) for row in rows]


def _is_allowed(expected: Mapping[str, Any], problem: Problem) -> bool:
    kinds = [expected.get(key) for key in ("error_or", "error_or_empty", "error_or_warning")]
    return any(kind == problem.kind or kind in _ANY_PROBLEM for kind in kinds)


def _fault(key: str, value: Any, result: Result) -> str | None:
    """Return what is wrong; "" where nothing is, None where it cannot be checked."""
    if key in _ON_EITHER:
        return _ON_EITHER[key](value, result)
    if isinstance(result, Problem):
        return f"the file was refused: {result.kind} {result.message}"
    if key in _ON_VIEW:
        return _ON_VIEW[key](value, result)
    return _equal(value, result.counts.get(key, "not reported"))


def _equal(expected: object, found: object) -> str:
    return "" if expected == found else f"expected {expected!r}, found {found!r}"


def _error(kind: str, result: Result) -> str:
    return _equal(kind, result.kind if isinstance(result, Problem) else "no error")


def _error_or(kind: str, result: Result) -> str:
    return _error(kind, result) if isinstance(result, Problem) else ""


def _error_or_empty(kind: str, result: Result) -> str:
    if isinstance(result, FileView):
        return _equal("", result.body.strip()[:80])
    return "" if kind in _ANY_PROBLEM else _equal(kind, result.kind)


def _error_or_warning(kind: str, result: Result) -> str:
    if isinstance(result, Problem):
        return _error(kind, result)
    return "" if kind in result.warnings else f"expected a warning {kind}"


def _needs_ocr(_: bool, result: Result) -> str:
    """A picture of text must be said to have none; nothing may be made up, and silence is wrong."""
    if isinstance(result, Problem):
        return "" if result.kind in ("NO_TEXT_LAYER", "UNSUPPORTED") else f"refused: {result.kind}"
    return "" if "NO_TEXT_LAYER" in result.warnings else "no warning that there is no text"


def _detect(kind: str, result: Result) -> str:
    if isinstance(result, Problem):
        return (
            "" if kind in result.message.lower() else f"expected {kind!r}, found {result.message!r}"
        )
    return _equal(kind, _MEDIA_TYPES.get(result.media_type, result.media_type))


def _time(most: float, result: Result) -> str | None:
    if result.seconds is None:
        return None
    return "" if result.seconds <= most else f"at most {most} s, took {result.seconds:.1f}"


def _memory(most: float, result: Result) -> str | None:
    if result.memory_mb is None:
        return None
    return "" if result.memory_mb <= most else f"at most {most} MB, took {result.memory_mb:.0f}"


def _find(phrase: str, body: str, start: int) -> tuple[int, int]:
    """Return where the first of the phrase's forms starts, -1 for nowhere, and its end."""
    forms = [plain(form) for form in phrase.split("|")]
    found = [(at, at + len(form)) for form in forms if (at := body.find(form, start)) >= 0]
    return min(found, default=(-1, start))


def _phrases(expected: Sequence[str], result: FileView) -> str:
    body, at = plain(result.body), 0
    for phrase in expected:
        start, at = _find(phrase, body, at)
        if start < 0:
            return f"{phrase!r} is missing or out of order"
    return ""


def _contains(expected: Sequence[str], result: FileView) -> str:
    body = plain(result.body)
    missing = [phrase for phrase in expected if _find(phrase, body, 0)[0] < 0]
    return f"missing: {missing}" if missing else ""


def _absent(expected: Sequence[str], result: FileView) -> str:
    body = plain(result.body)
    there = [phrase for phrase in expected if plain(phrase) in body]
    return f"should not be there: {there}" if there else ""


def _count(expected: Mapping[str, int], result: FileView) -> str:
    body = plain(result.body)
    return _equal(dict(expected), {phrase: body.count(plain(phrase)) for phrase in expected})


def _headings(expected: Sequence[Sequence[Any]], result: FileView) -> str:
    wanted = [(level, plain(text)) for level, text in expected]
    return _equal(wanted, [(level, plain(text)) for level, text in result.headings])


def _headings_text(expected: Sequence[str], result: FileView) -> str:
    texts = [plain(text) for _, text in result.headings]
    missing = [text for text in expected if not any(plain(text) in found for found in texts)]
    return f"missing: {missing}" if missing else ""


def _shapes(expected: Sequence[Sequence[int]], result: FileView) -> str:
    return _equal([list(shape) for shape in expected], [_shape(grid) for grid in result.tables])


def _shape(grid: Grid) -> list[int]:
    return [len(grid), max(map(len, grid), default=0)]


def _cells(expected: Sequence[tuple[int, int, str]], result: FileView) -> str:
    if not result.tables:
        return "there is no table"
    grid = result.tables[0]
    for row, column, text in expected:
        found = grid[row][column] if row < len(grid) and column < len(grid[row]) else None
        if found is None or plain(found) != plain(text):
            return f"row {row}, column {column}: {_equal(text, found)}"
    return ""


def _of_first_table(measure: Callable[[Grid], int]) -> Callable[[int, FileView], str]:
    def fault(expected: int, result: FileView) -> str:
        return _equal(expected, measure(result.tables[0]) if result.tables else "no table")

    return fault


def _nonempty_rows(grid: Grid) -> int:
    return sum(any(cell.strip() for cell in row) for row in grid)


def _metadata(expected: Mapping[str, str], result: FileView) -> str:
    return _equal(dict(expected), {key: result.metadata.get(key) for key in expected})


def _sentences(expected: Sequence[str], result: FileView) -> str:
    return _equal(list(expected), list(result.sentences))


def _sentences_contain(expected: Sequence[str], result: FileView) -> str:
    found = {plain(sentence) for sentence in result.sentences}
    missing = [sentence for sentence in expected if plain(sentence) not in found]
    return f"missing: {missing}" if missing else ""


def _number(expected: int, found: int, *, least: bool = False, most: bool = False) -> str:
    if (least and found >= expected) or (most and found <= expected) or found == expected:
        return ""
    sign = "at least " if least else "at most " if most else ""
    return f"expected {sign}{expected}, found {found}"


def _least(key: str) -> Callable[[int, FileView], str]:
    def fault(expected: int, result: FileView) -> str:
        found = result.counts.get(key)
        return (
            "not reported" if not isinstance(found, int) else _number(expected, found, least=True)
        )

    return fault


_ON_EITHER: Mapping[str, Callable[[Any, Result], str | None]] = {
    "error": _error,
    "error_without_password": _error,
    "error_or": _error_or,
    "error_or_empty": _error_or_empty,
    "error_or_warning": _error_or_warning,
    "needs_ocr": _needs_ocr,
    "detect": _detect,
    "time_s": _time,
    "mem_mb": _memory,
}

_ON_VIEW: Mapping[str, Callable[[Any, FileView], str]] = {
    "phrases": _phrases,
    "contains": _contains,
    "absent": _absent,
    "absent_in_body": _absent,
    "count": _count,
    "headings": _headings,
    "headings_text": _headings_text,
    "headings_count": lambda n, found: _number(n, len(found.headings)),
    "headings_min": lambda n, found: _number(n, len(found.headings), least=True),
    "headings_max": lambda n, found: _number(n, len(found.headings), most=True),
    "title": lambda title, found: _equal(plain(title), plain(found.title)),
    "metadata": _metadata,
    "tables": lambda n, found: _number(n, len(found.tables)),
    "tables_min": lambda n, found: _number(n, len(found.tables), least=True),
    "tables_max": lambda n, found: _number(n, len(found.tables), most=True),
    "table_shapes": _shapes,
    "cells": _cells,
    "rows": _of_first_table(len),
    "cols": _of_first_table(lambda grid: _shape(grid)[1]),
    "rows_nonempty": _of_first_table(_nonempty_rows),
    "sheets_min": _least("sheets"),
    "attachments_min": _least("attachments"),
    "records_min": _least("records"),
    "sentences": _sentences,
    "sentences_contain": _sentences_contain,
}
