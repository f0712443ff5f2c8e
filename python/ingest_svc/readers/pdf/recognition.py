"""Pages whose text is a picture, read by an engine: as lines of the page, or as whole blocks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from ingest_svc.readers.block import Block, BlockKind, Warning
from ingest_svc.readers.jail import page_time
from ingest_svc.readers.limits import too_large
from ingest_svc.readers.markdown import read_markdown
from ingest_svc.readers.ocr import Tesseract, VisionError, how_to_get, tesseract_for
from ingest_svc.readers.pdf.lines import Page
from ingest_svc.readers.pdf.pictures import picture_of, png_of
from ingest_svc.readers.pdf.quality import Quality

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_LONGEST_REASON = 300
_DOUBTFUL = 0.75
"""Where less of a page's recognised text looks like words, it is doubtful."""


@contextmanager
def timed_page(number: int, source: Source) -> Iterator[None]:
    """Allow the time for a page, its number from 1; a reader process ends where it is passed.

    Raises:
        TooLarge: it was passed outside of a reader process.
    """
    most = source.limits.max_page_s
    begun = time.monotonic()
    with page_time(most, number):
        yield
    took = time.monotonic() - begun
    if took > most:
        raise too_large(source.limits, "max_page_s", f"page {number}, which took {took:.1f} s")


@dataclass(slots=True)
class Recognised:
    """What engines read."""

    pages: list[Page]
    """All pages; those that Tesseract read with its lines."""
    quality: Quality
    """Which of them have no text, or bad text, and were not read."""
    blocks: dict[int, list[Block]] = field(default_factory=dict)
    """What a vision service read, by page."""
    read: set[int] = field(default_factory=set)
    """Numbers of the pages that an engine found text on."""
    doubtful: set[int] = field(default_factory=set)
    """Those where it hardly looks like text."""
    failed: dict[int, str] = field(default_factory=dict)
    """Why an engine failed, by page."""
    languages: str = ""
    """That Tesseract looked for."""
    complaint: str = ""
    """What is to be said of languages that were asked for and are not there."""
    advice: str = ""
    """What is to be done so that pages are read; empty where engines did all they can."""

    def warnings(self) -> list[Warning]:
        """Return what went less than well."""
        found = []
        for reason in dict.fromkeys(self.failed.values()):
            pages = sorted(number for number, why in self.failed.items() if why == reason)
            message = f"an engine failed on pictures of text: {reason[:_LONGEST_REASON]}"
            found.append(Warning("OCR_FAILED", message, pages))
        if self.doubtful:
            message = (
                "what was recognised there hardly looks like words; is it in one of the languages"
                f" asked for, {self.languages}?"
            )
            found.append(Warning("BAD_TEXT_LAYER", message, sorted(self.doubtful)))
        if self.complaint and self.read:
            found.append(Warning("OCR_FAILED", self.complaint, sorted(self.read)))
        return found

    def merged(self, blocks: list[Block]) -> list[Block]:
        """Return blocks with those of a vision service in their place."""
        result = list(blocks)
        for page, own in sorted(self.blocks.items(), reverse=True):
            places = (at for at, block in enumerate(result) if block.page_start > page)
            at = next(places, len(result))
            result[at:at] = own
        return result


def recognised(
    document: Any, pages: Sequence[Page], quality: Quality, source: Source
) -> Recognised:
    """Return the pages with what the engines of the settings read on those that need it.

    Args:
        document: The open pymupdf document.
        pages: Its pages.
        quality: Which of them have no text, or bad text.
        source: Says whether, with what and in which languages.
    """
    result = Recognised(list(pages), quality)
    mode, languages = source.options.ocr, source.options.ocr_languages
    wanted = _wanted(pages, quality, mode)
    result.advice = how_to_get(source.ocr, languages, mode)
    if not wanted or result.advice:
        return result
    engine = tesseract_for(source.ocr, languages)
    if engine is not None:
        result.complaint, result.languages = engine.complaint(), engine.languages
        engine = engine if engine.languages else None
    for done, number in enumerate(wanted, 1):
        page = document[number - 1]
        if not _seen(page, number, source, result) and engine is not None:
            _recognise(page, number, engine, source, result)
        if source.progress is not None:
            source.progress(done, len(wanted))
    result.quality = quality.without(result.read)
    return result


def _wanted(pages: Sequence[Page], quality: Quality, mode: str) -> list[int]:
    if mode == "force":
        return [page.number for page in pages if page.number not in quality.blank]
    return sorted({*quality.without_text, *quality.bad_text})


def _seen(page: Any, number: int, source: Source, result: Recognised) -> bool:
    """Have a vision service read a page; tell whether it did."""
    if not source.ocr.vision_url:
        return False
    try:
        if source.look is None:
            raise VisionError("the vision service can only be asked from within a service")
        with timed_page(number, source):
            png = png_of(page, source.ocr.dpi)
        text = source.look(png)
    except VisionError as error:
        result.failed[number] = str(error)
        return False
    blocks = read_markdown(replace(source, text=text)).blocks
    if not blocks:
        return False
    result.blocks[number] = [_of_page(block, number) for block in blocks]
    result.read.add(number)
    result.pages[number - 1] = msgspec.structs.replace(result.pages[number - 1], lines=())
    return True


def _of_page(block: Block, number: int) -> Block:
    stated = block.stated and block.kind is not BlockKind.HEADING
    return msgspec.structs.replace(block, page_start=number, page_end=number, stated=stated)


def _recognise(
    page: Any, number: int, engine: Tesseract, source: Source, result: Recognised
) -> None:
    """Have Tesseract read a page."""
    from ingest_svc.readers.ocr.tesseract import RecognitionFailed, recognised_page

    try:
        with timed_page(number, source):
            found = recognised_page(picture_of(page, source.ocr.dpi), engine)
    except RecognitionFailed as error:
        result.failed.setdefault(number, str(error))
        return
    if not found.lines:
        return
    result.read.add(number)
    if found.share < _DOUBTFUL:
        result.doubtful.add(number)
    result.pages[number - 1] = Page(
        number=number,
        width=found.width,
        height=found.height,
        lines=found.lines,
        rules=found.rules,
        drawings=0,
        searched=True,
        picture_share=1.0,
        broken_characters=0,
    )
