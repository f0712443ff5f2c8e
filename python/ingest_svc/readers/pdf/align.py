"""Tables without rules: rows whose cells stand under each other.

A run of rows is a table where its cells leave upright strips free through all rows, so that every
cell falls into one column. Prose in columns never gets here (columns are cut first), lists and
tables of contents are told apart by what they hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingest_svc.readers.pdf.lines import Box, Cell, Row, box_around
from ingest_svc.readers.pdf.tables import FoundTable, has_header
from ingest_svc.readers.pdf.text import is_number, is_period

_MIN_ROWS = 3
_MAX_CELL = 90
_MOST_HEADER_ROWS = 4
_MOST_SINGLE = 2
"""A table goes on after no more rows of one cell in a row."""
_MARKER = re.compile(r"^(?:[•◦▪■●○‣–—*·]|\(?[0-9A-Za-z]{1,3}[.)]|\.\d{1,2}|\d+(?:\.\d+)+\.?)$")


_Columns = tuple[tuple[float, float], ...]
"""Left and right end of each column, from left to right."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Rows of a table, from `start` to before `end`, and the columns that they leave."""

    start: int
    end: int
    columns: _Columns


def _touched(box: Box, columns: _Columns) -> list[int]:
    return [
        place
        for place, (left, right) in enumerate(columns)
        if box.x0 < right + 1.0 and left - 1.0 < box.x1
    ]


def _parted(cells: Sequence[Cell], columns: _Columns) -> list[Cell] | None:
    """Return a row's cells, each in one column at most; None where that cannot be.

    Numbers set so close that they came as one cell are parted where they are as many as the
    columns that they cover.
    """
    parted: list[Cell] = []
    for cell in cells:
        touched = _touched(cell.box, columns)
        words = cell.text.split()
        if len(touched) < 2:
            parted.append(cell)
        elif len(words) == len(touched) and all(map(is_number, words)):
            ends = [columns[place] for place in touched]
            parted += [
                Cell(Box(left, cell.box.y0, right, cell.box.y1), word)
                for (left, right), word in zip(ends, words, strict=True)
            ]
        else:
            return None
    places = [touched[0] for cell in parted if (touched := _touched(cell.box, columns))]
    return parted if len(places) == len(set(places)) else None


def _widened(columns: _Columns, cells: Sequence[Cell]) -> _Columns | None:
    """Return the columns with room for a row's cells; None where a cell would join two of them."""
    parted = _parted(cells, columns)
    if parted is None:
        return None
    ends = [list(column) for column in columns]
    for cell in parted:
        touched = _touched(cell.box, columns)
        if touched:
            ends[touched[0]][0] = min(ends[touched[0]][0], cell.box.x0)
            ends[touched[0]][1] = max(ends[touched[0]][1], cell.box.x1)
        else:
            ends.append([cell.box.x0, cell.box.x1])
    wide = tuple(sorted((left, right) for left, right in ends))
    apart = all(a[1] < b[0] for a, b in pairwise(wide))
    return wide if apart else None


def aligned_tables(rows: Sequence[Row]) -> list[tuple[int, int, FoundTable]]:
    """Return the tables among a column's rows, each with its first row and the one after it."""
    found: list[tuple[int, int, FoundTable]] = []
    at = free = 0
    while at < len(rows):
        end = at + 1
        if len(rows[at].cells) > 1 and not rows[at].mono:
            run = _with_rows_above(rows, _run_from(rows, at), free)
            table = _table(rows[run.start : run.end], run.columns)
            if table is not None:
                found.append((run.start, run.end, table))
                end = free = run.end
        at = end
    return found


def _run_from(rows: Sequence[Row], start: int) -> _Run:
    """Return the longest run of rows from a start that keep their columns apart."""
    columns: _Columns = tuple((cell.box.x0, cell.box.x1) for cell in rows[start].cells)
    run = _Run(start, start + 1, columns)
    for at in range(start + 1, len(rows)):
        row = rows[at]
        single = len(row.cells) == 1
        if not _is_near(rows[at - 1], row) or (single and not _is_narrow(row, run.columns)):
            break
        wide = _widened(columns, row.cells)
        if wide is None:
            break
        columns = wide
        if not single:
            run = _Run(start, at + 1, columns)
        elif at - run.end >= _MOST_SINGLE:
            break
    return run


def _with_rows_above(rows: Sequence[Row], run: _Run, free: int) -> _Run:
    """Return a run with rows above it that fit its columns, such as a header set closer."""
    while run.start > free:
        row = rows[run.start - 1]
        wide = _widened(run.columns, row.cells)
        near = len(row.cells) > 1 and _is_near(row, rows[run.start])
        if wide is None or not near or row.mono:
            break
        run = _Run(run.start - 1, run.end, wide)
    return run


