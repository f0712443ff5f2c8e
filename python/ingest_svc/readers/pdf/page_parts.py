"""The parts of a page in reading order: stretches of rows, and tables between them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.pdf.align import aligned_tables
from ingest_svc.readers.pdf.columns import Item, Region, item_of_line, regions_of
from ingest_svc.readers.pdf.lines import Line, Page, Row
from ingest_svc.readers.pdf.paragraphs import column_of, paragraphs
from ingest_svc.readers.pdf.pieces import Piece
from ingest_svc.readers.pdf.rows import baselines, row_of
from ingest_svc.readers.pdf.tables import FoundTable, ruled_tables


@dataclass(frozen=True, slots=True)
class RowPart:
    """Rows of one column that follow each other."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table."""

    table: FoundTable


PagePart = RowPart | TablePart


def parts_of(
    page: Page, furniture: Container[int], max_rules: int, keys: Iterator[int]
) -> list[PagePart]:
    """Return the parts of a page.

    Args:
        page: The page.
        furniture: Orders of the lines that are no part of the text.
        max_rules: Most drawn lines of a page that is searched for ruled tables.
        keys: Where the rows' keys come from.
    """
    kept = replace(page, lines=tuple(line for line in page.lines if line.order not in furniture))
    tables, used = ruled_tables(kept, max_rules)
    lines = [line for line in kept.lines if line.order not in used]
    items = [item_of_line(line) for line in lines]
    items += [_item_of_table(table, kept.lines) for table in tables]
    parts: list[PagePart] = []
    for region in regions_of(items):
        parts += _parts_of_region(region, page.number, keys)
    return parts


def _item_of_table(table: FoundTable, lines: Sequence[Line]) -> Item:
    """Return a table as an item, standing in the file's order where its first line does."""
    orders = [
        line.order
        for line in lines
        if table.box.holds((line.box.x0 + line.box.x1) / 2, (line.box.y0 + line.box.y1) / 2)
    ]
    weight = float(sum(len(cell) for row in table.rows for cell in row))
    return Item(table.box, min(orders, default=0), weight, table=table)


def _parts_of_region(region: Region, page: int, keys: Iterator[int]) -> list[PagePart]:
    """Return the parts of one region: rows, cut where a table stands."""
    parts: list[PagePart] = []
    lines: list[Line] = []
    for item in sorted(region.items, key=lambda item: (item.box.y0 + item.box.y1, item.box.x0)):
        if item.table is not None:
            parts += _parts_of_lines(lines, region, page, keys)
            parts.append(TablePart(item.table))
            lines = []
        elif item.line is not None:
            lines.append(item.line)
    return parts + _parts_of_lines(lines, region, page, keys)


def _parts_of_lines(
    lines: Sequence[Line], region: Region, page: int, keys: Iterator[int]
) -> list[PagePart]:
    """Return lines as rows, with the tables that only their alignment shows."""
    rows = [row_of(group, page, region.box) for group in baselines(lines)]
    parts: list[PagePart] = []
    at = 0
    for start, end, table in aligned_tables(rows):
        parts += _row_part(rows[at:start], keys)
        parts.append(TablePart(table))
        at = end
    return parts + _row_part(rows[at:], keys)


def _row_part(rows: Sequence[Row], keys: Iterator[int]) -> list[PagePart]:
    """Return rows as a part, with keys; nothing where there are none."""
    if not rows:
        return []
    return [RowPart(tuple(replace(row, key=next(keys)) for row in rows))]


def pieces_of(
    parts: Sequence[PagePart], headings: Mapping[int, int], words: Container[str]
) -> list[Piece]:
    """Return the pieces that the parts of all pages make up."""
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, TablePart):
            pieces.append(_table_piece(part.table))
        else:
            pieces += paragraphs(column_of(part.rows), headings, words)
    return pieces


def _table_piece(table: FoundTable) -> Piece:
    return Piece(
        kind=BlockKind.TABLE,
        text="",
        box=table.box,
        page=table.page,
        page_end=table.page,
        tables=(table,),
        caption=table.title,
    )
