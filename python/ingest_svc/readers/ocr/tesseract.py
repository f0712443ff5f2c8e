"""Recognition by Tesseract, as PyMuPDF has it built in; only language files are needed.

Where what comes out hardly looks like text, the page may stand on its side or its head: a part of
it is tried in all directions, and the one that reads best is taken. Where much ink is left over,
as of a headline that Tesseract takes for a drawing, the rest is read once more by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pymupdf

from ingest_svc.readers.ocr.areas import OneColumn, one_column
from ingest_svc.readers.ocr.words import INK, Word, lines_of, rows_of
from ingest_svc.readers.pdf.lines import Box, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest_svc.readers.ocr import Tesseract
    from ingest_svc.readers.ocr.picture import Picture
    from ingest_svc.readers.pdf.lines import Line

_mupdf: Any = pymupdf.mupdf
_pixmap: Any = pymupdf.Pixmap
_text_page: Any = pymupdf.TextPage
_SURE_SHARE = 0.85
"""With so much of a text in what looks like words, the page is upright: upside down, many letters
look like others."""
_PLAIN_SHARE = 0.55
"""With less it may be text, but says nothing."""
_LEAST_SHARE = 0.4
"""With less it is no text at all: specks, a photograph."""
_BETTER = 0.1
_FEW = 16
"""Fewer letters than this say nothing of the direction."""
_EVEN = 0.5
"""Characters of one word are no further apart than this, in pixels."""
_LEFT_OVER = 0.03
"""A share of the ink that is looked at once more."""
_AROUND = 2
"""Pixels around a word that are its own."""
_PART = re.compile(r"[^\W_]+")
_WORD = re.compile(
    r"[^\W\d_]?[a-zà-ÿа-яёα-ω]{2,}|[A-ZÀ-ÞА-ЯΑ-Ω]{3,}|[a-z]?[aeiouy][a-z]?|\d+|[^\W\d_A-Za-z]{2,}"
)
"""A word, an abbreviation, a number, or letters of another script."""


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """What was recognised on a page; places in points of the page as it was turned."""

    width: float
    height: float
    lines: tuple[Line, ...]
    """Empty where there is no text."""
    rules: Rules
    share: float
    """How much of the text is in what looks like words, 0 to 1."""


class RecognitionFailed(Exception):
    """The engine failed on a page."""


def recognised_page(picture: Picture, engine: Tesseract) -> RecognisedPage:
    """Return what Tesseract reads on a page.

    Raises:
        RecognitionFailed: it stopped with an error.
    """
    level = picture.levelled()
    page = _read(level, engine)
    if page.share < _SURE_SHARE and (quarters := _better_turn(level, engine)):
        page = _read(level.turned(quarters), engine)
    return page if page.share >= _LEAST_SHARE else replace(page, lines=())


def _better_turn(picture: Picture, engine: Tesseract) -> int:
    """Return by how many quarter turns a page reads better; 0 where it is upright."""
    sample = picture.densest_band()
    tried = [_read(sample.turned(quarters), engine) for quarters in range(4)]
    likely = [
        page.share if _letters(page) >= _FEW and page.share >= _PLAIN_SHARE else 0.0
        for page in tried
    ]
    best = likely.index(max(likely))
    # Upright stays where another direction is hardly better.
    return best if likely[best] > tried[0].share + _BETTER else 0


def _read(picture: Picture, engine: Tesseract) -> RecognisedPage:
    """Return what is read in one direction."""
    clear, rules = picture.without_rules()
    words = _words(clear, engine)
    if _plain_share(word.text for word in words) >= _PLAIN_SHARE:
        words = _with_left_over(words, clear, engine)
    upright = [
        (at / picture.scale, start / picture.scale, end / picture.scale)
        for at, start, end in rules.vertical
    ]
    text = lines_of(words, clear, upright)
    height, width = picture.pixels.shape
    return RecognisedPage(
        width * text.scale,
        height * text.scale,
        text.lines,
        _scaled(rules, text.scale / picture.scale),
        _plain_share(line.text for line in text.lines),
    )


def _with_left_over(words: list[Word], picture: Picture, engine: Tesseract) -> list[Word]:
    """Return the words with those of the ink that they leave, row by row in their place."""
    pixels = picture.pixels.copy()
    for word in words:
        x0, y0, x1, y1 = (int(place) for place in word.box)
        top, left = max(y0 - _AROUND, 0), max(x0 - _AROUND, 0)
        pixels[top : y1 + _AROUND + 1, left : x1 + _AROUND + 1] = 255
    ink = int((picture.pixels < INK).sum())
    if int((pixels < INK).sum()) < _LEFT_OVER * ink:
        return words
    result = list(words)
    rest = _words(replace(picture, pixels=pixels), engine)
    for row in rows_of(rest):
        if _plain_share(word.text for word in row) < _PLAIN_SHARE:
            continue
        below = (at for at, word in enumerate(result) if word.box.y0 >= row[0].box.y1)
        at = next(below, len(result))
        result[at:at] = row
    return result


def _scaled(rules: Rules, ratio: float) -> Rules:
    return Rules(
        tuple((at * ratio, start * ratio, end * ratio) for at, start, end in rules.horizontal),
        tuple((at * ratio, start * ratio, end * ratio) for at, start, end in rules.vertical),
    )


def _words(picture: Picture, engine: Tesseract) -> list[Word]:
    """Return the engine's words, places in pixels."""
    column = one_column(picture)
    if column is None:
        return []
    words = [
        _word(chars, column)
        for block in _blocks(column.picture, engine)
        for line in block.get("lines", ())
        for chars in _by_word(line)
    ]
    return [word for word in words if word.text.strip()]


