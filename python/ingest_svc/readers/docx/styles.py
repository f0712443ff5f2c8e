"""Styles of paragraphs and characters, with what they inherit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.docx.names import child, is_on, name_of, number, value
from ingest_svc.readers.prose.style_names import Role, heading_level, role_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest_svc.readers.xml_parts import Element

NO_LIST = "0"
"""The list that paragraphs are in which are taken out of their style's list."""
_BODY_TEXT = 9
"""The outline level that says: no heading."""
_USUAL_SIZE = 20
_FONT_ATTRIBUTES = ("ascii", "hAnsi", "hint")


@dataclass(frozen=True, slots=True)
class Look:
    """How characters look; None means as those around them."""

    bold: bool | None = None
    size: int | None = None
    """In half points."""
    hidden: bool | None = None
    font: str | None = None

    def over(self, other: Look) -> Look:
        """Return this look where it says something, else the other."""
        return Look(
            other.bold if self.bold is None else self.bold,
            other.size if self.size is None else self.size,
            other.hidden if self.hidden is None else self.hidden,
            other.font if self.font is None else self.font,
        )


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a paragraph's style says of it."""

    role: Role = Role.BODY
    level: int = 0
    """Of headings, from 1; else 0."""
    list_id: str = ""
    list_level: int | None = None
    """From 0; None where the style leaves it to the list."""
    list_style: str = ""
    """The style that names the list: a list's level can be found by it."""
    look: Look = Look()


@dataclass(slots=True)
class _Style:
    name: str
    based_on: str = ""
    outline: int | None = None
    list_id: str | None = None
    list_level: int | None = None
    look: Look = Look()
    heads_first_row: bool = False


@dataclass(slots=True)
class Styles:
    """All styles of a document."""

    default_look: Look = Look(size=_USUAL_SIZE)
    _styles: dict[str, _Style] = field(default_factory=dict)
    _default: dict[str, str] = field(default_factory=dict)
    """The style, by its sort, of paragraphs that name none."""
    _paragraphs: dict[str, ParagraphStyle] = field(default_factory=dict)
    _looks: dict[str, Look] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Element | None) -> Styles:
        """Return the styles of a part; None where the file has none."""
        styles = cls()
        for element in root if root is not None else ():
            if name_of(element) == "style":
                styles._take(element)
            elif name_of(element) == "docDefaults":
                stated = look_of(child(child(element, "rPrDefault"), "rPr"))
                styles.default_look = stated.over(styles.default_look)
        return styles

    def paragraph(self, style_id: str) -> ParagraphStyle:
        """Return what a style says, the default one for an empty id."""
        style_id = style_id or self._default.get("paragraph", "")
        if style_id not in self._paragraphs:
            self._paragraphs[style_id] = self._resolved(style_id)
        return self._paragraphs[style_id]

    def character(self, style_id: str) -> Look:
        """Return how a style for characters makes them look."""
        if style_id not in self._looks:
            look = Look()
            for style in self._chain(style_id).values():
                look = look.over(style.look)
            self._looks[style_id] = look
        return self._looks[style_id]

    def heads_first_row(self, style_id: str) -> bool:
        """Tell whether a style for tables sets their first row off from the others."""
        return any(style.heads_first_row for style in self._chain(style_id).values())

    def _chain(self, style_id: str) -> dict[str, _Style]:
        """Return a style and those it is based on, by id; a circle ends where it closes."""
        chain: dict[str, _Style] = {}
        while style_id in self._styles and style_id not in chain:
            chain[style_id] = self._styles[style_id]
            style_id = self._styles[style_id].based_on
        return chain

    def _resolved(self, style_id: str) -> ParagraphStyle:
        chain = self._chain(style_id) or {style_id: _Style(style_id)}
        look, list_id, list_level, list_style = Look(), "", None, ""
        for name, style in chain.items():
            look = look.over(style.look)
            list_level = style.list_level if list_level is None else list_level
            if style.list_id is not None and not list_style:
                list_id, list_style = style.list_id, name
        roles = [role_of(style.name) for style in chain.values()]
        if roles[0] is Role.TITLE:
            role, level = Role.TITLE, 0
        else:
            level = _level(chain.values())
            inherited = (role for role in roles if role not in (Role.BODY, Role.TITLE))
            role = Role.BODY if level else next(inherited, Role.BODY)
        look = look.over(self.default_look)
        return ParagraphStyle(role, level, list_id, list_level, list_style, look)

    def _take(self, element: Element) -> None:
        style_id = value(element, "styleId") or ""
        named = child(element, "name")
        style = _Style((value(named) or style_id) if named is not None else style_id)
        for part in element:
            match name_of(part):
                case "basedOn":
                    style.based_on = value(part) or ""
                case "pPr":
                    outline = child(part, "outlineLvl")
                    style.outline = number(outline) if outline is not None else None
                    style.list_id, style.list_level = list_of(child(part, "numPr"))
                case "rPr":
                    style.look = look_of(part)
                case "tblStylePr":
                    style.heads_first_row |= (value(part, "type") == "firstRow") and len(part) > 0
        self._styles[style_id] = style
        kind = value(element, "type") or "paragraph"
        if (value(element, "default") or "0").lower() in ("1", "true", "on"):
            self._default[kind] = style_id


def look_of(properties: Element | None) -> Look:
    """Return what the properties of a run say of its look."""
    bold = size = hidden = font = None
    for part in properties if properties is not None else ():
        match name_of(part):
            case "b":
                bold = is_on(part)
            case "sz":
                size = number(part)
            case "vanish":
                hidden = is_on(part)
            case "rFonts":
                font = next(filter(None, (value(part, key) for key in _FONT_ATTRIBUTES)), None)
    return Look(bold, size, hidden, font)


def list_of(stated: Element | None) -> tuple[str | None, int | None]:
    """Return the list and the level, from 0, that a paragraph or a style states."""
    list_id, level = child(stated, "numId"), child(stated, "ilvl")
    return (
        value(list_id) if list_id is not None else None,
        number(level) if level is not None else None,
    )


def level_of(outline: int | None) -> int:
    """Return the level of a heading, from 1, for an outline level; 0 where that says: none."""
    return outline + 1 if outline is not None and 0 <= outline < _BODY_TEXT else 0


def _level(chain: Iterable[_Style]) -> int:
    """Return the level of the first style of a chain that says whether it is a heading."""
    for style in chain:
        if style.outline is not None:
            return level_of(style.outline)
        if level := heading_level(style.name):
            return level
    return 0
