"""Quarter turns: from a page's own frame to the one in which most of its text reads upright."""

from __future__ import annotations

from ingest_svc.readers.pdf.lines import Box


class Turn:
    """Turns boxes by quarter turns so that text reads from left to right."""

    def __init__(self, quarters: int, width: float, height: float) -> None:
        """Take the turn and the sides of the page before it.

        Args:
            quarters: In which direction most text runs, in quarter turns clockwise.
            width: Of the page in its own frame, before /Rotate.
            height: As `width`.
        """
        self.quarters = quarters
        self._width, self._height = width, height
        self.width, self.height = (width, height) if quarters % 2 == 0 else (height, width)

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """Return a box of the page's own frame in the turned frame."""
        if self.quarters == 0:
            return Box(x0, y0, x1, y1)
        if self.quarters == 1:
            return Box(y0, self._width - x1, y1, self._width - x0)
        if self.quarters == 2:
            return Box(self._width - x1, self._height - y1, self._width - x0, self._height - y0)
        return Box(self._height - y1, x0, self._height - y0, x1)

    @property
    def rotation(self) -> int:
        """Return the /Rotate, in degrees, with which the page is shown as it is turned here."""
        return -90 * self.quarters % 360
