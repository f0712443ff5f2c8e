"""CSV and TSV: one table, its delimiter told by what the records look like.

The library splits fields; what is ours is the delimiter, titles and names above the columns, and
that nothing goes wrong in silence: rows of another width, and a quote that never closes.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table, Warning
from ingest_svc.readers.heads import is_figure, names_columns
from ingest_svc.readers.limits import check
from ingest_svc.readers.sheets.csv_delimiter import delimiter_of
from ingest_svc.readers.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest_svc.readers.limits import ReaderLimits

_STATED = re.compile(r'\s*"?sep=([^\w\s"]|\t)"?[ \t,;]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
_MOST_TITLES = 3
_NAMED_ROWS = 10
_MOST_SCANS = 10
"""How often a quote is looked for to the end of the file; behind that all are characters."""


def read_csv(source: Source) -> ParsedFile:
    """Return a file of delimited values as one table.

    Raises:
        TooLarge: it has too many cells.
    """
    text = source.text.removeprefix("\ufeff")
    stated = _STATED.match(text)
    is_tab = stated is None and source.name.lower().endswith((".tsv", ".tab"))
    body = text[stated.end() :] if stated else text
    delimiter = stated[1] if stated else delimiter_of(body, usual="\t" if is_tab else ",")
    records = _records(body, delimiter, source.limits)
    return _parsed(records, delimiter, source.limits)


@dataclass(slots=True)
class _Records:
    """The records of a file."""

    lines: list[str]
    delimiter: str
    limits: ReaderLimits
    rows: list[list[str]] = field(default_factory=list)
    cells: int = 0
    unclosed: list[int] = field(default_factory=list)
    """Numbers, from 1, of records with a quote that is never closed."""

    def read(self) -> None:
        """Split all lines; where a quote is never closed, those of its line are characters."""
        start = scans = 0
        while start < len(self.lines):
            start, fault = self._faultless(start)
            if fault is _Fault.STRAY_QUOTE:
                self._add(csv.reader([self.lines[start]], delimiter=self.delimiter))
            elif fault is not None:
                scans += fault is _Fault.OPEN_TO_THE_END
                self.unclosed.append(len(self.rows) + 1)
                end = len(self.lines) if scans > _MOST_SCANS else start + 1
                literal = csv.reader(
                    self.lines[start:end], delimiter=self.delimiter, quoting=csv.QUOTE_NONE
                )
                self._add(literal)
                start = end - 1
            start += 1

    def _faultless(self, start: int) -> tuple[int, _Fault | None]:
        """Add records from a line on; return the line of the first with a fault, and which."""
        lines = (self.lines[at] for at in range(start, len(self.lines)))
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        done = 0
        try:
            for row in reader:
                self._add([row])
                done = reader.line_num
        except csv.Error as error:
            if "end of data" in str(error):
                return start + done, _Fault.OPEN_TO_THE_END
            is_one_line = reader.line_num == done + 1
            return start + done, _Fault.STRAY_QUOTE if is_one_line else _Fault.OPEN
        return len(self.lines), None

    def _add(self, rows: Iterable[list[str]]) -> None:
        for row in rows:
            if row:
                self.cells += len(row)
                check(self.limits, "max_table_cells", self.cells)
                self.rows.append([cell.strip() for cell in row])


class _Fault(Enum):
    """What is wrong with the quotes of a record."""

    STRAY_QUOTE = 1
    """Something stands behind a closing quote; the record is one line."""
    OPEN = 2
    """A quote closes lines later, in the middle of a field of another record."""
    OPEN_TO_THE_END = 3


def _records(text: str, delimiter: str, limits: ReaderLimits) -> _Records:
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    records = _Records(list(io.StringIO(text, newline="")), delimiter, limits)
    records.read()
    return records


def _parsed(records: _Records, delimiter: str, limits: ReaderLimits) -> ParsedFile:
    rows = records.rows
    width = max(map(len, rows), default=0)
    check(limits, "max_table_cells", width * len(rows))
    uneven = _uneven(rows)
    rows = [row + [""] * (width - len(row)) if len(row) < width else row for row in rows]
    titles, rows = _titles(rows)
    has_names = bool(rows) and _has_names(rows)
    header = rows[0] if has_names else [""] * width
    body = rows[1:] if has_names else rows
    table = Table(header, body, caption="\n".join(titles))
    kind = filetypes.TSV if delimiter == "\t" else filetypes.CSV
    return ParsedFile(
        [Block(BlockKind.TABLE, table=table)] if rows or titles else [],
        kind.media_type,
        warnings=_warnings(uneven, records.unclosed),
        metadata={"delimiter": delimiter},
        counts={"records": len(body)},
    )


def _titles(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return lines alone in their row above rows of several cells, and the rows below them."""
    for count, row in enumerate(rows[: _MOST_TITLES + 1]):
        filled = [cell for cell in row if cell]
        if len(filled) != 1 or is_figure(filled[0]):
            is_title = count > 0 and len(filled) > 1 and names_columns(row, rows[count + 1 :])
            titles = [next(filter(None, title)) for title in rows[:count]] if is_title else []
            return titles, rows[len(titles) :]
    return [], rows


def _has_names(rows: list[list[str]]) -> bool:
    first, *body = rows
    if not body:
        return not any(is_figure(cell) for cell in first)
    return names_columns(first, body)


def _uneven(rows: list[list[str]]) -> list[int]:
    """Return the numbers, from 1, of records that are not as wide as most."""
    if not rows:
        return []
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    return [number for number, row in enumerate(rows, 1) if len(row) != usual]


def _warnings(uneven: list[int], unclosed: list[int]) -> list[Warning]:
    warnings = []
    if uneven:
        message = f"records that are not as wide as most, kept all the same: {_named(uneven)}"
        warnings.append(Warning("DAMAGED", message))
    if unclosed:
        message = f"quotes that are never closed are read as text, in records: {_named(unclosed)}"
        warnings.append(Warning("DAMAGED", message))
    return warnings


def _named(numbers: list[int]) -> str:
    said = ", ".join(map(str, numbers[:_NAMED_ROWS]))
    more = len(numbers) - _NAMED_ROWS
    return f"{said} and {more} more" if more > 0 else said
