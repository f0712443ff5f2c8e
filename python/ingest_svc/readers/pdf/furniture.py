"""Furniture: running heads and feet, page numbers and side text, no part of what is said.

A line at the top or bottom of a page is furniture where
- it is a page number and nothing else,
- it holds the page's number and follows it from page to page,
- the same words stand at the same place on several pages in a row, or on most odd or even pages,
- or, in a document of one or two pages, it stands apart at the edge in no larger letters than
  the text, with its counterpart at the other edge.
A line larger than the text, or one that the outline names, is never taken away for its place alone;
nor is a row of a table that goes on with other rows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from ingest_svc.readers.pdf.grid import snapped
from ingest_svc.readers.pdf.lines import Box, Line, Page, box_around
from ingest_svc.readers.pdf.rows import baselines, cell_text

_NUMBER_SHARE = 0.2
"""A page number stands within this share of the page's height from its top or bottom."""
_EDGE_SHARE = 0.13
"""All other furniture does within this share."""
_NARROW_EDGE_SHARE = 0.09
_ROWS_AT_EDGE = 3
_LINES_BEYOND = 8
"""Lines further in than furniture stands that are looked at, for the gap before them."""
_SIDE_SHARE = 0.08
_PLACE = 6.0
"""Lines within this many points stand at one place."""
_WORDS = (
    r"(?:page|pages|seite|pag|pág|página|pagina|p|side|sida|strona|стр|страница"
    r"|صفحه|صفحة|第|頁|页|s|fol|folio)"
)
_OF = r"(?:of|von|de|di|av|z|из|sur|/|\||共|از|من)"
_NUMBER = r"(?:\d{1,4}|[ivxlc]{1,7})"
_PAGE_NUMBER = re.compile(
    rf"^[\W_]*(?:{_WORDS}\.?\s*[:#]?\s*)?{_NUMBER}\s*(?:[页頁]\s*)?"
    rf"(?:\s*{_OF}\s*(?:{_WORDS}\.?\s*)?{_NUMBER}\s*(?:[页頁])?)?[\W_]*$",
    re.IGNORECASE,
)
_NAMED_NUMBER = re.compile(
    rf"^[\W_]*{_WORDS}\.?\s*[:#]?\s*{_NUMBER}\s*(?:[页頁]\s*)?"
    rf"(?:\s*{_OF}\s*(?:{_WORDS}\.?\s*)?{_NUMBER}\s*(?:[页頁])?)?[\W_]*$",
    re.IGNORECASE,
)
_NAMED_WITHIN = re.compile(rf"\b{_WORDS}\.?\s*[:#]?\s*(\d{{1,4}})\b", re.IGNORECASE)
_EDGE_NUMBER = re.compile(r"^\W*\d{1,4}\s+|\s+(?:\d{1,4}|[ivxlc]{1,6})\W*$")
_AT_ENDS = re.compile(r"^\W*(\d{1,4})\b|\b(\d{1,4})\W*$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class _EdgeRow(msgspec.Struct, frozen=True):
    """A row near the top or bottom of a page."""

    page: int
    at_top: bool
    rank: int
    """0 for the outermost."""
    box: Box
    text: str
    size: float
    bold: bool
    gap: float
    """Distance to the next row inwards, in points; infinite where there is none."""
    share: float
    """How far from its edge, as a share of the page's height."""
    orders: tuple[int, ...]

    @property
    def place(self) -> float:
        """Return its height on the page, for comparison with other pages."""
        return self.box.y1 if self.at_top else self.box.y0


def furniture(
    pages: Sequence[Page], body_size: float, titles: frozenset[tuple[int, str]]
) -> dict[int, set[int]]:
    """Return the lines of each page that are furniture, as page number -> orders of lines.

    Args:
        pages: All pages.
        body_size: Font size of the text, in points.
        titles: Titles of the outline, folded by `folded`, with the page they point to; such a line
            is never furniture.
    """
    rows = [row for page in pages for row in _edge_rows(page)]
    taken: set[int] = set()
    for judge in (_numbers_alone, _following_numbers, _repeated):
        taken |= judge(rows, len(pages), body_size)
    for judge_beside in (_in_slots, _apart):
        taken |= judge_beside(rows, len(pages), body_size, taken)
    taken = _unless_nothing_is_left(rows, taken, pages)
    taken = _without_rows_of_tables(rows, taken, pages)
    found: dict[int, set[int]] = defaultdict(set)
    for index in taken:
        row = rows[index]
        if (row.page, folded(row.text)) in titles:
            continue
        found[row.page] |= set(row.orders)
    for page in pages:
        found[page.number] |= {line.order for line in page.lines if _is_side_text(line, page)}
    return found


def folded(text: str) -> str:
    """Return a text for comparison: letters and digits only, in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))


def _is_side_text(line: Line, page: Page) -> bool:
    """Tell whether a line runs in another direction along a side of the page."""
    margin = _SIDE_SHARE * page.width
    return not line.upright and (line.box.x1 < margin or line.box.x0 > page.width - margin)


def _edge_rows(page: Page) -> list[_EdgeRow]:
    """Return the outermost rows at the top and bottom of a page."""
    upright = [line for line in page.lines if line.upright]
    rows: list[_EdgeRow] = []
    for at_top in (True, False):
        groups = baselines(_near_edge(upright, page.height, at_top=at_top))
        boxes = [box_around([line.box for line in group]) for group in groups]
        order = sorted(range(len(groups)), key=lambda index: boxes[index].y0)
        ordered = order if at_top else order[::-1]
        for rank, index in enumerate(ordered[:_ROWS_AT_EDGE]):
            box, group = boxes[index], groups[index]
            share = box.y0 / page.height if at_top else 1.0 - box.y1 / page.height
            if share > _NUMBER_SHARE:
                break
            gap = float("inf")
            if rank + 1 < len(ordered):
                inner = boxes[ordered[rank + 1]]
                gap = inner.y0 - box.y1 if at_top else box.y0 - inner.y1
            rows.append(_edge_row(page.number, group, box, (at_top, rank, gap, share)))
    return rows


def _near_edge(lines: list[Line], height: float, *, at_top: bool) -> list[Line]:
    """Return the lines near an edge of the page, with enough of those further in to tell gaps."""
    most = _NUMBER_SHARE * height
    away = sorted(line.box.y0 if at_top else height - line.box.y1 for line in lines)
    inner = bisect_right(away, most) + _LINES_BEYOND
    if inner >= len(away):
        return lines
    most = away[inner] + 0.1
    return [line for line in lines if (line.box.y0 if at_top else height - line.box.y1) <= most]


def _edge_row(
    page: int, group: list[Line], box: Box, place: tuple[bool, int, float, float]
) -> _EdgeRow:
    at_top, rank, gap, share = place
    return _EdgeRow(
        page=page,
        at_top=at_top,
        rank=rank,
        box=box,
        text=cell_text(group),
        size=max(line.size for line in group),
        bold=all(line.bold for line in group),
        gap=gap,
        share=share,
        orders=tuple(line.order for line in group),
    )


def _numbers_alone(rows: list[_EdgeRow], pages: int, body_size: float) -> set[int]:
    """Return rows that are a page number and nothing else.

    A bare number at the top may be a heading's, so there it must stand on several pages.
    """
    found = {
        index
        for index, row in enumerate(rows)
        if _PAGE_NUMBER.match(row.text)
        and row.size <= 1.4 * body_size
        and row.gap > 0.5 * row.size
        and (row.rank == 0 or _NAMED_NUMBER.match(row.text))
    }
    bare_top = {
        index for index in found if rows[index].at_top and not _NAMED_NUMBER.match(rows[index].text)
    }
    roman = {
        index for index in bare_top if len(rows[index].text) > 1 and rows[index].text.isalpha()
    }
    return found - (bare_top - roman) if len(bare_top) < 3 and pages > len(bare_top) else found


def _numbers_in(text: str) -> set[int]:
    """Return the numbers a row starts or ends with, and those it calls a page's."""
    numbers = {int(a or b) for a, b in _AT_ENDS.findall(text)}
    return numbers | {int(number) for number in _NAMED_WITHIN.findall(text)}


def _following_numbers(rows: list[_EdgeRow], pages: int, body_size: float) -> set[int]:
    """Return rows that start or end with the page's number, where it follows the pages."""
    offsets: dict[tuple[bool, int], dict[int, int]] = defaultdict(dict)
    for index, row in enumerate(rows):
        if row.size <= 1.15 * body_size and row.share <= _EDGE_SHARE:
            for number in _numbers_in(row.text):
                offsets[row.at_top, number - row.page].setdefault(row.page, index)
    found: set[int] = set()
    for by_page in offsets.values():
        if len(by_page) < max(3, 0.2 * pages):
            continue
        common = Counter(round(rows[index].place / _PLACE) for index in by_page.values())
        usual = [place for place, count in common.items() if count >= 0.1 * len(by_page)]
        found |= {
            index
            for index in by_page.values()
            if any(abs(rows[index].place / _PLACE - place) <= 1.0 for place in usual)
            and (rows[index].gap > 0.3 * rows[index].size or rows[index].rank > 0)
        }
    return found


def _repeated(rows: list[_EdgeRow], pages: int, body_size: float) -> set[int]:
    """Return rows whose words stand at one place of several pages."""
    groups: dict[tuple[str, bool, int], list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        if row.share > _EDGE_SHARE or not row.text:
            continue
        # Large lines that differ in a number are titles: "Chapter 1", "Chapter 2".
        bare = row.text if row.size > 1.25 * body_size else _EDGE_NUMBER.sub("", row.text)
        key = folded(bare) or folded(row.text) or row.text
        place = round(row.place / _PLACE)
        for near in (place, place + 1):
            groups[key, row.at_top, near].append(index)
    found: set[int] = set()
    for members in groups.values():
        numbers = sorted({rows[index].page for index in members})
        large = max(rows[index].size for index in members) > 1.25 * body_size
        if _is_running(numbers, pages, large=large):
            found |= set(members)
    return found


def _is_running(numbers: list[int], pages: int, *, large: bool) -> bool:
    """Tell whether the pages with one row are so many, or so close, that it is a running head."""
    if pages <= 3:
        return len(numbers) == pages > 1 and not large
    odd = sum(number % 2 for number in numbers)
    most = max(odd, len(numbers) - odd) >= 0.5 * (pages / 2)
    if len(numbers) >= 3 and most:
        return True
    in_a_row = any(c - a <= 4 for a, c in zip(numbers, numbers[2:], strict=False))
    return in_a_row and not large


def _in_slots(rows: list[_EdgeRow], pages: int, body_size: float, taken: set[int]) -> set[int]:
    """Return small or numbered rows where other pages have running heads or feet of their size."""
    slots = Counter(
        (rows[index].at_top, round(rows[index].place / _PLACE), round(rows[index].size))
        for index in taken
    )
    return {
        index
        for index, row in enumerate(rows)
        if row.rank == 0
        and row.share <= _EDGE_SHARE
        and row.gap > 0.8 * row.size
        and slots[row.at_top, round(row.place / _PLACE), round(row.size)] >= max(3, 0.15 * pages)
        and (row.size < 0.95 * body_size or _EDGE_NUMBER.search(row.text))
    }


def _unless_nothing_is_left(
    rows: list[_EdgeRow], taken: set[int], pages: Sequence[Page]
) -> set[int]:
    """Return the rows to be taken; page numbers alone where most pages would lose all text."""
    lost: Counter[int] = Counter()
    for index in taken:
        lost[rows[index].page] += len(rows[index].orders)
    empty = sum(lost[page.number] >= len(page.lines) > 0 for page in pages)
    if empty <= 0.5 * len(pages):
        return taken
    if empty == len(pages):
        return set()
    return {index for index in taken if _PAGE_NUMBER.match(rows[index].text)}


def _without_rows_of_tables(
    rows: list[_EdgeRow], taken: set[int], pages: Sequence[Page]
) -> set[int]:
    """Return the rows to be taken without heads of tables, most of whose rows are not taken."""
    by_number = {page.number: page for page in pages}
    lost: dict[int, set[int]] = defaultdict(set)
    for index in taken:
        lost[rows[index].page].update(rows[index].orders)
    return {
        index
        for index in taken
        if not _heads_a_table(rows[index], by_number[rows[index].page], lost[rows[index].page])
    }


def _heads_a_table(row: _EdgeRow, page: Page, lost: set[int]) -> bool:
    """Tell whether an upright rule parts a row, and beside it stand at least as many others."""
    middle = (row.box.y0 + row.box.y1) / 2
    between = [rule for rule in page.rules.vertical if row.box.x0 < rule[0] < row.box.x1]
    for _, top, bottom in snapped(between):
        if not top <= middle <= bottom:
            continue
        beside = [line for line in page.lines if top <= (line.box.y0 + line.box.y1) / 2 <= bottom]
        if 2 * sum(line.order in lost for line in beside) <= len(beside):
            return True
    return False


def _apart(rows: list[_EdgeRow], pages: int, body_size: float, taken: set[int]) -> set[int]:
    """Return the head and foot of a document too short to show that they repeat.

    A head with its page number beside it, or head and foot both, each apart from the text and in
    no larger letters.
    """
    if pages > 2:
        return set()
    found: set[int] = set()
    for page in {row.page for row in rows}:
        own = [index for index, row in enumerate(rows) if row.page == page and row.rank == 0]
        apart = [index for index in own if _stands_apart(rows[index], body_size)]
        if len({rows[index].at_top for index in [*apart, *(set(own) & taken)]}) == 2:
            found |= set(apart)
        found |= {
            index
            for index in apart
            if _AT_ENDS.search(rows[index].text) and rows[index].size < 0.97 * body_size
        }
    return found


def _stands_apart(row: _EdgeRow, body_size: float) -> bool:
    """Tell whether a row at the edge is no larger than the text, not bold, and well apart."""
    return (
        row.share <= (_EDGE_SHARE if _AT_ENDS.search(row.text) else _NARROW_EDGE_SHARE)
        and row.size <= 1.02 * body_size
        and not row.bold
        and row.gap != float("inf")
        and row.gap > 1.2 * row.size
        and len(row.text) <= 120
    )
