"""SmartArt: its points as a list, nested as the diagram nests them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.slides.drawing import child, children, name_of, words

if TYPE_CHECKING:
    from ingest_svc.readers.xml_parts import Element

_NO_TEXT = ("pres", "parTrans", "sibTrans")
"""Points that only say how others are drawn."""


def items_of(data: Element, page: int) -> list[Block]:
    """Return the points of a diagram that have text, in order.

    Args:
        data: The root of the diagram's data.
        page: Number of the slide.
    """
    texts, roots = _points(data)
    below = _below(data)
    items: list[Block] = []
    seen: set[str] = set()
    # What no line leads to stands on its own, behind the rest.
    waiting = [(point, 1) for point in reversed(texts)]
    waiting += [(point, 0) for point in reversed(roots)]
    while waiting:
        point, level = waiting.pop()
        if point in seen:
            continue
        seen.add(point)
        text = texts.get(point, "")
        if text:
            items.append(Block(BlockKind.LIST_ITEM, text, max(level, 1), page, page))
        inner = level + 1 if text or not level else level
        waiting += [(target, inner) for _, target in sorted(below[point], reverse=True)]
    return items


def _points(data: Element) -> tuple[dict[str, str], list[str]]:
    """Return the text of every point, and the points that are a whole diagram."""
    texts: dict[str, str] = {}
    roots: list[str] = []
    listed = child(data, "ptLst")
    for point in children(listed) if listed is not None else ():
        kind, name = point.get("type", "node"), point.get("modelId", "")
        if kind == "doc":
            roots.append(name)
        elif kind not in _NO_TEXT and (text := _text(child(point, "t"))):
            texts[name] = text
    return texts, roots


def _text(body: Element | None) -> str:
    parts = (
        [words(part) for part in children(body) if name_of(part) == "p"] if body is not None else []
    )
    return "\n".join(filter(None, parts))


def _below(data: Element) -> dict[str, list[tuple[int, str]]]:
    """Return the points below each point, with their rank."""
    below: dict[str, list[tuple[int, str]]] = defaultdict(list)
    listed = child(data, "cxnLst")
    for line in children(listed) if listed is not None else ():
        if line.get("type", "parOf") == "parOf":
            rank = line.get("srcOrd", "0")
            number = int(rank[:9]) if rank.isascii() and rank.isdigit() else 0
            below[line.get("srcId", "")].append((number, line.get("destId", "")))
    return below
