"""Recognised words as lines of a page, as if a text layer had held them.

An engine's boxes are those of its rows, taller than the words where a row slants; each word is
measured again by its ink. The size of the letters follows from the height of the ink and from
which letters there are: "oxen" is half as tall as "(high)".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from ingest_svc.readers.ocr.picture import columns_with_ink, rows_with_ink
from ingest_svc.readers.pdf.lines import Box, Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ingest_svc.readers.ocr.picture import Picture

INK = 160
"""Pixels darker than this are ink."""
_ASCENT, _WAIST, _DESCENT = 0.72, 0.52, 0.21
"""Heights of letters above and below the baseline, as shares of the size."""
_LOW = frozenset("acemnorsuvwxz.,:;-–—_~=+<>«»")
_BELOW = frozenset("gjpqyQ,;()[]{}|/§ß@$")
_NO_HEIGHT = frozenset(".,:;-–—_~=+'’‘\"“”*^°`•·")
"""Signs too small to tell a size by."""
_SHORT_WORD = re.compile(r"[a-z]?[aeiouy][a-z]?|\d+|\w{4,}")
"""What is no bit of another word."""
_MARGIN, _CLEAR = 4, 2
"""Pixels beside a word that are looked at, and of these the outermost, that should be ground."""
_WORD_GAP = 1.8
"""Words of one row that are further apart, in sizes, are cells."""
_USUAL_SIZE = 10.0
_SANE_SIZES = (6.0, 16.0)
"""Pages whose letters are of other sizes, in points, state no real size; they are scaled."""
_SAME_SIZE = 0.22
"""Sizes this close to the page's usual one count as that one: they are measured, not stated."""
_TALL = 3.5
"""Marks of one or two signs this many usual sizes tall are no text."""


_NEAR = 60
"""Words this far from each other in the engine's order cannot be bits of one another."""

_Rule = tuple[float, float, float]
"""Where an upright rule stands, and from where to where it runs."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as an engine gives it; places in pixels."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """The lines of a page, in points, and how the page was scaled for them."""

    lines: tuple[Line, ...]
    scale: float
    """Points to a pixel."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """A word with the height of its ink."""

    word: Word
    box: Box
    size: float
    """Of its letters, in pixels; 0 where it is too small to tell."""
    baseline: float


def lines_of(words: Sequence[Word], picture: Picture, upright: Sequence[_Rule]) -> RecognisedText:
    """Return the lines that an engine's words make up.

    Args:
        words: The words in reading order.
        picture: What they were read from.
        upright: Rules that part cells, in pixels.
    """
    ink = picture.pixels < INK
    measured = [one for word in words if (one := _measured(word, ink)) is not None]
    measured = _without_scraps(measured)
    sizes = [one.size for one in measured if one.size for _ in one.word.text]
    usual = median(sizes) if sizes else _USUAL_SIZE / picture.scale
    low, high = _SANE_SIZES
    is_sane = low <= usual * picture.scale <= high
    scale = picture.scale if is_sane else _USUAL_SIZE / usual
    lines = [
        _line(group, usual, scale, order)
        for order, group in enumerate(_groups(measured, usual, upright))
    ]
    return RecognisedText(tuple(line for line in lines if _is_text(line, usual * scale)), scale)


def rows_of(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words by row, where they follow each other in it."""
    rows: list[list[Word]] = []
    for word in words:
        if rows and _is_beside(rows[-1][-1].box, word.box):
            rows[-1].append(word)
        else:
            rows.append([word])
    return rows


def _is_beside(last: Box, box: Box) -> bool:
    shared = min(last.y1, box.y1) - max(last.y0, box.y0)
    return box.x0 > last.x0 and shared > 0.4 * min(last.height, box.height)


def _measured(word: Word, ink: NDArray[np.bool_]) -> _Measured | None:
    """Return a word measured by its ink; None where there is none."""
    left, top = max(round(word.box.x0), _MARGIN), max(int(word.box.y0), 0)
    right, bottom = round(word.box.x1), int(np.ceil(word.box.y1))
    band = _band_of(ink[top:bottom, left - _MARGIN : right + _MARGIN])
    if band is None:
        return None
    box = Box(word.box.x0, float(top + band[0]), word.box.x1, float(top + band[1]))
    text = word.text
    low = all(letter in _LOW for letter in text)
    below = any(letter in _BELOW for letter in text)
    drop = _DESCENT if below else 0.0
    share = (_WAIST if low else _ASCENT) + drop
    size = 0.0 if all(letter in _NO_HEIGHT for letter in text) else box.height / share
    return _Measured(word, box, size, box.y1 - drop * size)


