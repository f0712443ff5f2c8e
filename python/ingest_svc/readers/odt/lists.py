"""Numbers of list items and headings, counted as a word processor counts them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.odt.names import name_of, number, stated
from ingest_svc.readers.prose.number_formats import formatted

if TYPE_CHECKING:
    from ingest_svc.readers.xml_parts import Element

LEVELS = 10
_FORMATS = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    "一, 二, 三, ...": "chineseCounting",
    "１, ２, ３, ...": "decimalFullWidth",
    "①, ②, ③, ...": "decimalEnclosedCircle",
    "壹, 贰, 叁, ...": "chineseLegalSimplified",
    "甲, 乙, 丙, ...": "ideographTraditional",
    "子, 丑, 寅, ...": "ideographZodiac",
    "ア, イ, ウ, ...": "aiueo",
    "イ, ロ, ハ, ...": "iroha",
    "А, Б, .., Аа, Аб, ... (ru)": "russianUpper",
    "а, б, .., аа, аб, ... (ru)": "russianLower",
}
_LEVEL_STYLES = frozenset(
    {"text:list-level-style-number", "text:outline-level-style", "text:list-level-style-bullet"}
)
_LONGEST_MARKER = 100


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is numbered."""

    format: str = ""
    """Empty where it shows no number."""
    prefix: str = ""
    suffix: str = ""
    start: int = 1
    shown_levels: int = 1
    is_bullet: bool = False


Levels = dict[int, Level]
"""By their number, from 1."""


@dataclass(slots=True)
class Counts:
    """How far a list has been counted."""

    levels: Levels
    _counts: dict[int, int] = field(default_factory=dict)

    def next(self, level: int, start: int | None = None) -> str:
        """Count an item; return its number as shown, empty where it shows none.

        Args:
            level: From 1.
            start: Where it says that counting begins anew.
        """
        own = self.levels.get(level, Level())
        if start is not None:
            self._counts[level] = start
        else:
            self._counts[level] = self._counts.get(level, own.start - 1) + 1
        self.restart(level + 1)
        return self._marker(level, own)

    def restart(self, level: int) -> None:
        """Begin anew from a level on."""
        for deeper in [known for known in self._counts if known >= level]:
            del self._counts[deeper]

    def _marker(self, level: int, own: Level) -> str:
        if not own.format or own.is_bullet:
            return ""
        first = max(1, level - own.shown_levels + 1)
        numbers = []
        for at in range(first, level + 1):
            shown = self.levels.get(at, Level())
            if shown.format and not shown.is_bullet:
                numbers.append(formatted(self._counts.get(at, shown.start), shown.format))
        text = f"{own.prefix}{'.'.join(numbers)}{own.suffix}"
        return " ".join(text.split())[:_LONGEST_MARKER]


@dataclass(slots=True)
class ListStyles:
    """The styles of lists, and of the numbers of headings."""

    outline: Levels = field(default_factory=dict)
    _lists: dict[str, Levels] = field(default_factory=dict)

    def take(self, holder: Element | None) -> None:
        """Take the styles of an element that holds them."""
        for element in holder if holder is not None else ():
            if name_of(element) == "text:list-style":
                self._lists[stated(element, "style:name") or ""] = _levels(element)
            elif name_of(element) == "text:outline-style":
                self.outline = _levels(element)

    def levels(self, name: str) -> Levels:
        """Return the levels of a style; all bullets where it is not known."""
        return self._lists.get(name, {})


def _levels(element: Element) -> Levels:
    return {
        min(number(part, "text:level", 1), LEVELS): _level(part)
        for part in element
        if name_of(part) in _LEVEL_STYLES
    }


def _level(element: Element) -> Level:
    return Level(
        format=_format(stated(element, "style:num-format") or ""),
        prefix=stated(element, "style:num-prefix") or "",
        suffix=stated(element, "style:num-suffix") or "",
        start=number(element, "text:start-value", 1),
        shown_levels=number(element, "text:display-levels", 1),
        is_bullet=name_of(element) == "text:list-level-style-bullet",
    )


def _format(stated_format: str) -> str:
    """Return the name of a format; what is not known is written in digits."""
    return _FORMATS.get(stated_format, "decimal") if stated_format else ""
