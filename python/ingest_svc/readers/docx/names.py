"""Names of elements and attributes, the same in Transitional and Strict files.

An element of WordprocessingML goes by its bare name, "p"; those of other vocabularies by a prefix
of ours, "m:oMath"; what is none of them has no name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.prose.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.xml_parts import Element

_OOXML = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"
_WORD = f"{_OOXML}/wordprocessingml/2006/main"
_STRICT_WORD = f"{_STRICT}/wordprocessingml/main"
_PREFIXES = {
    _WORD: "",
    _STRICT_WORD: "",
    f"{_OOXML}/officeDocument/2006/math": "m:",
    f"{_STRICT}/officeDocument/math": "m:",
    f"{_OOXML}/markup-compatibility/2006": "mc:",
    f"{_OOXML}/drawingml/2006/wordprocessingDrawing": "wp:",
    f"{_STRICT}/drawingml/wordprocessingDrawing": "wp:",
    f"{_OOXML}/drawingml/2006/main": "a:",
    f"{_STRICT}/drawingml/main": "a:",
    f"{_OOXML}/drawingml/2006/picture": "pic:",
    f"{_STRICT}/drawingml/picture": "pic:",
    f"{_OOXML}/drawingml/2006/chart": "c:",
    f"{_STRICT}/drawingml/chart": "c:",
    f"{_OOXML}/drawingml/2006/diagram": "dgm:",
    f"{_STRICT}/drawingml/diagram": "dgm:",
    "urn:schemas-microsoft-com:vml": "v:",
    "urn:schemas-microsoft-com:office:office": "o:",
}
_RELATIONS = (
    f"{{{_OOXML}/officeDocument/2006/relationships}}",
    f"{{{_STRICT}/officeDocument/relationships}}",
)
_MATH = (f"{{{_OOXML}/officeDocument/2006/math}}", f"{{{_STRICT}/officeDocument/math}}")
_NO = frozenset({"0", "false", "off", "none"})


_NAMES = Names(_PREFIXES)


def name_of(element: Element) -> str:
    """Return the name of an element, empty where its vocabulary is not known."""
    return _NAMES[element.tag]


def tags(name: str) -> tuple[str, str]:
    """Return the full tags of a WordprocessingML element."""
    return f"{{{_WORD}}}{name}", f"{{{_STRICT_WORD}}}{name}"


def value(element: Element, name: str = "val") -> str | None:
    """Return an attribute of WordprocessingML."""
    found = element.get(f"{{{_WORD}}}{name}")
    return element.get(f"{{{_STRICT_WORD}}}{name}") if found is None else found


def relation_of(element: Element, name: str = "id") -> str:
    """Return the relation that an element names; empty where it names none."""
    return next(filter(None, (element.get(prefix + name) for prefix in _RELATIONS)), "")


def math_value(element: Element) -> str | None:
    """Return the value of a property of a formula."""
    return next(
        (element.get(f"{prefix}val") for prefix in _MATH if f"{prefix}val" in element.attrib), None
    )


def number(element: Element, name: str = "val") -> int | None:
    """Return an attribute that is a whole number; None where it is none."""
    digits = (value(element, name) or "").strip()
    if not digits.lstrip("-").isdigit() or not digits.isascii() or len(digits) > 10:
        return None
    return int(digits)


def is_on(element: Element) -> bool:
    """Tell whether a property that is there says yes."""
    return (value(element) or "1").lower() not in _NO


def child(element: Element | None, name: str) -> Element | None:
    """Return the first child of a name."""
    if element is not None:
        for found in element:
            if _NAMES[found.tag] == name:
                return found
    return None


def choice(element: Element) -> Element | None:
    """Return what counts of alternatives: the first with anything in it, the newest form."""
    return next((alternative for alternative in element if len(alternative)), None)


def shown(element: Element, through: frozenset[str]) -> Iterator[Element]:
    """Yield the children, those of alternatives and of elements that only wrap in their place.

    Args:
        element: Whose children.
        through: Names of the elements that only wrap.
    """
    waiting: list[Iterator[Element]] = [iter(element)]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        name = name_of(found)
        if name == "mc:AlternateContent":
            chosen = choice(found)
            waiting.append(iter(() if chosen is None else chosen))
        elif name in through:
            waiting.append(iter(found))
        else:
            yield found
