"""Slides as a file: headings, numbers of slides, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Warning
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.office_package import Facts

_LONGEST_GUESS = 100
_MOST_MESSAGES = 20


@dataclass(slots=True)
class Slide:
    """One slide."""

    number: int
    is_hidden: bool = False
    title: str = ""
    blocks: list[Block] = field(default_factory=list)
    notes: list[Block] = field(default_factory=list)
    pictures: int = 0

    @property
    def has_text(self) -> bool:
        """Whether there is any."""
        return bool(self.title or self.blocks or self.notes)

    def all_blocks(self) -> list[Block]:
        """Return its blocks below a heading.

        A slide without a title takes its first line for one, or its number: without a heading what
        is on it would belong to the slide before.
        """
        blocks = [*self.blocks, *self.notes]
        text, is_stated = self.title, bool(self.title)
        if not text and blocks:
            first = blocks[0]
            is_line = first.kind is BlockKind.PARAGRAPH and len(first.text) <= _LONGEST_GUESS
            if is_line and "\n" not in first.text and len(blocks) > 1 and self.blocks:
                text, blocks = first.text, blocks[1:]
            else:
                text = f"Slide {self.number}"
        if not text:
            return []
        page = self.number
        return [Block(BlockKind.HEADING, text, 1, page, page, stated=is_stated), *blocks]


@dataclass(slots=True)
class Deck:
    """The slides of a presentation."""

    hidden_too: bool
    slides: list[Slide] = field(default_factory=list)
    hidden_shapes: int = 0
    unread: int = 0
    """Objects on slides that are not read."""
    _hidden: list[int] = field(default_factory=list)
    _lost: list[tuple[int, str]] = field(default_factory=list)

    def add(self, slide: Slide) -> None:
        """Take a slide."""
        self.slides.append(slide)

    def leaves_out(self, slide: Slide) -> bool:
        """Tell whether a slide is hidden and hidden ones are not wanted; remember it."""
        if slide.is_hidden and not self.hidden_too:
            self._hidden.append(slide.number)
            return True
        return False

    def lost(self, number: int, why: str) -> None:
        """Take it that a slide cannot be read."""
        self._lost.append((number, why))

    def parsed(self, media_type: str, count: int, facts: Facts) -> ParsedFile:
        """Return the file.

        Raises:
            DamagedFile: no slide of it can be read.
        """
        if self._lost and len(self._lost) == count:
            raise DamagedFile(f"no slide can be read; the first: {self._lost[0][1]}")
        without_text = [slide for slide in self.slides if not slide.has_text]
        return ParsedFile(
            [block for slide in self.slides for block in slide.all_blocks()],
            media_type,
            title=facts.title,
            page_count=count,
            warnings=self._warnings([slide for slide in without_text if slide.pictures]),
            metadata=facts.metadata,
            dates=facts.dates,
            counts={
                "images": sum(slide.pictures for slide in self.slides),
                "pages_with_text": len(self.slides) - len(without_text),
                "pages_without_text": len(without_text),
                "skipped": len(self._hidden) + self.hidden_shapes + self.unread + len(self._lost),
            },
        )

    def _warnings(self, pictures: list[Slide]) -> list[Warning]:
        warnings = []
        if self._hidden:
            message = f"{len(self._hidden)} hidden slides are left out"
            warnings.append(Warning("SKIPPED_PART", message, self._hidden))
        if self.hidden_shapes:
            message = f"{self.hidden_shapes} hidden shapes are left out"
            warnings.append(Warning("SKIPPED_PART", message))
        if self.unread:
            message = f"{self.unread} embedded objects are not read"
            warnings.append(Warning("SKIPPED_PART", message))
        if pictures:
            pages = [slide.number for slide in pictures]
            message = f"{len(pages)} slides are pictures without text"
            warnings.append(Warning("NO_TEXT_LAYER", message, pages))
        for number, why in self._lost[:_MOST_MESSAGES]:
            message = f"slide {number} cannot be read: {why}"
            warnings.append(Warning("DAMAGED", message, [number]))
        return warnings
