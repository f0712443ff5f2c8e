"""Pages out of pymupdf: lines of text and drawn rules, turned upright.

Besides `open` this is the only file that knows pymupdf. Text comes from `get_text("dict")`
without pictures, which is some hundred times cheaper than a layout model; drawings are asked for
only up to a size of page that cannot stall the worker.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from math import isfinite
from typing import Any

import pymupdf

from ingest_svc.readers.pdf.lines import Box, Line, Page, Rules
from ingest_svc.readers.pdf.rules import rules_of, rules_of_vectors
from ingest_svc.readers.pdf.split import lines_over_rules, split_at_rules
from ingest_svc.readers.pdf.text import (
    clean,
    is_right_to_left,
    with_plain_bullet,
    without_doubles,
)
from ingest_svc.readers.pdf.turn import Turn

_FLAGS = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES | pymupdf.TEXT_COLLECT_VECTORS
_VECTOR = 3
"""Type of a block that is a drawn path."""
_BOLD, _MONO, _ITALIC = (
    pymupdf.TEXT_FONT_BOLD,
    pymupdf.TEXT_FONT_MONOSPACED,
    pymupdf.TEXT_FONT_ITALIC,
)
_UPRIGHT = (1.0, 0.0)
_PAINTED = 16 | 32  # filled or stroked; neither means drawn invisibly
_LEAST_SIZE = 0.5
"""Font sizes below this, in points, count as this; broken files have sizes of zero."""
_LITTLE_TEXT = 200
"""Pictures are only looked at on pages with fewer characters."""
_SAME_SPOT = 0.7
"""Two boxes that share this much of their area are one spot."""
_STRIP = 8.0
"""Height, in points, of the strips that copies of a line are looked for in."""
_BOLD_NAMES = ("bold", "black", "heavy", "demi", "semibold")
_MONO_NAMES = ("mono", "courier", "consolas", "typewriter", "cmtt", "menlo", "lucidacons")

_REFERENCE = re.compile(r"(\d+) \d+ R")

_Span = dict[str, Any]


def read_page(document: Any, index: int, max_drawing_bytes: int) -> Page:
    """Return one page.

    Args:
        document: The open pymupdf document.
        index: The page, from 0.
        max_drawing_bytes: Drawings of a page with more bytes of content are not looked at.
    """
    page = document[index]
    # Text and drawings come in the page's own frame, before /Rotate; the direction of most text
    # says how to turn it.
    shown = page.rect  # the crop box as it is shown; the box itself is asked for at some cost
    sides = (shown.width, shown.height)
    width, height = sides if page.rotation % 180 == 0 else sides[::-1]
    raw = page.get_text("dict", flags=_FLAGS)
    return _page(document, page, raw, (width, height), max_drawing_bytes)


def _page(
    document: Any,
    page: Any,
    raw: dict[str, Any],
    sides: tuple[float, float],
    max_drawing_bytes: int,
) -> Page:
    """Return a page of what the library found on it."""
    width, height = sides
    found = [line for block in raw["blocks"] for line in block.get("lines", ())]
    vectors = [block for block in raw["blocks"] if block["type"] == _VECTOR]
    turn = _main_turn(found)
    turned = Turn(turn, width, height)
    lines: list[Line] = []
    broken = 0
    for raw_line in found:
        line, replaced = _line(raw_line, turned, len(lines))
        broken += replaced
        if line is not None:
            lines.append(line)
    searched = True
    whole = Box(0, 0, turned.width, turned.height)
    rules = rules_of_vectors(vectors, turned.box, whole, lines)
    drawings = len(vectors)
    if rules is None:
        # Paths of several lines: what they are is only told at the cost of a second look.
        searched = _content_bytes(document, page) <= max_drawing_bytes
    if rules is None and searched:
        paths = page.get_cdrawings()
        rules = rules_of(paths, turned.box, whole)
        drawings = sum(len(path.get("items", ())) for path in paths)
    rules = rules or Rules()
    crossing = lines_over_rules(lines, rules)
    if crossing:
        words = [(turned.box(*word[:4]), clean(word[4])[0]) for word in page.get_text("words")]
        lines = split_at_rules(lines, crossing, words)
    little = sum(len(line.text) for line in lines) < _LITTLE_TEXT
    return Page(
        number=page.number + 1,
        width=turned.width,
        height=turned.height,
        lines=tuple(_without_copies(lines)),
        rules=rules,
        drawings=drawings,
        searched=searched,
        picture_share=_picture_share(page) if little else 0.0,
        broken_characters=broken,
        turn=turn,
    )


def _quarters(direction: tuple[float, float]) -> int:
    """Return the direction of writing as quarter turns clockwise."""
    cosine, sine = direction
    if abs(cosine) >= abs(sine):
        return 0 if cosine >= 0 else 2
    return 1 if sine > 0 else 3


def _main_turn(lines: list[dict[str, Any]]) -> int:
    """Return the direction that most characters of a page run in."""
    if all(line["dir"] == _UPRIGHT for line in lines):
        return 0
    counts: Counter[int] = Counter()
    for line in lines:
        counts[_quarters(line["dir"])] += sum(len(span["text"]) for span in line["spans"])
    return counts.most_common(1)[0][0] if counts else 0


@lru_cache(maxsize=1024)
def _looks(font: str, flags: int) -> tuple[bool, bool]:
    """Return whether letters of a font are bold, and whether they are of equal width."""
    name = font.lower()
    return (
        bool(flags & _BOLD) or any(part in name for part in _BOLD_NAMES),
        bool(flags & _MONO) or any(part in name for part in _MONO_NAMES),
    )


def _line(raw: dict[str, Any], turn: Turn, order: int) -> tuple[Line | None, int]:
    """Return a line, None where it holds no text, and how many characters were replaced."""
    spans = [span for span in raw["spans"] if not span["text"].isspace() and span["text"]]
    if not spans or not isfinite(sum(raw["bbox"])):
        return None, 0
    box = turn.box(*_inked(raw, spans))
    text, broken = clean(with_plain_bullet(_raw_text(raw["spans"])))
    main = spans[0] if len(spans) == 1 else max(spans, key=lambda span: len(span["text"]))
    text = without_doubles(text.strip(), box.width, main["size"])
    if not text:
        return None, broken
    # Formulas have hundreds of spans in three or four fonts.
    fonts = {(span["font"], span["flags"]) for span in spans}
    looks = [_looks(*font) for font in fonts]
    bold = all(bold for bold, _ in looks)
    line = Line(
        box=box,
        text=text,
        size=max(main["size"], _LEAST_SIZE),
        bold=bold,
        italic=all(flags & _ITALIC for _, flags in fonts),
        mono=all(mono for _, mono in looks),
        visible=any(span["char_flags"] & _PAINTED for span in spans),
        upright=_quarters(raw["dir"]) == turn.quarters,
        order=order,
        bold_lead="" if bold or len(fonts) == 1 else _bold_lead(spans),
    )
    return line, broken


def _bold_lead(spans: Sequence[_Span]) -> str:
    """Return the bold words that spans start with."""
    bold = takewhile(lambda span: _looks(span["font"], span["flags"])[0], spans)
    return clean("".join(span["text"] for span in bold))[0].strip()


def _inked(raw: dict[str, Any], spans: list[_Span]) -> tuple[float, float, float, float]:
    """Return the box of a line without spaces at its ends, where it runs along the x axis."""
    x0, y0, x1, y1 = raw["bbox"]
    if raw["dir"] != _UPRIGHT or is_right_to_left(spans[0]["text"]):
        return x0, y0, x1, y1
    first, last = spans[0], spans[-1]
    start, end = first["text"], last["text"]
    step = (first["bbox"][2] - first["bbox"][0]) / len(start)
    x0 = first["bbox"][0] + step * (len(start) - len(start.lstrip()))
    step = (last["bbox"][2] - last["bbox"][0]) / len(end)
    x1 = last["bbox"][2] - step * (len(end) - len(end.rstrip()))
    return x0, y0, max(x1, x0 + 0.1), y1


def _raw_text(spans: list[_Span]) -> str:
    """Return the text of spans; a front letter o of another font is drawn as a bullet."""
    text = "".join([span["text"] for span in spans])
    if text.lstrip()[:1] != "o":
        return text
    others = [span for span in spans[1:] if span["text"].strip()]
    if others and spans[0]["text"].strip() == "o" and others[0]["font"] != spans[0]["font"]:
        return "• " + text.lstrip()[1:].lstrip()
    return text


def _without_copies(lines: list[Line]) -> list[Line]:
    """Return the lines without those that print the same words again on the same spot."""
    if len({line.text for line in lines}) == len(lines):
        return lines
    kept: list[Line] = []
    seen: dict[tuple[str, int], list[Box]] = {}
    for line in lines:
        strip = int(line.box.y0 // _STRIP)
        near = (box for at in (-1, 0, 1) for box in seen.get((line.text, strip + at), ()))
        if any(_overlap(line.box, box) > _SAME_SPOT for box in near):
            continue
        seen.setdefault((line.text, strip), []).append(line.box)
        kept.append(line)
    return kept


def _overlap(one: Box, other: Box) -> float:
    """Return the shared area as a share of the first box."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / max(one.width * one.height, 1e-6)


def _content_bytes(document: Any, page: Any) -> int:
    """Return how long the page's content is, unpacked."""
    if not document.is_pdf:  # a picture has no content, and the library ends the process over it
        return 0
    # The page's own method does the same four times as slowly.
    _, contents = document.xref_get_key(page.xref, "Contents")
    return sum(len(document.xref_stream(int(xref)) or b"") for xref in _REFERENCE.findall(contents))


def _picture_share(page: Any) -> float:
    """Return the share of the page's area under its pictures."""
    frame = page.rect
    covered = 0.0
    for picture in page.get_image_info():
        x0, y0, x1, y1 = picture["bbox"]
        width = min(x1, frame.x1) - max(x0, frame.x0)
        height = min(y1, frame.y1) - max(y0, frame.y0)
        covered += max(width, 0.0) * max(height, 0.0)
    return min(covered / max(float(frame.width * frame.height), 1.0), 1.0)
