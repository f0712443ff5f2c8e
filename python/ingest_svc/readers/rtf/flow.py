"""What the words of a document, a note or a text box become: paragraphs, items, tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.prose.pieces import Piece
from ingest_svc.readers.prose.style_names import Role
from ingest_svc.readers.prose.white_space import tidy
from ingest_svc.readers.rtf.charsets import paired
from ingest_svc.readers.rtf.grid import Layout, OpenTable

if TYPE_CHECKING:
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.rtf.state import State
    from ingest_svc.readers.rtf.styles import Styles

_NUMBER = re.compile(r"\w")
_LONGEST_MARKER = 100
_DEEPEST_TABLE = 100


@dataclass(slots=True)
class Flow:
    """Collects what is written one after the other."""

    styles: Styles
    room: Room
    is_note: bool = False
    is_aside: bool = False
    """In a text box, which has looks of its own."""
    pieces: list[Piece] = field(default_factory=list)
    aside: list[Piece] = field(default_factory=list)
    """What comes behind the paragraph that is being read."""
    marker: str = ""
    """Of the paragraph that is being read, as it is written."""
    _parts: list[str] = field(default_factory=list)
    _bold: int = 0
    _plain: int = 0
    _sizes: dict[int, int] = field(default_factory=dict)
    _tables: list[OpenTable] = field(default_factory=list)
    """The open tables, outermost first."""

    def write(self, text: str, state: State) -> None:
        """Add words to the paragraph that is being read."""
        self._parts.append(text)
        if state.bold:
            self._bold += len(text)
        elif not text.isspace():
            self._plain += len(text)
        self._sizes[state.size] = self._sizes.get(state.size, 0) + len(text)

    def end_paragraph(self, state: State) -> None:
        """End the paragraph that is being read; the state at its end says what it is."""
        depth = self._depth(state)
        self._close_to(depth)
        target = self._open(depth).cell if depth else self.pieces
        piece = self._piece(state, in_cell=depth > 0)
        if piece is not None:
            target.append(piece)
        behind = self._tables[depth - 1].behind if depth else self.pieces
        behind += self.aside
        self.aside = []
        self._forget()

    def end_cell(self, state: State, depth: int) -> None:
        """End a cell, and the paragraph in it."""
        self.end_paragraph(state._replace(in_table=True, depth=depth))
        self._open(depth).end_cell()

    def end_row(self, layout: Layout, depth: int) -> None:
        """End a row of the table that is so many tables deep."""
        depth = min(depth, _DEEPEST_TABLE)
        if len(self._tables) >= depth:
            self._close_to(depth)
            self._open(depth).end_row(layout)

    def end(self, state: State) -> None:
        """End what is open at the end of a document, a note or a text box."""
        self.end_paragraph(state)
        self._close_to(0)

    def _depth(self, state: State) -> int:
        if not state.in_table:
            return 0
        return min(max(state.depth, 1), _DEEPEST_TABLE)

    def _open(self, depth: int) -> OpenTable:
        while len(self._tables) < depth:
            self._tables.append(OpenTable())
        return self._tables[depth - 1]

    def _close_to(self, depth: int) -> None:
        """End the tables that are deeper."""
        while len(self._tables) > depth:
            closed = self._tables.pop()
            if closed.cell:
                closed.end_cell()
            closed.end_row(Layout())
            table = closed.table(self.room)
            found = [Piece(Block(BlockKind.TABLE, table=table))] if table is not None else []
            target = self._tables[-1].behind if self._tables else self.pieces
            target += [*found, *closed.behind]

    def _piece(self, state: State, *, in_cell: bool) -> Piece | None:
        role = self.styles.role(state.style)
        text = paired("".join(self._parts))
        text = text.rstrip() if role is Role.CODE else tidy(text)
        after_code = bool(self.pieces) and self.pieces[-1].role is role is Role.CODE
        if not text.strip() and not (after_code and not in_cell):
            return None
        return Piece(
            self._block(text, role, state, in_cell=in_cell),
            role=role,
            size=max(self._sizes, key=lambda size: self._sizes[size], default=0),
            is_bold=self._bold > 0 and not self._plain,
            is_note=self.is_note,
            is_aside=self.is_aside,
        )

    def _block(self, text: str, role: Role, state: State, *, in_cell: bool) -> Block:
        marker = " ".join(self.marker.split())[:_LONGEST_MARKER]
        is_item = bool(marker) or state.list_id > 0
        marker = marker if _NUMBER.search(marker) else ""
        level = 0 if in_cell or self.is_note else self.styles.level(state.style, state.outline)
        if level and role is not Role.TITLE:
            return Block(BlockKind.HEADING, " ".join(text.split()), level, marker=marker)
        if role is Role.CODE:
            return Block(BlockKind.CODE, text)
        if is_item and role is not Role.CAPTION:
            return Block(BlockKind.LIST_ITEM, text, state.list_level + 1, marker=marker)
        text = f"{marker} {text}" if marker else text
        return Block(BlockKind.QUOTE if role is Role.QUOTE else BlockKind.PARAGRAPH, text)

    def _forget(self) -> None:
        self._parts, self._sizes, self.marker = [], {}, ""
        self._bold = self._plain = 0
