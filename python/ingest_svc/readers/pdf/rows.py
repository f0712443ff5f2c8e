"""Rows: the lines of one column that stand on one baseline, joined in the order they are read in.

In a row that reads from right to left, stretches without any right-to-left letter (numbers, dates,
Latin words) keep their own order from left to right, as the bidirectional algorithm has it; only
the stretches change places.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from msgspec.structs import replace

from ingest_svc.readers.pdf.lines import Box, Cell, Line, Row, box_around
from ingest_svc.readers.pdf.text import (
    has_right_to_left,
    is_number,
    is_right_to_left,
    is_unspaced,
    squeezed,
)

_WORD_GAP = 0.12
"""A gap wider than this many font sizes is a space between words."""
_CELL_GAP = 1.1
"""A gap wider than this many font sizes parts two cells of a row."""
_NUMBER_GAP = 0.4
"""Two numbers are parted by a gap this wide already."""


def baselines(lines: Iterable[Line]) -> list[list[Line]]:
    """Return lines grouped by baseline, from top to bottom; within a group from left to right."""
    groups: list[list[Line]] = []
    boxes: list[tuple[float, float]] = []
    for line in sorted(lines, key=lambda line: (line.box.y0 + line.box.y1, line.box.x0)):
        place = _group_for(line, groups, boxes)
        if place < 0:
            groups.append([line])
            boxes.append((line.box.y0, line.box.y1))
        else:
            groups[place].append(line)
            tallest = max(groups[place], key=lambda line: line.size).box
            boxes[place] = (tallest.y0, tallest.y1)
    for group in groups:
        group.sort(key=lambda line: line.box.x0)
    return groups


def _group_for(line: Line, groups: list[list[Line]], boxes: list[tuple[float, float]]) -> int:
    """Return which of the last few groups a line stands in, -1 where it starts another."""
    for place in range(len(groups) - 1, max(len(groups) - 4, -1), -1):
        top, bottom = boxes[place]
        shared = min(line.box.y1, bottom) - max(line.box.y0, top)
        lower = max(min(line.box.height, bottom - top), 0.1)
        if shared < 0.55 * lower:
            continue
        if not any(_collide(line, other) for other in groups[place]):
            return place
    return -1


def _collide(line: Line, other: Line) -> bool:
    """Tell whether two lines stand above each other rather than side by side."""
    shared = min(line.box.x1, other.box.x1) - max(line.box.x0, other.box.x0)
    return shared > 0.5 * min(line.box.width, other.box.width) and shared > 2.0


def row_of(lines: list[Line], page: int, column: Box) -> Row:
    """Return the row of lines that stand on one baseline, given from left to right."""
    if len(lines) == 1:
        return _row_of_one(lines[0], page, column)
    lines = _with_plain_mark(lines)
    main = max(lines, key=lambda line: len(line.text))
    right_to_left = is_right_to_left("".join(line.text for line in lines))
    ordered = _reading_order(lines) if right_to_left else lines
    lead = lines[0].bold_lead
    if not lead and lines[0].bold and not all(line.bold for line in lines):
        lead = lines[0].text
    return Row(
        box=box_around([line.box for line in lines]),
        text=text_of(ordered),
        size=main.size,
        bold=all(line.bold for line in lines),
        italic=all(line.italic for line in lines),
        mono=_mostly_mono(lines),
        visible=any(line.visible for line in lines),
        page=page,
        cells=_cells(lines),
        column=column,
        bold_lead=lead,
        right_to_left=right_to_left,
        recognised=main.recognised,
    )


def _row_of_one(line: Line, page: int, column: Box) -> Row:
    """Return the row of one line, as most rows are."""
    text = squeezed(line.text)
    return Row(
        box=line.box,
        text=text,
        size=line.size,
        bold=line.bold,
        italic=line.italic,
        mono=line.mono and bool(line.text),
        visible=line.visible,
        page=page,
        cells=(Cell(line.box, text),),
        column=column,
        bold_lead=line.bold_lead,
        right_to_left=is_right_to_left(line.text),
        recognised=line.recognised,
    )


def _with_plain_mark(lines: list[Line]) -> list[Line]:
    """Return the lines with a letter o that stands apart at the front made a bullet."""
    if len(lines) < 2 or lines[0].text != "o":
        return lines
    apart = lines[1].box.x0 - lines[0].box.x1 > 0.6 * lines[0].size
    return [replace(lines[0], text="•"), *lines[1:]] if apart else lines


def _mostly_mono(lines: list[Line]) -> bool:
    """Tell whether all but a line number is of equal width."""
    mono = sum(len(line.text) for line in lines if line.mono)
    rest = [line for line in lines if not line.mono]
    return mono > 0 and all(line.text.isdecimal() and line is lines[0] for line in rest)


def text_of(ordered: list[Line]) -> str:
    """Return the text of lines in reading order, with spaces where there are gaps."""
    text = ordered[0].text
    for before, line in pairwise(ordered):
        gap = max(line.box.x0 - before.box.x1, before.box.x0 - line.box.x1)
        size = max(before.size, line.size)
        close = gap <= _WORD_GAP * size
        tight = is_unspaced(before.text[-1]) and is_unspaced(line.text[0]) and gap < size
        text += line.text if close or tight else f" {line.text}"
    return squeezed(text)


def _reading_order(lines: list[Line]) -> list[Line]:
    """Return the lines of a right-to-left row, given from left to right, in reading order."""
    ordered: list[Line] = []
    run: list[Line] = []
    for line in reversed(lines):
        if has_right_to_left(line.text) or not (run or any(c.isalnum() for c in line.text)):
            ordered += [*reversed(run), line]
            run = []
        else:
            run.append(line)
    return ordered + list(reversed(run))


def _cells(lines: list[Line]) -> tuple[Cell, ...]:
    """Return the stretches of a row that wide gaps part, from left to right."""
    cells: list[list[Line]] = [[lines[0]]]
    for before, line in pairwise(lines):
        numbers = is_number(before.text) and is_number(line.text)
        least = _NUMBER_GAP if numbers else _CELL_GAP
        if line.box.x0 - before.box.x1 > least * max(before.size, line.size):
            cells.append([line])
        else:
            cells[-1].append(line)
    return tuple(Cell(box_around([line.box for line in cell]), cell_text(cell)) for cell in cells)


def cell_text(lines: list[Line]) -> str:
    """Return the text of lines on one baseline, given from left to right."""
    if is_right_to_left("".join(line.text for line in lines)):
        return text_of(_reading_order(lines))
    return text_of(lines)
