"""The shapes of a slide in the order in which people read them.

A group is read whole, at its place, its shapes in the same order; groups in groups need no
recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest_svc.readers.slides.drawing import attribute, child, children, is_true, name_of
from ingest_svc.readers.slides.order import in_reading_order
from ingest_svc.readers.slides.places import Behind, Place, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.xml_parts import Element

_SHAPES = ("sp", "pic", "graphicFrame", "grpSp", "cxnSp")


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that is no group."""

    element: Element
    sort: str
    """The name of its element: "sp" for one with text, "pic" for a picture."""
    place: Place | None
    is_hidden: bool
    alt: str
    """What its author says that it shows."""


def shapes_of(tree: Element, behind: Behind) -> Iterator[Shape]:
    """Yield the shapes below a tree of shapes, in reading order."""
    waiting = [(element, False) for element in reversed(_in_order(tree, behind))]
    while waiting:
        element, is_hidden = waiting.pop()
        shape = _shape(element, is_hidden=is_hidden)
        if shape.sort != "grpSp":
            yield shape
            continue
        inner = reversed(_in_order(element, behind))
        waiting += [(found, shape.is_hidden) for found in inner]


def _in_order(tree: Element, behind: Behind) -> list[Element]:
    return in_reading_order(
        (behind.offset(element, place_of(element)), element)
        for element in children(tree)
        if name_of(element) in _SHAPES
    )


def _shape(element: Element, *, is_hidden: bool) -> Shape:
    own = None
    for properties in children(element):
        if name_of(properties).startswith("nv"):
            own = child(properties, "cNvPr")
            break
    described = attribute(own, "descr") or attribute(own, "title") if own is not None else ""
    hidden = is_hidden or (own is not None and is_true(attribute(own, "hidden")))
    return Shape(element, name_of(element), place_of(element), hidden, " ".join(described.split()))
