"""The first row of a table without markup: does it name the columns?

Sheets and CSV files have no mark for it. A row names the columns where its cells are words, or
years and dates over other values, and fill most columns; numbers never do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST_NAME = 200
_NUMBER = re.compile(
    r"[-+−(]?[$€£¥]?\s?[0-9][0-9.,'\s]*(?:[eE][-+]?[0-9]+)?\s?[%€$£¥)]?|[-+]?[.,][0-9]+"
)
_YEAR = re.compile(r"(?:1[89]|20|21)[0-9]{2}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:[T ][0-9:.]+)?)?|[0-9]{1,2}:[0-9]{2}[0-9:.]*")
_NO_NAME = re.compile(r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!)|TRUE|FALSE|true|false")
_SAMPLE = 200


def names_columns(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row of a table names its columns.

    Args:
        first: The row.
        body: The rows below it.
    """
    filled = [cell for cell in first if cell]
    if not filled or 2 * len(filled) < _width(body[:_SAMPLE], len(first)):
        return False
    if any(len(cell) > _LONGEST_NAME or _NO_NAME.fullmatch(cell) for cell in filled):
        return False
    if first[0].endswith((":", "：")):
        return False  # a form: what is asked for, beside what was filled in
    if len(first) == 1:
        return not is_figure(first[0]) and _are_mostly_figures([row[0] for row in body if row])
    figures = [index for index, cell in enumerate(first) if cell and is_figure(cell)]
    if len(figures) == len(filled) and first[0]:
        return False
    return all(
        _may_head(first[index], [row[index] for row in body[:_SAMPLE] if index < len(row)])
        for index in figures
    )


def names_figures(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row names the columns beyond doubt: it has words over figures.

    For tables that could have marked their header and did not: names beside values look alike.

    Args:
        first: The row.
        body: The rows below it.
    """
    over_figures = any(
        cell and not is_figure(cell) and _are_mostly_figures([row[at] for row in body])
        for at, cell in enumerate(first)
    )
    return over_figures and len(body) > 1 and names_columns(first, body)


def is_figure(cell: str) -> bool:
    """Tell whether a cell is a number, an amount or a date rather than words."""
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


def may_name(cell: str) -> bool:
    """Tell whether a cell can name a column: words, a year, a date or nothing."""
    return not is_figure(cell) or bool(_YEAR.fullmatch(cell) or _DATE.fullmatch(cell))


def _are_mostly_figures(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells[:_SAMPLE] if cell]
    return bool(filled) and 2 * sum(map(is_figure, filled)) > len(filled)


def _may_head(figure: str, below: Sequence[str]) -> bool:
    """Tell a year or a date over other values from a value over its like."""
    for like in (_YEAR, _DATE):
        if like.fullmatch(figure):
            return any(below) and not any(like.fullmatch(cell) for cell in below)
    return False


def _width(rows: Sequence[Sequence[str]], most: int) -> int:
    """Return how many columns have anything."""
    return sum(any(index < len(row) and row[index] for row in rows) for index in range(most))