def _band_of(ink: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return the rows of a word's ink, given with a margin on both sides; None where there is none.

    What reaches into the box from the rows above and below is parted from it by ground, and does
    not start and end where the word does.
    """
    filled = np.flatnonzero(rows_with_ink(ink[:, _MARGIN:-_MARGIN]))
    if not len(filled):
        return None
    cuts = np.flatnonzero(np.diff(filled) > 1)
    starts = [int(filled[0]), *(int(filled[cut + 1]) for cut in cuts)]
    ends = [*(int(filled[cut]) + 1 for cut in cuts), int(filled[-1]) + 1]
    bands = list(zip(starts, ends, strict=True))
    tallest = max(bands, key=lambda band: _fit(ink[band[0] : band[1]]))
    # Dots and accents stand apart from their letters.
    reach = 0.5 * (tallest[1] - tallest[0])
    near = [band for band in bands if _gap(band, tallest) <= reach and _is_mark(band, tallest)]
    return min(start for start, _ in near), max(end for _, end in near)


def _gap(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(one[0] - other[1], other[0] - one[1], 0)


def _is_mark(band: tuple[int, int], letters: tuple[int, int]) -> bool:
    return band == letters or 3 * (band[1] - band[0]) <= letters[1] - letters[0]


def _fit(ink: NDArray[np.bool_]) -> float:
    """Return how well a band fits a word: full, high, and with ground at both of its ends."""
    columns = columns_with_ink(ink)
    inside = columns[_MARGIN:-_MARGIN]
    clear = (not columns[:_CLEAR].any()) + (not columns[-_CLEAR:].any())
    return float(inside.mean() * len(ink) * (1.0 + clear))


def _without_scraps(words: list[_Measured]) -> list[_Measured]:
    """Return the words without bits of others that the engine took for words of their own."""
    return [
        word
        for at, word in enumerate(words)
        if _SHORT_WORD.fullmatch(word.word.text)
        or not any(
            len(other.word.text) > len(word.word.text) and _holds(other.box, word.box)
            for other in words[max(at - _NEAR, 0) : at + _NEAR]
        )
    ]


def _holds(box: Box, scrap: Box) -> bool:
    width = min(box.x1, scrap.x1) - max(box.x0, scrap.x0)
    height = min(box.y1, scrap.y1) - max(box.y0, scrap.y0)
    return width > 0 and height > 0 and width * height > 0.5 * scrap.width * scrap.height


def _groups(
    words: Sequence[_Measured], usual: float, upright: Sequence[_Rule]
) -> list[list[_Measured]]:
    """Return the words by line: those of one row, cut at wide gaps, steps and rules."""
    groups: list[list[_Measured]] = []
    for one in words:
        last = groups[-1][-1] if groups else None
        if last is not None and _goes_on(last, one, usual) and not _parted(last, one, upright):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _goes_on(last: _Measured, one: _Measured, usual: float) -> bool:
    if not _is_beside(last.box, one.box) and 0.0 not in (last.size, one.size):
        return False
    size = max(last.size, one.size) or usual
    gap = one.box.x0 - last.box.x1
    shared = min(one.box.y1, last.box.y1) - max(one.box.y0, last.box.y0)
    near = shared > -0.5 * size if 0.0 in (last.size, one.size) else shared > 0
    return -size < gap < _WORD_GAP * size and near


def _parted(last: _Measured, one: _Measured, upright: Sequence[_Rule]) -> bool:
    """Tell whether a rule stands between two words."""
    middle = (one.box.y0 + one.box.y1) / 2
    return any(
        last.box.x1 - 2 <= at <= one.box.x0 + 2 and start <= middle <= end
        for at, start, end in upright
    )


def _line(group: Sequence[_Measured], usual: float, scale: float, order: int) -> Line:
    sizes = [one.size for one in group if one.size for _ in one.word.text]
    size = median(sizes) if sizes else usual
    if abs(size - usual) <= _SAME_SIZE * usual:
        size = usual
    baselines = [one.baseline for one in group if one.size] or [one.box.y1 for one in group]
    baseline = median(baselines)
    box = Box(
        group[0].box.x0 * scale,
        (baseline - _ASCENT * size) * scale,
        max(one.box.x1 for one in group) * scale,
        (baseline + _DESCENT * size) * scale,
    )
    return Line(
        box=box,
        text=_text(group),
        size=size * scale,
        bold=False,
        italic=False,
        mono=False,
        visible=True,
        upright=True,
        order=order,
        recognised=True,
    )


def _text(group: Sequence[_Measured]) -> str:
    """Return the words of a line; those of scripts without spaces are set close."""
    text = ""
    for one in group:
        close = text and _is_wide(text[-1]) and _is_wide(one.word.text[0])
        text += one.word.text if close or not text else f" {one.word.text}"
    return text


def _is_wide(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uf900" <= letter <= "\uffef"


def _is_text(line: Line, usual: float) -> bool:
    """Tell whether a line is text and not a speck, a stroke or a drawing taken for letters."""
    signs = line.text.replace(" ", "")
    if not any(sign.isalnum() for sign in signs):
        return len(signs) > 2 and line.size <= 2 * usual
    return len(signs) > 2 or line.size <= _TALL * usual
