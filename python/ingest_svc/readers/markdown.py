"""Reads Markdown from a parser's tokens: CommonMark, tables, footnotes, math, front matter.

Footnotes follow the block that first refers to them, so that a note stands in the section it
belongs to. Headings count where they stand in the document itself; inside quotes and list items
they are words of the quote or the item.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table
from ingest_svc.readers.front_matter import split_front_matter
from ingest_svc.readers.html import fragment_blocks
from ingest_svc.readers.limits import ReaderLimits, too_large
from ingest_svc.readers.markdown_brackets import bound_brackets
from ingest_svc.readers.markdown_inline import (
    image_alts,
    inline_text,
    note_labels,
    write_inline_notes,
)
from ingest_svc.readers.source import Source

if TYPE_CHECKING:
    from markdown_it.token import Token

_DEEP_QUOTE = re.compile(r"^((?:[ \t]{0,3}>){40})(?:[ \t]{0,3}>)+", re.MULTILINE)
_DATES = {
    "created": "created",
    "date": "created",
    "modified": "modified",
    "updated": "modified",
    "lastmod": "modified",
}
"""Fields of a front matter that are dates, and what they are called."""
_LEVELS_PARSED = 4
"""The parser drops what is deeper than its limit: it gets this many times ours."""
_FRAMES_PER_LEVEL = 8


def read_markdown(source: Source) -> ParsedFile:
    """Return the blocks of a Markdown text."""
    matter, body = split_front_matter(source.text.replace("\r\n", "\n").replace("\r", "\n"))
    tokens = _parse(_DEEP_QUOTE.sub(r"\1", body), source.limits)
    dates = _dates(matter)
    return ParsedFile(
        blocks=_blocks(tokens, source.limits),
        media_type="text/markdown",
        title=matter.get("title", ""),
        metadata={key: value for key, value in matter.items() if key != "title"},
        dates=dates,
    )


def _dates(matter: dict[str, str]) -> dict[str, str]:
    """Return the dates of a front matter; midnight and UTC where nothing else is said."""
    dates: dict[str, str] = {}
    for key, name in _DATES.items():
        try:
            stated = datetime.fromisoformat(matter.get(key, ""))
        except ValueError:
            continue
        stated = stated if stated.tzinfo else stated.replace(tzinfo=UTC)
        dates.setdefault(name, stated.isoformat().replace("+00:00", "Z"))
    return dates


def _parse(text: str, limits: ReaderLimits) -> list[Token]:
    nesting = limits.max_nesting * _LEVELS_PARSED
    parser = MarkdownIt("commonmark", {"maxNesting": nesting}).enable(["table", "strikethrough"])
    footnote_plugin(parser, move_to_end=False)
    dollarmath_plugin(parser, allow_space=False, allow_digits=False, double_inline=True)
    bound_brackets(parser, len(text))
    env: dict[str, Any] = {}
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, nesting * _FRAMES_PER_LEVEL + 1000))
    try:
        tokens = parser.parse(text, env)
    finally:
        sys.setrecursionlimit(frames)
    if any(token.level >= nesting - 2 for token in tokens):
        raise too_large(limits, "max_nesting", f"more than {nesting}")
    write_inline_notes(tokens, env.get("footnotes", {}).get("list", {}))
    return tokens


def _blocks(tokens: list[Token], limits: ReaderLimits) -> list[Block]:
    """Return the blocks, each footnote after the first top-level block that refers to it."""
    parts, notes = _split(tokens)
    blocks: list[Block] = []
    for part in [*parts, *notes.values()]:
        is_note = bool(part) and part[0].type == "footnote_reference_open"
        awaited = [part[0].meta["label"]] if is_note else []
        if not is_note:
            walk = _Walk(limits)
            walk.over(part)
            blocks += walk.finished()
            awaited = walk.labels
        while awaited:
            label = awaited.pop(0)
            if note := notes.pop(label, None):
                walk = _Walk(limits)
                walk.over(note)
                blocks += _marked(label, walk.finished())
                awaited = walk.labels + awaited
    return blocks


def _split(tokens: list[Token]) -> tuple[list[list[Token]], dict[str, list[Token]]]:
    """Return the top-level parts and, by label, the footnotes, wherever these are defined."""
    parts: list[list[Token]] = [[]]
    notes: dict[str, list[Token]] = {}
    note: list[Token] | None = None
    for token in tokens:
        if token.type == "footnote_reference_open":
            note = notes.setdefault(token.meta["label"], [])
        (parts[-1] if note is None else note).append(token)
        if token.type == "footnote_reference_close":
            note = None
        elif note is None and token.level == 0 and token.nesting <= 0:
            parts.append([])
    return parts, notes


def _marked(label: str, blocks: list[Block]) -> list[Block]:
    """Return a footnote's blocks with its mark before the first."""
    mark = f"[{label}]"
    if blocks and blocks[0].kind is BlockKind.PARAGRAPH:
        first = msgspec.structs.replace(blocks[0], text=f"{mark} {blocks[0].text}")
        return [first, *blocks[1:]]
    return [Block(BlockKind.PARAGRAPH, mark), *blocks] if blocks else []


