"""Cells of an XLSX sheet, streamed: what its XML says, whatever its `dimension` claims."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ingest_svc.readers.sheets.sheet import Area
from ingest_svc.readers.sheets.values import PLAIN, date_text, truth_text
from ingest_svc.readers.sheets.xml_stream import elements, local_name

if TYPE_CHECKING:
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.sheets.shared import Shared
    from ingest_svc.readers.sheets.sheet import Sheet
    from ingest_svc.readers.xml_parts import Element

_MOST_ROWS = 1 << 20
_MOST_COLUMNS = 1 << 14
_DIGITS = "0123456789"
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_LONGEST_WHOLE = 15
_TRUE = ("1", "true", "on")


def read_cells(data: bytes, what: str, sheet: Sheet, shared: Shared, room: Room) -> None:
    """Put what the XML of a sheet holds into the sheet.

    Args:
        data: The XML.
        what: Name of the part, for errors.
        sheet: Takes cells, merged cells, hidden rows and columns.
        shared: What the cells refer to.
        room: Counts the cells while they are read.

    Raises:
        DamagedFile: it is no well-formed XML.
        TooLarge: it has too many cells.
    """
    last = -1
    for name, element in elements(data, what, ("row", "mergeCell", "col")):
        if name == "row":
            last = _row(element, last, sheet, shared, room)
        elif name == "mergeCell":
            area = _area(element.get("ref", ""))
            if area is not None:
                sheet.merged.append(area)
        elif element.get("hidden") in _TRUE:
            sheet.hidden_columns.append(
                (_number(element.get("min"), 1) - 1, _number(element.get("max"), 1) - 1)
            )


def _row(row: Element, last: int, sheet: Sheet, shared: Shared, room: Room) -> int:
    """Take a row; return its number, from 0."""
    number = _number(row.get("r"), 0) - 1
    if not 0 <= number < _MOST_ROWS:
        number = last + 1
    if row.get("hidden") in _TRUE:
        sheet.hidden_rows.append((number, number))
    cells: dict[int, str] = {}
    column = -1
    for cell in row.iterchildren("{*}c"):
        reference = cell.get("r")
        column = _column(reference.rstrip(_DIGITS)) if reference else column + 1
        text = _text(cell, shared, room)
        if text and column < _MOST_COLUMNS:
            cells[column] = text
    if cells:
        room.take(len(cells))
        sheet.cells.setdefault(number, {}).update(cells)
    return number


def _text(cell: Element, shared: Shared, room: Room) -> str:
    """Return the text of a cell; that of its formula where no value is kept with it."""
    value = formula = ""
    for child in cell:
        name = local_name(child)
        if name == "v":
            value = child.text or ""
        elif name == "f":
            formula = child.text or ""
        elif name == "is":
            value = rich_text(child)
    if not value:
        return f"={formula.strip()}" if formula.strip() else ""
    kind = cell.get("t", "n")
    if kind == "n":
        return _numeral(value.strip(), _number(cell.get("s"), 0), shared)
    if kind == "s":
        return shared.text(_number(value, -1), room)
    if kind == "b":
        return truth_text(value=value.strip() in _TRUE)
    return date_text(value) if kind == "d" else unescaped(value).strip()


def _numeral(value: str, style: int, shared: Shared) -> str:
    if len(value) <= _LONGEST_WHOLE and value.isdigit() and shared.format(style) is PLAIN:
        return value
    try:
        return shared.number(float(value), style)
    except (ValueError, OverflowError):
        return value


def rich_text(item: Element) -> str:
    """Return the words of a shared or inline string, without its phonetic guides."""
    parts = []
    for child in item:
        name = local_name(child)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts += [run.text or "" for run in child if local_name(run) == "t"]
    return unescaped("".join(parts)).strip()


def unescaped(text: str) -> str:
    """Return a text with escapes of the kind "_x000D_" taken back."""
    if "_x" not in text:
        return text
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def _area(reference: str) -> Area | None:
    first, _, last = reference.partition(":")
    start, end = _REFERENCE.fullmatch(first), _REFERENCE.fullmatch(last or first)
    if start is None or end is None:
        return None
    top, bottom = sorted((int(start[2]) - 1, int(end[2]) - 1))
    left, right = sorted((_column(start[1]), _column(end[1])))
    return Area(top, left, bottom, right)


@lru_cache(maxsize=1 << 14)
def _column(letters: str) -> int:
    """Return a column from 0: "A" is 0, "AA" is 26; one past the last for what is none."""
    letters = letters.strip("$").upper()
    if not 1 <= len(letters) <= 3 or not letters.isascii() or not letters.isalpha():
        return _MOST_COLUMNS
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _number(text: str | None, default: int) -> int:
    if text is None or len(text) > 10:
        return default
    try:
        return int(text)
    except ValueError:
        return default
