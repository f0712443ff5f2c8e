"""Cells that no rule parts, parted where their text stands in columns.

A header is often ruled less than the rows below it. Where the lines of a cell over several columns
stand side by side in those columns, each column gets its own cell; a single line above them stays
over all of them, in a row of its own:

    ┌───────────┐        ┌───────────┐
    │  Permits  │        │  Permits  │
    │ old   new │   ->   ├─────┬─────┤
    ├─────┬─────┤        │ old │ new │
    │   1 │   2 │        ├─────┼─────┤
"""

from __future__ import annotations

from dataclasses import replace

from ingest_svc.readers.pdf.grid import Grid, GridCell
from ingest_svc.readers.pdf.lines import Line
from ingest_svc.readers.pdf.rows import baselines


def with_columns_of_text(grid: Grid, lines: list[Line]) -> Grid:
    """Return the grid with cells over several columns parted where their text is."""
    row = 0
    while row < len(grid.ys) - 1:
        grid, added = _parted(grid, row, lines)
        row += 1 + added
    return grid


def _parted(grid: Grid, row: int, lines: list[Line]) -> tuple[Grid, int]:
    """Return the grid with the wide cells of one row parted, and how many rows that added."""
    wide = [
        (cell, groups)
        for cell in grid.cells
        if cell.row == row and cell.row_end == row + 1 and cell.column_end - cell.column > 1
        if (groups := baselines(_lines_in(grid, cell, lines)))
    ]
    parted = [(cell, groups) for cell, groups in wide if _stands_in_columns(grid, groups[-1])]
    if not parted:
        return grid, 0
    heads = [groups for _, groups in parted if _is_head(grid, groups)]
    if not heads:
        columns = {cell for cell, _ in parted}
        return replace(grid, cells=_with_single_columns(grid.cells, columns)), 0
    at = min(groups[1][0].box.y0 for groups in heads)
    return _with_row(grid, row, at, [cell for cell, _ in parted], heads), 1


def _lines_in(grid: Grid, cell: GridCell, lines: list[Line]) -> list[Line]:
    left, right = grid.xs[cell.column], grid.xs[cell.column_end]
    top, bottom = grid.ys[cell.row], grid.ys[cell.row_end]
    return [
        line
        for line in lines
        if left <= (line.box.x0 + line.box.x1) / 2 <= right
        and top <= (line.box.y0 + line.box.y1) / 2 <= bottom
    ]


def _column_of(grid: Grid, line: Line) -> int:
    middle = (line.box.x0 + line.box.x1) / 2
    return sum(1 for x in grid.xs[1:-1] if x <= middle)


def _stands_in_columns(grid: Grid, group: list[Line]) -> bool:
    """Tell whether the lines of a baseline stand in different columns, none over an edge."""
    columns = {_column_of(grid, line) for line in group}
    return len(columns) == len(group) > 1 and not any(
        line.box.x0 + 2.0 < x < line.box.x1 - 2.0 for line in group for x in grid.xs
    )


def _is_head(grid: Grid, groups: list[list[Line]]) -> bool:
    """Tell whether a single line stands above lines in columns."""
    return len(groups) > 1 and len(groups[0]) == 1 and _stands_in_columns(grid, groups[1])


def _with_single_columns(
    cells: tuple[GridCell, ...], parted: set[GridCell]
) -> tuple[GridCell, ...]:
    """Return the cells with some of them cut into one for each column."""
    result: list[GridCell] = []
    for cell in cells:
        if cell in parted:
            result += [
                replace(cell, column=column, column_end=column + 1)
                for column in range(cell.column, cell.column_end)
            ]
        else:
            result.append(cell)
    return tuple(result)


def _with_row(
    grid: Grid, row: int, at: float, parted: list[GridCell], heads: list[list[list[Line]]]
) -> Grid:
    """Return the grid with a row parted: heads above, columns below, all others over both."""
    headed = {_column_of(grid, groups[0][0]) for groups in heads}
    cells: list[GridCell] = []
    for cell in grid.cells:
        if cell.row > row:
            cells.append(replace(cell, row=cell.row + 1, row_end=cell.row_end + 1))
        elif cell.row_end <= row:
            cells.append(cell)
        elif cell not in parted:
            cells.append(replace(cell, row_end=cell.row_end + 1))
        else:
            top = replace(cell, row_end=row + 1)
            low = replace(cell, row=row + 1, row_end=row + 2)
            has_head = any(cell.column <= column < cell.column_end for column in headed)
            cells += [top] if has_head else _with_single_columns((top,), {top})
            cells += _with_single_columns((low,), {low})
    ys = (*grid.ys[: row + 1], at, *grid.ys[row + 1 :])
    return replace(grid, ys=ys, cells=tuple(cells))
