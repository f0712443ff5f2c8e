"""Headings of a book's chapters, which are files of their own, as headings of one document.

What the table of contents nests is nested here, too, though every chapter may call its own title a
heading of the first level; what it names and the chapter does not mark as a heading becomes one.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.epub.package import OutlineEntry


def fitted_headings(
    blocks: Sequence[Block], entries: Sequence[OutlineEntry], deeper: int
) -> tuple[list[Block], int]:
    """Return a chapter with its headings where they belong in the book.

    Args:
        blocks: The chapter.
        entries: What the table of contents has of it.
        deeper: By how much the headings of the chapter before were put deeper: one that is not in
            the contents is part of that.

    Returns:
        The blocks, and by how much these headings were put deeper.
    """
    headings = [block for block in blocks if block.kind is BlockKind.HEADING]
    if entries and headings:
        deeper = _shift(headings, entries)
    fitted = [_shifted(block, deeper) for block in blocks]
    known = {_plain(block.text) for block in headings}
    _promote(fitted, [entry for entry in entries if _plain(entry.label) not in known])
    return _titled(fitted, entries), deeper


def _shift(headings: Sequence[Block], entries: Sequence[OutlineEntry]) -> int:
    """Return how much deeper the contents have a chapter's headings; never less deep."""
    depths = {_plain(entry.label): entry.depth for entry in reversed(entries)}
    for heading in headings:
        depth = depths.get(_plain(heading.text))
        if depth is not None:
            return max(0, depth - heading.level)
    return max(0, entries[0].depth - headings[0].level)


def _shifted(block: Block, deeper: int) -> Block:
    if block.kind is not BlockKind.HEADING or not deeper:
        return block
    return msgspec.structs.replace(block, level=block.level + deeper)


def _promote(blocks: list[Block], entries: Sequence[OutlineEntry]) -> None:
    """Make the paragraphs that the contents name headings; of several like it the first one."""
    depths = {_plain(entry.label): entry.depth for entry in reversed(entries)}
    for at, block in enumerate(blocks if depths else ()):
        depth = depths.pop(_plain(block.text), 0) if block.kind is BlockKind.PARAGRAPH else 0
        if depth:
            blocks[at] = Block(BlockKind.HEADING, " ".join(block.text.split()), depth)


def _titled(blocks: list[Block], entries: Sequence[OutlineEntry]) -> list[Block]:
    """Return a chapter under the title that only the contents have, where it has none itself."""
    kinds = {block.kind for block in blocks}
    if not entries or BlockKind.HEADING in kinds or not kinds - {BlockKind.IMAGE}:
        return blocks
    return [Block(BlockKind.HEADING, entries[0].label, entries[0].depth), *blocks]


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()
