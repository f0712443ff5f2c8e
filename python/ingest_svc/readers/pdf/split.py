"""Lines that run over an upright rule, cut into what stands on either side of it.

A text layer joins words that stand close together, also where a rule parts two cells of a table.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from msgspec.structs import replace

from ingest_svc.readers.pdf.lines import Box, Line, Rules, box_around
from ingest_svc.readers.pdf.text import is_right_to_left

_INSIDE = 1.5
"""A rule this near to the end of a line, in points, does not cut it."""
_MIN_RULE = 5.0
_STRIP = 6.0
"""Height of the strips of a page, in points, that words are looked up by."""

Word = tuple[Box, str]


def lines_over_rules(lines: list[Line], rules: Rules) -> dict[int, list[float]]:
    """Return where upright rules run through lines, by the line's order."""
    vertical = sorted(rule for rule in rules.vertical if rule[2] - rule[1] >= _MIN_RULE)
    if not vertical:
        return {}
    places = [rule[0] for rule in vertical]
    crossing: dict[int, list[float]] = {}
    for line in lines:
        first = bisect_left(places, line.box.x0 + _INSIDE)
        last = bisect_right(places, line.box.x1 - _INSIDE)
        middle = (line.box.y0 + line.box.y1) / 2
        found = [x for x, top, bottom in vertical[first:last] if top <= middle <= bottom]
        if found:
            crossing[line.order] = found
    return crossing


def split_at_rules(
    lines: list[Line], crossing: dict[int, list[float]], words: list[Word]
) -> list[Line]:
    """Return the lines with those that rules run through cut between words; orders are given anew.

    A line whose words are not all found, or with a word over a rule, stays as it is.
    """
    result: list[Line] = []
    by_height = _by_height(words)
    for line in lines:
        parts = [line]
        if line.order in crossing:
            near = range(int(line.box.y0 // _STRIP), int(line.box.y1 // _STRIP) + 1)
            words_near = (word for strip in near for word in by_height.get(strip, ()))
            own = [word for word in words_near if _is_on(word[0], line.box)]
            parts = _parts(line, crossing[line.order], own)
        result += [replace(part, order=len(result) + n) for n, part in enumerate(parts)]
    return result


def _by_height(words: list[Word]) -> dict[int, list[Word]]:
    """Return the words by the strip of the page that their middle lies in."""
    strips: dict[int, list[Word]] = {}
    for word in words:
        strips.setdefault(int((word[0].y0 + word[0].y1) / 2 // _STRIP), []).append(word)
    return strips


def _is_on(word: Box, line: Box) -> bool:
    """Tell whether a word stands on a line: same height, and within it."""
    near = abs(word.y0 + word.y1 - line.y0 - line.y1) < 0.5 * line.height
    return near and line.x0 - 1 <= word.x0 and word.x1 <= line.x1 + 1


def _parts(line: Line, cuts: list[float], words: list[Word]) -> list[Line]:
    """Return the parts of a line between the cuts."""
    groups: dict[int, list[Word]] = {}
    for word in sorted(words, key=lambda word: word[0].x0):
        middle = (word[0].x0 + word[0].x1) / 2
        groups.setdefault(sum(cut < middle for cut in cuts), []).append(word)
        if any(word[0].x0 + _INSIDE < cut < word[0].x1 - _INSIDE for cut in cuts):
            return [line]
    found = "".join(text for _, text in words)
    if len(groups) < 2 or sorted(found.replace(" ", "")) != sorted(line.text.replace(" ", "")):
        return [line]
    step = -1 if is_right_to_left(line.text) else 1
    return [
        replace(
            line,
            box=box_around([box for box, _ in group]),
            text=" ".join(text for _, text in group[::step]),
            bold_lead="",
        )
        for _, group in sorted(groups.items())
    ]
