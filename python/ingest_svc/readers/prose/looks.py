"""Headings by their looks, for documents that have none by style: bold or larger lines over text.

Nothing is guessed where any heading is stated, and little where much is bold: a wrong section costs
more than a missing one.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.pdf.numbering import levels_of, number_of
from ingest_svc.readers.prose.style_names import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.readers.prose.pieces import Piece

_LONGEST = 120
_LARGER = 2
"""Half points by which a heading is larger than the text."""
_ENDS = ".,;:!?。，；：！？、…"
_MOST_SHARE = 0.4
"""Of paragraphs; where more of them look like headings, the look says nothing."""
_DEEPEST = 6
_KINDS = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)


def guess_headings(pieces: Sequence[Piece]) -> None:
    """Turn the lines that look like headings into such."""
    if any(piece.block.kind is BlockKind.HEADING and not _is_title(piece) for piece in pieces):
        return
    body = [piece for piece in pieces if piece.block.kind in _KINDS and not piece.is_note]
    usual = _usual_size(body)
    found = [
        piece
        for piece, following in pairwise(pieces)
        if _may_head(piece, usual) and _heads(piece, following, usual)
    ]
    if not found or len(found) > _MOST_SHARE * len(body) + 1:
        return
    for piece, level in zip(found, _levels(found), strict=True):
        piece.block = msgspec.structs.replace(
            piece.block, kind=BlockKind.HEADING, level=level, stated=False
        )


def _is_title(piece: Piece) -> bool:
    return piece.role is Role.TITLE


def _usual_size(body: Sequence[Piece]) -> int:
    """Return the size that most characters of the text have."""
    sizes: Counter[int] = Counter()
    for piece in body:
        sizes[piece.size] += len(piece.block.text)
    return sizes.most_common(1)[0][0] if sizes else 0


def _may_head(piece: Piece, usual: int) -> bool:
    block = piece.block
    if block.kind not in _KINDS or piece.role is not Role.BODY or piece.is_note or piece.is_aside:
        return False
    if block.kind is BlockKind.LIST_ITEM and not (block.marker and piece.is_bold):
        return False
    text = block.text
    if len(text) > _LONGEST or "\n" in text or "\t" in text or text[-1:] in _ENDS:
        return False
    if not any(map(str.isalpha, text)):
        return False
    return piece.is_bold or piece.size >= usual + 2 * _LARGER


def _heads(piece: Piece, following: Piece, usual: int) -> bool:
    """Tell whether what follows is such that the line may be its heading."""
    if piece.size >= usual + _LARGER:
        return True
    # As large as the text, only bold: text that is not must follow.
    return following.block.kind in (*_KINDS, BlockKind.TABLE) and not following.is_bold


def _levels(found: Sequence[Piece]) -> list[int]:
    """Return levels: larger is further out; of one size the numbers decide."""
    numbers = [number_of(f"{piece.block.marker} {piece.block.text}".strip()) for piece in found]
    ranks = levels_of({number.rank for number in numbers if number is not None})
    places = [
        (-piece.size, ranks[number.rank] if number is not None else 1)
        for piece, number in zip(found, numbers, strict=True)
    ]
    order = sorted(set(places))
    return [min(order.index(place) + 1, _DEEPEST) for place in places]
