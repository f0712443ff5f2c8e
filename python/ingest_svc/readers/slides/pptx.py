"""PPTX, PPTM, PPSX and templates: slides in the order in which they are shown.

    heading     the slide's title
      ...       its shapes in reading order: paragraphs, items, tables, charts, pictures
      ...       the speaker's notes

Comments, and what every slide repeats (date, footer, number), are left out.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers import filetypes
from ingest_svc.readers.block import Block, BlockKind, ParsedFile
from ingest_svc.readers.inside import Inside
from ingest_svc.readers.limits import check
from ingest_svc.readers.office_package import OfficePackage, Relation, relation_id
from ingest_svc.readers.room import Room
from ingest_svc.readers.slides.deck import Deck, Slide
from ingest_svc.readers.slides.drawing import child, children, is_true, name_of, words
from ingest_svc.readers.slides.graphics import Graphics
from ingest_svc.readers.slides.paragraphs import blocks_of
from ingest_svc.readers.slides.places import Behind, Model
from ingest_svc.readers.slides.shapes import Shape, shapes_of
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source
    from ingest_svc.readers.xml_parts import Element


def read_pptx(source: Source) -> ParsedFile:
    """Return the slides of a presentation.

    Raises:
        DamagedFile: its main part is missing or no XML.
        TooLarge: it unpacks to too much, has too many slides or cells.
    """
    reader = _Reader(OfficePackage(source), Deck(source.options.include_hidden), Room(source))
    package = reader.package
    presentation = package.xml(package.main)
    relations = {relation.id: relation for relation in package.related(package.main)}
    listed = list(presentation.iterfind("{*}sldIdLst/{*}sldId"))
    check(source.limits, "max_pages", len(listed))
    for number, element in enumerate(listed, 1):
        reader.slide(number, relations.get(relation_id(element)))
        if source.progress is not None:
            source.progress(number, len(listed))
    parsed = reader.deck.parsed(filetypes.PPTX.media_type, len(listed), package.facts())
    return _with_files(parsed, reader, source)


@dataclass(slots=True)
class _Reader:
    package: OfficePackage
    deck: Deck
    room: Room
    files: dict[str, None] = field(default_factory=dict)
    """Parts that are files embedded in slides, in order."""
    _models: dict[str, Model] = field(default_factory=dict)
    """Layouts and masters by the name of their part."""

    def slide(self, number: int, relation: Relation | None) -> None:
        """Read one slide; one that cannot be read is said to be so."""
        if relation is None or relation.target not in self.package:
            self.deck.lost(number, "it is missing in the file")
            return
        try:
            root = self.package.xml(relation.target)
            slide = Slide(number, is_hidden=not is_true(root.get("show", "1")))
            if self.deck.leaves_out(slide):
                return
            self._shapes(root, relation.target, slide)
            self._notes(relation.target, slide)
        except DamagedFile as problem:
            self.deck.lost(number, problem.message)
            return
        self.deck.add(slide)

    def _shapes(self, root: Element, part: str, slide: Slide) -> None:
        behind = self._behind(part)
        graphics = Graphics(self.package, part, self.room, slide.number)
        tree = child(root, "cSld", "spTree")
        for shape in shapes_of(tree, behind) if tree is not None else ():
            if shape.place is not None and shape.place.is_furniture:
                continue
            if shape.is_hidden and not self.deck.hidden_too:
                self.deck.hidden_shapes += 1
            elif shape.place is not None and shape.place.is_title and not slide.title:
                slide.title = _title(shape)
            else:
                self._shape(shape, behind, graphics, slide)
        self.deck.unread += graphics.unread
        self.files.update(dict.fromkeys(graphics.files))

    def _shape(self, shape: Shape, behind: Behind, graphics: Graphics, slide: Slide) -> None:
        page = slide.number
        body = child(shape.element, "txBody")
        if body is not None:
            styles = behind.list_styles(shape.element, shape.place)
            slide.blocks += blocks_of(body, styles, page)
        elif shape.sort == "graphicFrame":
            slide.blocks += graphics.blocks_of(shape.element, shape.alt)
        elif shape.sort == "pic":
            slide.pictures += 1
            if shape.alt:
                slide.blocks.append(Block(BlockKind.IMAGE, shape.alt, 0, page, page))

    def _notes(self, part: str, slide: Slide) -> None:
        for notes in self.package.related_to(part, "notesSlide")[:1]:
            tree = child(self.package.xml(notes), "cSld", "spTree")
            for shape in shapes_of(tree, Behind()) if tree is not None else ():
                body = child(shape.element, "txBody")
                is_of_slide = shape.place is not None and shape.place.kind == "sldImg"
                if body is None or is_of_slide or (shape.place and shape.place.is_furniture):
                    continue
                slide.notes += blocks_of(body, (), slide.number)

    def _behind(self, part: str) -> Behind:
        """Return the layout of a slide and its master."""
        models: list[Model] = []
        for kind in ("slideLayout", "slideMaster"):
            parts = self.package.related_to(part, kind)
            if not parts:
                break
            part = parts[0]
            if part not in self._models:
                try:
                    self._models[part] = Model.of(self.package.xml(part))
                except DamagedFile:
                    break  # the slide says what it says without them
            models.append(self._models[part])
        return Behind(tuple(models))


def _with_files(parsed: ParsedFile, reader: _Reader, source: Source) -> ParsedFile:
    """Return the file with those embedded in it behind its slides."""
    if not reader.files:
        return parsed
    inside = Inside(source)
    for part in reader.files:
        inside.add(reader.package.read(part), posixpath.basename(part))
    counts = {**parsed.counts, "attachments": len(reader.files)}
    counts["skipped"] += inside.skipped
    return msgspec.structs.replace(
        parsed,
        blocks=[*parsed.blocks, *inside.blocks],
        warnings=[*parsed.warnings, *inside.warnings],
        counts=counts,
    )


def _title(shape: Shape) -> str:
    body = child(shape.element, "txBody")
    parts = children(body) if body is not None else ()
    return " ".join(" ".join(words(part) for part in parts if name_of(part) == "p").split())
