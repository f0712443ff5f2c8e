"""Tables on slides: merged cells hold their text once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.block import Table
from ingest_svc.readers.heads import names_columns
from ingest_svc.readers.slides.drawing import child, children, is_true, name_of, words

if TYPE_CHECKING:
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.xml_parts import Element


def table_of(element: Element, room: Room) -> Table | None:
    """Return the table of a graphic; None where it has no text.

    Raises:
        TooLarge: it has too many cells.
    """
    rows = []
    for row in children(element):
        if name_of(row) == "tr":
            rows.append([_text(cell) for cell in children(row) if name_of(cell) == "tc"])
            room.take(len(rows[-1]))
    width = max(map(len, rows), default=0)
    room.take(width * len(rows) - sum(map(len, rows)))
    rows = [row + [""] * (width - len(row)) for row in rows]
    if not any(any(row) for row in rows):
        return None
    properties = child(element, "tblPr")
    stated = properties is not None and is_true(properties.get("firstRow", ""))
    if len(rows) > 1 and any(rows[0]) and (stated or names_columns(rows[0], rows[1:])):
        return Table(rows[0], rows[1:])
    return Table([""] * width, rows)


def _text(cell: Element) -> str:
    if is_true(cell.get("hMerge", "")) or is_true(cell.get("vMerge", "")):
        return ""  # covered by the cell that it is merged with
    body = child(cell, "txBody")
    if body is None:
        return ""
    return "\n".join(filter(None, (words(part) for part in children(body) if name_of(part) == "p")))
