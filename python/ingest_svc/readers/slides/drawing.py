"""The XML that drawings of Office files are made of, in any of its namespaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.xml_parts import Element

_UNITS = {"emu": 1, "mm": 36_000, "cm": 360_000, "in": 914_400, "pt": 12_700, "pc": 152_400}
_MEASURE = re.compile(r"(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)(mm|cm|in|pt|pc|pi)")
_TRUE = ("1", "true", "on")
_TEXT = "t"


def name_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its name in whatever namespace; empty where there is none."""
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def is_true(value: str) -> bool:
    """Tell whether an attribute says yes."""
    return value in _TRUE


def children(element: Element) -> Iterator[Element]:
    """Yield the children; of alternatives those of the first that has any."""
    for child in element:
        if name_of(child) != "AlternateContent":
            yield child
            continue
        for choice in child:
            if len(choice):
                yield from choice
                break


def child(element: Element | None, *path: str) -> Element | None:
    """Return the element down a path of names; None where there is none."""
    for name in path:
        if element is None:
            return None
        element = next((found for found in children(element) if name_of(found) == name), None)
    return element


def words(paragraph: Element) -> str:
    """Return the words of a paragraph: runs, fields, formulas and line breaks."""
    parts: list[str] = []
    walk = etree.iterwalk(paragraph, events=("start",))
    for _, element in walk:
        name = name_of(element)
        if name == "Fallback":
            walk.skip_subtree()
        elif name == _TEXT:
            parts.append((element.text or "").replace("\v", "\n").replace("_x000B_", "\n"))
        elif name == "br":
            parts.append("\n")
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(filter(None, lines))


def length(stated: str) -> int:
    """Return a length in EMU; 0 for what is none. Strict files may name a unit."""
    if stated.lstrip("-").isdigit() and stated.isascii() and len(stated) < 20:
        return int(stated)
    measure = _MEASURE.fullmatch(stated)
    if measure is None:
        return 0
    return round(float(measure[1]) * _UNITS["pc" if measure[2] == "pi" else measure[2]])
