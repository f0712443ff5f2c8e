"""The walk over a page that turns elements into blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.block import Block, BlockKind, Warning
from ingest_svc.readers.html_survey import Survey
from ingest_svc.readers.html_table import read_table
from ingest_svc.readers.html_tags import BLOCKS, HEADINGS, NEVER_SHOWN, lines, walk, words
from ingest_svc.readers.limits import ReaderLimits, check

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LISTS = frozenset({"ul", "ol", "dl", "menu", "dir"})
_ITEMS = frozenset({"li", "dt", "dd"})
_VERBATIM = frozenset({"pre", "xmp", "listing", "plaintext"})
_NEVER_IN_HEADINGS = _LISTS | _VERBATIM | HEADINGS.keys() | {"p", "table", "blockquote"}
"""Elements that show that a heading was never closed, once it has words."""
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]+)")


@dataclass(slots=True)
class _List:
    ordered: bool
    next: int = 1
    style: str = "1"


@dataclass(slots=True)
class _Item:
    level: int
    marker: str
    at: int = -1
    """Position of the item's block; -1 before it has words."""


class PageWalk:
    """Walks a page and collects its blocks."""

    def __init__(self, found: Survey, boilerplate: frozenset[int], limits: ReaderLimits) -> None:
        """Take the survey, the elements to pass over besides the hidden ones, and the limits."""
        self.blocks: list[Block] = []
        self._skipped = found.hidden | boilerplate
        self._hidden = found.hidden
        self._data_tables = found.data_tables
        self._limits = limits
        self._parts: list[str] = []
        self._alts: list[str] = []
        self._has_words = False
        self._heading = 0
        self._heading_node = 0
        self._flat_rows = found.flat_rows
        self._row = 0
        self._quotes = 0
        self._lists: list[_List] = []
        self._items: list[_Item] = []
        self._cells = 0
        self._cut_tables = 0

    def over(self, root: LexborNode) -> None:
        """Add the blocks of a tree."""
        walk(root, self._enter, self._leave)
        self._flush()

    def warnings(self) -> list[Warning]:
        """Return what went less than well."""
        if not self._cut_tables:
            return []
        limit = self._limits.max_table_cells
        message = f"{self._cut_tables} tables were cut: readers.max_table_cells is {limit}"
        return [Warning("TRUNCATED_TABLE", message)]

    def _enter(self, node: LexborNode) -> bool:
        if node.is_text_node:
            self._text(words(node.text_content or ""))
            return False
        tag = node.tag or ""
        if tag in NEVER_SHOWN or not node.is_element_node or node.mem_id in self._skipped:
            return False
        if tag == "br":
            self._parts.append(" " if self._heading else "\n")
        elif tag == "img":
            self._image(node)
        elif tag in BLOCKS:
            return self._enter_block(node, tag)
        return True

    def _enter_block(self, node: LexborNode, tag: str) -> bool:
        if self._heading and self._has_words and tag in _NEVER_IN_HEADINGS:
            self._end_heading()
        if self._heading or (self._row and tag in ("td", "th")):
            self._parts.append(" ")
            return True
        self._flush()
        if tag in _VERBATIM:
            self._code(node)
            return False
        if tag == "table" and node.mem_id in self._data_tables:
            self._table(node)
            return False
        self._quotes += tag == "blockquote"
        if tag in HEADINGS:
            self._heading, self._heading_node = HEADINGS[tag], node.mem_id
        elif tag == "tr" and node.mem_id in self._flat_rows:
            self._row = node.mem_id
        elif tag in _LISTS:
            self._lists.append(_list(node, tag))
        elif tag in _ITEMS:
            self._items.append(self._item(node, tag))
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag not in BLOCKS or node.mem_id in self._skipped:
            return
        if self._row == node.mem_id:
            self._row = 0
        elif self._row or (self._heading and self._heading_node != node.mem_id):
            self._parts.append(" ")
            return
        self._end_heading()
        self._quotes -= tag == "blockquote"
        if tag in _LISTS:
            self._lists.pop()
        elif tag in _ITEMS:
            self._items.pop()

    def _end_heading(self) -> None:
        self._flush()
        self._heading = self._heading_node = 0

    def _text(self, text: str) -> None:
        self._parts.append(text)
        self._has_words = self._has_words or not text.isspace()

    def _image(self, node: LexborNode) -> None:
        alt = words(node.attributes.get("alt") or "").strip()
        if alt:
            self._alts.append(alt)
            self._parts.append(alt)

    def _flush(self) -> None:
        """End the words collected so far: they become a block of the kind that is open here."""
        parts, alts, has_words = self._parts, self._alts, self._has_words
        if not parts:
            return
        self._parts, self._alts, self._has_words = [], [], False
        if has_words or (alts and (self._heading or self._items)):
            self._words(lines(parts))
        else:
            self.blocks += [Block(BlockKind.IMAGE, alt) for alt in alts]
        check(self._limits, "max_nodes", len(self.blocks))

    def _words(self, found: list[str]) -> None:
        if self._heading:
            text = " ".join(filter(None, found))
            self.blocks.append(Block(BlockKind.HEADING, text, self._heading))
        elif self._items:
            self._item_words("\n".join(filter(None, found)))
        else:
            kind = BlockKind.QUOTE if self._quotes else BlockKind.PARAGRAPH
            self.blocks += [Block(kind, text) for text in _paragraphs(found)]

    def _item_words(self, text: str) -> None:
        item = self._items[-1]
        if item.at < 0:
            item.at = len(self.blocks)
            self.blocks.append(Block(BlockKind.LIST_ITEM, text, item.level, marker=item.marker))
        elif item.at == len(self.blocks) - 1:
            block = self.blocks[-1]
            self.blocks[-1] = msgspec.structs.replace(block, text=f"{block.text}\n{text}")
        else:
            self.blocks.append(Block(BlockKind.PARAGRAPH, text))

    def _item(self, node: LexborNode, tag: str) -> _Item:
        level = max(1, len(self._lists)) + (tag == "dd")
        marker = ""
        if self._lists and self._lists[-1].ordered:
            numbered = self._lists[-1]
            numbered.next = _number(node.attributes.get("value"), numbered.next)
            marker = _marker(numbered.next, numbered.style)
            numbered.next += 1
        return _Item(min(level, self._limits.max_nesting), marker)

    def _code(self, node: LexborNode) -> None:
        parts: list[str] = []

        def enter(inner: LexborNode) -> bool:
            if inner.is_text_node:
                parts.append(inner.text_content or "")
            elif inner.tag == "br":
                parts.append("\n")
            return inner.tag not in NEVER_SHOWN and inner.mem_id not in self._hidden

        walk(node, enter, lambda _: None)
        text = "".join(parts).replace("\xa0", " ").strip("\r\n").rstrip()
        if text.strip():
            self.blocks.append(Block(BlockKind.CODE, text, language=_language(node)))

    def _table(self, node: LexborNode) -> None:
        grid = read_table(node, self._hidden, self._limits.max_table_cells - self._cells)
        self._cells += grid.cells
        self._cut_tables += grid.is_cut
        table = grid.table
        if len(table.header) > 1 and (any(table.header) or len(table.rows) > 1):
            self.blocks.append(Block(BlockKind.TABLE, table=table))
            return
        rows = [[table.caption], table.header, *table.rows]  # a single column or row is no table
        texts = (" ".join(filter(None, row)) for row in rows)
        self.blocks += [Block(BlockKind.PARAGRAPH, text) for text in texts if text]


