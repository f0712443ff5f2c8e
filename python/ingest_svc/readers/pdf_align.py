"""Tables without rules: rows whose cells stand under each other.

A run of rows is a table where its cells leave upright strips free through all rows, so that every
cell falls into one column. Prose in columns never gets here (columns are cut first), lists and
tables of contents are told apart by what they hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from ingest_svc.readers.pdf_lines import Box, Cell, Row, box_around
from ingest_svc.readers.pdf_tables import FoundTable, has_header, is_number

_MIN_ROWS = 3
_MAX_CELL = 90
_MARKER = re.compile(r"^(?:[•◦▪■●○‣–—*·]|\(?[0-9A-Za-z]{1,3}[.)]|\.\d{1,2}|\d+(?:\.\d+)+\.?)$")


@dataclass(slots=True)
class _Run:
    """Rows of a table in the making, and the columns that they leave."""

    columns: list[list[float]] = field(default_factory=list)
    """Left and right end of each column so far."""
    end: int = 0

    def takes(self, cells: Sequence[Cell]) -> bool:
        """Widen the columns by a row's cells; False where a cell would join two of them."""
        columns = [column[:] for column in self.columns]
        for cell in cells:
            touched = [
                column
                for column in columns
                if cell.box.x0 < column[1] + 1.0 and column[0] - 1.0 < cell.box.x1
            ]
            if len(touched) > 1:
                return False
            if touched:
                touched[0][0] = min(touched[0][0], cell.box.x0)
                touched[0][1] = max(touched[0][1], cell.box.x1)
            else:
                columns.append([cell.box.x0, cell.box.x1])
        self.columns = sorted(columns)
        return True


def aligned_tables(rows: Sequence[Row]) -> list[tuple[int, int, FoundTable]]:
    """Return the tables among a column's rows, each with its first row and the one after it."""
    found: list[tuple[int, int, FoundTable]] = []
    at = 0
    while at < len(rows):
        end = at + 1
        if len(rows[at].cells) > 1 and not rows[at].mono:
            run = _run_from(rows, at)
            if run.end - at >= _MIN_ROWS:
                table = _table(rows[at : run.end], run.columns)
                if table is not None:
                    found.append((at, run.end, table))
                    end = run.end
        at = end
    return found


def _run_from(rows: Sequence[Row], start: int) -> _Run:
    """Return the longest run of rows from a start that keep their columns apart."""
    run = _Run()
    run.takes(rows[start].cells)
    run.end = start + 1
    for at in range(start + 1, len(rows)):
        row, before = rows[at], rows[at - 1]
        gap = row.box.y0 - before.box.y1
        single = len(row.cells) == 1
        if row.mono or gap > (0.9 if single else 3.2) * max(row.size, before.size):
            break
        if single and not _is_wrapped(rows, at, run):
            break
        if not run.takes(row.cells):
            break
        if not single:
            run.end = at + 1
        elif len(rows) > at + 1 and len(rows[at + 1].cells) == 1 and at - run.end >= 2:
            break
    return run


def _is_wrapped(rows: Sequence[Row], at: int, run: _Run) -> bool:
    """Tell whether a row of one cell may go on with a cell of the row above: it is narrow."""
    cell = rows[at].cells[0].box
    widest = run.columns[-1][1] - run.columns[0][0]
    return cell.width < 0.6 * widest


def _table(rows: Sequence[Row], columns: list[list[float]]) -> FoundTable | None:
    """Return the table of rows and columns, None where they are something else."""
    grid = [_in_columns(row, columns) for row in rows]
    if not _is_table(grid, rows):
        return None
    merged = _with_wrapped_rows(grid, rows)
    if len(merged) < 2:
        return None
    header = merged[0] if has_header(merged) else ("",) * len(columns)
    return FoundTable(
        box=box_around([row.box for row in rows]),
        header=header,
        rows=tuple(merged[1:] if any(header) else merged),
        xs=tuple(column[0] for column in columns),
        page=rows[0].page,
    )


def _in_columns(row: Row, columns: list[list[float]]) -> tuple[str, ...]:
    """Return the texts of a row's cells, by column."""
    texts = [""] * len(columns)
    for cell in row.cells:
        place = _column_of(cell.box, columns)
        texts[place] = f"{texts[place]} {cell.text}".strip()
    return tuple(texts)


def _column_of(box: Box, columns: list[list[float]]) -> int:
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
