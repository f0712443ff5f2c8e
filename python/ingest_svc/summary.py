"""A summary of a document for routing: its title, its outermost headings and its first words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ingest_svc.readers.block import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.block import Block, ParsedFile

MOST_CHARACTERS: Final = 1_000
"""About what embedding models read at once."""
_MOST_HEADINGS = 24
_HEADING_CHARACTERS = 120
_TEXT_CHARACTERS = 500
_NAMING = (BlockKind.HEADING, BlockKind.FILE)


def summary_of(parsed: ParsedFile) -> str:
    """Return title, headings and first text, a line each; at most `MOST_CHARACTERS`."""
    lines = [parsed.title, "; ".join(_headings(parsed)), _first_text(parsed)]
    return "\n".join(line for line in lines if line)[:MOST_CHARACTERS].rstrip()


def _headings(parsed: ParsedFile) -> Iterator[str]:
    """Yield the outermost headings, as many levels of them as there is room for."""
    named = [block for block in parsed.blocks if block.kind in _NAMING and block.text.strip()]
    named = [block for block in named if _short(block.text, 1_000) != parsed.title]
    by_depth = sorted(range(len(named)), key=lambda at: (named[at].level, at))
    kept = sorted(by_depth[:_MOST_HEADINGS])
    names = (f"{named[at].marker} {named[at].text}" for at in kept)
    yield from dict.fromkeys(_short(name, _HEADING_CHARACTERS) for name in names)


def _first_text(parsed: ParsedFile) -> str:
    found = ""
    for block in parsed.blocks:
        words = _words(block)
        if words:
            found = f"{found} {words}".strip()
        if len(found) >= _TEXT_CHARACTERS:
            break
    return _short(found, _TEXT_CHARACTERS)


def _words(block: Block) -> str:
    if block.kind in (*_NAMING, BlockKind.IMAGE, BlockKind.CODE):
        return ""
    if block.table is None:
        return _short(block.text, _TEXT_CHARACTERS)
    rows = [block.table.header, *block.table.rows[:2]]
    names = " | ".join(cell for row in rows for cell in row if cell.strip())
    return _short(f"{block.table.caption} {names}", _TEXT_CHARACTERS)


def _short(text: str, most: int) -> str:
    """Return a text as one line, cut at a word."""
    line = " ".join(text[: most * 4].split())
    if len(line) <= most:
        return line
    return line[:most].rsplit(" ", 1)[0] if " " in line[most // 2 : most] else line[:most]
