"""Rows and cells of a table; what is said to be repeated is, within the limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ingest_svc.readers.odt.names import name_of, number
from ingest_svc.readers.prose.tables import Cell, Row

if TYPE_CHECKING:
    from ingest_svc.readers.prose.pieces import Piece
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.xml_parts import Element

_GROUPS = frozenset({"table:table-row-group", "table:table-rows", "table:table-header-rows"})
_MOST_COLUMNS = 1_000
_PADDING = 50
"""So many empty rows, or cells, in one are there only to fill the page."""


def rows_of(
    table: Element, pieces_of: Callable[[Element], list[Piece]], room: Room
) -> tuple[list[Row], list[list[Piece]]]:
    """Return the rows of a table, and the pieces of all cells in order.

    Args:
        table: The element.
        pieces_of: Reads what a cell holds.
        room: What the tables of the file may take.

    Raises:
        TooLarge: it has too many cells.
    """
    rows: list[Row] = []
    inside: list[list[Piece]] = []
    waiting = [(element, False) for element in reversed(table)]
    while waiting:
        element, is_head = waiting.pop()
        name = name_of(element)
        if name in _GROUPS:
            is_head = is_head or name == "table:table-header-rows"
            waiting += [(part, is_head) for part in reversed(element)]
        elif name == "table:table-row":
            row = _row(element, pieces_of, inside)
            row.is_head = is_head
            repeated = max(number(element, "table:number-rows-repeated", 1), 1)
            if not any(cell.text for cell in row.cells):
                repeated = 1 if repeated < _PADDING else 0
            if repeated > 1:
                room.take(row.width * repeated, sum(len(cell.text) for cell in row.cells))
            rows += [row] * repeated
    return rows, inside


def _row(
    element: Element, pieces_of: Callable[[Element], list[Piece]], inside: list[list[Piece]]
) -> Row:
    row = Row()
    under = 0
    for part in element:
        name = name_of(part)
        repeated = min(max(number(part, "table:number-columns-repeated", 1), 1), _MOST_COLUMNS)
        if name == "table:covered-table-cell":
            beside = min(under, repeated)  # covered by the cell before, which counts them itself
            under -= beside
            row.cells += [Cell("", continues=True)] * (repeated - beside)
        elif name == "table:table-cell":
            cell = _cell(part, pieces_of, inside)
            under = cell.columns - 1
            is_padding = repeated >= _PADDING and not cell.text
            row.cells += [cell] * (1 if is_padding or cell.columns > 1 else repeated)
    return row


def _cell(
    element: Element, pieces_of: Callable[[Element], list[Piece]], inside: list[list[Piece]]
) -> Cell:
    pieces = pieces_of(element)
    inside.append(pieces)
    told = [piece for piece in pieces if not piece.stands_alone and piece.block.text]
    columns = number(element, "table:number-columns-spanned", 1)
    return Cell(
        "\n".join(piece.told for piece in told),
        columns=min(max(columns, 1), _MOST_COLUMNS),
        is_bold=bool(told) and all(piece.is_bold for piece in told),
    )
