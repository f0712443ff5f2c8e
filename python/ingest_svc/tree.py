"""Blocks become a tree: headings nest sections, lists and tables hold parts, long texts chunks.

document
├─ section          own text: the heading
│  ├─ text          a paragraph that is one chunk
│  ├─ text          no own text: a longer paragraph
│  │  ├─ chunk
│  │  └─ chunk
│  ├─ chunk         several short paragraphs
│  └─ list
│     ├─ text       an item
│     └─ chunk      several short items
├─ table            own text: caption and header row
│  └─ table row     "column: value; column: value"
└─ document         a file inside; own text: its name
   └─ section
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from ingest_svc.cells import column_names, row_cells
from ingest_svc.chunks import ChunkRules, Sentence, Text, cut, measured, packed
from ingest_svc.draft import Draft
from ingest_svc.readers.block import Block, BlockKind
from treespan.node import NodeKind, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ingest_svc.readers.block import ParsedFile, Table
    from treespan.store.records import Cell

    Count = Callable[[Sequence[str]], list[int]]

_RUNS = {
    BlockKind.HEADING: "heading",
    BlockKind.PARAGRAPH: "text",
    BlockKind.QUOTE: "text",
    BlockKind.LIST_ITEM: "list",
    BlockKind.TABLE: "table",
    BlockKind.CODE: "code",
    BlockKind.IMAGE: "image",
    BlockKind.FILE: "file",
}
_CELL_BREAK = "; "
_ROWS_AT_ONCE = 2_048
# A heading comes with every chunk below it; what is longer is a paragraph in a heading's clothes.
_LONGEST_HEADING = 1_000
# Of a table's caption and header row; every row names its columns anyway.
_LONGEST_TABLE_HEAD = 4_000


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """Bounds of a tree."""

    max_nodes: int = 1_000_000
    max_nesting: int = 200


def build_tree(
    parsed: ParsedFile, count: Count, rules: ChunkRules, limits: TreeLimits
) -> tuple[Tree, tuple[Cell, ...]]:
    """Return the tree of a file, and the typed cells of its table rows.

    Args:
        parsed: What the reader made of the file.
        count: Counts tokens of texts, as the budget does.
        rules: Sizes of chunks.
        limits: Bounds of the tree.

    Raises:
        TooLarge: the tree would have more nodes than allowed.
    """
    builder = _Builder(Draft(limits.max_nodes, parsed.page_count), count, rules, limits)
    for run, blocks in groupby(parsed.blocks, key=lambda block: _RUNS[block.kind]):
        builder.take(run, list(blocks))
    return builder.draft.tree(count), tuple(builder.cells)


@dataclass(slots=True)
class _Builder:
    draft: Draft
    count: Count
    rules: ChunkRules
    limits: TreeLimits
    _sections: list[tuple[int, int]] = field(default_factory=list)
    """(level, position) of the open sections, outermost first."""
    cells: list[Cell] = field(default_factory=list)

    _files: list[tuple[int, int]] = field(default_factory=list)
    """(level, position) of the files inside, down to the one that blocks belong to."""

    @property
    def _parent(self) -> int:
        """Return what the next block is put below: a section, a file inside or the root."""
        inner = self._sections or self._files
        return inner[-1][1] if inner else 0

    def take(self, run: str, blocks: list[Block]) -> None:
        """Add neighbouring blocks of one sort."""
        match run:
            case "heading":
                self._headings(blocks)
            case "text":
                texts = [_body(block) for block in blocks]
                self._leaves(self._parent, texts, "\n\n", first="\n\n")
            case "list":
                self._list(blocks)
            case "table":
                self._tables(blocks)
            case "code":
                self._codes(blocks)
            case "image":
                self._images(blocks)
            case "file":
                self._inside(blocks)

    def _headings(self, blocks: list[Block]) -> None:
        texts = measured([_numbered(block) for block in blocks], self.count, self.rules)
        for block, text in zip(blocks, texts, strict=True):
            if len(text.text) > _LONGEST_HEADING:
                self._long(NodeKind.TEXT, self._parent, text, "\n\n")
                continue
            while self._sections and self._sections[-1][0] >= block.level:
                self._sections.pop()
            if len(self._sections) >= self.limits.max_nesting:
                self._sections.pop()
            section = self.draft.add(
                NodeKind.SECTION, self._parent, _as_one(text), stated=block.stated
            )
            self._sections.append((block.level, section))

    def _inside(self, blocks: list[Block]) -> None:
        names = measured([_body(block) for block in blocks], self.count, self.rules)
        for block, name in zip(blocks, names, strict=True):
            while self._files and self._files[-1][0] >= block.level:
                self._files.pop()
            self._sections.clear()
            text = _as_one(name) if name.text else None
            node = self.draft.add(NodeKind.DOCUMENT, self._parent, text)
            self._files.append((block.level, node))

    def _list(self, blocks: list[Block]) -> None:
        holder = self.draft.add(NodeKind.LIST, self._parent, pages=_pages(blocks))
        items = []
        for block in blocks:
            text, first, last = _body(block)
            indent = "  " * (block.level - 1)
            items.append((f"{indent}{block.marker or '-'} {text}".strip(), first, last))
        self._leaves(holder, items, "\n", first="\n\n")

    def _leaves(
        self, parent: int, texts: list[tuple[str, int, int]], between: str, *, first: str
    ) -> None:
        """Add texts as leaves: short ones packed together, long ones cut below their node."""
        measured_texts = measured([text for text in texts if text[0]], self.count, self.rules)
        before = first
        for group in packed(measured_texts, self.rules):
            if len(group) > 1:
                self.draft.add(NodeKind.CHUNK, parent, _joined(group, between), before=before)
            else:
                self._long(NodeKind.TEXT, parent, group[0], before)
            before = between

    def _long(self, kind: NodeKind, parent: int, text: Text, before: str) -> int:
        """Add a text, cut below its node where it is long; return its node."""
        chunks = cut(text, self.rules)
        if len(chunks) == 1:
            return self.draft.add(kind, parent, chunks[0], before=before)
        holder = self.draft.add(kind, parent, pages=(text.page_start, text.page_end))
        at = 0
        for chunk in chunks:
            start = text.text.index(chunk.text, at)
            gap = text.text[at:start] if at else before
            self.draft.add(NodeKind.CHUNK, holder, chunk, before=gap)
            at = start + len(chunk.text)
        return holder

    def _tables(self, blocks: list[Block]) -> None:
        for block in blocks:
            if block.table is not None:
                self._table(block.table, (block.page_start, block.page_end))

    def _table(self, table: Table, pages: tuple[int, int]) -> None:
        head = "\n".join(
            filter(None, [table.caption.strip(), " | ".join(table.header).strip(" |")])
        )
        head = head[:_LONGEST_TABLE_HEAD].rstrip()
        heads = measured([(head, *pages)] if head else [], self.count, self.rules)
        holder = self.draft.add(
            NodeKind.TABLE, self._parent, _as_one(heads[0]) if heads else None, pages=pages
        )
        self._rows(holder, table, pages, "\n" if heads else "\n\n")

    def _rows(self, holder: int, table: Table, pages: tuple[int, int], before: str) -> None:
        columns = column_names(table.header)
        texts = [_row_text(table.header, row) for row in table.rows]
        kept = [index for index, text in enumerate(texts) if text]
        for index, row in self._measured_rows(table, texts, kept, pages):
            if row.tokens <= self.rules.limit_tokens:
                node = self.draft.add(NodeKind.TABLE_ROW, holder, _as_one(row), before=before)
            else:
                node = self._long(NodeKind.TABLE_ROW, holder, row, before)
            self.cells += row_cells(node, columns, table.rows[index])
            before = "\n"

    def _measured_rows(
        self, table: Table, texts: Sequence[str], kept: Sequence[int], pages: tuple[int, int]
    ) -> Iterator[tuple[int, Text]]:
        """Yield rows measured, some at a time: a cancelled ingest ends between two calls."""
        for at in range(0, len(kept), _ROWS_AT_ONCE):
            part = kept[at : at + _ROWS_AT_ONCE]
            placed = [(texts[index], *_row_pages(table, index, pages)) for index in part]
            yield from zip(part, measured(placed, self.count, self.rules), strict=True)

    def _codes(self, blocks: list[Block]) -> None:
        bodies = [(block.text.strip("\n").rstrip(), *_pages([block])) for block in blocks]
        for text in measured(
            [body for body in bodies if body[0]], self.count, self.rules, lines=True
        ):
            self._long(NodeKind.CODE, self._parent, text, "\n\n")

    def _images(self, blocks: list[Block]) -> None:
        for block in blocks:
            body = _body(block)
            texts = measured([body] if body[0] else [], self.count, self.rules)
            if texts:
                self._long(NodeKind.IMAGE, self._parent, texts[0], "\n\n")
            else:
                self.draft.add(NodeKind.IMAGE, self._parent, pages=body[1:])


def _body(block: Block) -> tuple[str, int, int]:
    return block.text.strip(), block.page_start, block.page_end


def _numbered(block: Block) -> tuple[str, int, int]:
    text, first, last = _body(block)
    return f"{block.marker} {text}".strip(), first, last


def _pages(blocks: Iterable[Block]) -> tuple[int, int]:
    listed = list(blocks)
    return listed[0].page_start, listed[-1].page_end


def _as_one(text: Text) -> Text:
    """Return a text that counts as one sentence, as a heading or a row does."""
    if len(text.sentences) <= 1:
        return text
    whole = Sentence(0, len(text.text), text.tokens)
    return Text(text.text, (whole,), text.page_start, text.page_end)


def _joined(group: Sequence[Text], between: str) -> Text:
    sentences: list[Sentence] = []
    at = 0
    for text in group:
        sentences += [Sentence(at + s.start, at + s.end, s.tokens) for s in text.sentences]
        at += len(text.text) + len(between)
    first = next((text.page_start for text in group if text.page_start), 0)
    return Text(
        between.join(text.text for text in group),
        tuple(sentences),
        first,
        max(text.page_end for text in group),
    )


def _row_text(header: Sequence[str], row: Sequence[str]) -> str:
    """Return a row in words: "column: value" for every cell that is not empty."""
    cells = []
    for index, cell in enumerate(row):
        value = " ".join(cell.split())
        name = " ".join(header[index].split()) if index < len(header) else ""
        if value:
            cells.append(f"{name}: {value}" if name else value)
    return _CELL_BREAK.join(cells)


def _row_pages(table: Table, index: int, pages: tuple[int, int]) -> tuple[int, int]:
    if index < len(table.row_pages):
        return table.row_pages[index], table.row_pages[index]
    return pages
