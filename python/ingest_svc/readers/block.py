"""What every reader returns: a flat list of blocks in reading order.

Nesting is said by levels, never by nesting objects, so that a hostile file cannot build a deep
structure. Blocks cross a process border as msgpack and are checked against these types on the way
in.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    FILE = 8
    """A file inside this one, an attachment or a member of an archive; what is in it follows."""


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
    """The words, with sensible white space; empty for tables. Of pictures the alternative text or
    caption; of files inside their name."""
    level: int = 0
    """Headings: 1 is outermost of the file, or the file inside, that they stand in. List items:
    nesting depth, 1 is outermost. Files: 1 directly inside the file read, 2 inside such a one; what
    follows belongs to it until the next file of its level or a smaller one, or the end. Else 0."""
    page_start: int = 0
    """First page, from 1; 0 where the format has no pages."""
    page_end: int = 0
    stated: bool = True
    """Headings: stated by the file (markup, outline, numbering); False: guessed by looks."""
    marker: str = ""
    """List items: the mark or number as written, for example "3." or "a)"; empty for bullets.
    Headings: a number that the file counts and does not write."""
    table: Table | None = None
    """Set for tables, and only for them."""
    language: str = ""
    """Code: the language that the file names."""


WARNING_KINDS = (
    "NO_TEXT_LAYER",
    "BAD_TEXT_LAYER",
    "DAMAGED",
    "REPLACED_CHARACTERS",
    "TRUNCATED_TABLE",
    "SKIPPED_FILE",
    "SKIPPED_PART",
    "OCR_FAILED",
)
"""SKIPPED_FILE: a file inside could not be read; the message names it and says why. SKIPPED_PART:
something of the file was left out on purpose (hidden sheets, say) or is not read (a bad line)."""

Value = str | int | float | bool | list[str]
"""A value of a file's own metadata."""


class Warning(msgspec.Struct, frozen=True):
    """Something that went less than well in a file that could be read all the same."""

    kind: str
    """One of `WARNING_KINDS`."""
    message: str
    pages: list[int] = []


class ParsedFile(msgspec.Struct, frozen=True):
    """A file as its reader understood it."""

    blocks: list[Block]
    media_type: str
    title: str = ""
    """The title that the file states (metadata, front matter); empty where there is none."""
    page_count: int = 0
    """Pages or slides; 0 where the format has none."""
    warnings: list[Warning] = []
    metadata: Mapping[str, Value] = {}
    """What the file states of itself, by the names in `METADATA_NAMES` where one fits, else as the
    file has it (front matter): author, language and the like. Never what was worked out."""
    dates: dict[str, str] = {}
    """Points in time that the file states, as RFC 3339 with a zone: created, modified, sent."""
    counts: dict[str, int] = {}
    """What was counted, by the names in `COUNT_NAMES`; zeros may be left out."""


METADATA_NAMES = (
    "author",
    "language",
    "subject",
    "description",
    "keywords",
    "publisher",
    "generator",
    "programming_language",
    "delimiter",
    "from",
    "to",
    "cc",
    "reply_to",
    "message_id",
    "in_reply_to",
    "list_id",
)
"""`author`, `keywords`, `to` and `cc` are lists where there are several."""

COUNT_NAMES = (
    "outline",
    "sheets",
    "hidden_sheets",
    "attachments",
    "entries",
    "entries_read",
    "records",
    "images",
    "pages_with_text",
    "pages_without_text",
    "pages_by_ocr",
    "skipped",
)
"""`outline`: entries of the file's own outline. `sheets`: of a workbook, hidden ones included.
`attachments`: files in a mail or a PDF. `entries`, `entries_read`: files in an archive, and those
that were read. `records`: of JSON Lines, CSV and the like. `pages_*`: what of `page_count` had
text, had none, got it by OCR. `skipped`: parts that were left out."""
