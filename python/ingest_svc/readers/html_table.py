"""An HTML table as a grid: spans placed, header rows found, empty rows and columns left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Table
from ingest_svc.readers.heads import names_figures
from ingest_svc.readers.html_tags import BLOCKS, NEVER_SHOWN, lines, walk, words

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_SPAN = 1000
"""Browsers read a larger colspan as this one."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is written."""

    text: str
    columns: int = 1
    rows: int = 1
    is_head: bool = False
    """Marked up as a head, or wholly bold."""


@dataclass(slots=True)
class Row:
    """A row as it is written."""

    cells: list[Cell] = field(default_factory=list)
    in_head: bool = False


@dataclass(slots=True)
class _Placed:
    """A row on the grid: texts where their cells begin, and for every column what covers it."""

    row: Row
    texts: dict[int, str] = field(default_factory=dict)
    covering: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, and whether it was cut because it has too many cells."""

    table: Table
    cells: int
    is_cut: bool = False


def read_table(node: LexborNode, hidden: frozenset[int], most_cells: int) -> Grid:
    """Return the table below a `table` element.

    Args:
        node: The element.
        hidden: Elements that do not show, by `mem_id`.
        most_cells: Cells that this table may have, spans counted in full; rows beyond are cut off.
    """
    caption, rows = _Collector(hidden).collect(node)
    placed, cells, is_cut = _place(rows, most_cells)
    placed = [line for line in placed if any(line.texts.values())]
    columns = sorted({column for line in placed for column, text in line.texts.items() if text})
    titles, placed = _titles(placed, len(columns))
    heads = _head_rows(placed)
    header = [_head(placed[:heads], column) for column in columns]
    body = [[line.texts.get(column, "") for column in columns] for line in placed[heads:]]
    if not heads and body and names_figures(body[0], body[1:]):
        header, *body = body
    caption = " ".join(filter(None, [caption, *titles]))
    return Grid(Table(header, body, caption=caption), cells, is_cut)


def _place(rows: list[Row], most_cells: int) -> tuple[list[_Placed], int, bool]:
    """Put cells to their columns; one over several rows keeps them in the rows below."""
    placed: list[_Placed] = []
    reserved: dict[int, tuple[int, str]] = {}
    cells = 0
    for row in rows:
        line = _Placed(row, covering={column: text for column, (_, text) in reserved.items()})
        below = {column: (left - 1, text) for column, (left, text) in reserved.items() if left > 1}
        column = 0
        for cell in row.cells:
            while column in reserved:
                column += 1
            line.texts[column] = cell.text
            for covered in range(column, column + cell.columns):
                line.covering[covered] = cell.text
                if cell.rows > 1:
                    below[covered] = (cell.rows - 1, cell.text)
            column += cell.columns
        cells += len(line.covering)
        if cells > most_cells:
            return placed, cells, True
        placed.append(line)
        reserved = below
    return placed, cells, False


def _titles(placed: list[_Placed], columns: int) -> tuple[list[str], list[_Placed]]:
    """Return the texts of leading rows that are one head over all columns, and the other rows."""
    titles = []
    while len(placed) > 1 and columns > 1:
        cells = placed[0].row.cells
        if len(cells) != 1 or not cells[0].is_head or cells[0].rows > 1:
            break
        titles.append(cells[0].text)
        placed = placed[1:]
    return titles, placed


def _head_rows(placed: list[_Placed]) -> int:
    """Return how many of the first rows name the columns."""
    count = 0
    for line in placed:
        filled = [cell for cell in line.row.cells if cell.text]
        if not line.row.in_head and not all(cell.is_head for cell in filled):
            break
        count += 1
    in_head = sum(line.row.in_head for line in placed)
    if count == len(placed) and in_head < count:
        count = 0  # all rows look alike, so that none is told from the others
    return count or int(_first_row_names_figures(placed))


def _first_row_names_figures(placed: list[_Placed]) -> bool:
    """Tell whether a first row is words without digits over columns, half of them figures."""
    if len(placed) < 2:
        return False
    first, *others = [{at: text for at, text in line.texts.items() if text} for line in placed]
    names = list(first.values())
    if len(set(names)) < len(names) or any(map(_has_digit, names)):
        return False
    if any(set(line) - set(first) for line in others):
        return False
    figures = [
        column for column in first if all(_has_digit(line.get(column, "")) for line in others)
    ]
    return 2 * len(figures) >= len(first)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _head(rows: list[_Placed], column: int) -> str:
    """Return the name of a column: its heads joined, those that span it among them."""
    if len(rows) == 1:
        return rows[0].texts.get(column, "")
    names: list[str] = []
    for line in rows:
        name = line.covering.get(column, "")
        if name and name not in names:
            names.append(name)
    return " ".join(names)


class _Collector:
    """Takes rows, cells and the caption; tables inside cells become words of the cell."""

    def __init__(self, hidden: frozenset[int]) -> None:
        self._hidden = hidden
        self._rows: list[Row] = []
        self._caption = ""
        self._in_head = False

    def collect(self, table: LexborNode) -> tuple[str, list[Row]]:
        walk(table, self._enter, self._leave)
        return self._caption, self._rows

    def _enter(self, node: LexborNode) -> bool:
        tag = node.tag
        if node.mem_id in self._hidden:
            return False
        if tag == "thead":
            self._in_head = True
        elif tag == "tr":
            self._rows.append(Row(in_head=self._in_head))
        elif tag in ("td", "th"):
            if self._rows:
                self._rows[-1].cells.append(_cell(node, self._hidden))
            return False
        elif tag == "caption":
            self._caption = cell_text(node, self._hidden)[0].replace("\n", " ")
            return False
        return True

    def _leave(self, node: LexborNode) -> None:
        if node.tag == "thead":
            self._in_head = False


def _cell(node: LexborNode, hidden: frozenset[int]) -> Cell:
    text, is_bold = cell_text(node, hidden)
    attributes = node.attributes
    columns = _span(attributes.get("colspan"))
    rows = _span(attributes.get("rowspan"), zero=MAX_SPAN)
    return Cell(text, columns, rows, node.tag == "th" or is_bold)


def _span(value: str | None, zero: int = 1) -> int:
    digits = (value or "1").strip()
    if not digits.isascii() or not digits.isdigit():
        return 1
    return min(int(digits[:9]), MAX_SPAN) or zero


def cell_text(cell: LexborNode, hidden: frozenset[int]) -> tuple[str, bool]:
    """Return the words below an element, a line for each block, and whether all are bold."""
    parts: list[str] = []
    bold = 0
    plain = 0

    def enter(node: LexborNode) -> bool:
        nonlocal bold, plain
        tag = node.tag or ""
        if node.is_text_node:
            text = words(node.text_content or "")
            parts.append(text)
            plain += not bold and bool(text.strip())
            return False
        if tag in NEVER_SHOWN or node.mem_id in hidden or not node.is_element_node:
            return False
        bold += tag in ("b", "strong")
        parts.extend(_around(node, tag))
        return True

    def leave(node: LexborNode) -> None:
        nonlocal bold
        tag = node.tag or ""
        if tag in ("b", "strong") and node.mem_id not in hidden:
            bold -= 1
        elif tag in BLOCKS:
            parts.append(" " if tag in ("td", "th") else "\n")

    walk(cell, enter, leave)
    text = "\n".join(filter(None, lines(parts)))
    return text, bool(text) and not plain


def _around(node: LexborNode, tag: str) -> Iterator[str]:
    if tag == "br":
        yield "\n"
    elif tag == "img":
        yield words(node.attributes.get("alt") or "")
    elif tag in BLOCKS:
        yield " " if tag in ("td", "th") else "\n"