@dataclass(slots=True)
class _Walk:
    """Goes once over the tokens of a part and keeps where it is: in which lists and quotes."""

    limits: ReaderLimits
    blocks: list[Block] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """Footnotes referred to, in order."""
    lists: int = 0
    quotes: int = 0
    item_at: int = -1
    """Position of the list item that further words belong to; -1 where there is none."""

    def finished(self) -> list[Block]:
        """Return the blocks that hold anything."""
        return [block for block in self.blocks if block.text or block.table]

    def over(self, tokens: list[Token]) -> None:
        """Add the blocks of these tokens."""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
                self._table(tokens[at:end])
                at = end
            elif token.type == "heading_open":
                at += 1
                self._heading(int(token.tag[1:]), tokens[at])
            else:
                self._token(token)
            at += 1

    def _token(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._words(token)
            case "fence" | "code_block":
                self._code(token)
            case "math_block" | "math_block_label":
                self._paragraph(f"$$ {token.content.strip()} $$")
            case "html_block":
                self.blocks += fragment_blocks(token.content, self.limits)
            case "list_item_open":
                self._item(token)
            case _:
                self._border(token)

    def _border(self, token: Token) -> None:
        if token.type in (
            "bullet_list_open",
            "bullet_list_close",
            "ordered_list_open",
            "ordered_list_close",
        ):
            self.lists += token.nesting
            self.item_at = -1
        elif token.type in ("blockquote_open", "blockquote_close"):
            self.quotes += token.nesting

    def _item(self, token: Token) -> None:
        marker = f"{token.info}{token.markup}" if token.info else ""
        level = min(self.lists, self.limits.max_nesting)
        self.item_at = len(self.blocks)
        self.blocks.append(Block(BlockKind.LIST_ITEM, "", level, marker=marker))

    def _code(self, token: Token) -> None:
        language = (token.info.split() or [""])[0]
        self.blocks.append(Block(BlockKind.CODE, token.content.strip("\n"), language=language))

    def _heading(self, level: int, inline: Token) -> None:
        if self.lists or self.quotes:
            self._words(inline)
            return
        self.labels += note_labels(inline)
        text = inline_text(inline).replace("\n", " ")
        self.blocks.append(Block(BlockKind.HEADING, text, level))

    def _words(self, inline: Token) -> None:
        self.labels += note_labels(inline)
        alts = None if self.lists else image_alts(inline)
        if alts is None:
            self._paragraph(inline_text(inline))
        else:
            self.blocks += [Block(BlockKind.IMAGE, alt) for alt in alts]

    def _paragraph(self, text: str) -> None:
        if self.item_at == len(self.blocks) - 1 >= 0:
            item = self.blocks[-1]
            text = f"{item.text}\n{text}" if item.text else text
            self.blocks[-1] = msgspec.structs.replace(item, text=text)
            return
        kind = BlockKind.QUOTE if self.quotes else BlockKind.PARAGRAPH
        self.blocks.append(Block(kind, text))

    def _table(self, tokens: list[Token]) -> None:
        rows: list[list[str]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                self.labels += note_labels(token)
                rows[-1].append(inline_text(token))
        self.blocks.append(Block(BlockKind.TABLE, table=Table(rows[0], rows[1:])))
