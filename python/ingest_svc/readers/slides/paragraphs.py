"""Paragraphs of a shape as blocks: bullets and numbers make them items of a list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.slides.drawing import child, children, name_of, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.readers.xml_parts import Element

_DEEPEST = 8
_BULLETS = ("buChar", "buBlip")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_HIGHEST = 32_767


def blocks_of(body: Element, styles: Sequence[Element], page: int) -> list[Block]:
    """Return the paragraphs of a text body as blocks.

    Args:
        body: The element that holds the paragraphs.
        styles: Where it is looked up whether a level has bullets, the nearest first.
        page: Number of the slide.
    """
    numbers = _Numbers()
    blocks = []
    for paragraph in children(body):
        text = words(paragraph) if name_of(paragraph) == "p" else ""
        if not text:
            continue
        own = child(paragraph, "pPr")
        level = _level(own)
        mark = _mark(own, styles, level)
        if mark is None:
            numbers.end(level)
            blocks.append(Block(BlockKind.PARAGRAPH, text, page_start=page, page_end=page))
            continue
        marker = numbers.next(mark, level)
        item = Block(BlockKind.LIST_ITEM, text, level + 1, page, page, marker=marker)
        blocks.append(item)
    return blocks


def _level(own: Element | None) -> int:
    stated = own.get("lvl", "0") if own is not None else "0"
    return min(int(stated), _DEEPEST) if stated.isascii() and stated.isdigit() else 0


def _mark(own: Element | None, styles: Sequence[Element], level: int) -> Element | None:
    """Return the element that gives a paragraph a bullet or number; None where it has none."""
    for style in (own, *(child(style, f"lvl{level + 1}pPr") for style in styles)):
        for element in children(style) if style is not None else ():
            name = name_of(element)
            if name == "buNone":
                return None
            if name in _BULLETS or name == "buAutoNum":
                return element
    return None


@dataclass(slots=True)
class _Numbers:
    """Counts numbered paragraphs, each level for itself."""

    _counts: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Scheme and last number by level."""

    def end(self, level: int) -> None:
        """Take it that numbers of this level and deeper ones begin anew."""
        for known in [known for known in self._counts if known >= level]:
            del self._counts[known]

    def next(self, mark: Element, level: int) -> str:
        """Return the number of the next paragraph; empty for a bullet."""
        self.end(level + 1)
        if name_of(mark) != "buAutoNum":
            self.end(level)
            return ""
        scheme, start = mark.get("type", ""), mark.get("startAt", "1")
        first = int(start[:5]) if start.isascii() and start.isdigit() else 1
        known, last = self._counts.get(level, (scheme, first - 1))
        number = last + 1 if known == scheme else first
        self._counts[level] = (scheme, number)
        return _written(scheme, number)


def _written(scheme: str, number: int) -> str:
    """Return a number as a scheme such as "alphaLcParenR" writes it."""
    digits = str(number)
    if scheme.startswith("alpha"):
        digits = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 20)
    elif scheme.startswith("roman"):
        digits = _roman(number)
    if "Uc" in scheme:
        digits = digits.upper()
    if scheme.endswith("ParenBoth"):
        return f"({digits})"
    if scheme.endswith("ParenR"):
        return f"{digits})"
    return digits if scheme.endswith("Plain") else f"{digits}."


def _roman(number: int) -> str:
    parts = []
    left = min(number, _HIGHEST)
    for value, digits in _ROMAN:
        count, left = divmod(left, value)
        parts.append(digits * count)
    return "".join(parts)
