"""Picture files: a page for each picture, read as the pages of a scan are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest_svc.readers import filetypes
from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.images.facts import facts_of
from ingest_svc.readers.images.heads import sizes_of
from ingest_svc.readers.limits import check
from ingest_svc.readers.pdf.lines import Page, Rules
from ingest_svc.readers.pdf.open import open_picture
from ingest_svc.readers.pdf.quality import Quality
from ingest_svc.readers.pdf.recognition import recognised
from ingest_svc.readers.pdf.report import check_text, counts_of, warnings_of
from ingest_svc.readers.pdf.structure import blocks_of_pages
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_KINDS = {
    b"\x89PNG": (filetypes.PNG, "png"),
    b"\xff\xd8\xff": (filetypes.JPEG, "jpg"),
    b"GIF8": (filetypes.GIF, "gif"),
    b"II*\0": (filetypes.TIFF, "tiff"),
    b"MM\0*": (filetypes.TIFF, "tiff"),
    b"BM": (filetypes.BMP, "bmp"),
}


def read_image(source: Source) -> ParsedFile:
    """Return the blocks of a picture file, as far as an engine reads it.

    Raises:
        DamagedFile: it cannot be opened.
        NoTextLayer: no engine reads it, or none finds text.
        TooLarge: a limit was passed; the message names it and its value.
    """
    kind, suffix = next(found for start, found in _KINDS.items() if source.data.startswith(start))
    for number, (width, height) in enumerate(sizes_of(source.data), 1):
        check(source.limits, "max_pages", number)
        check(source.limits, "max_image_pixels", width * height)
        if not width or not height:
            raise DamagedFile(f"the picture is {width} by {height} pixels by its head")
    document = open_picture(source.data, suffix)
    try:
        return _parsed(document, source, kind.media_type)
    finally:
        document.close()


def _parsed(document: Any, source: Source, media_type: str) -> ParsedFile:
    pages = [_page(number) for number in range(1, document.page_count + 1)]
    check(source.limits, "max_pages", len(pages))
    quality = Quality(tuple(page.number for page in pages), (), ())
    looked = recognised(document, pages, quality, source)
    check_text(looked, repaired=False)
    facts = facts_of(source.data)
    return ParsedFile(
        blocks=looked.merged(blocks_of_pages(looked.pages, (), source.limits.max_page_rules)),
        media_type=media_type,
        title=facts.title,
        page_count=len(pages),
        counts=counts_of(looked),
        warnings=warnings_of(looked, source.limits, repaired=False),
        metadata=dict(facts.metadata),
        dates=facts.dates,
    )


def _page(number: int) -> Page:
    """Return a page as long as nothing of it was read."""
    return Page(
        number=number,
        width=0.0,
        height=0.0,
        lines=(),
        rules=Rules(),
        drawings=0,
        searched=True,
        picture_share=1.0,
        broken_characters=0,
    )
