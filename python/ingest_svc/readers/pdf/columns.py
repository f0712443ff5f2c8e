"""Columns: which parts of a page are read one after the other.

A page is cut in turn: the best gutter (an upright strip that many items begin right of) parts it
into bands, at each item that crosses the gutter. A band with text on both sides is read left
column first; each column is cut again on its own.

    ┌───────────────┐
    │    heading    │  crosses: a band of its own
    ├───────┬───────┤
    │ 1     │ 3     │
    │ 2     │ 4     │
    ├───────┴───────┤
    │     figure    │  crosses
    └───────────────┘

Tables without rules and lists with hanging numbers have gutters too. Two signs tell columns from
them: lines that fill their column, and the file's own order, which runs down a column but along a
table's rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import msgspec

from ingest_svc.readers.pdf.lines import Box, Line, box_around
from ingest_svc.readers.pdf.tables import FoundTable
from ingest_svc.readers.pdf.text import is_number, is_right_to_left, unspaced_count

_MIN_LINES = 3
_MIN_GUTTER = 7.0
_ONE_BASELINE = 3.0
_LEVEL = 1.5
"""Feet of lines within this many points are level."""
_TABLE_ALIGNED = 0.7
"""Share of items level with one of the other side from which on both may be a table."""
_MIN_COLUMN_SHARE = 0.15
_DEEPEST = 6
_FULL, _HALF = (0.8, 28.0), (0.5, 18.0)
"""Fill and letters of lines that are prose for sure, and of those that may be."""


class Item(msgspec.Struct, frozen=True):
    """A line or a table, as far as its place matters."""

    box: Box
    order: int
    weight: float
    """Letters, those of ideographic scripts counted twice."""
    line: Line | None = None
    table: FoundTable | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page that is read as one column."""

    box: Box
    items: tuple[Item, ...]


def item_of_line(line: Line) -> Item:
    """Return a line as an item."""
    weight = float(len(line.text) + unspaced_count(line.text))
    return Item(line.box, line.order, weight, line=line)


def regions_of(items: Sequence[Item]) -> list[Region]:
    """Return the regions of a page in reading order; every item is in exactly one."""
    if not items:
        return []
    text = "".join(item.line.text for item in items if item.line is not None)
    return _cut(list(items), right_to_left=is_right_to_left(text), depth=0)


def _cut(items: list[Item], *, right_to_left: bool, depth: int) -> list[Region]:
    """Return the regions of items, cut at their best gutter as often as there is one."""
    whole = Region(box_around([item.box for item in items]), tuple(items))
    if len(items) < 2 * _MIN_LINES or depth >= _DEEPEST:
        return [whole]
    bands = _best_bands(items, whole.box)
    if bands is None:
        return [whole]
    regions: list[Region] = []
    for band in bands:
        sides = [band.left, band.right]
        for side in reversed(sides) if right_to_left else sides:
            if side:
                regions += _cut(side, right_to_left=right_to_left, depth=depth + 1)
    return regions


@dataclass(frozen=True, slots=True)
class _Band:
    """A strip of a page; `right` is empty where it is read as one."""

    left: list[Item]
    right: list[Item]


def _best_bands(items: list[Item], whole: Box) -> list[_Band] | None:
    """Return the bands of the gutter that puts most text into columns, None where none does."""
    best: list[_Band] | None = None
    most = 0.0
    for gutter in _gutters(items, whole):
        bands = _bands(items, gutter, whole)
        weight = sum(item.weight for band in bands if band.right for item in band.left + band.right)
        if weight > most:
            best, most = bands, weight
    return best


def _gutters(items: list[Item], whole: Box) -> list[float]:
    """Return places that several items begin right of, those of most items first."""
    margin = _MIN_COLUMN_SHARE * whole.width
    starts = sorted(item.box.x0 for item in items)
    inner = [x for x in starts if whole.x0 + margin < x < whole.x1 - margin]
    counted: list[tuple[int, float]] = []
    group: list[float] = []
    for x in [*inner, float("inf")]:
        if group and x - group[0] > 4.0:
            if len(group) >= _MIN_LINES:
                counted.append((len(group), group[0]))
            group = []
        group.append(x)
    return [place for _, place in sorted(counted, key=lambda pair: -pair[0])[:8]]