def _paragraphs(found: list[str]) -> list[str]:
    """Return runs of lines between empty ones."""
    return [run.strip("\n") for run in re.split("\n{2,}", "\n".join(found)) if run.strip("\n")]


def _language(node: LexborNode) -> str:
    child = node.child
    while child is not None and child.tag != "code":
        child = child.next
    inner = child.attributes.get("class") if child is not None else None
    found = _LANGUAGE.search(f"{node.attributes.get('class') or ''} {inner or ''}")
    return found[1] if found else ""


def _list(node: LexborNode, tag: str) -> _List:
    if tag != "ol":
        return _List(ordered=False)
    attributes = node.attributes
    return _List(True, _number(attributes.get("start"), 1), attributes.get("type") or "1")


def _number(value: str | None, default: int) -> int:
    digits = (value or "").strip()[:9]
    return int(digits) if digits.isascii() and digits.isdigit() else default


def _marker(number: int, style: str) -> str:
    """Return an item's number as a browser shows it."""
    if style in ("a", "A") and 1 <= number <= 26:
        return f"{chr(ord(style) + number - 1)}."
    if style in ("i", "I") and 1 <= number < 4000:
        roman = _roman(number)
        return f"{roman if style == 'I' else roman.lower()}."
    return f"{number}."


def _roman(number: int) -> str:
    signs = zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    )
    text = ""
    for value, sign in signs:
        count, number = divmod(number, value)
        text += sign * count
    return text
