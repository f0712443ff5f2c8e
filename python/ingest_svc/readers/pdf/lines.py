"""Lines, rows and pages: the geometry that all other steps of the PDF reader share.

Coordinates are points with the origin at the top left, turned so that most text of the page reads
from left to right. A `Line` is what the text layer calls a line: a stretch of characters without a
wide gap. A `Row` is everything on one baseline of one column. A `Page` holds the lines and the
rules (thin drawn lines) of one page, and nothing of the library they came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec


class Box(NamedTuple):
    """A rectangle in points; y grows downwards."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Return the extent from left to right."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Return the extent from top to bottom."""
        return self.y1 - self.y0

    def holds(self, x: float, y: float) -> bool:
        """Tell whether a point lies inside."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def shared(self, other: Box) -> float:
        """Return the share of its own area that another box covers, 0 to 1."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        if width <= 0 or height <= 0:
            return 0.0
        return width * height / max(self.width * self.height, 1e-6)

    def joined(self, other: Box) -> Box:
        """Return the smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )


def box_around(boxes: list[Box]) -> Box:
    """Return the smallest box around one or more boxes."""
    if len(boxes) == 1:
        return boxes[0]
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return Box(min(x0), min(y0), max(x1), max(y1))


class Line(msgspec.Struct, frozen=True):
    """A stretch of text without a wide gap."""

    box: Box
    text: str
    size: float
    """Font size of most of its characters, in points."""
    bold: bool
    """Whether all of it is bold."""
    italic: bool
    mono: bool
    visible: bool
    """False for text that is drawn without fill or stroke, as recognised text under a scan is."""
    upright: bool
    """False where it runs in another direction than most of the page."""
    order: int
    """Its place in the file's own order on the page."""
    bold_lead: str = ""
    """The bold words it starts with, where the rest is not bold."""
    recognised: bool = False
    """Whether it was read off a picture, so that its looks are measured and not stated."""
    area: int = -1
    """Which of the page's areas it lies in; -1 for none."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Straight drawn lines of a page, thin rectangles among them, and the edges of filled boxes."""

    horizontal: tuple[tuple[float, float, float], ...] = ()
    """Each as (y, x0, x1)."""
    vertical: tuple[tuple[float, float, float], ...] = ()
    """Each as (x, y0, y1)."""
    fills: tuple[Box, ...] = ()
    """Filled boxes that are not thin: cell backgrounds, panels."""

    @property
    def count(self) -> int:
        """Return how many there are in all."""
        return len(self.horizontal) + len(self.vertical) + len(self.fills)


class Role(StrEnum):
    """What a layout model takes a part of a page for, by its names."""

    TEXT = "text"
    TITLE = "title"
    SECTION_HEADER = "section-header"
    LIST_ITEM = "list-item"
    TABLE = "table"
    PICTURE = "picture"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    FORMULA = "formula"
    PAGE_HEADER = "page-header"
    PAGE_FOOTER = "page-footer"


class Area(msgspec.Struct, frozen=True):
    """A part of a page that a layout model tells apart."""

    role: Role
    box: Box
    xs: tuple[float, ...] = ()
    """Of tables: the left edges of the columns, and the right one of the last."""
    ys: tuple[float, ...] = ()
    """Of tables: the upper edges of the rows, and the lower one of the last."""


class Page(msgspec.Struct, frozen=True):
    """One page as read from the file."""

    number: int
    """From 1."""
    width: float
    height: float
    lines: tuple[Line, ...]
    rules: Rules
    drawings: int
    """Paths drawn; 0 where they were not looked at."""
    searched: bool
    """False where the page's content was too long to look at its drawings."""
    picture_share: float
    """Share of the page's area under pictures, 0 to 1; looked at where there is little text."""
    broken_characters: int
    """Characters replaced because they are no text (lone surrogates, NUL)."""
    turn: int = 0
    """Quarter turns from its own frame to this one, as `Turn` takes them."""
    areas: tuple[Area, ...] = ()
    """What a layout model tells apart; empty where none was asked, or it found nothing."""


class Cell(msgspec.Struct, frozen=True):
    """A stretch of a row that stands apart from its neighbours."""

    box: Box
    text: str


class Row(msgspec.Struct, frozen=True):
    """Everything on one baseline of one column."""

    box: Box
    text: str
    size: float
    bold: bool
    italic: bool
    mono: bool
    visible: bool
    page: int
    cells: tuple[Cell, ...]
    column: Box
    """The column it stands in, over the whole height of that column's stretch."""
    bold_lead: str = ""
    right_to_left: bool = False
    recognised: bool = False
    key: int = -1
    """Unique in the document, in reading order."""
    role: Role | None = None
    """Of the area that it lies in."""