def _bands(items: list[Item], gutter: float, whole: Box) -> list[_Band]:
    """Return the bands that a gutter makes, from top to bottom."""
    crossing = sorted(
        (item for item in items if item.box.x0 < gutter - 2.0 and item.box.x1 > gutter + 2.0),
        key=lambda item: item.box.y0,
    )
    crossed = {id(item) for item in crossing}
    rest = sorted((item for item in items if id(item) not in crossed), key=lambda item: item.box.y0)
    bands: list[_Band] = []
    pending: list[Item] = []
    at = 0
    for item in [*crossing, None]:
        run: list[Item] = []
        limit = (item.box.y0 + item.box.y1) / 2 if item is not None else float("inf")
        while at < len(rest) and (rest[at].box.y0 + rest[at].box.y1) / 2 <= limit:
            run.append(rest[at])
            at += 1
        left = [one for one in run if one.box.x0 < gutter - 2.0]
        right = [one for one in run if one.box.x0 >= gutter - 2.0]
        if _are_columns(left, right, whole):
            tail = _heads_of_next(left, right, item)
            if pending:
                bands.append(_Band(pending, []))
            bands.append(_Band([one for one in left if one not in tail], right))
            pending = tail
        else:
            pending += run
        if item is not None:
            pending.append(item)
    if pending:
        bands.append(_Band(pending, []))
    return bands


def _heads_of_next(left: list[Item], right: list[Item], crossing: Item | None) -> list[Item]:
    """Return the items at the left column's foot that head the crossing item below."""
    if crossing is None:
        return []
    floor = max(item.box.y1 for item in right)
    below = [item for item in left if item.box.y0 >= floor]
    if not below or len(below) > 2 or len(below) == len(left):
        return []
    above = max(item.box.y1 for item in left if item not in below)
    gap_above = below[0].box.y0 - max(above, floor)
    gap_below = crossing.box.y0 - below[-1].box.y1
    return below if gap_above > 1.3 * max(gap_below, 1.0) else []


def _are_columns(left: list[Item], right: list[Item], whole: Box) -> bool:
    """Tell whether the items on both sides of a gutter are two columns of text."""
    if _line_count(left) < _MIN_LINES or _line_count(right) < _MIN_LINES:
        return False
    left_box = box_around([item.box for item in left])
    right_box = box_around([item.box for item in right])
    if right_box.x0 - left_box.x1 < min(_MIN_GUTTER, 0.03 * whole.width):
        return False
    if min(left_box.width, right_box.width) < _MIN_COLUMN_SHARE * whole.width:
        return False
    if min(left_box.y1, right_box.y1) - max(left_box.y0, right_box.y0) <= 0:
        return False
    if _is_prose(left, left_box, _FULL) and _is_prose(right, right_box, _FULL):
        return True
    aligned = _aligned_share(left, right)
    if aligned > _TABLE_ALIGNED and max(_number_share(left), _number_share(right)) > 0.5:
        return False
    fewer = min(len(left), len(right))
    changes = _changes_of_side(left, right)
    row_wise = changes >= 1.1 * fewer and aligned > _TABLE_ALIGNED
    if _is_prose(left, left_box, _HALF) and _is_prose(right, right_box, _HALF):
        return not row_wise
    return changes <= max(2, 0.3 * fewer)


def _line_count(items: list[Item]) -> int:
    """Return on how many baselines items stand, a table counting as enough for a column."""
    count = sum(_MIN_LINES for item in items if item.line is None)
    foot = float("-inf")
    for y in sorted(item.box.y1 for item in items if item.line is not None):
        if y - foot > _ONE_BASELINE:
            count += 1
            foot = y
    return count


def _is_prose(items: list[Item], box: Box, least: tuple[float, float]) -> bool:
    """Tell whether most lines are long and fill their column: share of its width, and letters."""
    lines = [item for item in items if item.line is not None]
    if not lines:
        return True
    fill = median(item.box.width / max(box.width, 1.0) for item in lines)
    return fill >= least[0] and median(item.weight for item in lines) >= least[1]


def _number_share(items: list[Item]) -> float:
    """Return the share of numbers among items, as a side of a table has many."""
    return sum(item.line is not None and is_number(item.line.text) for item in items) / len(items)


def _changes_of_side(left: list[Item], right: list[Item]) -> int:
    """Return how often the file's own order goes from one side to the other."""
    sides = sorted([(item.order, 0) for item in left] + [(item.order, 1) for item in right])
    return sum(one[1] != other[1] for one, other in pairwise(sides))


def _aligned_share(left: list[Item], right: list[Item]) -> float:
    """Return how many items of the shorter side stand on a baseline of the other."""
    fewer, more = (left, right) if len(left) <= len(right) else (right, left)
    feet = sorted(item.box.y1 for item in more)
    close = 0
    for item in fewer:
        at = bisect_left(feet, item.box.y1 - _LEVEL)
        close += at < len(feet) and feet[at] < item.box.y1 + _LEVEL
    return close / max(len(fewer), 1)
