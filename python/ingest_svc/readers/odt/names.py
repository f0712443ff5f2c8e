"""Names of elements and attributes of OpenDocument: "text:p", "table:table-cell"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.prose.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.xml_parts import Element

_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_NAMESPACES = {
    "text:": f"{_ODF}:text:1.0",
    "table:": f"{_ODF}:table:1.0",
    "draw:": f"{_ODF}:drawing:1.0",
    "office:": f"{_ODF}:office:1.0",
    "style:": f"{_ODF}:style:1.0",
    "svg:": f"{_ODF}:svg-compatible:1.0",
    "fo:": f"{_ODF}:xsl-fo-compatible:1.0",
    "loext:": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
    "xlink:": "http://www.w3.org/1999/xlink",
    "xml:": "http://www.w3.org/XML/1998/namespace",
}
_NAMES = Names({namespace: prefix for prefix, namespace in _NAMESPACES.items()})


def name_of(element: Element) -> str:
    """Return the name of an element with its prefix, empty where it is in no known vocabulary."""
    return _NAMES[element.tag]


def tag(name: str) -> str:
    """Return the full tag, or attribute, of a name with its prefix."""
    prefix, colon, local = name.partition(":")
    return f"{{{_NAMESPACES[prefix + colon]}}}{local}"


def stated(element: Element, name: str) -> str | None:
    """Return an attribute by its name with prefix."""
    return element.get(tag(name))


def number(element: Element, name: str, default: int) -> int:
    """Return an attribute that is a whole number from 0; the default where it is none."""
    digits = (stated(element, name) or "").strip()
    if not digits.isdigit() or not digits.isascii() or len(digits) > 10:
        return default
    return int(digits)


def children(element: Element | None, name: str) -> Iterator[Element]:
    """Yield the children of a name."""
    for child in element if element is not None else ():
        if name_of(child) == name:
            yield child


def child(element: Element | None, name: str) -> Element | None:
    """Return the first child of a name."""
    return next(children(element, name), None)
