"""Ruled grids: from the rules of a page to tables' cells, without looking at the text.

Rules that cross or touch belong together. The places where they stand cut their common box into
elementary cells; where no rule runs between two neighbours, both are one cell:

    ┌───┬───────┐      columns 0 1 2, rows 0 1
    │ a │   b   │      b spans the columns 1 and 2
    ├───┼───┬───┤
    │ c │ d │ e │
    └───┴───┴───┘
"""

from __future__ import annotations

from dataclasses import dataclass

from ingest_svc.readers.pdf.lines import Box, Rules

_NEAR = 3.0
"""Rules closer than this, in points, stand on one place."""

_MOST_CELLS = 20_000
"""A grid of more elementary cells than this is graph paper or a drawing."""
_TICK = 16.0
"""Check boxes are no larger than this, in points."""

Segment = tuple[float, float, float]
"""Where a rule stands, and from where to where it runs."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell over rows `row` to `row_end` and columns `column` to `column_end`, ends left out."""

    row: int
    row_end: int
    column: int
    column_end: int


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled grid."""

    box: Box
    xs: tuple[float, ...]
    """Places of the upright rules, from left to right; one more than there are columns."""
    ys: tuple[float, ...]
    cells: tuple[GridCell, ...]


def snapped(segments: list[Segment]) -> list[Segment]:
    """Return rules with those on nearly one place moved onto one, and those that touch joined."""
    placed: list[Segment] = []
    group: list[Segment] = []
    for segment in sorted(segments):
        if group and segment[0] - group[-1][0] > _NEAR:
            placed += _joined(group)
            group = []
        group.append(segment)
    return placed + _joined(group)


def _joined(group: list[Segment]) -> list[Segment]:
    """Return the rules of one place with those that overlap or touch joined."""
    if not group:
        return []
    place = sum(segment[0] for segment in group) / len(group)
    runs: list[list[float]] = []
    for start, end in sorted((segment[1], segment[2]) for segment in group):
        if runs and start <= runs[-1][1] + _NEAR:
            runs[-1][1] = max(runs[-1][1], end)
        else:
            runs.append([start, end])
    return [(place, start, end) for start, end in runs]


def _without_ticks(segments: list[Segment], across: list[Segment]) -> list[Segment]:
    """Return the rules without sides of check boxes: short, and not from long rule to long rule."""
    long = [segment for segment in across if segment[2] - segment[1] > _TICK]

    def meets(place: float, at: float) -> bool:
        return any(
            abs(other - at) <= _NEAR and start - _NEAR <= place <= end + _NEAR
            for other, start, end in long
        )

    return [
        (place, start, end)
        for place, start, end in segments
        if end - start > _TICK or (meets(place, start) and meets(place, end))
    ]


def connected(
    horizontal: list[Segment], vertical: list[Segment]
) -> list[tuple[list[Segment], list[Segment]]]:
    """Return groups of rules that cross or touch, each as its horizontal and its vertical rules."""
    parents = list(range(len(horizontal) + len(vertical)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    for v_index, (x, top, bottom) in enumerate(vertical):
        for h_index, (y, left, right) in enumerate(horizontal):
            if left - _NEAR <= x <= right + _NEAR and top - _NEAR <= y <= bottom + _NEAR:
                parents[root(len(horizontal) + v_index)] = root(h_index)
    groups: dict[int, tuple[list[Segment], list[Segment]]] = {}
    for index, segment in enumerate(horizontal):
        groups.setdefault(root(index), ([], []))[0].append(segment)
    for index, segment in enumerate(vertical):
        groups.setdefault(root(len(horizontal) + index), ([], []))[1].append(segment)
    return list(groups.values())


def grids_of(rules: Rules) -> list[Grid]:
    """Return the grids of a page, from top to bottom: groups with upright and level rules."""
    horizontal, vertical = snapped(list(rules.horizontal)), snapped(list(rules.vertical))
    level = _without_ticks(horizontal, vertical)
    groups = connected(level, _without_ticks(vertical, horizontal))
    grids = [grid for group in groups if (grid := _grid(*group)) is not None]
    return sorted(grids, key=lambda grid: (grid.box.y0, grid.box.x0))


def _places(segments: list[Segment], low: float, high: float) -> tuple[float, ...]:
    """Return where rules stand, the ends of the whole among them, from low to high."""
    places: list[float] = []
    for place in sorted([*(segment[0] for segment in segments), low, high]):
        if not places or place - places[-1] > _NEAR:
            places.append(place)
    return tuple(places)


def _grid(horizontal: list[Segment], vertical: list[Segment]) -> Grid | None:
    """Return the grid of one group of rules; None where it encloses nothing or too much."""
    if len(horizontal) < 2 and len(vertical) < 2:
        return None
    left = min([s[1] for s in horizontal] + [s[0] for s in vertical])
    right = max([s[2] for s in horizontal] + [s[0] for s in vertical])
    top = min([s[0] for s in horizontal] + [s[1] for s in vertical])
    bottom = max([s[0] for s in horizontal] + [s[2] for s in vertical])
    xs, ys = _places(vertical, left, right), _places(horizontal, top, bottom)
    if len(xs) < 2 or len(ys) < 2 or len(xs) * len(ys) > _MOST_CELLS:
        return None
    cells = _cells(xs, ys, horizontal, vertical)
    return Grid(box=Box(left, top, right, bottom), xs=xs, ys=ys, cells=cells)


def _ruled(segments: list[Segment], place: float, low: float, high: float) -> bool:
    """Tell whether a rule stands on a place over most of the way from low to high."""
    covered = sum(
        max(0.0, min(end, high) - max(start, low))
        for at, start, end in segments
        if abs(at - place) <= _NEAR
    )
    return covered >= 0.6 * (high - low)


def _cells(
    xs: tuple[float, ...],
    ys: tuple[float, ...],
    horizontal: list[Segment],
    vertical: list[Segment],
) -> tuple[GridCell, ...]:
    """Return the cells of a grid, elementary cells without a rule between them made one."""
    columns, rows = len(xs) - 1, len(ys) - 1
    by_x = [[s for s in vertical if abs(s[0] - x) <= _NEAR] for x in xs]
    by_y = [[s for s in horizontal if abs(s[0] - y) <= _NEAR] for y in ys]
    taken = [[False] * columns for _ in range(rows)]
    cells: list[GridCell] = []
    for row in range(rows):
        for column in range(columns):
            if taken[row][column]:
                continue
            end = column + 1
            while end < columns and not (
                taken[row][end] or _ruled(by_x[end], xs[end], ys[row], ys[row + 1])
            ):
                end += 1
            row_end = row + 1
            while row_end < rows and not any(
                taken[row_end][c] or _ruled(by_y[row_end], ys[row_end], xs[c], xs[c + 1])
                for c in range(column, end)
            ):
                row_end += 1
            cells.append(GridCell(row, row_end, column, end))
            for covered in range(row, row_end):
                taken[covered][column:end] = [True] * (end - column)
    return tuple(cells)
