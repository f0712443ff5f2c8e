"""What shows of a sheet: hidden rows and columns taken out, and said to be."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingest_svc.readers.sheets.sheet import Area, Cells, Sheet


def shown(sheet: Sheet) -> tuple[Sheet, int, int]:
    """Return the sheet without hidden rows and columns, and how many of each had text.

    The text of a merged cell that begins in a hidden place moves to the first place of it that
    shows, since that is where people see it.
    """
    rows, columns = Hidden(sheet.hidden_rows), Hidden(sheet.hidden_columns)
    if not rows.ranges and not columns.ranges:
        return sheet, 0, 0
    moved = [_moved(area, sheet.cells, rows, columns) for area in sheet.merged]
    lost_rows = 0
    lost_columns: set[int] = set()
    kept: Cells = {}
    for number, cells in sorted(sheet.cells.items()):
        if number in rows:
            lost_rows += 1
            continue
        lost_columns.update(column for column in cells if column in columns)
        left = {column: text for column, text in sorted(cells.items()) if column not in columns}
        if left:
            kept[number] = left
    return replace(sheet, cells=kept, merged=moved), lost_rows, len(lost_columns)


def _moved(area: Area, cells: Cells, rows: Hidden, columns: Hidden) -> Area:
    top, left = rows.next_shown(area.top), columns.next_shown(area.left)
    if (top, left) == (area.top, area.left) or top > area.bottom or left > area.right:
        return area
    text = cells.get(area.top, {}).pop(area.left, "")
    if text:
        cells.setdefault(top, {}).setdefault(left, text)
    return replace(area, top=top, left=left)


class Hidden:
    """Hidden rows or columns."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        """Take first and last of neighbours."""
        self.ranges: list[tuple[int, int]] = []
        for first, last in sorted(ranges):
            if self.ranges and first <= self.ranges[-1][1] + 1:
                first, last = self.ranges[-1][0], max(last, self.ranges.pop()[1])
            self.ranges.append((first, last))
        self._firsts = [first for first, _ in self.ranges]

    def __contains__(self, line: int) -> bool:
        """Tell whether a row or column is hidden."""
        return self.next_shown(line) != line

    def next_shown(self, line: int) -> int:
        """Return a row or column itself, or the first behind it that shows."""
        at = bisect_right(self._firsts, line) - 1
        return self.ranges[at][1] + 1 if at >= 0 and line <= self.ranges[at][1] else line
