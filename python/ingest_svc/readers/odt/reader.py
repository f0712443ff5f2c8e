"""ODT: the order of things."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.block import ParsedFile, Warning
from ingest_svc.readers.odt.inline import Inline
from ingest_svc.readers.odt.lists import ListStyles
from ingest_svc.readers.odt.names import child, tag
from ingest_svc.readers.odt.styles import Styles
from ingest_svc.readers.odt.walk import BodyWalk
from ingest_svc.readers.open_document import facts_of
from ingest_svc.readers.prose.body import body_elements
from ingest_svc.readers.prose.finish import finished
from ingest_svc.readers.prose.mathml import formula_text
from ingest_svc.readers.room import Room
from ingest_svc.readers.xml_parts import parsed_xml
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source
    from ingest_svc.readers.xml_parts import Element

_CONTENT, _STYLES = "content.xml", "styles.xml"
_BODY = (tag("office:text"),)
_OFTEN = tuple(map(tag, ("text:p", "text:h", "text:list", "table:table", "text:section")))


def read_odt(source: Source) -> ParsedFile:
    """Return what an OpenDocument text says.

    Raises:
        DamagedFile: its content is missing or no XML.
        TooLarge: it unpacks to too much, has too many cells or pieces.
    """
    return _Reader(source, Archive(source)).parsed()


@dataclass(slots=True)
class _Reader:
    source: Source
    archive: Archive
    styles: Styles = field(default_factory=Styles)
    list_styles: ListStyles = field(default_factory=ListStyles)
    warnings: list[Warning] = field(default_factory=list)

    def parsed(self) -> ParsedFile:
        """Return the file."""
        self._shared_styles()
        walk = None
        for element in body_elements(self.archive.read(_CONTENT), _CONTENT, _BODY, _OFTEN):
            if walk is None:
                walk = self._walk(element)
            walk.take(element)
        pieces = walk.pieces if walk is not None else []
        title, blocks = finished(pieces)
        facts = facts_of(self.archive)
        skipped = self._left_out(walk) if walk is not None else 0
        return ParsedFile(
            blocks=blocks,
            media_type=filetypes.ODT.media_type,
            title=title or facts.title,
            metadata=facts.metadata,
            dates=facts.dates,
            warnings=self.warnings,
            counts={"images": walk.pictures if walk is not None else 0, "skipped": skipped},
        )

    def _walk(self, first: Element) -> BodyWalk:
        """Return a walk; the styles that stand before the body are there once it begins."""
        automatic = child(first.getroottree().getroot(), "office:automatic-styles")
        self.styles.take(automatic)
        self.list_styles.take(automatic)
        return BodyWalk(
            Inline(self.styles, self._object_text, hidden_too=self.source.options.include_hidden),
            self.styles,
            self.list_styles,
            Room(self.source),
            self.source.limits,
        )

    def _shared_styles(self) -> None:
        if _STYLES not in self.archive:
            return
        try:
            root = parsed_xml(self.archive.read(_STYLES), _STYLES)
        except DamagedFile as problem:
            message = f"a part of the document cannot be read: {problem.message}"
            self.warnings.append(Warning("DAMAGED", message))
            return
        holder = child(root, "office:styles")
        self.styles.take(holder)
        self.list_styles.take(holder)

    def _object_text(self, href: str) -> str:
        """Return the formula that an object is; empty where it is none."""
        part = f"{href.removeprefix('./').rstrip('/')}/{_CONTENT}"
        if part not in self.archive:
            return ""
        try:
            return formula_text(parsed_xml(self.archive.read(part), part))
        except DamagedFile:
            return ""

    def _left_out(self, walk: BodyWalk) -> int:
        """Return how many parts were left out, and say what they are."""
        inline = walk.inline
        for count, what in (
            (inline.hidden, "hidden pieces of text are left out"),
            (inline.comments, "comments are left out"),
            (walk.unread, "embedded objects are not read"),
        ):
            if count:
                self.warnings.append(Warning("SKIPPED_PART", f"{count} {what}"))
        return inline.hidden + inline.comments + walk.unread
