"""Drawn rules: the straight lines and boxes of a page that tables are ruled with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from ingest_svc.readers.pdf.lines import Box, Line, Rules

_THIN = 3.0
"""A rectangle thinner than this, in points, is a line."""
_SHORT = 4.0
"""Lines shorter than this, in points, rule nothing."""

_SIGN = 12.0
"""A path no larger than this, in points, is a sign, such as an arrow, and rules nothing."""
_FEWEST_CELLS = 3
"""A path with fewer lines of text inside is a drawing; a grid has more."""

_ToBox = Callable[[float, float, float, float], Box]


class _Collected:
    """Rules gathered from paths."""

    def __init__(self, page: Box) -> None:
        self.page = page
        self.horizontal: set[tuple[float, float, float]] = set()
        self.vertical: set[tuple[float, float, float]] = set()
        self.fills: set[Box] = set()

    def line(self, box: Box) -> None:
        """Take a thin box as a rule in the direction it runs in."""
        if box.height <= _THIN and box.width >= _SHORT and box.width > box.height:
            self.horizontal.add((round((box.y0 + box.y1) / 2, 1), box.x0, box.x1))
        elif box.width <= _THIN and box.height >= _SHORT:
            self.vertical.add((round((box.x0 + box.x1) / 2, 1), box.y0, box.y1))

    def rectangle(self, box: Box, *, stroked: bool) -> None:
        """Take a rectangle: a rule if thin, four rules if drawn, else a filled box."""
        if box.width <= _THIN or box.height <= _THIN:
            self.line(box)
        elif stroked:
            for edge in _edges(box):
                self.line(edge)
        elif box.width < 0.97 * self.page.width or box.height < 0.9 * self.page.height:
            self.fills.add(box)

    def rules(self) -> Rules:
        """Return what was taken, sorted."""
        return Rules(
            horizontal=tuple(sorted(self.horizontal)),
            vertical=tuple(sorted(self.vertical)),
            fills=tuple(sorted(self.fills)),
        )


def _edges(box: Box) -> tuple[Box, Box, Box, Box]:
    return (
        Box(box.x0, box.y0, box.x1, box.y0),
        Box(box.x0, box.y1, box.x1, box.y1),
        Box(box.x0, box.y0, box.x0, box.y1),
        Box(box.x1, box.y0, box.x1, box.y1),
    )


def rules_of(drawings: Iterable[dict[str, Any]], to_box: _ToBox, page: Box) -> Rules:
    """Return the rules among a page's drawings.

    Args:
        drawings: Paths as pymupdf's `get_cdrawings` gives them.
        to_box: Turns four coordinates of the page's own frame into a box of the upright frame.
        page: The upright page; a fill as large as it is its background.
    """
    found = _Collected(page)
    for drawing in drawings:
        stroked = "s" in (drawing.get("type") or "") and drawing.get("color") is not None
        for item in drawing.get("items", ()):
            _take(found, item, to_box, stroked=stroked)
    return found.rules()


def rules_of_vectors(
    vectors: Iterable[dict[str, Any]], to_box: _ToBox, page: Box, lines: Sequence[Line]
) -> Rules | None:
    """Return the rules among a page's paths, of which only the boxes are known.

    Args:
        vectors: Blocks of drawn paths as pymupdf's `get_text("dict")` gives them.
        to_box: As in `rules_of`.
        page: As in `rules_of`.
        lines: The page's text.

    Returns:
        The rules; None where a path may hold several, as a grid drawn in one go does.
    """
    found = _Collected(page)
    for vector in vectors:
        box = to_box(*vector["bbox"])
        if vector["isrect"]:
            found.rectangle(box, stroked=vector["stroked"])
        elif min(box.width, box.height) <= _THIN:
            found.line(box)
        elif max(box.width, box.height) > _SIGN and _has_text(box, lines):
            return None
    return found.rules()


def _has_text(box: Box, lines: Iterable[Line]) -> bool:
    """Tell whether there is text inside that a grid could part."""
    inside = (
        True
        for line in lines
        if box.holds((line.box.x0 + line.box.x1) / 2, (line.box.y0 + line.box.y1) / 2)
    )
    return sum(islice(inside, _FEWEST_CELLS)) == _FEWEST_CELLS


def _take(found: _Collected, item: tuple[Any, ...], to_box: _ToBox, *, stroked: bool) -> None:
    """Take one piece of a path; curves rule nothing."""
    if item[0] == "l":
        (ax, ay), (bx, by) = item[1], item[2]
        if abs(ax - bx) > _THIN < abs(ay - by):
            return  # aslant
        found.line(to_box(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)))
    elif item[0] == "re":
        x0, y0, x1, y1 = item[1]
        found.rectangle(to_box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), stroked=stroked)
    elif item[0] == "qu":
        xs = [point[0] for point in item[1]]
        ys = [point[1] for point in item[1]]
        found.rectangle(to_box(min(xs), min(ys), max(xs), max(ys)), stroked=stroked)
