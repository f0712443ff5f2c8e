"""The areas of a page that hold text, one column each, and the page as one long column of them.

Tesseract as PyMuPDF runs it takes a page for one block of text and reads rows right across columns.
So the columns are told apart by the ground between them, and set one below the other:

    ┌─────────────┐        ┌──────┐
    │ a a a a a a │        │ a    │
    │ b b     c c │   ->   │ b b  │
    │ b b     c c │        │ c c  │
    └─────────────┘        └──────┘

Cutting between the cells of a table does no harm, since words keep their places.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ingest_svc.readers.ocr.picture import Picture, columns_with_ink, rows_with_ink

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INK = 128
_STRIPS = 24
_LEAST_HEIGHT = 5
"""Pixels; what is lower is a speck."""
_USUAL_HEIGHT_INCH = 0.14
"""Of a row of text, where the page does not tell."""
_GUTTER = 1.2
"""Width of the ground between two columns, in heights of a row."""
_LEAST_ROWS = 3
"""What has fewer rows is no column."""
_SPECKS = 0.004
"""Share of a strip of ground that specks may cover."""
_AROUND = 8
"""Pixels of ground left around an area."""
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Area:
    """A part of a page, in pixels; the ends are left out."""

    x0: int
    y0: int
    x1: int
    y1: int


@dataclass(frozen=True, slots=True)
class OneColumn:
    """A page as one column."""

    picture: Picture
    areas: tuple[Area, ...]
    starts: tuple[int, ...]
    """Where each area starts in the column."""

    def shift(self, y: float) -> tuple[int, int]:
        """Return how far what stands at a height of the column was moved, across and down."""
        place = max(int(np.searchsorted(self.starts, y, side="right")) - 1, 0)
        area = self.areas[place]
        return area.x0 - _AROUND, area.y0 - self.starts[place]


def one_column(picture: Picture) -> OneColumn | None:
    """Return a page as one column; None where there is no ink on it."""
    ink = picture.pixels < _INK
    areas = _areas(ink, row_height(ink, picture.dpi))
    if not areas:
        return None
    width = max(area.x1 - area.x0 for area in areas) + 2 * _AROUND
    height = sum(area.y1 - area.y0 + 2 * _AROUND for area in areas)
    column = np.full((height, width), 255, np.uint8)
    starts: list[int] = []
    at = 0
    for area in areas:
        at += _AROUND
        starts.append(at)
        part = picture.pixels[area.y0 : area.y1, area.x0 : area.x1]
        column[at : at + part.shape[0], _AROUND : _AROUND + part.shape[1]] = part
        at += part.shape[0] + _AROUND
    return OneColumn(Picture(column, picture.dpi), tuple(areas), tuple(starts))


def row_height(ink: NDArray[np.bool_], dpi: float) -> float:
    """Return how high the ink of a row of text is, in pixels."""
    step = max(ink.shape[1] // _STRIPS, 1)
    heights: list[int] = []
    for left in range(0, ink.shape[1], step):
        starts, ends = _filled(rows_with_ink(ink[:, left : left + step]))
        heights += [int(h) for h in ends - starts if _LEAST_HEIGHT <= h <= dpi]
    return float(np.median(heights)) if heights else dpi * _USUAL_HEIGHT_INCH


def _filled(line: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where runs of true values start and end."""
    steps = np.diff(line.astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)


def _areas(ink: NDArray[np.bool_], row: float) -> list[Area]:
    """Return the areas of a page in reading order."""
    found: list[Area] = []
    # Areas still to be cut, the next to be read last.
    waiting = [(Area(0, 0, ink.shape[1], ink.shape[0]), 0)]
    while waiting:
        area, depth = waiting.pop()
        part = ink[area.y0 : area.y1, area.x0 : area.x1]
        pieces = _cut(part, row) if depth < _DEEPEST else []
        if len(pieces) > 1:
            waiting += [(_within(area, piece), depth + 1) for piece in reversed(pieces)]
        elif part.any():
            found.append(_trimmed(area, part))
    return found


def _within(area: Area, piece: Area) -> Area:
    return Area(area.x0 + piece.x0, area.y0 + piece.y0, area.x0 + piece.x1, area.y0 + piece.y1)


def _trimmed(area: Area, part: NDArray[np.bool_]) -> Area:
    """Return an area without the ground around its ink."""
    rows, columns = np.flatnonzero(rows_with_ink(part)), np.flatnonzero(columns_with_ink(part))
    piece = Area(int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return _within(area, piece)


@dataclass(slots=True)
class _Stretch:
    """Rows that follow each other, and the ink in each of their columns of pixels."""

    y0: int
    y1: int
    counts: NDArray[np.intp]
    gutters: list[tuple[int, int]]


def _cut(ink: NDArray[np.bool_], row: float) -> list[Area]:
    """Return the pieces of an area: bands, and within these columns; one where it is a column."""
    stretches: list[_Stretch] = []
    for y0, y1 in zip(*_filled(rows_with_ink(ink)), strict=True):
        counts = ink[y0:y1].sum(axis=0)
        own = _Stretch(int(y0), int(y1), counts, _gutters(counts, y1 - y0, row))
        last = stretches[-1] if stretches else None
        joined = _joined(last, own, row) if last is not None else None
        if joined is not None:
            stretches[-1] = joined
        else:
            stretches.append(own)
    pieces: list[Area] = []
    whole = ink.shape[1]
    open_from = -1
    for stretch in stretches:
        gutters = _between_columns(ink[stretch.y0 : stretch.y1], stretch.gutters)
        if gutters:
            if open_from >= 0:
                pieces.append(Area(0, open_from, whole, stretch.y0))
                open_from = -1
            edges = [0, *((start + end) // 2 for start, end in gutters), whole]
            pieces += [Area(left, stretch.y0, right, stretch.y1) for left, right in pairwise(edges)]
        elif open_from < 0:
            open_from = stretch.y0
    if open_from >= 0:
        pieces.append(Area(0, open_from, whole, stretches[-1].y1))
    return pieces


def _joined(last: _Stretch, own: _Stretch, row: float) -> _Stretch | None:
    """Return two stretches as one where that leaves the gutters of the first, or none has any."""
    counts = last.counts + own.counts
    gutters = _gutters(counts, own.y1 - last.y0, row)
    if bool(last.gutters) != bool(gutters) or (own.gutters and not gutters):
        return None
    return _Stretch(last.y0, own.y1, counts, gutters)


def _between_columns(
    ink: NDArray[np.bool_], gutters: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the gutters that have columns on both sides and not the words of a wide line."""
    if not gutters:
        return []
    kept: list[tuple[int, int]] = []
    start = 0
    ends = [*(gutter[0] for gutter in gutters[1:]), ink.shape[1]]
    for gutter, end in zip(gutters, ends, strict=True):
        left = _row_count(ink[:, start : gutter[0]])
        right = _row_count(ink[:, gutter[1] : end])
        if min(left, right) >= _LEAST_ROWS:
            kept.append(gutter)
            start = gutter[1]
    return kept


def _row_count(ink: NDArray[np.bool_]) -> int:
    starts, ends = _filled(rows_with_ink(ink))
    return int(np.count_nonzero(ends - starts >= _LEAST_HEIGHT))


def _gutters(counts: NDArray[np.intp], height: int, row: float) -> list[tuple[int, int]]:
    """Return the strips of ground between columns of ink."""
    inked = counts > max(1, int(_SPECKS * height))
    starts, ends = _filled(inked)
    return [
        (int(end), int(start))
        for end, start in zip(ends, starts[1:], strict=False)
        if start - end >= _GUTTER * row
    ]
