"""A sheet as its cells with text; what is empty takes no room."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest_svc.readers.block import Value, Warning

Cells = dict[int, dict[int, str]]
"""Texts by row and column, both from 0; none is empty."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, its last row and column included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class Sheet:
    """One sheet."""

    name: str
    hidden: bool = False
    is_read: bool = True
    """False for sheets without cells of their own: charts, dialogs, macros, modules."""
    cells: Cells = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)
    """Cells that are shown as one."""
    hidden_rows: list[tuple[int, int]] = field(default_factory=list)
    """First and last of neighbouring rows that do not show."""
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)

    def put(self, row: int, column: int, text: str) -> None:
        """Put a text into a cell; empty ones take no room."""
        if text:
            self.cells.setdefault(row, {})[column] = text


@dataclass(slots=True)
class Book:
    """What was read of a workbook."""

    media_type: str
    sheets: list[Sheet] = field(default_factory=list)
    title: str = ""
    metadata: Mapping[str, Value] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    warnings: list[Warning] = field(default_factory=list)
