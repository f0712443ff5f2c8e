"""Tables from ruled grids: which words stand in which cell, and which rows are the header.

A grid need not be ruled in full. Rows that only their baselines part (one ruled band around five
states) are split where most cells of the band hold equally many lines at equal heights; columns
and rows without any text are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest_svc.readers.pdf.grid import Grid, GridCell, grids_of
from ingest_svc.readers.pdf.grid_text import with_columns_of_text
from ingest_svc.readers.pdf.lines import Box, Line, Page
from ingest_svc.readers.pdf.rows import baselines, cell_text
from ingest_svc.readers.pdf.text import is_number, is_period, is_right_to_left

_MIN_DRAWINGS = 4
_SLACK = 2.0
_MAX_TITLE_BANDS = 3


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table on one page."""

    box: Box
    header: tuple[str, ...]
    """Names of the columns; all empty where no row names them."""
    rows: tuple[tuple[str, ...], ...]
    """The rows below the header, each with as many cells as there are columns."""
    xs: tuple[float, ...]
    """Left edges of the columns."""
    page: int
    title: str = ""
    """Text over the whole width above the header."""


def ruled_tables(page: Page, max_rules: int) -> tuple[list[FoundTable], set[int]]:
    """Return the tables ruled on a page and the `order` of the lines that they hold.

    Args:
        page: The page.
        max_rules: Pages with more rules than this are drawings, and are not searched.
    """
    if not _MIN_DRAWINGS <= page.rules.count <= max_rules:
        return [], set()
    tables: list[FoundTable] = []
    used: set[int] = set()
    for grid in grids_of(page.rules):
        inside = [
            line for line in page.lines if line.order not in used and _within(line.box, grid.box)
        ]
        table = _table(grid, inside, page.number)
        if table is not None:
            tables.append(table)
            used |= {line.order for line in inside}
    return tables, used


