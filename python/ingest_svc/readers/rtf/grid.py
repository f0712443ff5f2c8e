"""Tables of RTF: rows say where their cells end on the page, and so which columns they cover."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.prose.tables import Cell, Row, table_of

if TYPE_CHECKING:
    from ingest_svc.readers.block import Table
    from ingest_svc.readers.prose.pieces import Piece
    from ingest_svc.readers.room import Room

_NEAR = 30
"""Twips within which two edges are the same."""


@dataclass(slots=True)
class Layout:
    """Where the cells of a row end, and which of them are parts of merged ones."""

    edges: list[int] = field(default_factory=list)
    left: int = 0
    across: set[int] = field(default_factory=set)
    """Cells that are covered by the one before them."""
    down: set[int] = field(default_factory=set)
    """Cells that are covered by the one above them."""
    is_head: bool = False

    def add(self, edge: int, *, across: bool, down: bool) -> None:
        """Add a cell by where it ends, and by which others it is covered."""
        if across:
            self.across.add(len(self.edges))
        if down:
            self.down.add(len(self.edges))
        self.edges.append(edge)


class Rows:
    """What is said of the row that is being read: of a table, and of one in a cell of it."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._layouts: dict[bool, Layout] = {}
        self._covers = (False, False)
        """Whether the cell whose edge comes next is covered by the one before, the one above."""

    def layout(self, *, in_cell: bool) -> Layout:
        """Return what was said last."""
        return self._layouts.get(in_cell) or Layout()

    def word(self, word: bytes, number: int, *, in_cell: bool) -> bool:
        """Take a control word; return False where it says nothing of rows."""
        if word == b"trowd":
            self._layouts[in_cell], self._covers = Layout(), (False, False)
            return True
        layout = self._layouts.get(in_cell)
        if layout is None:
            return False
        across, down = self._covers
        match word:
            case b"cellx":
                layout.add(number, across=across, down=down)
                self._covers = (False, False)
            case b"trleft":
                layout.left = number
            case b"trhdr":
                layout.is_head = True
            case b"clmrg":
                self._covers = (True, down)
            case b"clvmrg":
                self._covers = (across, True)
            case _:
                return False
        return True


@dataclass(slots=True)
class OpenTable:
    """A table that is being read."""

    rows: list[tuple[Layout, list[list[Piece]]]] = field(default_factory=list)
    cells: list[list[Piece]] = field(default_factory=list)
    """Of the row that is being read."""
    cell: list[Piece] = field(default_factory=list)
    behind: list[Piece] = field(default_factory=list)
    """Notes to it, and tables in it."""

    def end_cell(self) -> None:
        """End the cell that is being read."""
        self.cells.append(self.cell)
        self.cell = []

    def end_row(self, layout: Layout) -> None:
        """End the row that is being read."""
        cells, self.cells = self.cells, []
        if cells:
            self.rows.append((layout, cells))

    def table(self, room: Room) -> Table | None:
        """Return the table; None where it has no text.

        Raises:
            TooLarge: it has too many cells.
        """
        edges = _columns([layout for layout, _ in self.rows])
        rows = [_row(layout, cells, edges) for layout, cells in self.rows]
        if not any(cell.text for row in rows for cell in row.cells):
            return None
        return table_of(rows, room)


def _columns(layouts: list[Layout]) -> list[int]:
    """Return the edges of the columns, those that are next to each other as one."""
    edges: list[int] = []
    for edge in sorted({edge for layout in layouts for edge in (layout.left, *layout.edges)}):
        if not edges or edge - edges[-1] > _NEAR:
            edges.append(edge)
    return edges


def _row(layout: Layout, cells: list[list[Piece]], edges: list[int]) -> Row:
    row = Row(is_head=layout.is_head)
    column = _place(edges, layout.left) if layout.edges else 0
    row.before = column
    for at, pieces in enumerate(cells):
        end = _place(edges, layout.edges[at]) if at < len(layout.edges) else column + 1
        span = max(end - column, 1)
        column += span
        if at in layout.across and row.cells:
            last = row.cells[-1]
            row.cells[-1] = Cell(last.text, last.columns + span, last.continues, last.is_bold)
            continue
        told = [piece for piece in pieces if piece.block.text]
        row.cells.append(
            Cell(
                "\n".join(piece.told for piece in told),
                span,
                continues=at in layout.down,
                is_bold=bool(told) and all(piece.is_bold for piece in told),
            )
        )
    return row


def _place(edges: list[int], edge: int) -> int:
    """Return the column that begins at an edge."""
    return min(bisect_left(edges, edge - _NEAR), len(edges) - 1)
