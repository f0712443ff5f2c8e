"""The style sheet: which styles are for headings, titles, captions, quotes and programs."""

from __future__ import annotations

from dataclasses import dataclass

from ingest_svc.readers.prose.style_names import Role, heading_level, role_of

_BODY_TEXT = 9
_LONGEST_NAME = 200


@dataclass(slots=True)
class Style:
    """A style for paragraphs as it is written."""

    name: str = ""
    outline: int = -1
    """From 0; -1 where it states none."""
    based_on: int = -1


class Styles:
    """The styles of a document by their numbers."""

    def __init__(self) -> None:
        """Begin without any."""
        self.by_number: dict[int, Style] = {}
        self._open = Style()
        """The one whose entry is being read."""
        self._number = 0

    def word(self, word: bytes, number: int | None) -> bool:
        """Take a control word of the style sheet; return False where it is none."""
        stated = -1 if number is None else number
        match word:
            case b"s":
                self._number = stated
            case b"cs" | b"ts":
                self._number = -1
            case b"outlinelevel":
                self._open.outline = stated
            case b"sbasedon":
                self._open.based_on = stated
            case _:
                return False
        return True

    def named(self, text: str) -> None:
        """Take a part of a name."""
        if len(self._open.name) < _LONGEST_NAME:
            self._open.name += text.partition(";")[0]

    def end_of_one(self) -> None:
        """End an entry; one without a name is none."""
        if self._open.name.strip() and self._number >= 0:
            self._open.name = self._open.name.strip()
            self.by_number[self._number] = self._open
        self._open, self._number = Style(), 0

    def role(self, number: int) -> Role:
        """Return what a style is for; headings are asked for by `level`."""
        style = self.by_number.get(number)
        return role_of(style.name) if style is not None else Role.BODY

    def level(self, number: int, outline: int) -> int:
        """Return the level of a heading in a style, from 1; 0 where it is none.

        Args:
            number: The style's.
            outline: The outline level that the paragraph itself states, from 0, or -1.
        """
        if outline >= 0:
            return level_of(outline)
        seen: set[int] = set()
        while number in self.by_number and number not in seen:
            seen.add(number)
            style = self.by_number[number]
            if style.outline >= 0:
                return level_of(style.outline)
            if level := heading_level(style.name):
                return level
            number = style.based_on
        return 0


def level_of(outline: int) -> int:
    """Return the level of a heading for an outline level; 0 where that says: none."""
    return outline + 1 if outline < _BODY_TEXT else 0
