"""Paragraphs: rows of one column joined where the text goes on.

A row starts another paragraph where the gap above it is wider than between lines, where size,
weight or width of its letters change, where it has a list mark or a first-line indent, and where
the row above ended early: its next word would have had room.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.pdf.lines import Row, box_around
from ingest_svc.readers.pdf.markers import marker_of
from ingest_svc.readers.pdf.pieces import Piece
from ingest_svc.readers.pdf.text import ends_sentence, is_unspaced, join

CONTENTS_LINE = re.compile(r"(?:…|\.{3,})\s*[\divxlc]+\s*$")
"""A line of a table of contents: leader dots and a page number at its end."""
CAPTION = re.compile(
    r"^(?:(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)?|tabelle|tableau|tabla|tabela|listing|chart"
    r"|algorithm(?:us)?)\s*(?:[A-Z]?[.\-–]?\d+|[IVX]+)(?:[.\-–]\d+)*[a-z]?(?:\s*[.:|–—)]|\s*$|\s+(?-i:[^a-z\s]))"
    r"|[图表圖]\s*[\d一二三四五六七八九十])",
    re.IGNORECASE,
)
"""How the caption of a figure or table starts; "Table 1 shows" is a sentence."""
_CODE_GAP = 2.3
"""Rows of code this many usual distances apart are one piece: a blank line stands between them."""
_BEFORE_NUMBER = (",", " and", " to", " in", " of", " und", " et", " y")
_LINE_NUMBER = re.compile(r"(\d{1,4})\s+\S")
_SAME_SIZE = 0.12
_FIRST_INDENT = 3.0
"""How far the first row of a list item is set in at most, in font sizes."""
_USUAL_PITCH = 1.4
"""Distance of baselines, in font sizes, where a column has too few rows to tell."""


@dataclass(frozen=True, slots=True)
class Column:
    """Rows of one column in order, and what they have in common."""

    rows: tuple[Row, ...]
    left: float
    right: float
    pitch: float
    """Usual distance of baselines, in font sizes."""
    edges: Mapping[int, tuple[float, float]]
    """Left and right edge of the rows in blocks set narrower than the column, by the rows' keys."""


