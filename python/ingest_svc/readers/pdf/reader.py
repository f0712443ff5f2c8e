"""PDF, mode `fast`: text by geometry, without a layout model.

The order of things: open, read pages, take out running heads and feet, find ruled tables, cut
columns, join rows and paragraphs, bind the outline, mark headings, join what goes on over pages.
Each step is one file of this folder; pymupdf is known to `open` and `pages` alone. Not safe for
threads: one document at a time in a process.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from ingest_svc.readers.block import ParsedFile, Warning
from ingest_svc.readers.pdf.blocks import blocks_of
from ingest_svc.readers.pdf.flow import (
    with_captions,
    with_joined_paragraphs,
    with_joined_tables,
)
from ingest_svc.readers.pdf.furniture import folded, furniture
from ingest_svc.readers.pdf.headings import with_headings
from ingest_svc.readers.pdf.lines import Page
from ingest_svc.readers.pdf.open import metadata_of, open_pdf, outline_of, title_of
from ingest_svc.readers.pdf.outline import Entry, bind
from ingest_svc.readers.pdf.page_parts import PagePart, RowPart, parts_of, pieces_of
from ingest_svc.readers.pdf.pages import read_page
from ingest_svc.readers.pdf.pieces import Piece
from ingest_svc.readers.pdf.quality import Quality, quality_of
from ingest_svc.readers.pdf.text import words_of
from treespan.errors import DamagedFile, EmptyFile, NoTextLayer, TooLarge

MEDIA_TYPE = "application/pdf"


@dataclass(frozen=True, slots=True)
class PdfLimits:
    """What one PDF may ask for; passing a limit on pages or time is TOO_LARGE, others a warning."""

    max_pages: int = 5_000
    seconds_per_page: float = 20.0
    """Longest time that reading one page may take; seen when the page is done."""
    seconds: float = 600.0
    """Longest time for the whole file."""
    max_outline_entries: int = 20_000
    max_drawing_bytes: int = 4_000_000
    """Longest page content, in bytes, whose drawings are looked at for tables."""
    max_rules: int = 3_000
    """Most drawn lines on a page that is searched for tables."""


_NO_LIMITS_SET = PdfLimits()

Progress = Callable[[int, int], None]
"""Told the pages done and all pages."""


def read_pdf(
    data: bytes,
    *,
    password: str = "",
    limits: PdfLimits = _NO_LIMITS_SET,
    progress: Progress | None = None,
) -> ParsedFile:
    """Return the blocks of a PDF in reading order.

    Args:
        data: The file.
        password: The user's or owner's password where one is needed.
        limits: What the file may ask for.
        progress: Called after each page with the pages done and all pages.

    Raises:
        EmptyFile: No bytes, or pages with nothing on them.
        DamagedFile: It cannot be opened, or nothing is left of it.
        EncryptedFile: It needs a password and none was given.
        WrongPassword: The one given does not open it.
        NoTextLayer: Its pages are pictures.
        TooLarge: A limit was passed; the message names it and its value.
    """
    document = open_pdf(data, password)
    try:
        repaired = bool(document.is_repaired)
        pages = _without_typewriter(_pages(document, limits, progress))
        quality = quality_of(pages)
        _check_text(pages, quality, repaired=repaired)
        outline, outline_entries = outline_of(document, limits.max_outline_entries)
        return ParsedFile(
            blocks=blocks_of(_pieces(pages, outline, limits)),
            media_type=MEDIA_TYPE,
            title=title_of(document),
            page_count=len(pages),
            outline_entries=outline_entries,
            warnings=_warnings(pages, quality, limits, repaired=repaired or document.is_repaired),
            metadata=metadata_of(document),
        )
    finally:
        document.close()


def _pages(document: Any, limits: PdfLimits, progress: Progress | None) -> list[Page]:
    """Return all pages, within the limits."""
    total = document.page_count
    if total > limits.max_pages:
        raise TooLarge(
            f"too many pages: limit readers.max_pages is {limits.max_pages}; this file has {total}"
        )
    pages: list[Page] = []
    started = time.monotonic()
    for index in range(total):
        begun = time.monotonic()
        try:
            pages.append(read_page(document, index, limits.max_drawing_bytes))
        except Exception as error:
            raise DamagedFile(
                f"page {index + 1} of {total} cannot be read ({type(error).__name__});"
                " the file may be cut short"
            ) from error
        _check_time(index + 1, time.monotonic() - begun, time.monotonic() - started, limits)
        if progress is not None:
            progress(index + 1, total)
    return pages


def _without_typewriter(pages: list[Page]) -> list[Page]:
    """Return the pages; where most text is of equal width, as typed, that says nothing of code."""
    counts: Counter[bool] = Counter()
    for page in pages:
        for line in page.lines:
            counts[line.mono] += len(line.text)
    if counts[True] <= counts[False]:
        return pages
    return [
        replace(page, lines=tuple(replace(line, mono=False) for line in page.lines))
        for page in pages
    ]


def _check_time(page: int, page_s: float, all_s: float, limits: PdfLimits) -> None:
    """Raise TooLarge where a page, or all pages so far, took too long."""
    if page_s > limits.seconds_per_page:
        raise TooLarge(
            f"too much time needed: limit seconds_per_page is {limits.seconds_per_page:g};"
            f" page {page} took {page_s:.1f}"
        )
    if all_s > limits.seconds:
        raise TooLarge(
            f"too much time needed: limit readers.wall_s is {limits.seconds:g};"
            f" {page} pages took {all_s:.1f}"
        )


def _check_text(pages: Sequence[Page], quality: Quality, *, repaired: bool) -> None:
    """Raise where no page has any text."""
    if any(page.lines for page in pages):
        return
    if quality.without_text:
        raise NoTextLayer(
            f"none of the {len(pages)} pages has text: they are pictures or drawings;"
            " text recognition is needed to read them"
        )
    if repaired:
        raise DamagedFile("the PDF is damaged, and nothing is left on its pages")
    raise EmptyFile(
        f"the PDF has {len(pages)} pages with nothing on them; pages with text are needed"
    )


def _warnings(
    pages: Sequence[Page], quality: Quality, limits: PdfLimits, *, repaired: bool
) -> list[Warning]:
    """Return what went less than well."""
    found: list[Warning] = []
    if repaired:
        found.append(
            Warning("DAMAGED", "the PDF is damaged; it was repaired, parts may be missing")
        )
    found += quality.warnings()
    broken = [page.number for page in pages if page.broken_characters]
    if broken:
        total = sum(page.broken_characters for page in pages)
        found.append(
            Warning(
                "REPLACED_CHARACTERS", f"{total} characters are no text and were replaced", broken
            )
        )
    left = [p.number for p in pages if not p.searched or p.rules.count > limits.max_rules]
    if left:
        found.append(
            Warning(
                "TRUNCATED_TABLE",
                "tables there were left as text: more drawn lines than the limit max_rules,"
                f" {limits.max_rules}, or more content than max_drawing_bytes,"
                f" {limits.max_drawing_bytes}",
                left,
            )
        )
    return found


def _pieces(pages: Sequence[Page], outline: Sequence[Entry], limits: PdfLimits) -> list[Piece]:
    """Return the pieces of all pages with headings marked, joined over pages."""
    body_size = _body_size(pages)
    titles = frozenset((entry.page, folded(entry.title)) for entry in outline)
    taken = furniture(pages, body_size, titles)
    keys = count()
    parts: list[PagePart] = []
    for page in pages:
        parts += parts_of(page, taken.get(page.number, set()), limits.max_rules, keys)
    rows = [row for part in parts if isinstance(part, RowPart) for row in part.rows]
    words = {word for row in rows for word in words_of(row.text)}
    bound = bind(outline, rows)
    pieces = with_captions(with_headings(pieces_of(parts, bound.entries, words), bound, body_size))
    return with_joined_paragraphs(with_joined_tables(pieces), body_size, words)


def _body_size(pages: Sequence[Page]) -> float:
    """Return the font size of most characters, in points, in steps of a half."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0
