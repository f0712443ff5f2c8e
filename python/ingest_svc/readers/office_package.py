"""Office Open XML files as packages: parts, what they are related to, and what the file states.

Parts are found by their relationships, since names vary, in the Transitional and the Strict
namespaces alike. Nothing outside the package is ever followed.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.xml_parts import Element, parsed_xml
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.block import Value
    from ingest_svc.readers.source import Source

_MOST_RELATIONS = 100_000
_STATED = {
    "creator": "author",
    "subject": "subject",
    "description": "description",
    "keywords": "keywords",
    "language": "language",
}
"""Elements of the core properties, and what they are called here."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A part that another part is related to."""

    id: str
    kind: str
    """The last word of the relationship's type, for example "worksheet"."""
    target: str
    """Name of the part; of what lies outside the package its address."""
    is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What a package states of itself."""

    title: str
    metadata: dict[str, Value]
    dates: dict[str, str]


class OfficePackage:
    """A package that is read part by part."""

    def __init__(self, source: Source) -> None:
        """Open the package that a source is.

        Raises:
            DamagedFile: it is no ZIP archive.
        """
        self._archive = Archive(source)
        self._names = {_key(entry.filename): entry.filename for entry in self._archive.entries}

    def __contains__(self, part: str) -> bool:
        """Return whether there is such a part."""
        return _key(part) in self._names

    def read(self, part: str) -> bytes:
        """Return the bytes of a part; its errors are those of `Archive.read`."""
        return self._archive.read(self._names.get(_key(part), part))

    def xml(self, part: str) -> Element:
        """Return the root of an XML part; DamagedFile where it is missing or no XML."""
        return parsed_xml(self.read(part), part)

    def related(self, part: str = "") -> list[Relation]:
        """Return what a part is related to, the package itself without a part."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        if listed not in self:
            return []
        relations = []
        for element in self.xml(listed).iterchildren("{*}Relationship"):
            outside = element.get("TargetMode", "").lower() == "external"
            target = element.get("Target", "")
            kind = element.get("Type", "").rpartition("/")[2]
            place = target if outside else _resolved(folder, target)
            relations.append(Relation(element.get("Id", ""), kind, place, outside))
        return relations[:_MOST_RELATIONS]

    def related_to(self, part: str, kind: str) -> list[str]:
        """Return the parts of one kind that a part is related to, those that are there."""
        found = [relation for relation in self.related(part) if relation.kind == kind]
        return [relation.target for relation in found if relation.target in self]

    @cached_property
    def main(self) -> str:
        """Return the name of the main part.

        Raises:
            DamagedFile: the package names none.
        """
        mains = self.related_to("", "officeDocument")
        if not mains:
            raise DamagedFile("the Office file does not name its main part")
        return mains[0]

    def facts(self) -> Facts:
        """Return title, author and the like, as the core properties state them."""
        title, metadata, dates = "", dict[str, "Value"](), dict[str, str]()
        try:
            parts = self.related_to("", "core-properties")
            stated = self.xml(parts[0]) if parts else ()
        except DamagedFile:
            stated = ()  # the document itself may be whole
        for element in stated:
            name = str(element.tag).rpartition("}")[2]
            text = " ".join("".join(map(str, element.itertext())).split())
            if not text:
                continue
            if name == "title":
                title = text
            elif name in ("created", "modified"):
                dates.update(stated_date(name, text))
            elif name in _STATED:
                metadata[_STATED[name]] = text
        return Facts(title, metadata, dates)


def relation_id(element: Element) -> str:
    """Return the number of the relation that an element names; its plain `id` is another thing."""
    return next((str(value) for key, value in element.items() if str(key).endswith("}id")), "")


def stated_date(name: str, text: str) -> dict[str, str]:
    """Return a date by its name if it is a point in time with a zone."""
    try:
        stated = datetime.fromisoformat(text)
    except ValueError:
        return {}
    return {name: stated.isoformat().replace("+00:00", "Z")} if stated.tzinfo else {}


def _resolved(folder: str, target: str) -> str:
    target = unquote(target.partition("#")[0]).replace("\\", "/")
    if target.startswith("/"):
        return posixpath.normpath(target).lstrip("/")
    return posixpath.normpath(posixpath.join(folder, target))


def _key(part: str) -> str:
    """Return a part's name as packages compare names: without case, in one spelling."""
    return unquote(part).replace("\\", "/").lstrip("/").lower()
