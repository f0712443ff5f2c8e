"""What is in a drawing: text boxes, pictures and what is said of them, charts, diagrams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ingest_svc.readers.docx.names import choice, name_of

if TYPE_CHECKING:
    from ingest_svc.readers.xml_parts import Element


_SHAPES = ("v:shape", "v:rect", "v:oval", "v:roundrect")
_TITLE = "{urn:schemas-microsoft-com:office:office}title"


@dataclass(frozen=True, slots=True)
class Found:
    """Something in a drawing."""

    kind: Literal["box", "picture", "graphic", "object", "art"]
    element: Element
    """Of boxes what holds their paragraphs; of graphics the element that holds `a:graphic`."""
    alt: str = ""
    """What the author says of it; of word art the words."""


def found_in(drawing: Element) -> list[Found]:
    """Return what is in a drawing, in order; of alternatives what is in the first.

    Args:
        drawing: A `w:drawing`, `w:pict` or `w:object`.
    """
    search = _Search()
    search.over(drawing)
    if not search.found and (alt := _first_alt(drawing)):
        return [Found("picture", drawing, alt)]
    return search.found


@dataclass(slots=True)
class _Search:
    found: list[Found] = field(default_factory=list)
    _told: set[Element] = field(default_factory=set)
    """Frames whose words were given to a picture; others in a group have words of their own."""

    def over(self, drawing: Element) -> None:
        waiting: list[tuple[Element, Element, str]] = [(drawing, drawing, "")]
        while waiting:
            element, frame, alt = waiting.pop()
            name = name_of(element)
            if name in ("wp:inline", "wp:anchor"):
                frame, alt = element, _alt(element)
            elif name in _SHAPES:
                alt = _clean(element.get("alt"))
            if name == "mc:AlternateContent":
                chosen = choice(element)
                waiting += [] if chosen is None else [(chosen, frame, alt)]
            elif not self._take(name, element, frame, alt):
                waiting += [(part, frame, alt) for part in reversed(element)]

    def _take(self, name: str, element: Element, frame: Element, alt: str) -> bool:
        """Take what an element is; return False where it is nothing in itself."""
        match name:
            case "txbxContent":
                self.found.append(Found("box", element))
            case "pic:pic":
                own = "" if frame in self._told else alt
                self._told.add(frame)
                self.found.append(Found("picture", element, own or _picture_alt(element)))
            case "v:imagedata":
                self.found.append(Found("picture", element, alt or _clean(element.get(_TITLE))))
            case "c:chart" | "dgm:relIds":
                self.found.append(Found("graphic", frame, alt))
            case "o:OLEObject":
                self.found.append(Found("object", element))
            case "v:textpath" if art := _clean(element.get("string")):
                self.found.append(Found("art", element, art))
            case _:
                return False
        return True


def _first_alt(drawing: Element) -> str:
    """Return what is said of a drawing without text or pictures: lines, shapes, ink."""
    frames = (part for part in drawing if name_of(part) in ("wp:inline", "wp:anchor"))
    return next(filter(None, map(_alt, frames)), "")


def _alt(frame: Element) -> str:
    stated = next((part for part in frame if name_of(part) == "wp:docPr"), None)
    return "" if stated is None else _of(stated)


def _picture_alt(picture: Element) -> str:
    for part in picture:
        if name_of(part) == "pic:nvPicPr":
            stated = next((inner for inner in part if name_of(inner) == "pic:cNvPr"), None)
            return "" if stated is None else _of(stated)
    return ""


def _of(stated: Element) -> str:
    title, description = _clean(stated.get("title")), _clean(stated.get("descr"))
    if not title or title == description or description.startswith(title):
        return description
    return f"{title}: {description}" if description else title


def _clean(text: str | None) -> str:
    return " ".join((text or "").split())
