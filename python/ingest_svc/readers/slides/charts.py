"""Charts: the values that a chart keeps of its data, as tables.

2023   2024     names of the series
North     7      8     a category and its values
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Table
from ingest_svc.readers.sheets.values import number_format, number_text
from ingest_svc.readers.slides.drawing import child, children, name_of, words

if TYPE_CHECKING:
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.xml_parts import Element

Points = dict[int, str]
"""Texts by their number."""

_KEPT = ("strCache", "numCache", "strLit", "numLit", "multiLvlStrCache")
_LEVEL_BREAK = " / "


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    categories: Points
    values: Points
    sizes: Points
    """Of bubbles."""


def tables_of(root: Element, room: Room) -> list[Table]:
    """Return a chart as one table, or as several where its series have other categories.

    Raises:
        TooLarge: there are too many cells.
    """
    chart = child(root, "chart")
    if chart is None:
        return []
    title = _title(child(chart, "title"))
    series = [_series(element) for element in chart.iterfind("{*}plotArea/*/{*}ser")]
    corner = _title(child(chart, "plotArea", "catAx", "title"))
    tables = [
        _table(list(alike), title, corner, room)
        for _, alike in groupby(series, key=lambda one: one.categories)
    ]
    tables = [table for table in tables if table.rows]
    return tables or ([Table([], [], caption=title)] if title else [])


def _table(series: list[_Series], title: str, corner: str, room: Room) -> Table:
    columns: list[tuple[str, Points]] = []
    if series[0].categories:
        columns.append((corner, series[0].categories))
    for one in series:
        columns.append((one.name, one.values))
        if one.sizes:
            columns.append(("", one.sizes))
    numbers = sorted({number for _, points in columns for number in points})
    room.take(len(numbers) * len(columns))
    rows = [[points.get(number, "") for _, points in columns] for number in numbers]
    return Table([name for name, _ in columns], rows, caption=title)


def _series(element: Element) -> _Series:
    names = _points(child(element, "tx")) or {0: _words(child(element, "tx"))}
    return _Series(
        " ".join(names[number] for number in sorted(names)),
        _points(child(element, "cat")) or _points(child(element, "xVal")),
        _points(child(element, "val")) or _points(child(element, "yVal")),
        _points(child(element, "bubbleSize")),
    )


def _points(holder: Element | None) -> Points:
    """Return what is kept of a range of cells; names in several levels are joined."""
    for kept in holder.iterdescendants() if holder is not None else ():
        name = name_of(kept)
        if name not in _KEPT:
            continue
        if name != "multiLvlStrCache":
            return _level(kept)
        return _joined([_level(level) for level in children(kept) if name_of(level) == "lvl"])
    return {}


def _level(kept: Element) -> Points:
    code = child(kept, "formatCode")
    shown = number_format(code.text or "") if code is not None else None
    points: Points = {}
    for point in children(kept):
        number = point.get("idx", "")
        value = child(point, "v") if name_of(point) == "pt" else None
        if value is None or not number.isascii() or not number.isdigit():
            continue
        text = (value.text or "").strip()
        try:
            points[int(number[:9])] = number_text(float(text), shown) if shown else text
        except ValueError:
            points[int(number[:9])] = text
    return points


def _joined(levels: list[Points]) -> Points:
    """Return names of several levels, the innermost first, as one; outer ones reach on."""
    if not levels:
        return {}
    points = dict(levels[0])
    for outer in levels[1:]:
        name = ""
        for number in sorted({*points, *outer}):
            name = outer.get(number, name)
            if number in points and name:
                points[number] = f"{name}{_LEVEL_BREAK}{points[number]}"
    return points


def _title(holder: Element | None) -> str:
    """Return a title: its words, or those that it takes from a cell."""
    kept = _points(child(holder, "tx"))
    return _words(holder) or " ".join(kept[number] for number in sorted(kept))


def _words(holder: Element | None) -> str:
    if holder is None:
        return ""
    return " ".join(filter(None, (words(part) for part in holder.iterfind(".//{*}rich/{*}p"))))
