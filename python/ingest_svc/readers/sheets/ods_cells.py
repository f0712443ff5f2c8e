"""Cells of a row of an OpenDocument table as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest_svc.readers.open_document import attribute, local_name, paragraph_text
from ingest_svc.readers.sheets.values import Format, Meaning, date_text, number_text, truth_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.room import Room
    from ingest_svc.readers.xml_parts import Element

_MOST_REPEATED = 1 << 24
_MOST_COLUMNS = 1 << 14
_PERCENT = Format(Meaning.PERCENT)
_NUMBERS = ("float", "currency", "percentage")
_COLUMNS, _ROWS = "number-columns-spanned", "number-rows-spanned"
_TIME = re.compile(r"PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,]\d*)?S)?")
_FORMULA = re.compile(r"(?:[a-z]+:)?(=.*)", re.DOTALL)

Span = tuple[int, int, int]
"""A merged cell: its column, and how many columns and rows it spans."""


def cells_of(row: Element, room: Room) -> tuple[dict[int, str], list[Span]]:
    """Return the texts of a row by column, and its merged cells.

    Raises:
        TooLarge: a text is repeated over more cells than the limits allow.
    """
    cells: dict[int, str] = {}
    spans: list[Span] = []
    column = 0
    for cell in row:
        count = repeated(cell, "number-columns-repeated")
        name = local_name(cell)
        text = _text(cell) if name == "table-cell" else ""
        if text and column < _MOST_COLUMNS:
            last = min(column + count, _MOST_COLUMNS)
            if count > 1:
                room.take(0, len(text) * (last - column - 1))
            cells.update(dict.fromkeys(range(column, last), text))
            columns, rows = repeated(cell, _COLUMNS), repeated(cell, _ROWS)
            if columns * rows > 1:
                spans.append((column, columns, rows))
        column += count
    return cells, spans


def repeated(element: Element, name: str) -> int:
    """Return how often something is there or how far it reaches; once unless it says so."""
    stated = attribute(element, name)
    if not stated.isascii() or not stated.isdigit():
        return 1
    return max(1, min(int(stated[:9]), _MOST_REPEATED))


def _text(cell: Element) -> str:
    """Return the text of a cell: its value, or its formula where no value is kept."""
    stated = {str(key).rpartition("}")[2]: str(value) for key, value in cell.items()}
    words = "\n".join(map(paragraph_text, _paragraphs(cell))).strip()
    if _is_error(cell, words):
        return words
    kind = _standard_type(cell)
    if kind in _NUMBERS and "value" in stated:
        return _number(stated["value"], kind)
    if kind == "date" and "date-value" in stated:
        return date_text(stated["date-value"])
    if kind == "time" and (clock := _TIME.fullmatch(stated.get("time-value", ""))):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return f"{hours:02}:{minutes:02}:{seconds:02}"
    if kind == "boolean" and "boolean-value" in stated:
        return truth_text(value=stated["boolean-value"] == "true")
    text = words or stated.get("string-value", "").strip()
    formula = _FORMULA.fullmatch(stated.get("formula", ""))
    return formula[1] if not text and formula is not None else text


def _paragraphs(cell: Element) -> Iterator[Element]:
    """Yield the paragraphs of a cell, those of comments on it left out."""
    for part in cell:
        name = local_name(part)
        if name == "p":
            yield part
        elif name == "list":
            yield from part.iterdescendants("{*}p")


def _standard_type(cell: Element) -> str:
    """Return the type of a value, which may stand there twice, by the standard and beyond it."""
    types = {
        str(key): str(value) for key, value in cell.items() if str(key).endswith("}value-type")
    }
    return next((value for key, value in types.items() if "calc" not in key), "")


def _is_error(cell: Element, words: str) -> bool:
    if words.startswith(("#", "Err:")):
        return any(value == "error" for value in cell.values()) or words.startswith("Err:")
    return False


def _number(stated: str, kind: str) -> str:
    try:
        value = float(stated)
    except ValueError:
        return stated
    return number_text(value, _PERCENT) if kind == "percentage" else number_text(value)
