"""Styles of paragraphs and of words, with what they inherit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.odt.names import child, name_of, number, stated
from ingest_svc.readers.prose.style_names import Role, heading_level, role_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest_svc.readers.xml_parts import Element

_USUAL_SIZE = 24
_CODED = re.compile("_([0-9a-f]{2})_")
_SIZE = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)(pt|%)")
_BOLD = frozenset({"bold", "600", "700", "800", "900"})


@dataclass(frozen=True, slots=True)
class Look:
    """How characters look."""

    bold: bool = False
    size: int = _USUAL_SIZE
    """In half points."""
    hidden: bool = False
    font: str = ""


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a paragraph's style says of it."""

    role: Role = Role.BODY
    level: int = 0
    """Of headings, from 1; else 0."""
    look: Look = Look()
    is_unnumbered: bool = False
    """It takes its paragraphs out of all numbering."""


@dataclass(slots=True)
class Styles:
    """All styles of a document, by family and name."""

    _elements: dict[tuple[str, str], Element] = field(default_factory=dict)
    _defaults: dict[str, Element] = field(default_factory=dict)
    _paragraphs: dict[str, ParagraphStyle] = field(default_factory=dict)
    _looks: dict[tuple[str, Look], Look] = field(default_factory=dict)

    def take(self, holder: Element | None) -> None:
        """Take the styles of an element that holds them."""
        for element in holder if holder is not None else ():
            family = stated(element, "style:family") or ""
            if name_of(element) == "style:style":
                self._elements[family, stated(element, "style:name") or ""] = element
            elif name_of(element) == "style:default-style":
                self._defaults[family] = element

    def paragraph(self, name: str) -> ParagraphStyle:
        """Return what a style for paragraphs says."""
        if name not in self._paragraphs:
            self._paragraphs[name] = self._resolved(name)
        return self._paragraphs[name]

    def words(self, name: str, around: Look) -> Look:
        """Return how a style for words makes them look, over the look around them."""
        key = name, around
        if key not in self._looks:
            look = around
            for element in reversed(list(self._chain("text", name))):
                look = _over(element, look)
            self._looks[key] = look
        return self._looks[key]

    def _chain(self, family: str, name: str) -> Iterable[Element]:
        """Yield a style and those above it; a circle ends where it closes."""
        seen: set[str] = set()
        while name not in seen and (family, name) in self._elements:
            seen.add(name)
            element = self._elements[family, name]
            yield element
            name = stated(element, "style:parent-style-name") or ""

    def _resolved(self, name: str) -> ParagraphStyle:
        chain = list(self._chain("paragraph", name))
        names = [_shown_name(element) for element in chain] or [_decoded(name)]
        look = Look()
        if "paragraph" in self._defaults:
            look = _over(self._defaults["paragraph"], look)
        for element in reversed(chain):
            look = _over(element, look)
        level = _level(chain, names)
        roles = [role for role in map(role_of, names) if role is not Role.BODY]
        role = roles[0] if roles and not level else Role.BODY
        if Role.TITLE in roles and role_of(names[_first_named(chain)]) is Role.TITLE:
            role, level = Role.TITLE, 0
        elif role is Role.TITLE:
            role = Role.BODY
        lists = (stated(element, "style:list-style-name") for element in chain)
        first = next((listed for listed in lists if listed is not None), None)
        return ParagraphStyle(role, level, look, is_unnumbered=first == "")


def _first_named(chain: list[Element]) -> int:
    """Return the place of the first style that a person chose: automatic ones only change it."""
    for at, element in enumerate(chain):
        holder = element.getparent()
        if holder is None or name_of(holder) != "office:automatic-styles":
            return at
    return 0


def _level(chain: list[Element], names: list[str]) -> int:
    for element in chain:
        if stated(element, "style:default-outline-level") is not None:
            return number(element, "style:default-outline-level", 0)
    return next(filter(None, map(heading_level, names)), 0)


def _over(element: Element, look: Look) -> Look:
    properties = child(element, "style:text-properties")
    if properties is None:
        return look
    weight, display = stated(properties, "fo:font-weight"), stated(properties, "text:display")
    font = stated(properties, "style:font-name") or stated(properties, "fo:font-family")
    return Look(
        look.bold if weight is None else weight in _BOLD,
        _size(stated(properties, "fo:font-size") or "", look.size),
        look.hidden if display is None else display == "none",
        look.font if font is None else font,
    )


def _size(text: str, above: int) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        return above
    return round(float(found[1]) * (2 if found[2] == "pt" else above / 100))


def _shown_name(element: Element) -> str:
    return stated(element, "style:display-name") or _decoded(stated(element, "style:name") or "")


def _decoded(name: str) -> str:
    """Return a name as shown: "Heading_20_1" is "Heading 1"."""
    return _CODED.sub(lambda found: chr(int(found[1], 16)), name)
