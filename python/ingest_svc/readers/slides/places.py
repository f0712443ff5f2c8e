"""Placeholders: what a shape that says nothing itself takes from its layout and master.

A shape of a slide often names only the place that it fills. Where that is, and whether its
paragraphs have bullets, stands in the slide's layout, or in the master behind that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.slides.drawing import child, children, length, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.xml_parts import Element

_SAME = {"ctrTitle": "title", "subTitle": "body", "obj": "body", "": "body"}
"""Kinds of places that a master knows under another name."""
_STYLES = {"title": "titleStyle", "body": "bodyStyle"}


@dataclass(frozen=True, slots=True)
class Place:
    """The place that a shape fills."""

    kind: str
    """As the file names it, for example "title"; empty for any content."""
    index: str = ""

    @property
    def is_title(self) -> bool:
        """Whether it is for the slide's title."""
        return self.kind in ("title", "ctrTitle")

    @property
    def is_furniture(self) -> bool:
        """Whether it is for what every slide repeats: date, footer, number, header."""
        return self.kind in ("dt", "ftr", "sldNum", "hdr")


def place_of(shape: Element) -> Place | None:
    """Return the place that a shape fills; None where it stands for itself."""
    for properties in children(shape):
        if name_of(properties).startswith("nv"):
            place = child(properties, "nvPr", "ph")
            if place is not None:
                return Place(place.get("type", ""), place.get("idx", ""))
    return None


def offset(shape: Element) -> tuple[int, int] | None:
    """Return top and left of a shape as it states them; None where it does not."""
    own = child(shape, "xfrm", "off")
    for name in ("spPr", "grpSpPr"):
        own = own if own is not None else child(shape, name, "xfrm", "off")
    return None if own is None else (length(own.get("y", "")), length(own.get("x", "")))


@dataclass(frozen=True, slots=True)
class Model:
    """What stands behind a slide: its layout, or a master."""

    root: Element
    shapes: list[tuple[Place, Element]] = field(default_factory=list)

    @classmethod
    def of(cls, root: Element) -> Model:
        """Return the model that an XML part is."""
        tree = child(root, "cSld", "spTree")
        found = [(place_of(shape), shape) for shape in children(tree)] if tree is not None else []
        return cls(root, [(place, shape) for place, shape in found if place is not None])

    def like(self, place: Place) -> Element | None:
        """Return the shape for a place: that of its number, else that of its kind."""
        if place.index:
            for known, shape in self.shapes:
                if known.index == place.index:
                    return shape
        for known, shape in self.shapes:
            if _SAME.get(known.kind, known.kind) == _SAME.get(place.kind, place.kind):
                return shape
        return None


@dataclass(frozen=True, slots=True)
class Behind:
    """The models behind a slide, the nearest first."""

    models: tuple[Model, ...] = ()

    def offset(self, shape: Element, place: Place | None) -> tuple[int, int]:
        """Return top and left of a shape, its own or those of the place it fills."""
        for known in self._alike(shape, place):
            found = offset(known)
            if found is not None:
                return found
        return 0, 0

    def list_styles(self, shape: Element, place: Place | None) -> list[Element]:
        """Return where styles of paragraphs are looked up, the nearest first."""
        found = [child(known, "txBody", "lstStyle") for known in self._alike(shape, place)]
        if place is not None:
            kind = _SAME.get(place.kind, place.kind)
            name = _STYLES.get(kind, "otherStyle")
            found += [child(model.root, "txStyles", name) for model in self.models]
        return [style for style in found if style is not None]

    def _alike(self, shape: Element, place: Place | None) -> Iterator[Element]:
        yield shape
        for model in self.models if place is not None else ():
            like = model.like(place) if place is not None else None
            if like is not None:
                yield like
