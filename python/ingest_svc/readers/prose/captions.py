"""Captions join what they stand by: a table gets its caption, a picture its words.

Whether captions stand above or below is each document's habit; where both are near, the habit
decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.prose.style_names import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.readers.prose.pieces import Piece

_OF_TABLES = ("tab", "таб", "表", "표", "cuadro", "quadro")
_OF_PICTURES = (
    "fig",
    "abb",
    "ill",
    "рис",
    "图",
    "圖",
    "図",
    "그림",
    "bild",
    "obr",
    "imag",
    "photo",
)


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with captions put to their tables and pictures."""
    kept: list[Piece | None] = list(pieces)
    for kind in (BlockKind.TABLE, BlockKind.IMAGE):
        captions = [at for at, piece in enumerate(pieces) if _may_name(piece, kind)]
        above = _stand_above(pieces, captions, kind)
        for at in captions:
            for place in (at + 1, at - 1) if above else (at - 1, at + 1):
                if _takes(kept, place, kind) and (caption := kept[at]) is not None:
                    _join(kept, place, caption)
                    kept[at] = None
                    break
    return [piece for piece in kept if piece is not None]


def _may_name(piece: Piece, kind: BlockKind) -> bool:
    """Tell a caption that can be one of a kind: what it says of itself counts first."""
    if piece.role is not Role.CAPTION or piece.block.kind is not BlockKind.PARAGRAPH:
        return False
    said = (piece.sequence or piece.block.text).lower().lstrip()
    if said.startswith(_OF_TABLES):
        return kind is BlockKind.TABLE
    return kind is BlockKind.IMAGE if said.startswith(_OF_PICTURES) else True


def _stand_above(pieces: Sequence[Piece], captions: Sequence[int], kind: BlockKind) -> bool:
    """Tell whether captions stand above what they name; in doubt, as printers have it."""
    above = below = 0
    for at in captions:
        follows = at + 1 < len(pieces) and pieces[at + 1].block.kind is kind
        precedes = at > 0 and pieces[at - 1].block.kind is kind
        above += follows and not precedes
        below += precedes and not follows
    return above > below or (above == below and kind is BlockKind.TABLE)


def _takes(kept: Sequence[Piece | None], at: int, kind: BlockKind) -> bool:
    piece = kept[at] if 0 <= at < len(kept) else None
    if piece is None or piece.block.kind is not kind or piece.sequence:
        return False
    return piece.block.table is None or not piece.block.table.caption


def _join(kept: Sequence[Piece | None], at: int, caption: Piece) -> None:
    piece = kept[at]
    if piece is None:
        return
    block, words = piece.block, caption.block.text
    if block.table is not None:
        table = msgspec.structs.replace(block.table, caption=" ".join(words.split()))
        piece.block = msgspec.structs.replace(block, table=table)
        return
    text = "\n".join(filter(None, [words, block.text]))
    piece.block = msgspec.structs.replace(block, text=text)
    piece.sequence = caption.sequence or "caption"
