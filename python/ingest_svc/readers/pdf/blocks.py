"""Pieces as the blocks that every reader returns."""

from __future__ import annotations

from collections.abc import Sequence

from ingest_svc.readers.block import Block, BlockKind, Table
from ingest_svc.readers.pdf.flow import rows_of
from ingest_svc.readers.pdf.pieces import Piece

_INDENT = 6.0
"""List items that start within this many points of each other are of one depth."""
_DEEPEST = 6


def blocks_of(pieces: Sequence[Piece]) -> list[Block]:
    """Return the pieces as blocks, list items with their depth."""
    blocks: list[Block] = []
    indents: list[float] = []
    for piece in pieces:
        if piece.kind is not BlockKind.LIST_ITEM:
            indents = indents if piece.kind is BlockKind.PARAGRAPH else []
            blocks.append(_block(piece, piece.level))
            continue
        start = piece.box.x0
        while indents and indents[-1] > start + _INDENT:
            indents.pop()
        if not indents or start > indents[-1] + _INDENT:
            indents.append(start)
        blocks.append(_block(piece, min(len(indents), _DEEPEST)))
    return blocks


def _block(piece: Piece, level: int) -> Block:
    """Return a piece as a block."""
    table = _table(piece) if piece.kind is BlockKind.TABLE else None
    return Block(
        kind=piece.kind,
        text=piece.text,
        level=level,
        page_start=piece.page,
        page_end=piece.page_end,
        stated=piece.stated,
        marker=piece.marker,
        table=table,
    )


def _table(piece: Piece) -> Table:
    """Return the table of a piece, its parts on several pages as one."""
    header, rows = rows_of(piece.tables)
    return Table(
        header=header,
        rows=[list(row) for row, _ in rows],
        row_pages=[page for _, page in rows],
        caption=piece.caption,
    )
