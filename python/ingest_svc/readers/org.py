"""Org: headings by stars, TODO words and tags off, drawers out, tables, lists, blocks.

What stands in a block is taken as it is: a star there makes no heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table
from ingest_svc.readers.limits import check

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_HEADING = re.compile(r"(\*+)[ \t]+(.*)")
_TODO = re.compile(r"(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELLED|CANCELED|STARTED|SOMEDAY)(?:\s+|$)")
_PRIORITY = re.compile(r"\[#[A-Z0-9]\]\s*")
_TAGS = re.compile(r"\s+:[\w@#%:]+:\s*$")
_KEYWORD = re.compile(r"#\+(\w+):[ \t]*(.*)")
_BEGIN = re.compile(r"\s*#\+begin_(\w+)(?:[ \t]+(\S+))?.*", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:[\w-]+:\s*$")
_DRAWER_END = re.compile(r"\s*:end:\s*$", re.IGNORECASE)
_PLANNING = re.compile(r"\s*(?:SCHEDULED|DEADLINE|CLOSED):\s*[<\[].*")
_COMMENT = re.compile(r"\s*#(?:\s|$)")
_ITEM = re.compile(r"(\s*)([-+]|\*(?<!^\*)|\d+[.)]|[a-zA-Z][.)])\s+(?:\[[ xX-]\]\s+)?(.*)")
_RULE = re.compile(r"\s*\|[-+|: ]*-[-+|: ]*$")
_ROW = re.compile(r"\s*\|(.*)")
_LINK = re.compile(r"\[\[([^\]]+)\](?:\[([^\]]+)\])?\]")
_PICTURE = re.compile(r"\[\[[^\]]+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?)\]\]", re.IGNORECASE)
_NAMES = {
    "title": "title",
    "author": "author",
    "description": "description",
    "language": "language",
}
_CODE = ("src", "example", "verbatim", "export")


def read_org(source: Source) -> ParsedFile:
    """Return the blocks of an Org text."""
    reader = _Org(source)
    lines = source.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    closed = _closed_drawers(lines)
    for number, line in enumerate(lines):
        reader.take(line, is_drawer=number in closed)
    reader.end()
    tags = reader.keywords.pop("filetags", "").strip(":").replace(":", ", ")
    return ParsedFile(
        blocks=reader.blocks,
        media_type="text/x-org",
        title=reader.keywords.pop("title", ""),
        metadata={**reader.keywords, **({"keywords": tags} if tags else {})},
    )


def _closed_drawers(lines: list[str]) -> set[int]:
    """Return where drawers open that end before the next heading; other such lines are text."""
    found: set[int] = set()
    ends = False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if _DRAWER_END.match(line):
            ends = True
        elif _HEADING.match(line):
            ends = False
        elif ends and _DRAWER.match(line):
            found.add(number)
    return found


@dataclass(slots=True)
class _Org:
    source: Source
    blocks: list[Block] = field(default_factory=list)
    keywords: dict[str, str] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)
    """Of the paragraph under way."""
    _rows: list[list[str]] = field(default_factory=list)
    """Of the table under way."""
    _header: bool = False
    """Whether a rule stood behind the table's first row."""
    _caption: str = ""
    _indents: list[int] = field(default_factory=list)
    """Of the list under way, by level."""
    _cells: int = 0
    _block: str = ""
    """Kind of the block under way."""
    _language: str = ""
    _in_drawer: bool = False

    def take(self, line: str, *, is_drawer: bool) -> None:
        """Take the next line; `is_drawer`: it opens a drawer that is closed later."""
        if self._block:
            self._in_block(line)
        elif self._in_drawer:
            self._in_drawer = not _DRAWER_END.match(line)
        elif found := _HEADING.match(line):
            self.end()
            self._heading(found)
        elif found := _BEGIN.match(line):
            self.end()
            self._block, self._language = found[1].lower(), found[2] or ""
        elif is_drawer:
            self._end_paragraph()
            self._in_drawer = True
        elif not self._passed_over(line):
            self._text(line)

    def end(self) -> None:
        """End the paragraph, the table and the block under way."""
        if self._block:
            self._end_block()
        self._end_paragraph()
        self._end_table()
        self._indents.clear()

    def _passed_over(self, line: str) -> bool:
        """Take a line that is no text; tell whether it was one."""
        if found := _KEYWORD.match(line):
            self._keyword(found[1].lower(), found[2].strip())
            return True
        return bool(_PLANNING.match(line) or _COMMENT.match(line))

    def _keyword(self, name: str, value: str) -> None:
        if name == "caption":
            self._caption = value
        elif value and name in (*_NAMES, "filetags"):
            before = self.keywords.get(name)
            self.keywords[name] = f"{before} {value}" if before else value

    def _heading(self, found: re.Match[str]) -> None:
        text = _TAGS.sub("", found[2])
        text = _PRIORITY.sub("", _TODO.sub("", text, count=1), count=1)
        level = min(len(found[1]), self.source.limits.max_nesting)
        if words := _plain(text):
            self.blocks.append(Block(BlockKind.HEADING, words, level))

    def _text(self, line: str) -> None:
        if row := _ROW.match(line):
            self._end_paragraph()
            self._row(line, row[1])
            return
        self._end_table()
        if not line.strip():
            self._end_paragraph()
            return
        if item := _ITEM.match(line):
            self._end_paragraph()
            self._item(len(item[1].expandtabs()), item[2], item[3])
            return
        if self._indents and line[:1].isspace() and not self._lines:
            last = self.blocks[-1]
            if last.kind is BlockKind.LIST_ITEM:
                text = f"{last.text} {_plain(line)}"
                self.blocks[-1] = Block(last.kind, text, last.level, marker=last.marker)
                return
        self._indents.clear()
        self._lines.append(line.strip())

    def _item(self, indent: int, mark: str, text: str) -> None:
        while self._indents and self._indents[-1] >= indent:
            self._indents.pop()
        self._indents.append(indent)
        level = min(len(self._indents), self.source.limits.max_nesting)
        marker = "" if mark in "-+*" else mark
        self.blocks.append(Block(BlockKind.LIST_ITEM, _plain(text), level, marker=marker))

    def _row(self, line: str, inner: str) -> None:
        if _RULE.match(line):
            self._header = self._header or len(self._rows) == 1
            return
        cells = [_plain(cell) for cell in inner.rstrip().removesuffix("|").split("|")]
        self._cells += len(cells)
        check(self.source.limits, "max_table_cells", self._cells)
        self._rows.append(cells)

    def _end_paragraph(self) -> None:
        written = " ".join(self._lines)
        if self._caption and _PICTURE.fullmatch(written):
            self.blocks.append(Block(BlockKind.IMAGE, self._caption))
            self._caption = ""
        elif text := _plain(written):
            self._add_caption()
            self.blocks.append(Block(BlockKind.PARAGRAPH, text))
        self._lines = []

    def _add_caption(self) -> None:
        """Add the caption of what is no table as a paragraph before it."""
        if self._caption:
            self.blocks.append(Block(BlockKind.PARAGRAPH, self._caption))
            self._caption = ""

    def _end_table(self) -> None:
        if not self._rows:
            return
        width = max(map(len, self._rows))
        rows = [row + [""] * (width - len(row)) for row in self._rows]
        header = rows.pop(0) if self._header else [""] * width
        table = Table(header, rows, caption=self._caption)
        self.blocks.append(Block(BlockKind.TABLE, table=table))
        self._rows, self._header, self._caption = [], False, ""

    def _in_block(self, line: str) -> None:
        if re.match(rf"\s*#\+end_{re.escape(self._block)}\s*$", line, re.IGNORECASE):
            self._end_block()
        else:
            self._lines.append(line)

    def _end_block(self) -> None:
        if self._block in _CODE:
            text = "\n".join(re.sub(r"^(\s*),(?=[*#,])", r"\1", line) for line in self._lines)
            kind = BlockKind.CODE
        else:
            text = _plain(" ".join(" ".join(self._lines).split()))
            kind = BlockKind.QUOTE if self._block == "quote" else BlockKind.PARAGRAPH
        if text.strip() and self._block != "comment":
            self._add_caption()
            language = self._language if self._block == "src" else ""
            self.blocks.append(Block(kind, text, language=language))
        self._lines, self._block, self._language = [], "", ""


def _plain(text: str) -> str:
    """Return text with the words of its links in their place."""
    return _LINK.sub(lambda link: link[2] or link[1], text).strip()
