"""Graphics on a slide: tables, charts, diagrams and embedded files, by what they hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind, Table
from ingest_svc.readers.slides.charts import tables_of
from ingest_svc.readers.slides.diagrams import items_of
from ingest_svc.readers.slides.drawing import attribute, child, children, name_of
from ingest_svc.readers.slides.tables import table_of
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.office_package import OfficePackage
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.xml_parts import Element


@dataclass(slots=True)
class Graphics:
    """Reads the graphics of one slide."""

    package: OfficePackage
    part: str
    """The slide."""
    room: Room
    page: int
    unread: int = 0
    """Objects that are not read: of other kinds, or with parts that are missing or damaged."""
    files: list[str] = field(default_factory=list)
    """Parts that are files embedded in the slide."""

    def blocks_of(self, frame: Element, alt: str) -> list[Block]:
        """Return what a graphic says; what its author says of it where it is not read."""
        data = child(frame, "graphic", "graphicData")
        for held in children(data) if data is not None else ():
            found = self._held(held)
            if found:
                return found
        return [self._block(BlockKind.IMAGE, alt)] if alt else []

    def _held(self, held: Element) -> list[Block]:
        name = name_of(held)
        if name == "tbl":
            table = table_of(held, self.room)
            return [self._table(table)] if table is not None else []
        if name == "oleObj":
            self._file(held)
            return []
        data = self._data(held, name)
        if data is None:
            self.unread += 1
            return []
        if name == "relIds":
            return items_of(data, self.page)
        return [self._table(table) for table in tables_of(data, self.room)]

    def _file(self, held: Element) -> None:
        part = self._related(attribute(held, "id"))
        if part:
            self.files.append(part)
        else:
            self.unread += 1

    def _data(self, held: Element, name: str) -> Element | None:
        """Return what a chart or diagram draws; None where it is missing, or of another kind."""
        if name not in ("chart", "relIds"):
            return None
        part = self._related(attribute(held, "dm" if name == "relIds" else "id"))
        try:
            return self.package.xml(part) if part else None
        except DamagedFile:
            return None

    def _related(self, relation: str) -> str:
        """Return the part of a relation; empty where it is missing or outside the file."""
        for known in self.package.related(self.part):
            if known.id == relation and not known.is_outside and known.target in self.package:
                return known.target
        return ""

    def _table(self, table: Table) -> Block:
        return Block(BlockKind.TABLE, page_start=self.page, page_end=self.page, table=table)

    def _block(self, kind: BlockKind, text: str) -> Block:
        return Block(kind, text, page_start=self.page, page_end=self.page)
