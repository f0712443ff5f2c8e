"""What holds for the text of a group, and is as before once the group ends."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple


class Place(IntEnum):
    """Where text goes."""

    BODY = auto()
    SKIP = auto()
    """Nowhere, whatever stands inside."""
    PASS = auto()
    """Nowhere, but what stands inside may be of use: shapes, pictures."""
    FONTS = auto()
    STYLES = auto()
    INFO = auto()
    FACT = auto()
    """A fact in the file's information, or its generator."""
    MARKER = auto()
    """The number or bullet of a list item."""
    NAME = auto()
    """The name of a shape's property."""
    VALUE = auto()
    ROW = auto()
    """What is said of the row of a table in a cell."""


class State(NamedTuple):
    """Text's place and properties; made anew where one changes."""

    place: Place = Place.BODY
    outside: Place = Place.BODY
    """The place around a group that says the same twice."""
    fact: str = ""
    font: int = -1
    skipped_per_unicode: int = 1
    """Characters behind a `\\u` that old programs show in its place."""
    hidden: bool = False
    deleted: bool = False
    bold: bool = False
    size: int = 24
    style: int = 0
    outline: int = -1
    """Outline level of the paragraph, from 0; -1 where it states none."""
    in_table: bool = False
    depth: int = 1
    """Of the table that the paragraph is in."""
    list_id: int = 0
    list_level: int = 0

    def plain(self) -> State:
        """Return the state with the look of characters as by default."""
        return self._replace(hidden=False, deleted=False, bold=False, size=24, font=-1)

    def new_paragraph(self) -> State:
        """Return the state with the properties of paragraphs as by default."""
        return self._replace(style=0, outline=-1, in_table=False, depth=1, list_id=0, list_level=0)
