"""The cells of a sheet as blocks: tables, their captions, and lines that stand alone.

    A          B       C
    Sales                          caption of the table below
    Region     2023    2024        names of the columns
    North      7       8
                                   an empty row: the same columns go on, so the same table
    South      9       10

    Costs                          a line, then names of columns: another table
    Item       EUR
    Rent       100

    Source: the books              a line below all tables: a paragraph

An empty row or column parts two tables only where what follows looks like a table of its own; one
that a merged cell or hidden rows lie across parts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import lt
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind, Table
from ingest_svc.readers.heads import is_figure, may_name, names_columns
from ingest_svc.readers.sheets.parts import Part, Row, Spans, bands, beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.room import Room
    from ingest_svc.readers.sheets.sheet import Cells, Sheet

_MOST_CAPTION_LINES = 3
_LONGEST_CAPTION = 300


def blocks_of(sheet: Sheet, room: Room) -> list[Block]:
    """Return what stands on a sheet, from top to bottom.

    Args:
        sheet: Its cells, hidden ones left out.
        room: Where the cells of the grids are counted, those that are empty among them.

    Raises:
        TooLarge: the grids would have more cells than the limits allow.
    """
    layout = _Layout(Spans.of(sheet), room)
    for band in bands(_in_order(sheet.cells), layout.spans):
        parts = beside(band, layout.spans)
        if len(parts) == 1:
            layout.add(band)
            continue
        for part in parts:
            layout.close()
            for piece in bands(part.rows, layout.spans):
                layout.add(piece)
    layout.close()
    return layout.blocks


def _in_order(cells: Cells) -> Iterator[Row]:
    for number in sorted(cells):
        columns = list(row := cells[number])
        is_rising = all(map(lt, columns, columns[1:]))
        yield number, row if is_rising else dict(sorted(row.items()))


@dataclass(slots=True)
class _Layout:
    """Takes the parts of a sheet in order and joins those that are one table."""

    spans: Spans
    room: Room
    blocks: list[Block] = field(default_factory=list)
    _rows: list[Row] = field(default_factory=list)
    """Of the table that may go on."""
    _columns: set[int] = field(default_factory=set)
    """Of the same."""
    _caption: list[str] = field(default_factory=list)
    _lines: list[Row] = field(default_factory=list)
    """Lines that stand alone since then; what follows says what they are."""

    def add(self, part: Part) -> None:
        """Take the next part of the sheet."""
        if self._rows and self._goes_on(part):
            self._rows += [*self._lines, *part.rows]
            self._lines = []
        elif part.is_lines or (self._rows and part.is_words_in_one_column):
            self._lines += part.rows
        else:
            self._open(part)

    def close(self) -> None:
        """Take it that nothing follows that belongs to what is open."""
        self._finish()
        self._paragraphs(self._texts())

    def _open(self, part: Part) -> None:
        titles, body = part.titles(self.spans)
        self._finish()
        lines = self._texts()
        if len(lines) <= _MOST_CAPTION_LINES and sum(map(len, lines)) <= _LONGEST_CAPTION:
            titles = [*lines, *titles]
        else:
            self._paragraphs(lines)
        self._caption = titles
        self._rows = list(body.rows)
        self._columns = set(body.columns)

    def _finish(self) -> None:
        if not self._rows:
            return
        table, self._rows = Part(self._rows), []
        if not self._caption and table.is_prose:
            self._paragraphs(table.texts)
            return
        self.room.take(len(table.rows) * len(table.columns) - table.filled)
        caption = "\n".join(self._caption)
        self.blocks.append(Block(BlockKind.TABLE, table=grid(table, self.spans, caption)))

    def _texts(self) -> list[str]:
        lines, self._lines = self._lines, []
        return Part(lines).texts

    def _paragraphs(self, texts: list[str]) -> None:
        self.blocks += [Block(BlockKind.PARAGRAPH, text) for text in texts]

    def _goes_on(self, part: Part) -> bool:
        """Tell whether a part below an empty row belongs to the table above."""
        if not self._columns.issuperset(part.columns):
            return False
        if len(self._columns) == 1:
            return not self._lines
        if part.is_lines or part.is_words_in_one_column:
            return False
        _, body = part.titles(self.spans)
        if len(body.rows) < len(part.rows) or self._lines:
            return not _has_names(body)
        return not (_has_names(body) and _differs_below(body))


def grid(part: Part, spans: Spans, caption: str) -> Table:
    """Return a part as a table, its columns named by its first row, by two of them or by none."""
    columns = part.columns
    rows = [[cells.get(column, "") for column in columns] for _, cells in part.rows]
    if names := _names_of_groups(part, spans, rows):
        return Table(names, rows[2:], caption=caption)
    if len(rows) > 1 and names_columns(rows[0], rows[1:]):
        return Table(rows[0], rows[1:], caption=caption)
    return Table([""] * len(columns), rows, caption=caption)


def _names_of_groups(part: Part, spans: Spans, rows: list[list[str]]) -> list[str]:
    """Return the names that two head rows make together; empty where there are not two.

    Above them stand cells merged over several columns, below words over other values.
    """
    if len(rows) < 3 or not all(map(may_name, rows[1])):
        return []
    top = part.rows[0][0]
    covering = dict(zip(part.columns, rows[0], strict=True))
    groups = 0
    for area in spans.merged_at(top):
        below = [column for column in part.columns if area.left <= column <= area.right]
        text = covering.get(area.left, "")
        groups += bool(text) and len(below) > 1 and area.bottom == top
        covering.update(dict.fromkeys(below, text))
    if not groups or not any(rows[1]):
        return []
    names = [
        " ".join(filter(None, (covering[column], name)))
        for column, name in zip(part.columns, rows[1], strict=True)
    ]
    return names if names_columns(names, rows[2:]) else []


def _has_names(part: Part) -> bool:
    first, *body = _sample(part)
    return bool(body) and names_columns(first, body)


def _differs_below(part: Part) -> bool:
    """Tell whether figures stand below a name, so that the first row is not one like the others.

    A name that is a year was found to be one by what stands below it.
    """
    first, *body = _sample(part)
    for at, name in enumerate(first):
        below = [row[at] for row in body if row[at]]
        if name and below and all(map(is_figure, below)):
            return True
    return False


def _sample(part: Part) -> Iterator[list[str]]:
    return ([cells.get(column, "") for column in part.columns] for _, cells in part.rows[:20])
