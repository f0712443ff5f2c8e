"""What the cells of all tables of a file may take, counted while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.limits import check

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source


class Room:
    """What the cells of all sheets of a file may take."""

    def __init__(self, source: Source) -> None:
        """Take the file and its limits."""
        self._limits = source.limits
        self._unpacked = source.unpacks()
        self._cells = 0

    def take(self, cells: int, characters: int = 0) -> None:
        """Count cells, before they are made where they are many, and text that is repeated.

        Text that a file states once and shows in many cells counts as unpacked, so that a short
        file cannot become an endless one.

        Raises:
            TooLarge: they are more than the limits allow.
        """
        self._cells += cells
        check(self._limits, "max_table_cells", self._cells)
        if characters:
            self._unpacked.add(characters)
