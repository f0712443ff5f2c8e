"""The pixels of a page, made ready for recognition: shading levelled, drawn rules taken out.

Tesseract takes shaded cells for ink and the rules of a table for letters, and then loses most of
what stands there. Both are undone first. The rules are kept, since a table is known by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ingest_svc.readers.pdf.lines import Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DARK = 128
_DARKEST_GROUND = 64
"""A ground darker than this is left as it is: it may be a bar of ink."""
_RULE_INCH = 0.5
"""Straight runs of dark pixels of this length are rules; no letter has such."""
_THICK_INCH = 0.06
"""What is thicker is no rule but a dark area."""
_GROUND_INCH = 0.12
"""Side of the squares whose lightest pixel is taken for the ground."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as grey pixels, from black 0 to white 255."""

    pixels: NDArray[np.uint8]
    dpi: float

    @property
    def scale(self) -> float:
        """Return how many points a pixel takes."""
        return 72.0 / self.dpi

    def turned(self, quarters: int) -> Picture:
        """Return the picture turned clockwise by quarter turns."""
        return Picture(np.ascontiguousarray(np.rot90(self.pixels, -quarters)), self.dpi)

    def densest_band(self) -> Picture:
        """Return the part of the page, a fifth as high, that most ink is in."""
        height = max(self.pixels.shape[0] // 5, 1)
        ink = np.cumsum(np.count_nonzero(self.pixels < _DARK, axis=1))
        inside = ink[height - 1 :] - np.concatenate(([0], ink[:-height]))
        top = int(np.argmax(inside))
        return Picture(self.pixels[top : top + height], self.dpi)

    def levelled(self) -> Picture:
        """Return the picture with its ground made white, square by square."""
        side = max(8, round(self.dpi * _GROUND_INCH))
        height, width = self.pixels.shape
        rows, columns = -(-height // side), -(-width // side)
        padded = np.zeros((rows * side, columns * side), np.uint8)
        padded[:height, :width] = self.pixels
        ground = padded.reshape(rows, side, columns, side).max(axis=(1, 3))
        ground[ground < _DARKEST_GROUND] = 255
        spread = np.repeat(np.repeat(ground, side, 0), side, 1)[:height, :width]
        # 255 * 255 fits into 16 bits.
        level = self.pixels.astype(np.uint16) * 255 // spread
        return Picture(np.minimum(level, 255).astype(np.uint8), self.dpi)

    def without_rules(self) -> tuple[Picture, Rules]:
        """Return the picture without straight drawn lines, and these, in points."""
        dark = self.pixels < _DARK
        level = _rule_mask(dark, self.dpi)
        upright = _rule_mask(np.ascontiguousarray(dark.T), self.dpi)
        if not level.any() and not upright.any():
            return self, Rules()
        pixels = self.pixels.copy()
        pixels[_grown(level | upright.T)] = 255
        rules = Rules(_segments(level, self), _segments(upright, self))
        return Picture(pixels, self.dpi), rules


def rows_with_ink(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of each row of pixels whether any of it is ink."""
    return np.asarray(ink.any(axis=1))


def columns_with_ink(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of each column of pixels whether any of it is ink."""
    return np.asarray(ink.any(axis=0))


def _runs(mask: NDArray[np.bool_], least: int) -> tuple[NDArray[np.intp], ...]:
    """Return row, start and end of the level runs of a mask that are at least so long."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    long = ends - starts >= least
    return rows[long], starts[long], ends[long]


def _painted(shape: tuple[int, int], runs: tuple[NDArray[np.intp], ...]) -> NDArray[np.bool_]:
    mask = np.zeros(shape, bool)
    for row, start, end in zip(*runs, strict=True):
        mask[row, start:end] = True
    return mask


def _rule_mask(dark: NDArray[np.bool_], dpi: float) -> NDArray[np.bool_]:
    """Return the pixels of level rules: long runs that are thin."""
    mask = _painted(dark.shape, _runs(dark, round(dpi * _RULE_INCH)))
    if not mask.any():
        return mask
    across = np.ascontiguousarray(mask.T)
    thick = _painted(across.shape, _runs(across, max(3, round(dpi * _THICK_INCH))))
    return mask & ~thick.T


def _grown(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask one pixel larger all round, since the edges of rules are grey."""
    grown = mask.copy()
    grown[1:] |= mask[:-1]
    grown[:-1] |= mask[1:]
    grown[:, 1:] |= mask[:, :-1]
    grown[:, :-1] |= mask[:, 1:]
    return grown


def _segments(mask: NDArray[np.bool_], picture: Picture) -> tuple[tuple[float, float, float], ...]:
    """Return the rules of a mask as place, start and end in points, one for each that is seen."""
    scale = picture.scale
    runs = _runs(mask, round(picture.dpi * _RULE_INCH * 0.5))
    found: list[tuple[int, int, int]] = []
    for row, start, end in zip(*runs, strict=True):
        # A rule of several pixels' thickness has a run on each of its rows.
        above = next((at for at in reversed(found[-64:]) if _touches(at, row, start, end)), None)
        if above is None:
            found.append((int(row), int(start), int(end)))
            continue
        found.remove(above)
        found.append((int(row), min(above[1], int(start)), max(above[2], int(end))))
    return tuple((row * scale, start * scale, end * scale) for row, start, end in found)


def _touches(rule: tuple[int, int, int], row: int, start: int, end: int) -> bool:
    return row - rule[0] <= 1 and start < rule[2] and rule[1] < end
