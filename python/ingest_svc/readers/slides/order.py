"""Reading order: from top to bottom and, where tops are nearly level, from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")

_LEVEL_EMU = 45_720
"""A twentieth of an inch: tops that differ less are level to the eye."""


def in_reading_order(placed: Iterable[tuple[tuple[int, int], T]]) -> list[T]:
    """Return things in reading order, by their top and left in EMU."""
    rows: list[list[tuple[tuple[int, int], T]]] = []
    for item in sorted(placed, key=lambda item: item[0][0]):
        if not rows or item[0][0] - rows[-1][0][0][0] > _LEVEL_EMU:
            rows.append([])
        rows[-1].append(item)
    return [thing for row in rows for _, thing in sorted(row, key=lambda item: item[0][1])]
