"""PDF: text by geometry, without a layout model unless one is asked for.

The order of things: open, read pages, have pages without text looked at, make blocks of them
(`structure`), read what is attached. Each step is one file of this folder; pymupdf is known to few
of them. Not safe for threads: one document at a time in a process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest_svc.readers.block import ParsedFile, Warning
from ingest_svc.readers.limits import check
from ingest_svc.readers.pdf.attached import read_attached
from ingest_svc.readers.pdf.facts import dates_of, metadata_of, title_of
from ingest_svc.readers.pdf.open import open_pdf, outline_of
from ingest_svc.readers.pdf.pages import read_page
from ingest_svc.readers.pdf.quality import quality_of
from ingest_svc.readers.pdf.recognition import recognised, timed_page
from ingest_svc.readers.pdf.report import check_text, counts_of, warnings_of
from ingest_svc.readers.pdf.structure import blocks_of_pages
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.pdf.lines import Page
    from ingest_svc.readers.source import Source

MEDIA_TYPE = "application/pdf"


def read_pdf(source: Source) -> ParsedFile:
    """Return the blocks of a PDF in reading order.

    Raises:
        EmptyFile: No bytes, or pages with nothing on them.
        DamagedFile: It cannot be opened, or nothing is left of it.
        EncryptedFile: It needs a password and none was given.
        WrongPassword: The one given does not open it.
        UnsupportedEncryption: It is encrypted in a way that is not read.
        NoTextLayer: Its pages are pictures, and no engine reads them.
        TooLarge: A limit was passed; the message names it and its value.
    """
    document = open_pdf(source.data, source.password)
    try:
        return _parsed(document, source)
    finally:
        document.close()


def _parsed(document: Any, source: Source) -> ParsedFile:
    limits = source.limits
    check(limits, "max_pages", document.page_count)
    repaired = bool(document.is_repaired)
    pages = _pages(document, source)
    looked = recognised(document, pages, quality_of(pages), source)
    repaired = repaired or bool(document.is_repaired)
    attached = read_attached(document, source)
    if not attached.read:
        check_text(looked, repaired=repaired)
    outline, outline_entries = outline_of(document, limits.max_outline_entries)
    counts = counts_of(looked)
    blocks = blocks_of_pages(looked.pages, outline, limits.max_page_rules)
    return ParsedFile(
        blocks=looked.merged(blocks) + attached.blocks,
        media_type=MEDIA_TYPE,
        title=title_of(document),
        page_count=len(pages),
        counts=counts
        | {
            "outline": outline_entries,
            "attachments": document.embfile_count(),
            "skipped": counts["skipped"] + attached.skipped,
        },
        warnings=[
            *warnings_of(looked, limits, repaired=repaired),
            *attached.warnings,
            *_unmet(source),
        ],
        metadata=metadata_of(document),
        dates=dates_of(document),
    )


def _unmet(source: Source) -> list[Warning]:
    """Return what was asked for and was not done."""
    if source.options.pdf_mode != "layout":
        return []
    message = 'pdf_mode is "layout", which is not there yet; the file was read as with "fast"'
    return [Warning("SKIPPED_PART", message)]


def _pages(document: Any, source: Source) -> list[Page]:
    """Return all pages, within the limits."""
    total = document.page_count
    pages: list[Page] = []
    for index in range(total):
        with timed_page(index + 1, source):
            pages.append(_page(document, index, source))
        if source.progress is not None:
            source.progress(index + 1, total)
    return pages


def _page(document: Any, index: int, source: Source) -> Page:
    try:
        return read_page(document, index, source.limits.max_page_drawing_bytes)
    except Exception as error:
        raise DamagedFile(
            f"page {index + 1} of {document.page_count} cannot be read"
            f" ({type(error).__name__}); the file may be cut short"
        ) from error
