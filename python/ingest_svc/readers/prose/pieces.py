"""What the walk makes: blocks with what later judgements need of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.prose.style_names import Role

if TYPE_CHECKING:
    from ingest_svc.readers.block import Block


@dataclass(slots=True)
class Piece:
    """A block before it is judged whether it is a title, a caption or a heading by its looks."""

    block: Block
    role: Role = Role.BODY
    sequence: str = ""
    """The sequence that a number in it counts, for example "Table"."""
    size: int = 0
    """Of most characters, in half points; 0 where it is not known."""
    is_bold: bool = False
    """All of it."""
    is_note: bool = False
    is_aside: bool = False
    """In a text box, which has looks of its own."""

    @property
    def told(self) -> str:
        """Return it as a line or lines of a table's cell."""
        block = self.block
        if block.kind is not BlockKind.LIST_ITEM:
            return f"{block.marker} {block.text}" if block.marker else block.text
        return f"{'  ' * (block.level - 1)}{block.marker or '-'} {block.text}"

    @property
    def stands_alone(self) -> bool:
        """Tell whether it is no part of a cell's text: a table in it, a note to it."""
        return self.is_note or self.block.kind is BlockKind.TABLE
