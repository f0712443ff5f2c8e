"""Reads plain text: paragraphs, hard-wrapped lines joined, simple lists, headings plain to see.

Lines are joined only where they look wrapped by a machine (each would not have held the next line's
first word); verse, addresses and program code keep their lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ingest_svc.readers.block import Block, BlockKind, ParsedFile
from ingest_svc.readers.source import Source
from ingest_svc.readers.text_headings import HeadingLine, heading_line, levels
from ingest_svc.readers.text_lists import list_items

_NEWLINE = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028]")
_RULE = re.compile(r"\s*([-=*_~#])(?:\s?\1){2,}\s*")
_SENTENCE_END = re.compile(r"""[.!?。！？…：:；;][”’"'」』）)\]]*$""")
_WRAP_FROM, _WRAP_TO = 40, 130
"""Widths at which machines and people wrap lines."""
_OWN_PARAGRAPH = 150
"""A line wider than this is a paragraph by itself."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block, or a heading whose level is not known yet."""

    block: Block | None
    heading: HeadingLine | None = None


def read_text(source: Source) -> ParsedFile:
    """Return the blocks of a plain text."""
    groups = list(_groups(source.text))
    wrap = _wrap_width(groups)
    pieces = [piece for group in groups for piece in _pieces(group, wrap)]
    level_of = levels([piece.heading for piece in pieces])
    blocks = []
    for at, piece in enumerate(pieces):
        if piece.block is not None:
            blocks.append(piece.block)
        elif piece.heading is not None:
            blocks.append(_heading(piece.heading, level_of[at]))
    return ParsedFile(blocks=blocks, media_type="text/plain")


def _heading(heading: HeadingLine, level: int) -> Block:
    if not level:
        return Block(BlockKind.PARAGRAPH, heading.text)
    return Block(BlockKind.HEADING, heading.text, level, stated=False)


def _groups(text: str) -> Iterator[list[str]]:
    """Yield runs of lines between blank lines and drawn rules."""
    group: list[str] = []
    for line in (
        _NEWLINE.sub("\n", text).replace("\u2029", "\n\n").replace("\ufeff", "").split("\n")
    ):
        if line.strip() and not _RULE.fullmatch(line[:200]):
            group.append(line.rstrip())
        elif group:
            yield group
            group = []
    if group:
        yield group


def _pieces(group: list[str], wrap: int) -> Iterator[_Piece]:
    items = list_items(group)
    if items:
        yield from (_Piece(item) for item in items)
        return
    rest: list[str] = []
    wrapped = _is_wrapped(group, wrap)
    for line in group:
        closed = not rest or not wrapped or bool(_SENTENCE_END.search(rest[-1]))
        heading = heading_line(line, alone=len(group) == 1) if closed else None
        if heading is None:
            rest.append(line)
            continue
        yield from _paragraphs(rest, wrap)
        yield _Piece(None, heading)
        rest = []
    yield from _paragraphs(rest, wrap)


def _paragraphs(lines: list[str], wrap: int) -> Iterator[_Piece]:
    for paragraph in _split_at_indents(lines):
        if _is_wrapped(paragraph, wrap):
            texts = [joined(paragraph)]
        elif _are_paragraphs(paragraph):
            texts = [line.strip() for line in paragraph]
        else:
            texts = ["\n".join(paragraph).strip()]
        yield from (_Piece(Block(BlockKind.PARAGRAPH, text)) for text in texts)


def joined(lines: list[str]) -> str:
    """Return lines as one, without a space between two characters of a script that has none."""
    text = ""
    parts: list[str] = []
    for line in (line.strip() for line in lines):
        if parts and not (is_wide(text[-1]) and is_wide(line[0])):
            parts.append(" ")
        parts.append(line)
        text = line
    return "".join(parts)


def is_wide(character: str) -> bool:
    """Tell whether a character is of a script written without spaces, by its East Asian width."""
    return character > "\u1100" and unicodedata.east_asian_width(character) in "WF"


def _split_at_indents(lines: list[str]) -> Iterator[list[str]]:
    """Yield paragraphs that are told apart by indents alone, as in Chinese novels."""
    marks = [line[0] in "\u3000 " and not line.startswith(" " * 12) for line in lines]
    if len(lines) < 2 or not marks[0] or not _prose_indents(lines, marks):
        if lines:
            yield lines
        return
    start = 0
    for at in range(1, len(lines)):
        if marks[at]:
            yield lines[start:at]
            start = at
    yield lines[start:]


def _prose_indents(lines: list[str], marks: list[bool]) -> bool:
    """Tell whether indents start paragraphs: ideographic ones, or one that not all have."""
    indents = {line[: len(line) - len(line.lstrip())] for line in lines} - {""}
    return all("\u3000" in indent for indent in indents) or (len(indents) == 1 and not all(marks))


def width(line: str) -> int:
    """Return the columns that a line takes; East Asian characters take two."""
    if line.isascii():
        return len(line)
    return len(line) + sum(map(is_wide, line))


def _wrap_width(groups: list[list[str]]) -> int:
    """Return the width at which the file's lines are wrapped; 0 where they are not."""
    widths = sorted(width(line) for group in groups for line in group[:-1])
    if not widths:
        return 0
    widest = widths[min(len(widths) - 1, len(widths) * 49 // 50)]
    return widest if _WRAP_FROM <= widest <= _WRAP_TO else 0


def _is_wrapped(lines: list[str], wrap: int) -> bool:
    """Tell whether nearly every line but the last had no room for the first word of the next."""
    if len(lines) < 2 or not wrap:
        return False
    full = 0
    for line, following in pairwise(lines):
        start = following.lstrip()
        word = start[:1] if is_wide(start[:1]) else start.split(maxsplit=1)[0]
        full += width(line) + (not is_wide(line[-1])) + width(word) > wrap - 2
    return full >= 0.8 * (len(lines) - 1) and width(lines[-1]) <= wrap + wrap // 8


def _are_paragraphs(lines: list[str]) -> bool:
    """Tell whether each line is a paragraph: all lines are long, or most end as sentences do."""
    if any(width(line) > _OWN_PARAGRAPH for line in lines):
        return True
    ends = sum(bool(_SENTENCE_END.search(line)) for line in lines)
    return ends >= 0.7 * len(lines) and not any(line[0] in " \t" for line in lines)
