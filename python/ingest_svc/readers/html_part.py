"""HTML that is part of another format: a mail's text, a chapter of a book."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from ingest_svc.readers.html_survey import survey
from ingest_svc.readers.html_walk import PageWalk

if TYPE_CHECKING:
    from ingest_svc.readers.block import Block, Warning
    from ingest_svc.readers.limits import ReaderLimits


def part_blocks(text: str, limits: ReaderLimits) -> tuple[list[Block], list[Warning]]:
    """Return the blocks of a piece of HTML, and what went less than well.

    All that a person sees is kept: what is navigation on a page of the web is content here.
    """
    root = LexborHTMLParser(text).root if text.strip() else None
    if root is None:
        return [], []
    page = PageWalk(survey(root), frozenset(), limits)
    page.over(root)
    return page.blocks, page.warnings()