def _is_near(above: Row, row: Row) -> bool:
    """Tell whether a row follows the one above as in a table: rows of one cell have to be close."""
    most = 0.9 if len(row.cells) == 1 else 3.2
    return not row.mono and row.box.y0 - above.box.y1 <= most * max(row.size, above.size)


def _is_narrow(row: Row, columns: _Columns) -> bool:
    """Tell whether a row of one cell may go on with a cell of the row above."""
    return row.cells[0].box.width < 0.6 * (columns[-1][1] - columns[0][0])


def _table(rows: Sequence[Row], columns: _Columns) -> FoundTable | None:
    """Return the table of rows and columns, None where they are something else."""
    grid = [_in_columns(row, columns) for row in rows]
    if not _is_table(grid, rows):
        return None
    merged = _with_wrapped_rows(grid, rows)
    if len(merged) < 2:
        return None
    count = _header_rows(merged)
    header = [" ".join(filter(None, names)) for names in zip(*merged[:count], strict=True)]
    return FoundTable(
        box=box_around([row.box for row in rows]),
        header=tuple(header or [""] * len(columns)),
        rows=tuple(merged[count:]),
        xs=tuple(column[0] for column in columns),
        page=rows[0].page,
    )


def _header_rows(rows: list[tuple[str, ...]]) -> int:
    """Return how many rows at the top name the columns: rows of words above rows of numbers."""
    for count, row in enumerate(rows[: _MOST_HEADER_ROWS + 1]):
        numbers = sum(is_number(cell) and not is_period(cell) for cell in row)
        if numbers:
            filled = sum(map(bool, row[1:]))
            return count if count and 2 * numbers >= filled else int(has_header(rows))
    return int(has_header(rows))


def _in_columns(row: Row, columns: _Columns) -> tuple[str, ...]:
    """Return the texts of a row's cells, by column."""
    texts = [""] * len(columns)
    for cell in _parted(row.cells, columns) or row.cells:
        place = _column_of(cell.box, columns)
        texts[place] = f"{texts[place]} {cell.text}".strip()
    return tuple(texts)


def _column_of(box: Box, columns: _Columns) -> int:
    middle = (box.x0 + box.x1) / 2
    return min(
        range(len(columns)),
        key=lambda at: max(columns[at][0] - middle, middle - columns[at][1], 0.0),
    )


def _is_table(grid: list[tuple[str, ...]], rows: Sequence[Row]) -> bool:
    """Tell whether texts in columns are a table, not a list, a form or a table of contents."""
    columns = len(grid[0])
    if columns < 2 or len(grid) < _MIN_ROWS:
        return False
    cells = [text for row in grid for text in row if text]
    several = sum(sum(map(bool, row)) > 1 for row in grid)
    if several < max(2, 0.6 * len(grid)) or max(map(len, cells)) > _MAX_CELL:
        return False
    if all(_MARKER.match(row[0]) for row in grid if row[0]):
        return False
    if _is_contents(grid):
        return False
    if columns == 2:
        values = [row[1] for row in grid if row[1]]
        return len(grid) > _MIN_ROWS and sum(map(is_number, values)) >= 0.7 * len(values)
    full = sum(sum(map(bool, row)) >= 3 for row in grid)
    return full >= 2 and len(cells) >= 0.4 * columns * len(grid) and _is_steady(rows)


def _is_steady(rows: Sequence[Row]) -> bool:
    """Tell whether rows are of nearly one size, as in a table and not on a title page."""
    usual = median(row.size for row in rows)
    return sum(0.8 * usual <= row.size <= 1.25 * usual for row in rows) >= 0.8 * len(rows)


def _is_contents(grid: list[tuple[str, ...]]) -> bool:
    """Tell whether the last column holds page numbers that only rise, as in a contents list."""
    last = [row[-1] for row in grid if row[-1]]
    numbers = [int(text) for text in last if text.isdecimal() and len(text) < 5]
    if len(numbers) < 0.8 * len(last) or len(numbers) < _MIN_ROWS or len(grid[0]) > 3:
        return False
    words = [row[-2] for row in grid if row[-2]]
    rising = all(a <= b for a, b in pairwise(numbers))
    return rising and not any(is_number(text) for text in words)


def _with_wrapped_rows(grid: list[tuple[str, ...]], rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return the rows with those joined to the row above that only go on with its cells.

    Such a row has nothing in the first column and follows closer than most others do.
    """
    pitches = [
        row.box.y1 - before.box.y1
        for before, row, texts in zip(rows, rows[1:], grid[1:], strict=False)
        if texts[0]
    ]
    usual = median(pitches) if pitches else 0.0
    merged = [grid[0]]
    for before, row, texts in zip(rows, rows[1:], grid[1:], strict=False):
        pitch = row.box.y1 - before.box.y1
        if not texts[0] and pitch < 0.8 * usual:
            merged[-1] = tuple(
                f"{above} {below}".strip() for above, below in zip(merged[-1], texts, strict=True)
            )
        else:
            merged.append(texts)
    return merged