def column_of(rows: Sequence[Row]) -> Column:
    """Return rows of one region as a column."""
    pitches = [
        (row.box.y1 - before.box.y1) / row.size
        for before, row in pairwise(rows)
        if abs(row.size - before.size) < _SAME_SIZE * row.size
        and 0.8 * row.size < row.box.y1 - before.box.y1 < 2.2 * row.size
    ]
    # Below the median: gaps between paragraphs are among them too.
    pitch = sorted(pitches)[len(pitches) // 3] if pitches else _USUAL_PITCH
    left, right = min(row.box.x0 for row in rows), max(row.box.x1 for row in rows)
    return Column(tuple(rows), left, right, pitch, _narrow_edges(rows, pitch, right))


def _narrow_edges(
    rows: Sequence[Row], pitch: float, right: float
) -> dict[int, tuple[float, float]]:
    """Return the edges of rows in narrow blocks: close, of one size, mostly ending at one place."""
    edges: dict[int, tuple[float, float]] = {}
    block: list[Row] = []
    for row in [*rows, None]:
        if block and row is not None:
            last = block[-1]
            close = row.box.y1 - last.box.y1 <= (1.22 * pitch + 0.08) * row.size
            if close and abs(row.size - last.size) <= _SAME_SIZE * row.size:
                block.append(row)
                continue
        end = max((one.box.x1 for one in block), default=right)
        full = sum(end - one.box.x1 < 1.5 * one.size for one in block)
        if len(block) > 2 and full >= 0.6 * len(block) and right - end > 2.0 * block[0].size:
            start = min(one.box.x0 for one in block)
            edges |= {one.key: (start, end) for one in block}
        block = [row] if row is not None else []
    return edges


def paragraphs(column: Column, headings: Mapping[int, int], words: Container[str]) -> list[Piece]:
    """Return the pieces that the rows of a column make up.

    Args:
        column: The rows.
        headings: Row key -> number of the outline entry that the row is (part of) the title of.
        words: The document's words, for broken ones.
    """
    groups: list[list[Row]] = []
    for row in column.rows:
        if groups and _goes_on(column, groups[-1], row, headings):
            groups[-1].append(row)
        else:
            groups.append([row])
    return [_piece(column, group, words) for group in groups]


def _goes_on(column: Column, group: list[Row], row: Row, headings: Mapping[int, int]) -> bool:
    """Tell whether a row goes on with the paragraph above it."""
    last = group[-1]
    if row.key in headings or last.key in headings:
        return headings.get(row.key) == headings.get(last.key)
    if not _looks_alike(column, last, row):
        return False
    if row.mono:
        return 0 < row.box.y1 - last.box.y1 <= _CODE_GAP * column.pitch * row.size
    if not _is_close(column, last, row) or _starts_anew(group, row):
        return False
    if marker_of(group[0].text) is not None:
        return _goes_on_with_item(column, group, row)
    if _is_centred(column, last) and _is_centred(column, row):
        return not ends_sentence(last.text) or _is_full(column, last)
    return not _is_indented(group, row) and not _ended_early(column, last, row)


def _starts_anew(group: list[Row], row: Row) -> bool:
    """Tell whether a row, or the one above, says by its text that it stands for itself."""
    last = group[-1]
    if CONTENTS_LINE.search(last.text) or _is_spread(last) or _is_spread(row):
        return True
    if CAPTION.match(row.text) and ends_sentence(last.text):
        return True
    return marker_of(row.text) is not None and not _is_broken_number(group, row)


def _is_close(column: Column, last: Row, row: Row) -> bool:
    """Tell whether a row follows at the usual distance of lines."""
    pitch = (row.box.y1 - last.box.y1) / max(row.size, last.size)
    return 0.0 < pitch <= column.pitch * 1.22 + 0.08 or -0.2 < pitch <= 0.0


def _looks_alike(column: Column, last: Row, row: Row) -> bool:
    """Tell whether two rows have the same size, weight and kind of letters, or nearly."""
    if abs(row.size - last.size) > _SAME_SIZE * max(row.size, last.size):
        return False
    if row.mono != last.mono or row.visible != last.visible:
        return False
    return row.bold == last.bold or (_is_full(column, last) and not ends_sentence(last.text))


def _is_spread(row: Row) -> bool:
    """Tell whether a row holds things far apart, such as a name and, at the right, a date."""
    gaps = [b.box.x0 - a.box.x1 for a, b in pairwise(row.cells)]
    marked = marker_of(row.text) is not None
    return any(gap > 4.0 * row.size for gap in (gaps[1:] if marked else gaps))


def _is_broken_number(group: list[Row], row: Row) -> bool:
    """Tell whether what looks like a list mark is a number in a sentence broken before it."""
    last = group[-1].text
    mark = marker_of(row.text)
    if row.text.startswith("·"):
        return "·" in last
    return mark is not None and mark[0][:1].isdigit() and last.endswith(_BEFORE_NUMBER)


def _goes_on_with_item(column: Column, group: list[Row], row: Row) -> bool:
    """Tell whether a row goes on with a list item: further in, or after a full row."""
    last = group[-1]
    first = group[0]
    if row.right_to_left:
        return row.box.x1 < first.box.x1 - 2.0 or not _ended_early(column, last, row)
    if row.box.x0 > first.box.x0 + 0.5 * row.size:
        return len(group) == 1 or abs(row.box.x0 - last.box.x0) < 2.5 * row.size
    # Where only the first row is set in, the others start further out.
    hangs = len(group) > 1 or row.text[0].islower()
    starts_right = row.box.x0 >= first.box.x0 - (_FIRST_INDENT * row.size if hangs else 1.0)
    return starts_right and not _ended_early(column, last, row)


def _is_full(column: Column, row: Row) -> bool:
    """Tell whether a row reaches the far edge of its column."""
    slack = max(2.5 * row.size, 0.06 * (column.right - column.left))
    if row.right_to_left:
        return row.box.x0 <= column.left + slack
    return row.box.x1 >= column.right - slack


def _is_centred(column: Column, row: Row) -> bool:
    """Tell whether a row stands in the middle of its column, clear of both edges."""
    left, right = row.box.x0 - column.left, column.right - row.box.x1
    return min(left, right) > 1.5 * row.size and abs(left - right) < max(
        3.0, 0.25 * max(left, right)
    )


def _is_indented(group: list[Row], row: Row) -> bool:
    """Tell whether a row starts further in than the row above, as a paragraph's first does."""
    last = group[-1]
    step = last.box.x1 - row.box.x1 if row.right_to_left else row.box.x0 - last.box.x0
    # The second row of a paragraph with a hanging first line is further in too.
    return step > 0.8 * row.size and (len(group) > 1 or ends_sentence(last.text))


def _ended_early(column: Column, last: Row, row: Row) -> bool:
    """Tell whether the row above ended although the next word had room."""
    left, right = column.edges.get(last.key, (column.left, column.right))
    room = last.box.x0 - left if row.right_to_left else right - last.box.x1
    if is_unspaced(row.text[0]):
        needed = 2.5 * row.size
    else:
        word = row.text.split(maxsplit=1)[0]
        needed = (len(word) + 1) * row.box.width / max(len(row.text), 1)
    needed += 0.03 * (right - left) + 0.3 * row.size
    if ends_sentence(last.text):
        return room > needed
    if row.text[0].islower():
        return False
    # Ragged edges leave room; a row without an end of sentence goes on unless much is left.
    share = 0.3 if is_unspaced(row.text[0]) else 0.18
    return room > max(needed, share * (right - left))


def _piece(column: Column, group: list[Row], words: Container[str]) -> Piece:
    """Return a group of rows as a piece."""
    first, last = group[0], group[-1]
    kind, marker = BlockKind.PARAGRAPH, ""
    if all(row.mono for row in group):
        kind, text = BlockKind.CODE, _code(column, group)
    else:
        text = _text(group, words)
        mark = marker_of(text)
        if mark is not None and mark[1]:
            kind, (marker, text) = BlockKind.LIST_ITEM, mark
    return Piece(
        kind=kind,
        text=text,
        box=box_around([row.box for row in group]),
        page=first.page,
        page_end=last.page,
        size=median(row.size for row in group),
        bold=all(row.bold for row in group),
        italic=all(row.italic for row in group),
        visible=any(row.visible for row in group),
        rows=tuple(group),
        marker=marker,
        ends_column=_is_full(column, last),
        indented=first.box.x0 > column.left + 0.8 * first.size,
    )


def _text(group: list[Row], words: Container[str]) -> str:
    """Return the text of rows joined, hyphens at their ends taken out."""
    text = ""
    for row in group:
        text = join(text, row.text, words)
    return text


def _code(column: Column, group: list[Row]) -> str:
    """Return rows of code with line breaks, blank lines and indents, without line numbers."""
    numbers = [_LINE_NUMBER.match(row.text) for row in group]
    first = int(numbers[0].group(1)) if numbers[0] else 0
    numbered = len(group) > 1 and all(
        number is not None and int(number.group(1)) == first + step
        for step, number in enumerate(numbers)
    )
    bodies = [row.text.split(maxsplit=1)[1] if numbered else row.text for row in group]
    width = median(row.box.width / max(len(row.text), 1) for row in group) or 1.0
    # With line numbers the bodies end where the rows do; their starts follow from their lengths.
    starts = [
        row.box.x1 - width * len(body) if numbered else row.box.x0
        for row, body in zip(group, bodies, strict=True)
    ]
    left = min(starts)
    text = ""
    for before, row, start, body in zip([None, *group], group, starts, bodies, strict=False):
        if before is not None:
            blank = row.box.y1 - before.box.y1 > 1.6 * column.pitch * row.size
            text += "\n\n" if blank else "\n"
        text += " " * min(round((start - left) / width), 40) + body
    return text
