"""Numbers that headings carry, and how deep they put them.

A number has a kind (part, chapter, section, decimal, Chinese 章 节 条, 一、 （一）) and so a rank.
Levels are the ranks that a document really uses, closed up: one with chapters and decimals 1.1, 1.2
has levels 1 and 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ROMAN = r"[IVXLC]{1,7}"
_WORD_NUMBER = (
    r"(?:\d{1,3}|[IVXLC]{1,7}|[A-Z]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_HAN = r"[一二三四五六七八九十百千零〇两\d]{1,6}"
_PATTERNS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(rf"^(?:part|teil|partie|parte|book|volume)\s+{_WORD_NUMBER}\b", re.IGNORECASE), 1),
    (re.compile(rf"^第\s*{_HAN}\s*[编編篇部]"), 1),
    (
        re.compile(
            rf"^(?:chapter|kapitel|chapitre|cap[ií]tulo|capitolo|appendix|anhang|annex|annexe|schedule|exhibit)\s+{_WORD_NUMBER}\b",
            re.IGNORECASE,
        ),
        2,
    ),
    (re.compile(rf"^第\s*{_HAN}\s*章"), 2),
    (
        re.compile(
            rf"^(?:article|section|item|artikel|abschnitt|art[ií]culo|clause)\s+{_WORD_NUMBER}\b",
            re.IGNORECASE,
        ),
        3,
    ),
    (re.compile(rf"^第\s*{_HAN}\s*[节節]"), 3),
    (re.compile(r"^[一二三四五六七八九十]{1,3}\s*[、．.]"), 4),
    (re.compile(rf"^第\s*{_HAN}\s*[条條]"), 5),
    (re.compile(r"^[（(][一二三四五六七八九十]{1,3}[）)]"), 6),
    (re.compile(r"^§\s*\d+"), 4),
    (re.compile(rf"^{_ROMAN}\.\s+(?=\S)"), 4),
)
_DECIMAL = re.compile(r"^(\d{1,3}|[A-Z])((?:[.\-]\d{1,3}){0,6})\.?(?=[\s　]|[\u3400-\u9fff])\s*")
_DECIMAL_RANK = 10
_LETTERED = re.compile(r"^\(?([a-z]|[ivx]{1,5})\)\s+|^([A-Z])\.\s+")
_SECTION_SIGN = re.compile(r"^§+\s*\d")


@dataclass(frozen=True, slots=True)
class Number:
    """The number that a text starts with."""

    rank: int
    """Smaller is further out; ranks of different documents cannot be compared."""
    text: str
    parts: tuple[str, ...] = ()
    """Of decimal numbers, what stands between the dots."""

    @property
    def is_certain(self) -> bool:
        """Tell whether no list item starts like this: named kinds, decimals of several parts."""
        return self.rank < _DECIMAL_RANK or len(self.parts) > 1


def number_of(text: str) -> Number | None:
    """Return the number that a heading starts with, None where it has none."""
    for pattern, rank in _PATTERNS:
        if found := pattern.match(text):
            return Number(rank, found.group().strip())
    found = _DECIMAL.match(text)
    if found and found.end() < len(text):
        head, tail = found.group(1), found.group(2)
        if head.isalpha() and not tail and not found.group().strip().endswith("."):
            return None
        parts = (head, *[part for part in re.split(r"[.\-]", tail) if part])
        if len(parts) > 1 and "-" in tail and len(parts) > 3:
            return None
        return Number(_DECIMAL_RANK + len(parts), found.group().strip(), parts)
    if found := _LETTERED.match(text):
        return Number(30, found.group().strip())
    return None


def levels_of(ranks: set[int]) -> dict[int, int]:
    """Return the level of every rank that a document uses, 1 for the outermost.

    Gaps are closed but for decimals, which say their depth relative to the shallowest of them.
    """
    named = sorted(rank for rank in ranks if rank < _DECIMAL_RANK)
    levels = {rank: place for place, rank in enumerate(named, 1)}
    decimals = sorted(rank for rank in ranks if _DECIMAL_RANK <= rank < 30)
    if decimals:
        base = len(named) + 1 - decimals[0]
        levels |= {rank: rank + base for rank in decimals}
    lettered = sorted(rank for rank in ranks if rank >= 30)
    deepest = max(levels.values(), default=0)
    return levels | {rank: deepest + place for place, rank in enumerate(lettered, 1)}
