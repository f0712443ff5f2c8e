"""Lists in plain text: lines that start with bullets, or with numbers that count up."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingest_svc.readers.block import Block, BlockKind

_BULLET = re.compile(r"(\s*)([-*•·‣▪●○◦–])\s+(?=\S)")
_NUMBER = re.compile(r"(\s*)(\(?(\d{1,3}|[a-z])[.)])\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class _Mark:
    indent: int
    text: str
    """The number as written; "" for bullets."""
    ordinal: int
    """Place in the count; 0 for bullets."""
    style: str
    """The bullet, or the number's form with its digits removed: "(#)"."""
    end: int
    """Where the item's words start."""


def list_items(lines: list[str]) -> list[Block]:
    """Return the items of a run of lines that is a list of two items or more; else nothing.

    A line without a mark continues the item above it where it is indented or the run is wrapped so.
    """
    marks = [_mark(line) for line in lines]
    if marks[0] is None or not _counts_up(marks) or _items(marks) < 2:
        return []
    indents: list[int] = []
    blocks: list[Block] = []
    for line, mark in zip(lines, marks, strict=True):
        if mark is None:
            last = blocks.pop()
            blocks.append(_item(f"{last.text} {line.strip()}", last.level, last.marker))
            continue
        indents = [indent for indent in indents if indent < mark.indent]
        indents.append(mark.indent)
        blocks.append(_item(line[mark.end :].strip(), len(indents), mark.text))
    return blocks


def _item(text: str, level: int, marker: str) -> Block:
    return Block(BlockKind.LIST_ITEM, text, level, marker=marker)


def _mark(line: str) -> _Mark | None:
    if bullet := _BULLET.match(line):
        return _Mark(len(bullet[1].expandtabs()), "", 0, bullet[2], bullet.end())
    if number := _NUMBER.match(line):
        counted = number[3]
        ordinal = int(counted) if counted.isdigit() else ord(counted) - ord("a") + 1
        style = number[2].replace(counted, "#" if counted.isdigit() else "a")
        return _Mark(len(number[1].expandtabs()), number[2], ordinal, style, number.end())
    return None


def _items(marks: list[_Mark | None]) -> int:
    return sum(mark is not None for mark in marks)


def _counts_up(marks: list[_Mark | None]) -> bool:
    """Tell whether marks of one form and indent count up by one; a wrapped line's "5." does not."""
    last: dict[tuple[int, str], int] = {}
    for mark in marks:
        if mark is None or not mark.ordinal:
            continue
        key = (mark.indent, mark.style)
        deeper = [known for known in last if known[0] > mark.indent]
        for known in deeper:
            del last[known]
        if key in last and mark.ordinal != last[key] + 1:
            return False
        last[key] = mark.ordinal
    return True
