"""What the sheets of a workbook share: texts and number formats that cells name by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.sheets.values import (
    BUILT_IN,
    PLAIN,
    Format,
    Meaning,
    number_format,
    number_text,
)

if TYPE_CHECKING:
    from ingest_svc.readers.room import Room


@dataclass(slots=True)
class Shared:
    """The shared part of a workbook."""

    texts: Sequence[str] = ()
    formats: list[Format] = field(default_factory=list)
    """By the number of the style."""
    from_1904: bool = False

    def text(self, index: int, room: Room) -> str:
        """Return a text; empty where there is none of this number."""
        if not 0 <= index < len(self.texts):
            return ""
        text = self.texts[index]
        room.take(0, len(text))
        return text

    def format(self, style: int) -> Format:
        """Return the format of a style; the plain one where there is none of this number."""
        return self.formats[style] if 0 <= style < len(self.formats) else PLAIN

    def number(self, value: float, style: int) -> str:
        """Return a number as the text that its style makes of it."""
        return number_text(value, self.format(style), from_1904=self.from_1904)


def format_of(number: int, codes: Mapping[int, str]) -> Format:
    """Return a number format by its number: as the file defines it, else as it is built in."""
    if number in codes:
        shown = number_format(codes[number])
        return PLAIN if shown.meaning is Meaning.NUMBER and not shown.least_digits else shown
    return BUILT_IN.get(number, PLAIN)
