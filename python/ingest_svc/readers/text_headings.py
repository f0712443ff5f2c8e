"""Headings in plain text that are plain to see: 第三章 总则, Chapter 3, 3.1 Terms, 三、付款.

Nothing else is taken for a heading, since a wrong section border costs more than a missing one. A
table of contents, in which such lines follow each other without text between, is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_CHINESE = re.compile(
    r"第\s?[\d〇○零一二三四五六七八九十百千两０-９]{1,9}\s?"
    r"(?:([编章節节])|([篇部卷回集](?:分)?)(?=[\s　:：]|$))"
    r"[\s　:：.、]*([^。；！？;]{0,40})"
)
_CHINESE_RANKS = {
    "编": 0,
    "部": 0,
    "部分": 0,
    "卷": 0,
    "篇": 0,
    "集": 0,
    "章": 1,
    "回": 1,
    "节": 2,
    "節": 2,
}
_LATIN = re.compile(
    r"(chapter|part|book|volume|appendix|section)\s+(?:[ivxlcdm]{1,7}|\d{1,3}|[a-z]|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve)(?:[.:]?|[.:]?\s*[—–:-]\s*\S.{0,70}|[.:]\s+\S.{0,70}|\s+[A-Z\d][^a-z]{0,70})",
    re.IGNORECASE,
)
_LATIN_RANKS = {"book": 0, "volume": 0, "part": 0, "chapter": 1, "appendix": 1, "section": 2}
_ITEM = re.compile(
    r"(?:[一二三四五六七八九十]{1,3}、|"
    r"第\s?[\d〇零一二三四五六七八九十百千两]{1,5}\s?条[\s　:：、]*|"
    r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?[ \t　]+)(?=[^\W\d_a-z])([^。；！？;]{1,60})"
)
_ITEM_RANK = 3
_LEADERS = re.compile(r"\.{4,}|…{2,}|(?:\. ){3,}|·{4,}|\t\d+$")
_LONGEST = 80
_ENDS = ".,;:!?。，；：！？、"


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A line that may be a heading."""

    text: str
    rank: int
    """0 parts, 1 chapters, 2 sections, 3 and above numbered lines, by the depth of the number."""


def heading_line(line: str, *, alone: bool) -> HeadingLine | None:
    """Return the heading that a line may be; Latin ones only where the line stands alone."""
    text = line.strip()
    if len(text) > _LONGEST or _LEADERS.search(text):
        return None
    if found := _CHINESE.fullmatch(text):
        return HeadingLine(text, _CHINESE_RANKS[found[1] or found[2]])
    if alone and text[-1] not in _ENDS and (found := _ITEM.fullmatch(text)):
        return HeadingLine(text, _ITEM_RANK + (found[1] or "").count("."))
    if alone and text[0].isupper() and text[-1] not in ",;" and (found := _LATIN.fullmatch(text)):
        return HeadingLine(text, _LATIN_RANKS[found[1].lower()])
    return None


def levels(pieces: Sequence[HeadingLine | None]) -> list[int]:
    """Return the level of every piece: 1 for the highest rank that occurs, 0 for no heading.

    Args:
        pieces: In document order; None stands for anything that is no heading line.
    """
    kept: list[HeadingLine | None] = list(pieces)
    start = 0
    for at in range(len(kept) + 1):
        if at == len(kept) or kept[at] is None:
            for entry in range(start, start + _contents_length(kept[start:at])):
                kept[entry] = None
            start = at + 1
    ranks = sorted({heading.rank for heading in kept if heading})
    return [ranks.index(heading.rank) + 1 if heading else 0 for heading in kept]


def _contents_length(run: Sequence[HeadingLine | None]) -> int:
    """Return how many of the first lines of a run are entries of contents or of a list."""
    ranks = [heading.rank for heading in run if heading]
    if ranks and ranks[-1] >= _ITEM_RANK and ranks.count(ranks[-1]) > 1:
        return len(ranks)  # the items of a list
    if max((ranks.count(rank) for rank in ranks), default=0) < 3:
        return 0
    first_kept = len(ranks) - 1
    while first_kept and ranks[first_kept - 1] < ranks[first_kept]:
        first_kept -= 1
    return first_kept
