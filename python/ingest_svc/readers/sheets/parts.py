"""Cells of a sheet parted at its empty rows and columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from ingest_svc.readers.heads import is_figure, names_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ingest_svc.readers.sheets.sheet import Area, Sheet

Row = tuple[int, dict[int, str]]
"""The number of a row and its texts by column."""

_MOST_TITLES = 3
_MOST_LINES = 3
_SAMPLE = 50
_PROSE = 40
"""Characters that cells of one column have, on average, where they are sentences."""


@dataclass(frozen=True, slots=True)
class Spans:
    """What lies across empty rows and columns, so that they part nothing."""

    rows: list[tuple[int, int]]
    """First and last row, in rising order: merged cells with text, and hidden rows."""
    columns: list[tuple[int, int]]
    by_top: dict[int, list[Area]]
    """Merged cells with text by their first row."""

    @classmethod
    def of(cls, sheet: Sheet) -> Spans:
        """Return the spans of a sheet."""
        by_top: dict[int, list[Area]] = defaultdict(list)
        for area in sheet.merged:
            if area.left in sheet.cells.get(area.top, ()):
                by_top[area.top].append(area)
        merged = [area for areas in by_top.values() for area in areas]
        rows = {(area.top, area.bottom) for area in merged} | set(sheet.hidden_rows)
        columns = set(sheet.hidden_columns)
        return cls(sorted(rows), sorted(columns), dict(by_top))

    def merged_at(self, row: int) -> Sequence[Area]:
        """Return the merged cells with text that begin in a row."""
        return self.by_top.get(row, ())

    def over(self, row: int, column: int) -> Area | None:
        """Return the merged cell that begins at a place."""
        return next((area for area in self.merged_at(row) if area.left == column), None)


@dataclass(frozen=True)
class Part:
    """Neighbouring rows of a sheet, none of them empty."""

    rows: list[Row]

    @cached_property
    def columns(self) -> list[int]:
        """Return the columns that have any text."""
        return sorted({column for _, cells in self.rows for column in cells})

    @cached_property
    def filled(self) -> int:
        """Return the number of cells with text."""
        return sum(len(cells) for _, cells in self.rows)

    @property
    def texts(self) -> list[str]:
        """Return the texts in order."""
        return [text for _, cells in self.rows for text in cells.values()]

    @property
    def is_lines(self) -> bool:
        """Tell whether it is a few lines of text, each in a cell of its own."""
        if len(self.rows) > _MOST_LINES or self.filled > len(self.rows):
            return False
        return not all(is_figure(text) for text in self.texts)

    @property
    def is_words_in_one_column(self) -> bool:
        """Tell whether it is a column of words and nothing else."""
        if len(self.columns) > 1:
            return False
        sample = self.texts[:_SAMPLE]
        return 2 * sum(map(is_figure, sample)) <= len(sample)

    @property
    def is_prose(self) -> bool:
        """Tell whether it is sentences below each other rather than a table."""
        texts = self.texts[:_SAMPLE]
        return self.is_words_in_one_column and sum(map(len, texts)) > _PROSE * len(texts)

    def titles(self, spans: Spans) -> tuple[list[str], Part]:
        """Return the lines that stand above the first row of several cells, and the rest."""
        titles: list[str] = []
        for number, cells in self.rows[: _MOST_TITLES + 1]:
            if len(cells) > 1 or len(self.columns) == 1:
                break
            (column, text), *_ = cells.items()
            if is_figure(text) or self._is_head_of_a_group(spans.over(number, column)):
                break
            titles.append(text)
        if not titles or len(titles) > _MOST_TITLES or len(titles) >= len(self.rows):
            return [], self
        return titles, Part(self.rows[len(titles) :])

    def _is_head_of_a_group(self, area: Area | None) -> bool:
        """Tell whether a merged cell spans some of the columns, but neither one nor all."""
        if area is None or area.left <= self.columns[0]:
            return False
        return sum(area.left <= column <= area.right for column in self.columns) > 1


def bands(rows: Iterable[Row], spans: Spans) -> Iterator[Part]:
    """Yield the rows between empty ones."""
    gaps = _Gaps(spans.rows)
    band: list[Row] = []
    for row in rows:
        if gaps.before(row[0]) and band:
            yield Part(band)
            band = []
        band.append(row)
    if band:
        yield Part(band)


def beside(band: Part, spans: Spans) -> list[Part]:
    """Return the tables that stand side by side, or the band alone where it is one."""
    runs: list[list[int]] = []
    gaps = _Gaps(sorted([*spans.columns, *_across(band, spans)]))
    for column in band.columns:
        if gaps.before(column) or not runs:
            runs.append([])
        runs[-1].append(column)
    if len(runs) == 1 or any(len(run) == 1 for run in runs):
        return [band]
    parts = [_columns(band, run) for run in runs]
    are_tables = all(_is_table(part, spans, index) for index, part in enumerate(parts))
    return parts if are_tables else [band]


def _across(band: Part, spans: Spans) -> Iterator[tuple[int, int]]:
    for number, _ in band.rows:
        for area in spans.merged_at(number):
            yield area.left, area.right


def _columns(band: Part, run: Sequence[int]) -> Part:
    wanted = frozenset(run)
    rows = []
    for number, cells in band.rows:
        kept = {column: text for column, text in cells.items() if column in wanted}
        if kept:
            rows.append((number, kept))
    return Part(rows)


def _is_table(part: Part, spans: Spans, index: int) -> bool:
    """Tell whether a part beside others has names of its own, for its columns and its rows."""
    _, table = part.titles(spans)
    if len(table.rows) < 2 or len(table.columns) < 2:
        return False
    first, *body = (
        [cells.get(column, "") for column in table.columns]
        for _, cells in islice(table.rows, _SAMPLE)
    )
    if not names_columns(first, body):
        return False
    labels = [row[0] for row in body if row[0]]
    return index == 0 or 2 * sum(map(is_figure, labels)) < len(labels)


@dataclass(slots=True)
class _Gaps:
    """Finds empty lines between lines that are named in rising order."""

    spans: Sequence[tuple[int, int]]
    _next: int = 0
    _reach: int = field(default=-1)

    def before(self, line: int) -> bool:
        """Tell whether a line is empty between this one and the one named before."""
        while self._next < len(self.spans) and self.spans[self._next][0] <= self._reach + 1:
            self._reach = max(self._reach, self.spans[self._next][1])
            self._next += 1
        is_parted = line > self._reach + 1
        self._reach = max(self._reach, line)
        return is_parted
