"""The outline bound to the text: which rows are the titles that the file's outline names.

Titles are compared without spaces, punctuation and case, with or without their numbers, on the
page that the entry points to and its neighbours. Entries are bound in order and a row at most
once, so that three entries "Summary" find three rows. A title that no row has is left out: an
outline adds no text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ingest_svc.readers.pdf.furniture import folded
from ingest_svc.readers.pdf.lines import Row

_MOST_ROWS = 4
"""A title is broken over no more rows than this."""
_ALIKE = 0.9
_START = 4
"""Letters and digits that a row and the title it starts have in common."""
_START_LOOKED_AT = 30
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


class _Page:
    """The rows of a page by how they start, with and without their numbers, folded."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._starts: dict[str, list[int]] = defaultdict(list)
        for at, row in enumerate(rows):
            start = row.text[:_START_LOOKED_AT]
            self._starts[folded(start)[:_START]].append(at)
            if number := _NUMBER.match(start):
                self._starts[folded(start[number.end() :])[:_START]].append(at)

    def that_may_start(self, titles: Iterable[str]) -> list[int]:
        """Return which rows can be the start of a title, cheaply."""
        starts = {title[:length] for title in titles for length in range(1, _START + 1)}
        return sorted({at for start in starts for at in self._starts.get(start, ())})


def bind(entries: Sequence[Entry], rows: Sequence[Row]) -> Bound:
    """Return the outline bound to the document's rows, given in reading order."""
    by_page: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_page[row.page].append(row)
    pages: dict[int, _Page] = {}
    bound: dict[int, int] = {}
    found: dict[int, int] = {}
    last_key = -1
    for index, entry in enumerate(entries):
        if entry.page < 1 or not folded(entry.title):
            continue
        for number in _pages_of(entry):
            if number not in pages:
                pages[number] = _Page(by_page.get(number, ()))
        match = _best(entry, pages, bound, last_key)
        if match:
            found[index] = entry.level
            last_key = match[-1].key
            for row in match:
                bound[row.key] = index
    total = sum(1 for entry in entries if entry.page >= 1 and folded(entry.title))
    return Bound(bound, found, total)


def _best(
    entry: Entry, pages: Mapping[int, _Page], bound: Mapping[int, int], last_key: int
) -> list[Row]:
    """Return the rows that are an entry's title; empty where there are none."""
    wanted = {folded(entry.title), folded(_NUMBER.sub("", entry.title))} - {""}
    best: tuple[float, list[Row]] = (0.0, [])
    for distance, number in enumerate(_pages_of(entry)):
        page = pages[number]
        for at in page.that_may_start(wanted):
            if page.rows[at].key in bound:
                continue
            match, likeness = _match(page.rows, at, wanted, bound)
            if not match:
                continue
            score = _score(match, likeness, last_key)
            score -= _distance(entry, match[0]) if distance == 0 else 0.5 * distance
            if score > best[0]:
                best = (score, match)
        if best[1] and distance == 0:
            break
    return best[1]


def _pages_of(entry: Entry) -> tuple[int, int, int]:
    """Return where an entry's title is looked for, the likeliest page first."""
    return entry.page, entry.page + 1, entry.page - 1


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
    rows: Sequence[Row], at: int, wanted: set[str], bound: Mapping[int, int]
) -> tuple[list[Row], float]:
    """Return the rows from a place on that make up a wanted title, and how alike they are."""
    longest = max(map(len, wanted))
    text = ""
    best: tuple[list[Row], float] = ([], 0.0)
    for end in range(at, min(at + _MOST_ROWS, len(rows))):
        row, first = rows[end], rows[at]
        if row.key in bound or (end > at and abs(row.size - first.size) > 0.15 * row.size):
            break
        text = f"{text} {row.text}"
        forms = {folded(text), folded(_NUMBER.sub("", text))} - {""}
        likeness = max((_likeness(form, title) for form in forms for title in wanted), default=0.0)
        if likeness > best[1]:
            best = (list(rows[at : end + 1]), likeness)
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
