"""The text of a mail as blocks: of each text's alternatives one, never two."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.html_part import part_blocks
from ingest_svc.readers.limits import check
from ingest_svc.readers.mail.text import text_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.readers.block import Block, Warning
    from ingest_svc.readers.mail.parts import MailText
    from ingest_svc.readers.source import Source

_MUCH_SHORTER = 0.5
"""A plain text below this share of the HTML's words only says that there is HTML."""
_SAME_WORDS = 0.9


@dataclass(slots=True)
class MailBody:
    """The text of a mail."""

    blocks: list[Block] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    encrypted: bool = False
    """Some of it was encrypted and is left out."""


@dataclass(slots=True)
class _Form:
    """One way in which a text was sent."""

    blocks: list[Block]
    warnings: list[Warning] = field(default_factory=list)
    encrypted: bool = False

    @property
    def size(self) -> int:
        return sum(len(word) for block in self.blocks for word in _words(block))


def mail_body(texts: Sequence[Sequence[MailText]], source: Source) -> MailBody:
    """Return the blocks of a mail's texts, each of which comes with its alternatives."""
    body = MailBody()
    for alternatives in _with_twins_joined(texts):
        form = _chosen(alternatives, source)
        body.blocks += form.blocks
        body.warnings += form.warnings
        body.encrypted = body.encrypted or form.encrypted
        check(source.limits, "max_nodes", len(body.blocks))
    return body


def _chosen(alternatives: Sequence[MailText], source: Source) -> _Form:
    """Return the plain form, unless it is empty or much shorter than the one in HTML."""
    plain = _form(next((text for text in alternatives if not text.is_html), None), source)
    if plain is None or not plain.encrypted:
        html = _form(next((text for text in reversed(alternatives) if text.is_html), None), source)
        if html and html.blocks and (not plain or plain.size < _MUCH_SHORTER * html.size):
            return html
    return plain or _Form([])


def _form(text: MailText | None, source: Source) -> _Form | None:
    if text is None:
        return None
    if text.is_html:
        return _Form(*part_blocks(text.text, source.limits))
    return _Form(*_plain(text, source))


def _plain(text: MailText, source: Source) -> tuple[list[Block], list[Warning], bool]:
    blocks, encrypted = text_blocks(text, source)
    return blocks, [], encrypted


def _with_twins_joined(texts: Sequence[Sequence[MailText]]) -> list[Sequence[MailText]]:
    """Return the texts; a plain one with its HTML right behind counts as one, however sent."""
    joined: list[Sequence[MailText]] = []
    for alternatives in texts:
        if joined and _are_twins(joined[-1], alternatives):
            joined[-1] = [*joined[-1], *alternatives]
        else:
            joined.append(alternatives)
    return joined


def _are_twins(plain: Sequence[MailText], html: Sequence[MailText]) -> bool:
    if len(plain) != 1 or len(html) != 1 or plain[0].is_html or not html[0].is_html:
        return False
    words = set(plain[0].text.split())
    shown = set(html[0].text.replace("<", " <").replace(">", "> ").split())
    return len(words & shown) >= _SAME_WORDS * len(words)


def _words(block: Block) -> list[str]:
    if block.table is None:
        return block.text.split()
    rows = [[block.table.caption], block.table.header, *block.table.rows]
    return [word for row in rows for cell in row for word in cell.split()]
