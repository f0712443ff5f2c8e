"""What every reader returns: a flat list of blocks in reading order.

Nesting is said by levels, never by nesting objects, so that a hostile file cannot build a deep
structure. Blocks cross a process border as msgpack and are checked against these types on the way
in.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec


class BlockKind(IntEnum):
    """What a block is."""

    HEADING = 1
    PARAGRAPH = 2
    LIST_ITEM = 3
    TABLE = 4
    CODE = 5
    QUOTE = 6
    IMAGE = 7


class Table(msgspec.Struct, frozen=True):
    """A table as a grid; every row has as many cells as the header.

    Merged cells hold their text once, at the top left.
    """

    header: list[str]
    """Names of the columns; empty strings where the table has no header row."""
    rows: list[list[str]]
    row_pages: list[int] = []
    """Page of each row, from 1; empty where the format has no pages."""
    caption: str = ""


class Block(msgspec.Struct, frozen=True):
    """One piece of a document, in reading order."""

    kind: BlockKind
    text: str = ""
    """The words, with sensible white space; empty for tables."""
    level: int = 0
    """Headings: 1 is outermost. List items: nesting depth, 1 is outermost. Else 0."""
    page_start: int = 0
    """First page, from 1; 0 where the format has no pages."""
    page_end: int = 0
    stated: bool = True
    """Headings: stated by the file (markup, outline, numbering); False: guessed by looks."""
    marker: str = ""
    """List items: the mark or number as written, for example "3." or "a)"; empty for bullets."""
    table: Table | None = None
    """Set for tables, and only for them."""
    language: str = ""
    """Code: the language that the file names."""


class Warning(msgspec.Struct, frozen=True):
    """Something that went less than well in a file that could be read all the same."""

    kind: str
    """NO_TEXT_LAYER, BAD_TEXT_LAYER, DAMAGED, REPLACED_CHARACTERS or TRUNCATED_TABLE."""
    message: str
    pages: list[int] = []


class ParsedFile(msgspec.Struct, frozen=True):
    """A file as its reader understood it."""

    blocks: list[Block]
    media_type: str
    title: str = ""
    """The title that the file states (metadata, front matter); empty where there is none."""
    page_count: int = 0
    outline_entries: int = 0
    warnings: list[Warning] = []
    metadata: dict[str, str] = {}
    """Author, language and the like, as the file states them."""
