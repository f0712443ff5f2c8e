"""Paragraphs in the style for titles: the first is the document's title, and its first heading.

So it is in HTML and Markdown, too. Word counts a title apart from the levels of headings: it stands
beside those of level 1, and over what comes before the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.prose.style_names import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.readers.prose.pieces import Piece

_MOST_LINES = 5
_KINDS = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)


def stated_title(pieces: Sequence[Piece]) -> str:
    """Return the title of a document; all titles in it become headings.

    A title may take several paragraphs that follow each other; the further ones are emptied.
    """
    titles = [at for at, piece in enumerate(pieces) if _is_title(piece)]
    if not titles:
        return ""
    lines = 1
    while lines < len(titles) and titles[lines] == titles[0] + lines:
        lines += 1
    if lines > _MOST_LINES:
        lines = 1
    first = " ".join(pieces[at].block.text for at in titles[:lines])
    for at in titles:
        block = pieces[at].block
        pieces[at].block = msgspec.structs.replace(
            block, kind=BlockKind.HEADING, level=1, text=" ".join(block.text.split())
        )
    for at in titles[1:lines]:
        pieces[at].block = msgspec.structs.replace(pieces[at].block, text="")
    title = " ".join(first.split())
    pieces[titles[0]].block = msgspec.structs.replace(pieces[titles[0]].block, text=title)
    return title


def _is_title(piece: Piece) -> bool:
    return piece.role is Role.TITLE and piece.block.kind in _KINDS and not piece.is_note
