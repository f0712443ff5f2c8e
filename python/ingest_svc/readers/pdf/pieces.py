"""Pieces: what the rows of a page make up: paragraphs, list items, code, tables, headings."""

from __future__ import annotations

import msgspec

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.pdf.lines import Box, Row
from ingest_svc.readers.pdf.tables import FoundTable


class Piece(msgspec.Struct, frozen=True):
    """A paragraph, list item, heading, piece of code or table on one page or several."""

    kind: BlockKind
    text: str
    box: Box
    """On the first page."""
    page: int
    page_end: int
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    visible: bool = True
    rows: tuple[Row, ...] = ()
    marker: str = ""
    level: int = 0
    stated: bool = True
    tables: tuple[FoundTable, ...] = ()
    """The parts of a table, one for each page."""
    caption: str = ""
    ends_column: bool = False
    """Whether its last row reaches the end of the column, so that it may go on elsewhere."""
    indented: bool = False
    """Whether its first row starts further in than the column, as that of a paragraph does."""
