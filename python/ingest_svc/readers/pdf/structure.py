"""From pages to blocks: the steps of the PDF reader in their order, once the pages are read.

Running heads and feet are taken out, tables found, columns cut, rows and paragraphs joined, the
outline bound, headings marked, and what goes on over pages joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count

from msgspec.structs import replace

from ingest_svc.readers.block import Block
from ingest_svc.readers.pdf.blocks import blocks_of
from ingest_svc.readers.pdf.flow import (
    with_captions,
    with_joined_paragraphs,
    with_joined_tables,
)
from ingest_svc.readers.pdf.furniture import folded, furniture
from ingest_svc.readers.pdf.headings import with_headings
from ingest_svc.readers.pdf.lines import Page
from ingest_svc.readers.pdf.outline import Entry, bind
from ingest_svc.readers.pdf.page_parts import PagePart, RowPart, parts_of, pieces_of
from ingest_svc.readers.pdf.text import words_of


def blocks_of_pages(pages: Sequence[Page], outline: Sequence[Entry], max_rules: int) -> list[Block]:
    """Return the blocks of a document in reading order.

    Args:
        pages: All its pages.
        outline: Its outline; empty where it has none.
        max_rules: Most drawn lines of a page that is searched for tables.
    """
    pages = _without_typewriter(pages)
    body_size = _body_size(pages)
    titles = frozenset((entry.page, folded(entry.title)) for entry in outline)
    taken = furniture(pages, body_size, titles)
    keys = count()
    parts: list[PagePart] = []
    for page in pages:
        parts += parts_of(page, taken.get(page.number, set()), max_rules, keys)
    rows = [row for part in parts if isinstance(part, RowPart) for row in part.rows]
    words = set(words_of("\n".join(row.text for row in rows)))
    bound = bind(outline, rows)
    pieces = with_captions(with_headings(pieces_of(parts, bound.entries, words), bound, body_size))
    return blocks_of(with_joined_paragraphs(with_joined_tables(pieces), body_size, words))


def _without_typewriter(pages: Sequence[Page]) -> list[Page]:
    """Return the pages; where most text is of equal width, as typed, that says nothing of code."""
    counts: Counter[bool] = Counter()
    for page in pages:
        for line in page.lines:
            counts[line.mono] += len(line.text)
    if counts[True] <= counts[False]:
        return list(pages)
    return [
        replace(page, lines=tuple(replace(line, mono=False) for line in page.lines))
        for page in pages
    ]


def _body_size(pages: Sequence[Page]) -> float:
    """Return the font size of most characters, in points, in steps of a half."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0
