"""Values of cells as text: what a number format makes of a number.

    45296     yyyy-mm-dd       2024-01-05
    45296.5   d.m.yy hh:mm     2024-01-05T12:00:00
    0.5       h:mm             12:00:00
    1.5       [h]:mm:ss        36:00:00
    0.125     0.00%            12.5%
    42        00000            00042
    3         0.00 or General  3

Only what changes the meaning is taken from a format: digits are neither cut nor filled up, but for
percentages, which are made by dividing and have no end otherwise.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import Final

_LONGEST_FORMAT = 1_000
_NOT_MEANT = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_ZEROS = re.compile(r"0{2,30}")
_LEAST_DECIMALS = 2
_NO_FORMAT = ("general", "standard", "@")
_DAY_PARTS = frozenset("dyeg")
_TIME_PARTS = frozenset("hs")

_FIRST_DAY: Final = datetime(1899, 12, 30)  # noqa: DTZ001  # cells know no zone
_FIRST_DAY_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001
_LEAP_DAY = 60
"""The serial number of 29 February 1900, a day that only spreadsheets have."""
_LAST_DAY = 2_958_465
_DAY_SECONDS = 86_400
_EXACT_WHOLE = 2**53


class Meaning(Enum):
    """What a number format says that a number is."""

    NUMBER = 0
    PERCENT = 1
    DATE = 2
    DATE_TIME = 3
    TIME = 4
    DURATION = 5


@dataclass(frozen=True, slots=True)
class Format:
    """A number format, as far as it changes the meaning."""

    meaning: Meaning
    least_digits: int = 0
    """Whole numbers are filled up with zeros to so many digits, as in codes."""
    decimals: int = 2
    """Percentages have at most so many digits behind the point."""


PLAIN = Format(Meaning.NUMBER)
_DATES = Format(Meaning.DATE)
_TIMES = Format(Meaning.TIME)

BUILT_IN: Final = {
    **dict.fromkeys((9, 10), Format(Meaning.PERCENT)),
    **dict.fromkeys((14, 15, 16, 17), _DATES),
    **dict.fromkeys((18, 19, 20, 21, 45, 47), _TIMES),
    22: Format(Meaning.DATE_TIME),
    46: Format(Meaning.DURATION),
    **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), _DATES),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), _TIMES),
}
"""Formats that files name by their number alone; those from 27 on are of East Asian editions."""


@lru_cache(maxsize=4096)
def number_format(code: str) -> Format:
    """Return what a format code means, for example of "dd.mm.yyyy"."""
    positive = _section(code[:_LONGEST_FORMAT])
    bare = _NOT_MEANT.sub("", positive).lower()
    if _ZEROS.fullmatch(bare):
        return Format(Meaning.NUMBER, len(bare))
    if _ELAPSED.search(bare):
        return Format(Meaning.DURATION)
    if "e+" in bare or "e-" in bare or bare in _NO_FORMAT:
        return PLAIN  # 1.5E+10, and words that are no parts of dates
    letters = set(bare.replace("am/pm", "h").replace("a/p", "h").replace("general", ""))
    has_time = bool(letters & _TIME_PARTS)
    has_day = bool(letters & _DAY_PARTS) or ("m" in letters and not has_time)
    if has_day:
        return Format(Meaning.DATE_TIME) if has_time else _DATES
    if has_time:
        return _TIMES
    if "%" not in bare:
        return PLAIN
    decimals = len(bare.partition(".")[2].rstrip("% "))
    return Format(Meaning.PERCENT, decimals=max(decimals, _LEAST_DECIMALS))


def _section(code: str) -> str:
    """Return the part of a code that is for positive numbers."""
    quoted = escaped = False
    for at, character in enumerate(code):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == ";" and not quoted:
            return code[:at]
    return code


def number_text(value: float, shown: Format = PLAIN, *, from_1904: bool = False) -> str:
    """Return a number as the text that says the same.

    Args:
        value: The number as stored; of dates and times the days since the first day.
        shown: The format of its cell.
        from_1904: Whether days count from 1904 on and not from 1900.
    """
    if not math.isfinite(value):
        return str(value)
    meaning = shown.meaning
    if meaning is Meaning.NUMBER:
        text = _plain(value)
        return text.zfill(shown.least_digits) if shown.least_digits and text.isdigit() else text
    if meaning is Meaning.PERCENT:
        return f"{_plain(round(value * 100, shown.decimals))}%"
    if not 0 <= value <= _LAST_DAY:
        return _plain(value)
    if meaning is Meaning.DURATION:
        return _clock(round(value * _DAY_SECONDS))
    if meaning is Meaning.TIME or (value < 1 and not from_1904):
        return _clock(round(value % 1 * _DAY_SECONDS) % _DAY_SECONDS)
    try:
        return _date(value, from_1904=from_1904)
    except OverflowError:
        return _plain(value)


def _plain(value: float) -> str:
    """Return a number with the fifteen digits that spreadsheets keep."""
    if abs(value) < _EXACT_WHOLE and value == int(value):
        return str(int(value))
    return f"{value:.15g}"


def _clock(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}"


def _date(value: float, *, from_1904: bool) -> str:
    seconds = round(value * _DAY_SECONDS)
    days, clock = divmod(seconds, _DAY_SECONDS)
    if from_1904:
        day = (_FIRST_DAY_1904 + timedelta(days=days)).date().isoformat()
    elif days == _LEAP_DAY:
        day = "1900-02-29"
    else:
        # Days before the one that never was are one off.
        day = (_FIRST_DAY + timedelta(days=days + (days < _LEAP_DAY))).date().isoformat()
    return f"{day}T{_clock(clock)}" if clock else day


def date_text(stated: str) -> str:
    """Return a date that a file states in words, midnight left out: "2024-01-05"."""
    stated = stated.strip()
    day, mark, clock = stated.partition("T")
    return day if mark and not clock.strip("0:.Z") else stated


def truth_text(*, value: bool) -> str:
    """Return a truth value as spreadsheets show it."""
    return "TRUE" if value else "FALSE"