def _blocks(picture: Picture, engine: Tesseract) -> list[dict[str, Any]]:
    """Return what the library makes of a picture, one unit to a pixel."""
    height, width = picture.pixels.shape
    pixmap = _pixmap(pymupdf.csGRAY, width, height, picture.pixels.tobytes(), False)
    frame = _mupdf.FzRect(0, 0, width, height)
    found = _mupdf.FzStextPage(frame)
    try:
        # The engine says where words end; the gaps between its letters say nothing.
        options = _mupdf.FzStextOptions(pymupdf.TEXT_INHIBIT_SPACES)
        target = _mupdf.fz_new_stext_device(found, options)
        # Of the library's ways to Tesseract this is the one that keeps the box of every word.
        reader = _mupdf.fz_new_ocr_device(
            target,
            _mupdf.FzMatrix(),
            frame,
            0,
            engine.languages,
            str(engine.folder),
            None,
            None,
        )
        image = _mupdf.fz_new_image_from_pixmap(pixmap.this, _mupdf.FzImage())
        placed = _mupdf.FzMatrix(width, 0, 0, height, 0, 0)
        _mupdf.fz_fill_image(reader, image, placed, 1.0, _mupdf.FzColorParams())
        _mupdf.fz_close_device(reader)
        _mupdf.fz_close_device(target)
        blocks: list[dict[str, Any]] = _text_page(found).extractRAWDICT()["blocks"]
    except Exception as error:
        raise RecognitionFailed(f"Tesseract failed ({type(error).__name__})") from error
    return blocks


def _by_word(line: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Return the characters of each word of a line.

    The library sets a word's characters evenly into its box, so that each starts where the one
    before ends, and drops the spaces that the engine found.
    """
    word: list[dict[str, Any]] = []
    for char in (char for span in line["spans"] for char in span["chars"]):
        if word:
            gap = char["bbox"][0] - word[-1]["bbox"][2]
            if abs(gap) > _EVEN or char["origin"][1] != word[-1]["origin"][1]:
                yield word
                word = []
        word.append(char)
    if word:
        yield word


def _word(chars: list[dict[str, Any]], column: OneColumn) -> Word:
    """Return a word in its place on the page."""
    # The boxes that the library gives are those of a font: a word starts at the origin and is
    # about half as high.
    y0 = chars[0]["origin"][1]
    y1 = y0 + (chars[0]["bbox"][3] - chars[0]["bbox"][1]) / 2
    across, down = column.shift((y0 + y1) / 2)
    box = Box(chars[0]["bbox"][0] + across, y0 + down, chars[-1]["bbox"][2] + across, y1 + down)
    return Word("".join(char["c"] for char in chars), box)


def _letters(page: RecognisedPage) -> int:
    return sum(sign.isalnum() for line in page.lines for sign in line.text)


def _plain_share(texts: Iterable[str]) -> float:
    """Return the share of signs that are in what looks like words."""
    signs = plain = 0
    for text in texts:
        signs += len(text) - text.count(" ")
        plain += sum(len(part) for part in _PART.findall(text) if _WORD.fullmatch(part))
    return plain / signs if signs else 0.0
