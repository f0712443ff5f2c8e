"""Numbers of headings and list items, counted as a word processor counts them.

    num ──────────> abstractNum ──> lvl (start, format, text "%1.%2")
     └ lvlOverride: another start, or a whole level

Counts belong to the abstract numbering: lists that share it go on counting, until one of them
states a start of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.docx.names import child, is_on, name_of, number, shown, value
from ingest_svc.readers.prose.number_formats import formatted

if TYPE_CHECKING:
    from ingest_svc.readers.xml_parts import Element

LEVELS = 9
_BULLETS = frozenset({"bullet", "none"})
_LONGEST_MARKER = 100


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is numbered."""

    start: int = 1
    style: str = "decimal"
    text: str = ""
    """The number's pattern: "%1.%2)"."""
    restart: int | None = None
    """The level, from 1, after which this one starts anew; None for any above it, 0 for never."""
    is_legal: bool = False
    """All numbers in digits, whatever their own level says."""
    style_id: str = ""
    """The paragraph style that stands for this level."""


@dataclass(frozen=True, slots=True)
class Item:
    """The place of a paragraph in a list."""

    level: int
    """From 0."""
    marker: str
    """Its number as shown; empty for bullets."""
    is_bullet: bool = False


@dataclass(slots=True)
class _List:
    """A `num`: a use of an abstract numbering."""

    abstract: str
    levels: dict[int, Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """All lists of a document, and how far each has been counted."""

    def __init__(self, root: Element | None) -> None:
        """Take the root of the numbering part, None where the file has none."""
        self._abstract: dict[str, dict[int, Level]] = {}
        self._style_of: dict[str, str] = {}
        self._by_style: dict[str, str] = {}
        self._lists: dict[str, _List] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._begun: set[tuple[str, int]] = set()
        for element in root if root is not None else ():
            if name_of(element) == "abstractNum":
                self._take_abstract(element)
            elif name_of(element) == "num":
                self._take_list(element)

    def level_of_style(self, list_id: str, style_id: str) -> int:
        """Return the level, from 0, that a paragraph style stands for in a list."""
        levels = self._levels(list_id)
        return next((at for at, level in levels.items() if level.style_id == style_id), 0)

    def next(self, list_id: str, level: int) -> Item | None:
        """Count a paragraph of a list; return its place, None where it shows no mark.

        Args:
            list_id: The `numId`.
            level: From 0.
        """
        listed = self._lists.get(list_id)
        if listed is None:
            return None
        level = min(max(level, 0), LEVELS - 1)
        levels = self._levels(list_id)
        own = levels.get(level, Level())
        self._count(list_id, listed, levels, level)
        if own.style == "bullet":
            return Item(level, "", is_bullet=True)
        marker = self._marker(listed, levels, own)
        return Item(level, marker) if marker else None  # numbered without a number: no item

    def _count(self, list_id: str, listed: _List, levels: dict[int, Level], level: int) -> None:
        counts = self._counts[listed.abstract]
        if level in listed.starts and (list_id, level) not in self._begun:
            counts[level] = listed.starts[level]
            self._begun.add((list_id, level))
        elif level in counts:
            counts[level] += 1
        else:
            counts[level] = levels.get(level, Level()).start
        for deeper in [at for at in counts if at > level]:
            restart = levels.get(deeper, Level()).restart
            if restart is None or (restart and level < restart):
                del counts[deeper]
                self._begun.discard((list_id, deeper))

    def _marker(self, listed: _List, levels: dict[int, Level], own: Level) -> str:
        text = own.text
        counts = self._counts[listed.abstract]
        for at in range(LEVELS):
            sign = f"%{at + 1}"
            if sign not in text:
                continue
            level = levels.get(at, Level())
            count = counts.get(at, listed.starts.get(at, level.start))
            style = "decimal" if own.is_legal and level.style != "decimalZero" else level.style
            text = text.replace(sign, "" if style in _BULLETS else formatted(count, style))
        return " ".join(text.split())[:_LONGEST_MARKER]

    def _levels(self, list_id: str) -> dict[int, Level]:
        listed = self._lists.get(list_id)
        if listed is None:
            return {}
        abstract = listed.abstract
        if abstract in self._style_of:  # the levels are those of a list style
            abstract = self._by_style.get(self._style_of[abstract], abstract)
        levels = self._abstract.get(abstract, {})
        return {**levels, **listed.levels} if listed.levels else levels

    def _take_abstract(self, element: Element) -> None:
        name = value(element, "abstractNumId") or ""
        levels: dict[int, Level] = {}
        for part in element:
            kind = name_of(part)
            if kind == "lvl":
                levels[_place(part)] = _level(part)
            elif kind == "numStyleLink":
                self._style_of[name] = value(part) or ""
            elif kind == "styleLink":
                self._by_style[value(part) or ""] = name
        self._abstract[name] = levels

    def _take_list(self, element: Element) -> None:
        abstract = child(element, "abstractNumId")
        listed = _List((value(abstract) or "") if abstract is not None else "")
        for part in element:
            if name_of(part) != "lvlOverride":
                continue
            at = _place(part)
            start, level = child(part, "startOverride"), child(part, "lvl")
            if level is not None:
                listed.levels[at] = _level(level)
            stated = number(start) if start is not None else None
            if stated is not None:
                listed.starts[at] = stated
        self._lists[value(element, "numId") or ""] = listed


def _place(element: Element) -> int:
    return min(max(number(element, "ilvl") or 0, 0), LEVELS - 1)


def _level(element: Element) -> Level:
    facts = {name_of(part): part for part in shown(element, frozenset())}
    start = number(facts["start"]) if "start" in facts else None
    style = value(facts["numFmt"]) if "numFmt" in facts else None
    return Level(
        start=0 if start is None else start,
        style=style or "decimal",
        text=(value(facts["lvlText"]) or "") if "lvlText" in facts else "",
        restart=number(facts["lvlRestart"]) if "lvlRestart" in facts else None,
        is_legal="isLgl" in facts and is_on(facts["isLgl"]),
        style_id=(value(facts["pStyle"]) or "") if "pStyle" in facts else "",
    )
