"""What is in a drawing: text boxes, shapes with text, pictures with what is said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ingest_svc.readers.odt.names import child, name_of, stated

if TYPE_CHECKING:
    from ingest_svc.readers.xml_parts import Element

_GROUPS = frozenset({"draw:g", "draw:a", "draw:layer-set", "office:shapes"})
_NOT_SHAPES = frozenset(
    {"draw:glue-point", "draw:enhanced-geometry", "draw:contour-polygon", "draw:image-map"}
)


@dataclass(frozen=True, slots=True)
class Found:
    """Something in a drawing."""

    kind: Literal["box", "picture", "object"]
    element: Element
    """Of boxes what holds their paragraphs."""
    alt: str = ""
    """What the author says of it."""
    href: str = ""
    """Of objects where they are in the file."""


def found_in(drawing: Element) -> list[Found]:
    """Return what is in a drawing, in order.

    Args:
        drawing: Any element whose name begins with `draw:`.
    """
    found: list[Found] = []
    waiting = [drawing]
    while waiting:
        element = waiting.pop()
        name = name_of(element)
        if name == "draw:frame":
            found += _in_frame(element)
        elif name in _GROUPS:
            waiting += reversed(list(element))
        elif name.startswith("draw:") and name not in _NOT_SHAPES:
            found += _in_shape(element)
    return found


def _in_frame(frame: Element) -> list[Found]:
    """Return what a frame shows: the first of its forms; an object has a picture for others."""
    alt = _alt(frame)
    for part in frame:
        match name_of(part):
            case "draw:text-box":
                return [Found("box", part)]
            case "draw:object":
                return [Found("object", part, alt, stated(part, "xlink:href") or "")]
            case "draw:image":
                return [Found("picture", part, alt)]
            case "table:table":
                return [Found("box", frame)]
            case "draw:object-ole" | "draw:plugin" | "draw:applet" | "draw:floating-frame":
                return [Found("object", part, alt)]
    return [Found("picture", frame, alt)] if alt else []


def _in_shape(shape: Element) -> list[Found]:
    if any(name_of(part) in ("text:p", "text:h", "text:list") for part in shape):
        return [Found("box", shape)]
    alt = _alt(shape)
    return [Found("picture", shape, alt)] if alt else []


def _alt(element: Element) -> str:
    title = _words(child(element, "svg:title"))
    description = _words(child(element, "svg:desc"))
    if not title or description.startswith(title):
        return description
    return f"{title}: {description}" if description else title


def _words(element: Element | None) -> str:
    return " ".join("".join(map(str, element.itertext())).split()) if element is not None else ""
