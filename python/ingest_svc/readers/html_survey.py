"""Looks over a page first: what is hidden or boilerplate, which tables hold data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.html_tags import BLOCKS, HEADINGS, NEVER_SHOWN, is_hidden, walk

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LANDMARKS = frozenset({"nav", "header", "footer", "aside"})
_ROLES = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "main": "main",
    "article": "article",
}
_MENUS = frozenset({"ul", "ol", "menu"})
"""Lists that are landmarks too within a header: one that is kept for its title may hold menus."""
_MOSTLY_LINKS = 0.6
"""A landmark with a larger share of its characters in links is navigation."""
_CELL_PARTS = frozenset({"td", "th", "tr", "tbody", "thead", "tfoot", "caption"})


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found; elements by their `mem_id`."""

    hidden: frozenset[int]
    boilerplate: frozenset[int]
    data_tables: frozenset[int]
    """Tables to be kept as such; the others only lay out the page."""
    flat_rows: frozenset[int]
    """Rows whose cells hold words only: where the table is not kept, such a row is one line."""


def survey(root: LexborNode) -> Survey:
    """Return what is to be known about a page before it is read."""
    surveyor = _Surveyor()
    walk(root, surveyor.enter, surveyor.leave)
    return Survey(
        frozenset(surveyor.hidden),
        surveyor.boilerplate(),
        frozenset(surveyor.data_tables),
        frozenset(surveyor.flat_rows),
    )


@dataclass(slots=True)
class _Counts:
    """What has been passed so far; differences tell what is inside an element."""

    characters: int = 0
    linked: int = 0
    headings: int = 0
    first_headings: int = 0
    tables: int = 0
    blocks: int = 0
    links: int = 0
    own_links: int = 0
    """Links to places of the same page."""

    def since(self, start: _Counts) -> _Counts:
        return _Counts(
            self.characters - start.characters,
            self.linked - start.linked,
            self.headings - start.headings,
            self.first_headings - start.first_headings,
            self.tables - start.tables,
            self.blocks - start.blocks,
            self.links - start.links,
            self.own_links - start.own_links,
        )

    def copy(self) -> _Counts:
        return self.since(_Counts())


@dataclass(slots=True)
class _Table:
    start: _Counts
    laid_out: bool
    """The table itself says that it only lays out."""
    rows: int = 0
    row_cells: int = 0
    widest: int = 0
    heads: int = 0


@dataclass(slots=True)
class _Landmark:
    node: int
    start: _Counts
    in_main: bool
    is_header: bool
    inside: _Counts = field(default_factory=_Counts)
    lists: list[int] = field(default_factory=list)
    """Its lists."""


class _Surveyor:
    """Collects while the tree is walked."""

    def __init__(self) -> None:
        self.hidden: set[int] = set()
        self.data_tables: set[int] = set()
        self.flat_rows: set[int] = set()
        self._rows: list[_Counts] = []
        self._counts = _Counts()
        self._tables: list[_Table] = []
        self._open: list[_Landmark] = []
        self._landmarks: list[_Landmark] = []
        self._mains: list[int] = []
        self._main_start = 0
        self._main_characters = 0
        self._links = 0

    def enter(self, node: LexborNode) -> bool:
        if node.is_text_node:
            self._text(node)
            return False
        tag = node.tag or ""
        if tag in NEVER_SHOWN or not node.is_element_node:
            return False
        attributes = node.attributes
        if is_hidden(attributes) or (tag == "dialog" and "open" not in attributes):
            self.hidden.add(node.mem_id)
            return False
        self._count(tag)
        if tag == "a":
            self._counts.links += 1
            self._counts.own_links += (attributes.get("href") or "").startswith("#")
        elif tag in _MENUS and self._open:
            self._open[-1].lists.append(node.mem_id)
        role = (attributes.get("role") or "").lower() if attributes else ""
        self._enter_region(node, _ROLES.get(role, tag))
        if tag == "table":
            self._counts.tables += 1
            laid_out = role in ("presentation", "none")
            self._tables.append(_Table(self._counts.copy(), laid_out))
        elif tag == "tr":
            self._rows.append(self._counts.copy())
        return True

    def leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "a" and self._links:
            self._links -= 1
        elif tag == "table" and self._tables and node.mem_id not in self.hidden:
            self._leave_table(node.mem_id)
        elif tag == "tr" and self._rows and node.mem_id not in self.hidden:
            inside = self._counts.since(self._rows.pop())
            if not (inside.blocks or inside.headings or inside.tables):
                self.flat_rows.add(node.mem_id)
        if self._open and self._open[-1].node == node.mem_id:
            landmark = self._open.pop()
            landmark.inside = self._counts.since(landmark.start)
            self._landmarks.append(landmark)
        if self._mains and self._mains[-1] == node.mem_id:
            self._mains.pop()
            if not self._mains:
                self._main_characters += self._counts.characters - self._main_start

    def boilerplate(self) -> frozenset[int]:
        """Return the landmarks outside the main part and those that are mostly links."""
        has_main = self._main_characters > 0
        return frozenset(
            node
            for landmark in self._landmarks
            if (has_main and not landmark.in_main) or _is_navigation(landmark)
            for node in (landmark.lists if _is_contents(landmark) else [landmark.node])
        )

    def _text(self, node: LexborNode) -> None:
        size = len((node.text_content or "").strip())
        self._counts.characters += size
        if self._links:
            self._counts.linked += size

    def _count(self, tag: str) -> None:
        if tag == "a":
            self._links += 1
        elif tag in HEADINGS:
            self._counts.headings += 1
            self._counts.first_headings += tag == "h1"
        elif tag in BLOCKS and tag not in _CELL_PARTS:
            self._counts.blocks += 1
        elif tag == "tr" and self._tables:
            self._tables[-1].rows += 1
            self._tables[-1].row_cells = 0
        elif self._tables and tag in ("td", "th"):
            self._count_cell(self._tables[-1], tag)

    @staticmethod
    def _count_cell(table: _Table, tag: str) -> None:
        table.row_cells += 1
        table.widest = max(table.widest, table.row_cells)
        table.heads += tag == "th"

    def _enter_region(self, node: LexborNode, region: str) -> None:
        if region in ("main", "article"):
            if not self._mains:
                self._main_start = self._counts.characters
            self._mains.append(node.mem_id)
        elif region in _LANDMARKS or (region in _MENUS and self._open and self._open[-1].is_header):
            start, in_main = self._counts.copy(), bool(self._mains)
            self._open.append(_Landmark(node.mem_id, start, in_main, region == "header"))

    def _leave_table(self, node: int) -> None:
        table = self._tables.pop()
        inside = self._counts.since(table.start)
        if table.laid_out or inside.headings or table.widest < 2:
            return
        lays_out = inside.tables > 0 or (table.rows == 1 and inside.blocks > 0)
        if table.heads or not lays_out:
            self.data_tables.add(node)


def _is_navigation(landmark: _Landmark) -> bool:
    inside = landmark.inside
    if landmark.is_header and inside.first_headings:
        return False
    return inside.linked > _MOSTLY_LINKS * inside.characters


def _is_contents(landmark: _Landmark) -> bool:
    """Tell whether a landmark is the page's own table of contents: its heading is one of the page.

    What it lists is on the page anyway.
    """
    inside = landmark.inside
    return inside.headings == 1 and inside.own_links > max(2, 0.9 * inside.links)
