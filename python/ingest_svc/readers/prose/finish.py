"""The judgements that need a whole document: its title, headings by looks, captions, programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.prose.captions import joined
from ingest_svc.readers.prose.looks import guess_headings
from ingest_svc.readers.prose.titles import stated_title

if TYPE_CHECKING:
    from ingest_svc.readers.prose.pieces import Piece


def finished(pieces: list[Piece]) -> tuple[str, list[Block]]:
    """Return the title that a document shows, empty where it shows none, and its blocks."""
    title = stated_title(pieces)
    guess_headings(pieces)
    blocks = [piece.block for piece in joined(_with_code(pieces))]
    return title, [block for block in blocks if block.table is not None or block.text.strip()]


def _with_code(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with the lines of a program, each a paragraph of its own, as one."""
    kept: list[Piece] = []
    lines: list[str] = []
    for piece in pieces:
        if piece.block.kind is BlockKind.CODE and lines:
            lines.append(piece.block.text)
            continue
        _end(kept, lines)
        kept.append(piece)
        lines = [piece.block.text] if piece.block.kind is BlockKind.CODE else []
    _end(kept, lines)
    return kept


def _end(kept: list[Piece], lines: list[str]) -> None:
    if lines:
        kept[-1].block = Block(BlockKind.CODE, "\n".join(lines).strip("\n"))