def _within(box: Box, grid: Box) -> bool:
    wide = Box(grid.x0 - _SLACK, grid.y0 - _SLACK, grid.x1 + _SLACK, grid.y1 + _SLACK)
    return wide.holds((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)


@dataclass(frozen=True, slots=True)
class _Band:
    """What stands between two level rules."""

    cells: tuple[tuple[GridCell, list[Line]], ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def filled(self) -> list[GridCell]:
        """Return the cells with text."""
        return [cell for cell, lines in self.cells if lines]


def _table(grid: Grid, lines: list[Line], page: int) -> FoundTable | None:
    """Return the table in a grid, None where the grid is a frame, a panel or a drawing."""
    columns = len(grid.xs) - 1
    if columns < 2 or len(grid.ys) < 3 or len(lines) < 4:
        return None
    grid = with_columns_of_text(grid, lines)
    held = _lines_by_cell(grid, lines)
    if len(held) < max(4, 0.2 * len(grid.cells)):
        return None
    bands: list[_Band] = []
    for row in range(len(grid.ys) - 1):
        cells = tuple((cell, held.get(cell, [])) for cell in grid.cells if cell.row == row)
        if any(lines for _, lines in cells):
            bands.append(_Band(cells, _rows_of_band(cells, columns)))
    title, bands = _split_title(bands, columns)
    if not bands:
        return None
    above = _spanning_header(bands, columns)
    rows = [row for band in bands[above:] for row in band.rows]
    header = _named_columns(bands[:above], columns)
    if above == 0 and has_header(rows) and not _has_bold_labels(bands, columns):
        header, rows = list(rows[0]), rows[1:]
    return _compact(FoundTable(grid.box, tuple(header), tuple(rows), grid.xs, page, title))


def _lines_by_cell(grid: Grid, lines: list[Line]) -> dict[GridCell, list[Line]]:
    """Return the lines of every cell that has any."""
    places = {
        (row, column): cell
        for cell in grid.cells
        for row in range(cell.row, cell.row_end)
        for column in range(cell.column, cell.column_end)
    }
    held: dict[GridCell, list[Line]] = {}
    for line in lines:
        row = _slot(grid.ys, (line.box.y0 + line.box.y1) / 2)
        column = _slot(grid.xs, (line.box.x0 + line.box.x1) / 2)
        held.setdefault(places[row, column], []).append(line)
    return held


def _slot(places: tuple[float, ...], at: float) -> int:
    """Return between which two places a coordinate lies; outside counts as the outermost."""
    inner = places[1:-1]
    return sum(1 for place in inner if place <= at)


def _rows_of_band(
    cells: tuple[tuple[GridCell, list[Line]], ...], columns: int
) -> tuple[tuple[str, ...], ...]:
    """Return the rows of one ruled band: one, or as many as its cells have baselines in common."""
    grouped = [(cell, baselines(lines)) for cell, lines in cells if lines]
    count = _packed(grouped)
    rows = [[""] * columns for _ in range(count)]
    for cell, groups in grouped:
        if count > 1 and len(groups) == count:
            for row, group in zip(rows, groups, strict=True):
                row[cell.column] = cell_text(group)
        else:
            rows[0][cell.column] = " ".join(cell_text(group) for group in groups)
    return tuple(map(tuple, rows))


def _packed(grouped: list[tuple[GridCell, list[list[Line]]]]) -> int:
    """Return how many rows a ruled band packs; 1 where its lines are only broken text.

    Broken text has lines in common too, but not numbers in most of them.
    """
    counts = [len(groups) for _, groups in grouped]
    if len(counts) < 3:
        return 1
    common = max(set(counts), key=lambda count: (counts.count(count), count))
    alike = [groups for _, groups in grouped if len(groups) == common]
    if common < 2 or len(alike) < max(3, 0.6 * len(counts)):
        return 1
    texts = [line.text for groups in alike for group in groups for line in group]
    numeric = sum(any(character.isdecimal() for character in text) for text in texts)
    no_chance = common >= 4 and len(alike) == len(counts)
    if numeric < 0.5 * len(texts) and not no_chance:
        return 1
    feet = [[group[0].box.y1 for group in groups] for groups in alike]
    level = sum(all(abs(a - b) < 2.5 for a, b in zip(foot, feet[0], strict=True)) for foot in feet)
    return common if level >= 0.7 * len(feet) else 1


def _has_bold_labels(bands: list[_Band], columns: int) -> bool:
    """Tell whether one of two columns is bold and the other is not: names, and their values."""
    if columns != 2:
        return False
    bold: list[list[bool]] = [[], []]
    for band in bands:
        for cell, lines in band.cells:
            if lines:
                bold[cell.column].append(all(line.bold for line in lines))
    return any(all(one) and not any(other) for one, other in (bold, bold[::-1]) if one and other)


def _split_title(bands: list[_Band], columns: int) -> tuple[str, list[_Band]]:
    """Return the text of leading bands of one cell over the whole width, and the bands after."""
    count = 0
    while count < len(bands) and count < _MAX_TITLE_BANDS:
        filled = bands[count].filled
        if len(filled) != 1 or filled[0].column_end - filled[0].column < columns:
            break
        count += 1
    texts = [cell for band in bands[:count] for row in band.rows for cell in row if cell]
    return " ".join(texts), bands[count:]


def _spanning_header(bands: list[_Band], columns: int) -> int:
    """Return how many bands at the top name columns, 0 where no cell there spans several."""
    count = 0
    while count < len(bands) - 1 and any(
        1 < cell.column_end - cell.column < columns for cell in bands[count].filled
    ):
        count += 1
    if count == 0 or count == len(bands):
        return 0
    below = [cell for row in bands[count].rows for cell in row if cell]
    named = sum(is_number(cell) for cell in below) <= 0.3 * len(below)
    return count + 1 if named and count + 1 < len(bands) else count


def _named_columns(bands: list[_Band], columns: int) -> list[str]:
    """Return the names of the columns, that of a cell over several put before each one's own."""
    names = [""] * columns
    for band in bands:
        for cell in band.filled:
            text = " ".join(row[cell.column] for row in band.rows if row[cell.column])
            for column in range(cell.column, cell.column_end):
                names[column] = f"{names[column]} {text}".strip()
    return names


def _compact(table: FoundTable) -> FoundTable | None:
    """Return the table without its empty rows and columns; None where too little is left."""
    columns = [
        column
        for column in range(len(table.header))
        if any(row[column] for row in table.rows)
        or (table.header[column] and table.header[column] not in table.header[:column])
    ]
    if is_right_to_left("".join(cell for row in table.rows for cell in row)):
        columns.reverse()
    rows = tuple(tuple(row[column] for column in columns) for row in table.rows if any(row))
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(columns) < 2 or not rows or filled < 0.25 * len(rows) * len(columns):
        return None
    header = tuple(table.header[column] for column in columns)
    if len(rows) < 2 and (not any(header) or filled < 0.6 * len(columns)):
        return None
    return replace(
        table, header=header, rows=rows, xs=tuple(table.xs[column] for column in columns)
    )


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first of the rows names the columns rather than being one of them."""
    if len(rows) < 2:
        return False
    named = [place for place, cell in enumerate(rows[0]) if cell]
    below = rows[1]
    alike = sum(
        is_number(rows[0][place])
        and is_number(below[place])
        and (is_period(below[place]) or not is_period(rows[0][place]))
        for place in named
    )
    if 2 * alike >= len(named):
        return False
    return not (len(rows[0]) == 2 and _is_label_list(rows))


def _is_label_list(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether two columns are names and their values rather than a table with a header."""
    return any(row[0].endswith((":", "：", "?", "؟")) for row in rows[:1]) or (
        is_number(rows[0][1]) and not is_period(rows[0][1]) and not is_number(rows[0][0])
    )
