"""The table of a text document as a grid: spans placed, rows that name the columns found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import BlockKind, Table
from ingest_svc.readers.heads import is_figure, names_columns

if TYPE_CHECKING:
    from ingest_svc.readers.prose.pieces import Piece
    from ingest_svc.readers.room import Room

_LONGEST_NAME = 80
_PROSE = 40
"""Characters of a cell that is a sentence rather than a value, on the average."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is written."""

    text: str
    columns: int = 1
    continues: bool = False
    """Merged with the cell above it; its own text is not shown."""
    is_bold: bool = False


@dataclass(slots=True)
class Row:
    """A row as it is written."""

    before: int = 0
    """Columns that are left free before its first cell."""
    after: int = 0
    is_head: bool = False
    """Marked as one that is repeated on every page."""
    cells: list[Cell] = field(default_factory=list)

    @property
    def width(self) -> int:
        """Return the number of columns that it takes."""
        return self.before + sum(cell.columns for cell in self.cells) + self.after


@dataclass(slots=True)
class _Placed:
    row: Row
    texts: dict[int, str] = field(default_factory=dict)
    covering: dict[int, str] = field(default_factory=dict)
    """For every column the text of the cell over it."""


def table_of(
    rows: list[Row],
    room: Room,
    *,
    first_row_stands_out: bool = False,
    may_have_head: bool | None = None,
) -> Table:
    """Return the table that rows make; none of its columns lies wholly under spans.

    Args:
        rows: At least one.
        room: What the tables of the file may take.
        first_row_stands_out: The table's style sets its first row off.
        may_have_head: Whether the table says that its first row may be of another kind than the
            others; None where it does not say.

    Raises:
        TooLarge: it has too many cells.
    """
    covered = sum(row.width for row in rows)
    room.take(covered)
    placed = _placed(rows)
    starts = sorted({column for line in placed for column in line.texts})
    room.take(max(0, len(rows) * len(starts) - covered))
    grid = [[line.texts.get(column, "") for column in starts] for line in placed]
    heads = _head_rows(placed, first_row_stands_out=first_row_stands_out)
    if not heads and may_have_head is not False:
        heads = int(_names_columns(placed, grid, is_said=may_have_head is True))
    if not heads:
        return Table([""] * len(starts), grid)
    header = [_name(placed[:heads], column) for column in starts]
    return Table(header, grid[heads:])


def lays_out(rows: list[Row], inside: list[list[Piece]]) -> bool:
    """Tell a table that only puts things on the page: a single cell, sections in cells.

    Args:
        rows: Its rows.
        inside: The pieces of every cell.
    """
    if sum(len(row.cells) for row in rows) == 1:
        return True
    return any(
        any(piece.block.kind is BlockKind.HEADING for piece in pieces)
        and any(piece.block.kind is not BlockKind.HEADING for piece in pieces)
        for pieces in inside
    )


def _placed(rows: list[Row]) -> list[_Placed]:
    placed: list[_Placed] = []
    for row in rows:
        line, column = _Placed(row), row.before
        above = placed[-1].covering if placed else {}
        for cell in row.cells:
            merged = cell.continues and column in above
            text = "" if merged else cell.text
            line.texts[column] = text
            shown = above[column] if merged else cell.text
            line.covering |= dict.fromkeys(range(column, column + cell.columns), shown)
            column += cell.columns
        placed.append(line)
    return placed


def _head_rows(placed: list[_Placed], *, first_row_stands_out: bool) -> int:
    """Return how many of the first rows are marked, or look, as if they name the columns."""
    marked = 0
    while marked < len(placed) and placed[marked].row.is_head:
        marked += 1
    if marked:
        return marked if marked < len(placed) else 0
    bold = 0
    while bold < len(placed) and _is_bold(placed[bold].row):
        bold += 1
    if 0 < bold < len(placed):
        return bold
    return int(first_row_stands_out and len(placed) > 1 and any(placed[0].texts.values()))


def _is_bold(row: Row) -> bool:
    filled = [cell for cell in row.cells if cell.text]
    return bool(filled) and all(cell.is_bold for cell in filled)


def _names_columns(placed: list[_Placed], grid: list[list[str]], *, is_said: bool) -> bool:
    """Tell whether a first row without marks names the columns: short, different, over values.

    Of two columns the first row is often just the first of a form, unless figures follow or the
    table says that it may be more than that.
    """
    first = grid[0]
    if len(grid) < 2 or not all(first) or len(set(first)) < len(first):
        return False
    if any(cell.columns > 1 or cell.continues for cell in placed[0].row.cells):
        return False
    if any(len(name) > _LONGEST_NAME or "\n" in name for name in first):
        return False
    values = [row[-1] for row in grid[1:] if row[-1]]
    if len(first) < 3 and not is_said and not _is_over_values(first[-1], values):
        return False
    return names_columns(first, grid[1:])


def _is_over_values(name: str, values: list[str]) -> bool:
    """Tell whether values are of another kind than what stands over them: figures, sentences."""
    if not values:
        return False
    if all(map(is_figure, values)):
        return not is_figure(name)
    lengths = list(map(len, values))
    is_prose = len(values) > 2 and sum(lengths) >= _PROSE * len(values)
    return is_prose and min(lengths) >= 2 * len(name)


def _name(rows: list[_Placed], column: int) -> str:
    """Return the name of a column: its heads joined, those that span it among them."""
    if len(rows) == 1:
        return rows[0].texts.get(column, "")
    names: list[str] = []
    for line in rows:
        name = line.covering.get(column, "")
        if name and name not in names:
            names.append(name)
    return " ".join(names)
