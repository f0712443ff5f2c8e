"""Cells of table rows as typed values, for filters such as `row.price < 10`.

    7   -7   1,234,567                     whole numbers of at most 63 bits
    3.14   1,234.5   -2e3                  floating point numbers
    true   FALSE                           truth values
    2024-01-31   2024-01-31T10:00+02:00    instants; midnight and UTC where nothing else is said
    007   1,2   12 %   +49 30 1234         texts, as everything else is

Each cell is typed for itself: a column has the types that its cells have.

The cells are of the row's own node, also where the row is too long for one chunk and its text lies
below: the store takes them for cells of every part, so that a filter finds the whole row.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from treespan.filters import Instant, value_type
from treespan.store.records import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    Value = str | int | float | bool | Instant

LONGEST_VALUE: Final = 8_192
"""Characters of a text that are kept."""
LONGEST_COLUMN: Final = 133
"""Characters of a column's name; no filter can name a longer one."""

_LONGEST_TYPED = 64
_WHOLE = r"[-−]?(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)"
_WHOLE_NUMBER = re.compile(_WHOLE)
_DECIMAL_NUMBER = re.compile(rf"{_WHOLE}(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    rf"{_DATE.pattern}[T ](?:[01][0-9]|2[0-3]):[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]{{1,6}})?)?"
    r"(?:Z|[-+][0-9]{2}:[0-9]{2})?"
)
_TRUTH = {"true": True, "false": False}
_MOST_WHOLE = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_US = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_US = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - _EPOCH) // _MICROSECOND


def column_names(header: Sequence[str]) -> list[str]:
    """Return the columns of a table as filters name them; empty for one that no filter can name."""
    names = (" ".join(name.split()) for name in header)
    return [name if len(name) <= LONGEST_COLUMN else "" for name in names]


def row_cells(node: int, columns: Sequence[str], row: Sequence[str]) -> list[Cell]:
    """Return the cells of a row that are not empty, of columns with names, from left to right.

    Args:
        node: Position of the row's node.
        columns: As `column_names` returns them.
        row: The cells as the reader has them. Of equal ones in columns of one name, one is kept.
    """
    found: dict[tuple[str, int, Value], Cell] = {}
    for column, cell in zip(columns, row, strict=False):
        if column and (text := " ".join(cell.split())):
            value = typed(text)
            found.setdefault((column, value_type(value), value), Cell(node, column, value))
    return list(found.values())


def typed(text: str) -> Value:
    """Return the value that a cell states, its white space collapsed before."""
    if len(text) > _LONGEST_TYPED:
        return text[:LONGEST_VALUE]
    for value in (_number(text), _TRUTH.get(text.lower()), _instant(text)):
        if value is not None:
            return value
    return text


def _number(text: str) -> int | float | None:
    """Return a number; None for what is none, or too large to be kept digit by digit."""
    plain = text.replace(",", "").replace("−", "-")
    if _WHOLE_NUMBER.fullmatch(text):
        whole = int(plain)
        return whole if abs(whole) <= _MOST_WHOLE else None
    if _DECIMAL_NUMBER.fullmatch(text):
        number = float(plain)
        return number if math.isfinite(number) else None
    return None


def _instant(text: str) -> Instant | None:
    """Return an instant; None for what is none, as the 30th of February."""
    if not (_DATE.fullmatch(text) or _DATE_TIME.fullmatch(text)):
        return None
    try:
        said = datetime.fromisoformat(text)
    except ValueError:
        return None
    us = ((said if said.tzinfo else said.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
    return Instant(us) if _FIRST_US <= us <= _LAST_US else None
