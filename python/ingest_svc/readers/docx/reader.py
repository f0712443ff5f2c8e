"""DOCX: the order of things."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.block import Block, ParsedFile, Warning
from ingest_svc.readers.charset import decode
from ingest_svc.readers.docx.inline import Inline, Note
from ingest_svc.readers.docx.names import name_of, tags, value
from ingest_svc.readers.docx.numbering import Numbering
from ingest_svc.readers.docx.styles import Styles
from ingest_svc.readers.docx.walk import BodyWalk, Parts
from ingest_svc.readers.html_part import part_blocks
from ingest_svc.readers.limits import too_large
from ingest_svc.readers.office_package import OfficePackage, Relation
from ingest_svc.readers.prose.body import body_elements
from ingest_svc.readers.prose.finish import finished
from ingest_svc.readers.room import Room
from ingest_svc.readers.slides.graphics import Graphics
from treespan.errors import DamagedFile, FileProblem, TooLarge

if TYPE_CHECKING:
    from ingest_svc.readers.docx.drawings import Found
    from ingest_svc.readers.source import Source
    from ingest_svc.readers.xml_parts import Element

_USUAL_PART = "word/document.xml"
_OFTEN = (*tags("p"), *tags("tbl"), *tags("sdt"))
_HTML_ENDINGS = (".html", ".htm", ".xhtml")


def read_docx(source: Source) -> ParsedFile:
    """Return what a Word document says.

    Raises:
        DamagedFile: its main part is missing or no XML.
        TooLarge: it unpacks to too much, has too many cells or pieces.
    """
    return _Reader(source).parsed()


@dataclass(slots=True)
class _Reader:
    source: Source
    package: OfficePackage = field(init=False)
    main: str = field(init=False)
    room: Room = field(init=False)
    warnings: list[Warning] = field(default_factory=list)
    _relations: dict[str, Relation] = field(default_factory=dict)
    _notes: dict[str, dict[str, Element]] = field(default_factory=dict)
    _graphics: Graphics = field(init=False)

    def __post_init__(self) -> None:
        self.package = OfficePackage(self.source)
        self.main = self._main()
        self.room = Room(self.source)
        self._graphics = Graphics(self.package, self.main, self.room, page=0)
        try:
            related = self.package.related(self.main)
        except DamagedFile as problem:
            related = []
            self._lost(problem.message)
        self._relations = {relation.id: relation for relation in related}

    def parsed(self) -> ParsedFile:
        """Return the file."""
        styles = Styles.of(self._part("styles"))
        walk = BodyWalk(
            Inline(styles, hidden_too=self.source.options.include_hidden),
            styles,
            Numbering(self._part("numbering")),
            Parts(self._note, self._graphic, self._chunk),
            self.room,
            self.source.limits,
        )
        data = self.package.read(self.main)
        for element in body_elements(data, self.main, tags("body"), _OFTEN):
            walk.take(element)
        walk.end()
        return self._judged(walk)

    def _judged(self, walk: BodyWalk) -> ParsedFile:
        title, blocks = finished(walk.pieces)
        facts = self.package.facts()
        skipped = self._left_out(walk)
        return ParsedFile(
            blocks=blocks,
            media_type=filetypes.DOCX.media_type,
            title=title or facts.title,
            metadata=facts.metadata,
            dates=facts.dates,
            warnings=self.warnings,
            counts={"images": walk.pictures, "skipped": skipped},
        )

    def _left_out(self, walk: BodyWalk) -> int:
        """Return how many parts were left out, and say what they are."""
        inline = walk.inline
        unread = inline.unread + self._graphics.unread
        for count, what in (
            (inline.hidden, "hidden pieces of text are left out"),
            (inline.comments, "comments are left out"),
            (unread, "embedded objects are not read"),
        ):
            if count:
                self.warnings.append(Warning("SKIPPED_PART", f"{count} {what}"))
        return inline.hidden + inline.comments + unread

    def _main(self) -> str:
        try:
            return self.package.main
        except DamagedFile:
            if _USUAL_PART in self.package:
                return _USUAL_PART
            raise

    def _lost(self, why: str) -> None:
        self.warnings.append(Warning("DAMAGED", f"a part of the document cannot be read: {why}"))

    def _part(self, kind: str) -> Element | None:
        """Return a part that the document is related to; None where it has none that is whole."""
        for relation in self._relations.values():
            if relation.kind == kind and relation.target in self.package:
                try:
                    return self.package.xml(relation.target)
                except DamagedFile as problem:
                    self._lost(problem.message)
        return None

    def _note(self, note: Note) -> Element | None:
        if note.kind not in self._notes:
            root = self._part(f"{note.kind}s")
            found = root if root is not None else ()
            self._notes[note.kind] = {
                value(element, "id") or "": element
                for element in found
                if name_of(element) == note.kind
            }
        return self._notes[note.kind].get(note.id)

    def _graphic(self, found: Found) -> list[Block]:
        return self._graphics.blocks_of(found.element, found.alt)

    def _chunk(self, relation_id: str) -> list[Block]:
        """Return the blocks of another file that stands in the body."""
        relation = self._relations.get(relation_id)
        if relation is None or relation.is_outside or relation.target not in self.package:
            self._skip("a part that is put in is missing in the file")
            return []
        try:
            return self._blocks_of(relation.target)
        except TooLarge:
            raise
        except FileProblem as problem:
            self._skip(f"{posixpath.basename(relation.target)}: {problem.message}")
            return []

    def _blocks_of(self, part: str) -> list[Block]:
        from ingest_svc.readers import read_source

        data = self.package.read(part)
        if part.lower().endswith(_HTML_ENDINGS):
            blocks, warnings = part_blocks(decode(data, markup=True).text, self.source.limits)
            self.warnings += warnings
            return blocks
        limits = self.source.limits
        if self.source.depth >= limits.max_archive_depth:
            raise too_large(limits, "max_archive_depth")
        inner = replace(
            self.source,
            data=data,
            name=posixpath.basename(part),
            text="",
            progress=None,
            depth=self.source.depth + 1,
            unpacked=self.source.unpacks(),
        )
        parsed = read_source(inner)
        self.warnings += parsed.warnings
        return parsed.blocks

    def _skip(self, what: str) -> None:
        self._graphics.unread += 1
        self.warnings.append(Warning("SKIPPED_PART", what))
