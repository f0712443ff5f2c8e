"""What goes on over the foot of a column or page: paragraphs and tables joined, captions placed."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from msgspec.structs import replace

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.pdf.furniture import folded
from ingest_svc.readers.pdf.paragraphs import CAPTION
from ingest_svc.readers.pdf.pieces import Piece
from ingest_svc.readers.pdf.tables import FoundTable
from ingest_svc.readers.pdf.text import ends_sentence, is_unspaced, join

_SAME_PLACE = 6.0
_CONTINUED = re.compile(
    r"\b(?:continued|cont[’'.]?d?|fortsetzung|suite|continuación)\b|[续續]", re.IGNORECASE
)
_SMALL = 0.93
"""Letters smaller than this share of the text's size are notes."""
_SKIPPED = 6


def with_captions(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with captions put to the tables that they stand next to."""
    result = list(pieces)
    for place, piece in enumerate(pieces):
        if piece.kind is not BlockKind.TABLE:
            continue
        for near in (place - 1, place + 1):
            if not 0 <= near < len(result) or not _is_caption(result[near], piece):
                continue
            caption = " ".join(filter(None, (result[near].text, result[place].caption)))
            result[place] = replace(result[place], caption=caption)
            result[near] = replace(result[near], text="")
            break
    return [piece for piece in result if piece.text or piece.kind is BlockKind.TABLE]


def _is_caption(piece: Piece, table: Piece) -> bool:
    """Tell whether a piece is the caption of a table: it says so, and stands next to it."""
    if piece.kind is not BlockKind.PARAGRAPH or not CAPTION.match(piece.text):
        return False
    if piece.text[:3].lower() in ("fig", "abb", "图") or piece.text[0] in "图圖":
        return False
    gap = max(table.box.y0 - piece.box.y1, piece.box.y0 - table.box.y1)
    return piece.page == table.page and gap < 4 * piece.size and len(piece.text) < 600


def with_joined_tables(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with tables joined that go on at the top of the next page."""
    result: list[Piece] = []
    for piece in pieces:
        last = result[-1] if result else None
        if last is not None and _goes_on_as_table(last, piece):
            result[-1] = replace(last, tables=last.tables + piece.tables, page_end=piece.page_end)
        else:
            result.append(piece)
    return result


def _goes_on_as_table(last: Piece, piece: Piece) -> bool:
    """Tell whether a table is the next page's part of the one before it."""
    if last.kind is not BlockKind.TABLE or piece.kind is not BlockKind.TABLE:
        return False
    if piece.page != last.page_end + 1:
        return False
    if piece.caption and not _CONTINUED.search(piece.caption) and piece.caption != last.caption:
        return False
    one, other = last.tables[-1], piece.tables[0]
    if len(one.xs) != len(other.xs):
        return False
    shift = other.xs[0] - one.xs[0]
    return all(abs(b - a - shift) <= _SAME_PLACE for a, b in zip(one.xs, other.xs, strict=True))


def rows_of(tables: Sequence[FoundTable]) -> tuple[list[str], list[tuple[tuple[str, ...], int]]]:
    """Return the header of a table on several pages, and its rows with their pages."""
    header = tables[0].header
    rows = [(row, tables[0].page) for row in tables[0].rows]
    for table in tables[1:]:
        again = list(map(folded, table.header)) == list(map(folded, header))
        if any(table.header) and not again:
            rows.append((table.header, table.page))
        rows += [(row, table.page) for row in table.rows]
    return list(header), rows


def with_joined_paragraphs(
    pieces: Sequence[Piece], body_size: float, words: Container[str]
) -> list[Piece]:
    """Return the pieces with paragraphs joined that go on in the next column or on the next page.

    Notes, tables and pictures' captions at the foot or head may stand between.
    """
    result: list[Piece] = []
    for piece in pieces:
        place = _place_before(result, piece, body_size)
        if place >= 0:
            before = result[place]
            result[place] = replace(
                before,
                text=join(before.text, piece.text, words),
                page_end=max(before.page_end, piece.page_end),
                ends_column=piece.ends_column,
                box=piece.box if piece.page > before.page_end else before.box,
                rows=before.rows + piece.rows,
            )
        else:
            result.append(piece)
    return result


def _place_before(result: list[Piece], piece: Piece, body_size: float) -> int:
    """Return the place of the paragraph that a piece goes on with, -1 where there is none."""
    if piece.kind is not BlockKind.PARAGRAPH or not piece.text:
        return -1
    for place in range(len(result) - 1, max(len(result) - 1 - _SKIPPED, -1), -1):
        before = result[place]
        if before.page_end < piece.page - 1 or before.kind is BlockKind.HEADING:
            return -1
        if _goes_on_with(before, piece):
            return place
        note = before.kind is BlockKind.TABLE or before.size < _SMALL * body_size
        if not note and not CAPTION.match(before.text):
            return -1
    return -1


def _goes_on_with(before: Piece, piece: Piece) -> bool:
    """Tell whether a piece is the rest of a paragraph in another column or on another page."""
    if before.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) or CAPTION.match(piece.text):
        return False
    same_page = before.page_end == piece.page
    # On one page only the head of a column further up can go on with what stands lower.
    if same_page and piece.box.y0 > before.rows[-1].box.y0 - 2 * before.size:
        return False
    if abs(before.size - piece.size) > 0.06 * before.size or before.bold != piece.bold:
        return False
    if ends_sentence(before.text):
        return False
    first = piece.text[0]
    if first.islower() or before.text.endswith(("-", "\u2010", "\xad", ",")):
        return True
    caseless = first.isalpha() and not first.isupper()
    if not before.ends_column or piece.indented:
        return False
    return caseless or first in "(“‘\"'«" or first.isdecimal() or is_unspaced(first)
