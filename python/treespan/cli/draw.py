"""Document trees as lines of text.

    section* (5/65)   * = hit    + = picked    · = left out
    ├─ text+ (40)
    ├─ text+ (25)
    └─ table· (900)

Tokens are those of the node's own text and, behind a slash, those of its whole subtree.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text

from treespan.cli.screen import counted, one_line
from treespan.v1.node_pb2 import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from treespan.v1.node_pb2 import Node

HIT: Final = "*"
PICKED: Final = "+"
LEFT_OUT: Final = "·"
LEGEND: Final = f"{HIT} = hit    {PICKED} = picked    {LEFT_OUT} = left out"

_STYLES: Final = {HIT: "bold green", PICKED: "green", LEFT_OUT: "yellow", "": ""}
# Levels drawn as lines; a tree may be thousands of levels deep.
_MAX_GUIDES: Final = 20


class Mark(NamedTuple):
    """What became of a node, and why."""

    symbol: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Elision:
    """A run of siblings that is not drawn, with all below them."""

    depth: int
    end: int
    nodes: int
    tokens: int


def draw_tree(
    nodes: Iterable[Node], width: int, *, max_depth: int | None = None, max_nodes: int | None = None
) -> Iterator[Text]:
    """Yield one line a node, of at most `width` cells; `nodes` in document order, from the root.

    Nodes deeper than `max_depth` are left out, and a last line says how many nodes come after the
    first `max_nodes` lines.
    """
    guides = _Guides()
    total = 0
    for drawn, node in enumerate(_down_to(nodes, max_depth)):
        total = total or node.end
        if drawn == max_nodes:
            yield Text(f"… {counted(total - node.position, 'more node')}", style="dim")
            return
        yield _line(guides.before(node), node, Mark(""), width)


def draw_marked(nodes: Sequence[Node], marks: Mapping[int, Mark], width: int) -> Iterator[Text]:
    """Yield lines for the marked nodes and their ancestors.

    `marks` go by position, `nodes` are the whole tree; what lies between the lines is one line that
    says how much it is.
    """
    guides = _Guides()
    for row in _rows(nodes, _with_ancestors(nodes, marks)):
        guide = guides.before(row)
        if isinstance(row, Elision):
            yield Text(f"{guide}… {counted(row.nodes, 'node')} ({row.tokens:,})", style="dim")
        else:
            yield _line(guide, row, marks.get(row.position, Mark("")), width)


def kind_name(kind: NodeKind.ValueType) -> str:
    """Return the name of a kind, as in "table row"."""
    return NodeKind.Name(kind).removeprefix("NODE_KIND_").replace("_", " ").lower()


def pages(first: int, last: int) -> str:
    """Return "p.3", "p.3-5", or nothing where there are no pages."""
    if not first:
        return ""
    return f"p.{first}" if last <= first else f"p.{first}-{last}"


class _Guides:
    """Draws the lines that lead to each row, given rows in document order."""

    def __init__(self) -> None:
        self._ends: list[int] = []

    def before(self, row: Node | Elision) -> str:
        """Return what stands before a row. A row is its parent's last where both end together."""
        self._ends[row.depth :] = [row.end]
        first = max(1, row.depth - _MAX_GUIDES)
        last = [self._ends[depth] == self._ends[depth - 1] for depth in range(first, row.depth + 1)]
        if not last or row.depth == 0:
            return ""
        above = "".join("   " if ended else "│  " for ended in last[:-1])
        return ("⋯  " if first > 1 else "") + above + ("└─ " if last[-1] else "├─ ")


def _down_to(nodes: Iterable[Node], max_depth: int | None) -> Iterator[Node]:
    return (node for node in nodes if max_depth is None or node.depth <= max_depth)


def _line(guide: str, node: Node, mark: Mark, width: int) -> Text:
    tokens = f"{node.own_tokens:,}"
    if node.end > node.position + 1:
        tokens += f"/{node.subtree_tokens:,}"
    line = Text.assemble(
        (guide, "dim"),
        (kind_name(node.kind) + mark.symbol, _STYLES[mark.symbol] or "cyan"),
        f" ({tokens})",
    )
    page = pages(node.page_start, node.page_end)
    if page:
        line.append(f" {page}", style="dim")
    if mark.note:
        line.append(f"  {mark.note}", style="yellow")
    if node.text:
        # No more than fits is looked at: a node's text may be long.
        line.append("  " + one_line(node.text[: width + 1]), style=_STYLES[mark.symbol] or "dim")
    return _cut(line, width)


def _cut(line: Text, width: int) -> Text:
    if line.cell_len <= width:
        return line
    while line.cell_len > width - 1:
        line.right_crop(1)
    return line.append("…")


def _with_ancestors(nodes: Sequence[Node], marks: Mapping[int, Mark]) -> list[int]:
    """Return the positions of the marked nodes, their ancestors and the root, in order."""
    visible = {0}
    position_of = {node.node_id: node.position for node in nodes}
    for position in marks:
        at = position
        while at not in visible:
            visible.add(at)
            at = position_of[nodes[at].parent_id]
    return sorted(visible)


def _rows(nodes: Sequence[Node], visible: Sequence[int]) -> Iterator[Node | Elision]:
    ends: list[int] = []
    position = 0
    while position < len(nodes):
        node = nodes[position]
        ends[node.depth :] = [node.end]
        at = bisect_right(visible, position)
        following = visible[at] if at < len(visible) else len(nodes)
        if visible[at - 1] == position:
            yield node
            # A node drawn without any of its inside says by its tokens what is in it.
            position = position + 1 if following < node.end else node.end
        else:
            row = _elision(nodes, position, following, ends)
            yield row
            position = row.end


def _elision(nodes: Sequence[Node], position: int, following: int, ends: Sequence[int]) -> Elision:
    depth = nodes[position].depth
    end, tokens = position, 0
    while end < min(following, ends[depth - 1]):
        tokens += nodes[end].subtree_tokens
        end = nodes[end].end
    return Elision(depth, end, end - position, tokens)
