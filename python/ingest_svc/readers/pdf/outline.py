"""The outline bound to the text: which rows are the titles that the file's outline names.

Titles are compared without spaces, punctuation and case, with or without their numbers, on the
page that the entry points to and its neighbours. Entries are bound in order and a row at most
once, so that three entries "Summary" find three rows. A title that no row has is left out: an
outline adds no text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import msgspec

from ingest_svc.readers.pdf.furniture import folded
from ingest_svc.readers.pdf.lines import Row

_MOST_ROWS = 4
"""A title is broken over no more rows than this."""
_ALIKE = 0.9
_NUMBER = re.compile(
    r"^\s*(?:(?:chapter|section|part|appendix|kapitel|chapitre|cap[ií]tulo)\s+)?"
    r"(?:\d+(?:[.\-]\d+)*|[A-Z](?:\.\d+)+|[A-Z]|[IVXLC]+)[.:)]?\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the outline."""

    level: int
    """1 is outermost."""
    title: str
    page: int
    """From 1; 0 where it points nowhere."""
    y: float = -1.0
    """Where on the page it points to, from the top in points; negative where it does not say."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An outline bound to rows."""

    entries: dict[int, int]
    """Row key -> index of the entry whose title the row is, or is part of."""
    levels: dict[int, int]
    """Index of a bound entry -> level, 1 for the outermost that is bound."""
    total: int
    """How many entries have a title and a page."""

    @property
    def is_good(self) -> bool:
        """Tell whether most of the outline was found, so that it can be taken for the whole."""
        return self.total >= 3 and len(self.levels) >= 0.6 * self.total


class _Folded(msgspec.Struct, frozen=True):
    """A row and the starts of its folded text, with and without its number."""

    row: Row
    own: str
    bare: str

    def may_start(self, wanted: set[str]) -> bool:
        """Tell whether the row can be the start of a title, cheaply."""
        return bool(self.own) and any(
            title.startswith(self.own[:4]) or (self.bare and title.startswith(self.bare[:4]))
            for title in wanted
        )


def bind(entries: Sequence[Entry], rows: Sequence[Row]) -> Bound:
    """Return the outline bound to the document's rows, given in reading order."""
    by_page: dict[int, list[_Folded]] = {}
    for row in rows:
        by_page.setdefault(row.page, []).append(
            _Folded(row, folded(row.text)[:40], folded(_NUMBER.sub("", row.text))[:40])
        )
    bound: dict[int, int] = {}
    found: dict[int, int] = {}
    last_key = -1
    for index, entry in enumerate(entries):
        if entry.page < 1 or not folded(entry.title):
            continue
        match = _best(entry, by_page, bound, last_key)
        if match:
            found[index] = entry.level
            last_key = match[-1].key
            for row in match:
                bound[row.key] = index
    total = sum(1 for entry in entries if entry.page >= 1 and folded(entry.title))
    return Bound(bound, found, total)


def _best(
    entry: Entry, by_page: dict[int, list[_Folded]], bound: dict[int, int], last_key: int
) -> list[Row]:
    """Return the rows that are an entry's title; empty where there are none."""
    wanted = {folded(entry.title), folded(_NUMBER.sub("", entry.title))} - {""}
    best: tuple[float, list[Row]] = (0.0, [])
    for distance, page in enumerate((entry.page, entry.page + 1, entry.page - 1)):
        rows = by_page.get(page, [])
        for at, row in enumerate(rows):
            if row.row.key in bound or not row.may_start(wanted):
                continue
            match, likeness = _match(rows, at, wanted, bound)
            if not match:
                continue
            score = _score(match, likeness, last_key)
            score -= _distance(entry, match[0]) if distance == 0 else 0.5 * distance
            if score > best[0]:
                best = (score, match)
        if best[1] and distance == 0:
            break
    return best[1]


def _score(match: list[Row], likeness: float, last_key: int) -> float:
    """Return how good a match is, by likeness, looks, and whether it keeps the outline's order."""
    looks = 0.02 * min(match[0].size, 30.0) + (0.2 if match[0].bold else 0.0)
    return 1.0 + likeness + looks + (0.4 if match[0].key > last_key else 0.0)


def _distance(entry: Entry, row: Row) -> float:
    """Return how far a row is from where the entry points, 0 to 0.8."""
    if entry.y < 0:
        return 0.0
    return 0.0 if -25 <= row.box.y0 - entry.y <= 60 else min(abs(row.box.y0 - entry.y) / 400, 0.8)


def _match(
    rows: list[_Folded], at: int, wanted: set[str], bound: dict[int, int]
) -> tuple[list[Row], float]:
    """Return the rows from a place on that make up a wanted title, and how alike they are."""
    longest = max(map(len, wanted))
    text = ""
    best: tuple[list[Row], float] = ([], 0.0)
    for end in range(at, min(at + _MOST_ROWS, len(rows))):
        row, first = rows[end].row, rows[at].row
        if row.key in bound or (end > at and abs(row.size - first.size) > 0.15 * row.size):
            break
        text = f"{text} {row.text}"
        forms = {folded(text), folded(_NUMBER.sub("", text))} - {""}
        likeness = max((_likeness(form, title) for form in forms for title in wanted), default=0.0)
        if likeness > best[1]:
            best = ([one.row for one in rows[at : end + 1]], likeness)
        if all(len(form) > 1.2 * longest for form in forms):
            break
    return best if best[1] >= _ALIKE else ([], 0.0)


def _likeness(form: str, title: str) -> float:
    """Return how alike two folded texts are, 0 to 1; only long ones may differ at all."""
    if form == title:
        return 1.0
    if min(len(form), len(title)) < 8 or abs(len(form) - len(title)) > 0.2 * len(title):
        return 0.0
    # Numbers tell titles apart that are otherwise alike.
    if [c for c in form if c.isdecimal()] != [c for c in title if c.isdecimal()]:
        return 0.0
    return SequenceMatcher(None, form, title, autojunk=False).ratio()
