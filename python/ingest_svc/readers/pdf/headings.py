"""Headings: which pieces are titles of sections, and how deep.

Three sources, the surer first: the outline where most of it was found; numbers; looks (larger,
bold or capital letters than the text). Headings by looks alone are marked as guessed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.pdf.furniture import folded
from ingest_svc.readers.pdf.numbering import Number, levels_of, number_of
from ingest_svc.readers.pdf.outline import Bound
from ingest_svc.readers.pdf.paragraphs import CAPTION, CONTENTS_LINE
from ingest_svc.readers.pdf.pieces import Piece

_LONGEST = 160
_LONGEST_BOLD = 100
_LONGEST_NUMBERED = 110
_MOST_ROWS = 3
_DEEPEST = 6
_LARGER = 1.12
_LARGER_MEASURED = 1.25
"""Sizes that were read off a picture have to differ by more."""
_TRAILING_NUMBER = re.compile(r"\s+\d{1,4}$")
_SENTENCE_END = re.compile(r"[.,;，；。]$")

_Style = tuple[float, bool, bool]
"""Size in half points, bold, all capitals."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A piece that may be a heading by its number or its looks."""

    place: int
    number: Number | None
    style: _Style
    large: bool
    plain: bool
    """Neither large, bold nor capital: only its number speaks for it."""


def with_headings(pieces: Sequence[Piece], bound: Bound, body_size: float) -> list[Piece]:
    """Return the pieces with headings made headings.

    Args:
        pieces: All pieces of the document in reading order.
        bound: Its outline, bound to rows.
        body_size: Font size of the text, in points.
    """
    marked = [_by_outline(piece, bound) for piece in pieces]
    if bound.is_good:
        return marked
    candidates = [
        candidate
        for place, piece in enumerate(marked)
        if (candidate := _candidate(place, piece, body_size)) is not None
    ]
    candidates = _without_contents(candidates, marked)
    candidates = _without_crowds(candidates, marked)
    levels = _levels(candidates, _outline_styles(marked))
    for candidate in candidates:
        piece = marked[candidate.place]
        marked[candidate.place] = replace(
            piece,
            kind=BlockKind.HEADING,
            text=_full_text(piece),
            marker="",
            level=levels[candidate.place],
            stated=candidate.number is not None,
        )
    return _below_title(_joined_numbers(marked))


def _below_title(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with all headings below the document's title, where it shows one.

    The title is the first heading, on the first page, without a number and larger than any other.
    """
    places = [at for at, piece in enumerate(pieces) if piece.kind is BlockKind.HEADING]
    if len(places) < 2:
        return pieces
    title, others = pieces[places[0]], [pieces[at] for at in places[1:]]
    is_title = title.page == 1 and number_of(title.text) is None
    if not is_title or title.size < _LARGER * max(other.size for other in others):
        return pieces
    shift = title.level + 1 - min(other.level for other in others)
    if shift <= 0:
        return pieces
    result = list(pieces)
    for at in places[1:]:
        result[at] = replace(pieces[at], level=min(pieces[at].level + shift, _DEEPEST))
    return result


def _by_outline(piece: Piece, bound: Bound) -> Piece:
    """Return a piece as a heading where its rows are a title of the outline."""
    index = bound.entries.get(piece.rows[0].key) if piece.rows else None
    if index is None:
        return piece
    text = " ".join(row.text for row in piece.rows) if piece.kind is BlockKind.CODE else piece.text
    whole = replace(piece, text=text)
    return replace(
        whole,
        kind=BlockKind.HEADING,
        text=_full_text(whole),
        marker="",
        level=bound.levels[index],
    )


def _full_text(piece: Piece) -> str:
    """Return the text of a piece with its list mark put back."""
    if piece.kind is not BlockKind.LIST_ITEM or not piece.marker:
        return piece.text
    return f"{piece.marker}{'' if piece.marker.endswith('、') else ' '}{piece.text}"


def _candidate(place: int, piece: Piece, body_size: float) -> _Candidate | None:
    """Return a piece as a candidate, None where it cannot be a heading."""
    if piece.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) or not piece.visible:
        return None
    if piece.kind is BlockKind.LIST_ITEM and not piece.marker:
        return None
    text = _full_text(piece)
    if not _may_be_title(text) or len(piece.rows) > _MOST_ROWS:
        return None
    number = number_of(text)
    large = piece.size >= _LARGER * body_size
    bold = piece.bold and piece.size >= 0.95 * body_size and len(text) <= _LONGEST_BOLD
    recognised = bool(piece.rows) and piece.rows[0].recognised
    large = large and (not recognised or piece.size >= _LARGER_MEASURED * body_size)
    capital = _is_capital(text) and piece.size >= 0.95 * body_size and len(piece.rows) == 1
    capital = capital and not recognised
    style = (round(piece.size * 2) / 2, piece.bold, capital)
    if large or bold or capital:
        loud = large or bold or number is not None
        return _Candidate(place, number, style, large, plain=False) if loud or capital else None
    if number is not None and _is_title_by_number(piece, text, number):
        return _Candidate(place, number, style, large=False, plain=True)
    return None


def _may_be_title(text: str) -> bool:
    """Tell whether a text can be a title: letters, short, no sentence or caption."""
    letters = sum(character.isalpha() for character in text)
    if letters < 2 and not any("\u3400" <= character <= "\u9fff" for character in text):
        return False
    if len(text) > _LONGEST or _SENTENCE_END.search(text) or letters < 0.35 * len(text):
        return False
    return not CAPTION.match(text) and not CONTENTS_LINE.search(text) and "://" not in text


def _is_capital(text: str) -> bool:
    """Tell whether all letters are capitals, of a script that has them."""
    cased = [c for c in text if c.isupper() or c.islower()]
    plain = not any(character in "_(){}=;*<>" for character in text)
    return plain and len(cased) >= 4 and all(c.isupper() for c in cased) and len(text) <= 80


def _is_title_by_number(piece: Piece, text: str, number: Number) -> bool:
    """Tell whether its number alone makes a plain piece a heading: certain, short, with a name."""
    rest = text[len(number.text) :].strip()
    if not number.is_certain or len(piece.rows) > 1 or len(text) > _LONGEST_NUMBERED:
        return False
    if not rest:
        return number.rank < 10
    if rest[0].islower() or rest[0] in ",.)%":
        return False
    return len(rest) <= 80 and not rest[0].isdecimal()


def _without_contents(candidates: list[_Candidate], pieces: Sequence[Piece]) -> list[_Candidate]:
    """Return the candidates without contents lines: the text of another one and a page number."""
    titles = {folded(_full_text(pieces[candidate.place])) for candidate in candidates}
    return [
        candidate
        for candidate in candidates
        if not _TRAILING_NUMBER.search(text := _full_text(pieces[candidate.place]))
        or folded(_TRAILING_NUMBER.sub("", text)) not in titles
    ]


def _without_crowds(candidates: list[_Candidate], pieces: Sequence[Piece]) -> list[_Candidate]:
    """Return the candidates without styles too common for headings, and single plain numbers."""
    texts = sum(1 for piece in pieces if piece.kind is not BlockKind.TABLE) - len(candidates)
    by_style = Counter(c.style for c in candidates if not c.large and c.number is None)
    ranks = Counter(c.number.rank for c in candidates if c.number is not None)
    loud_ranks = {c.number.rank for c in candidates if c.number is not None and not c.plain}
    return [
        c
        for c in candidates
        if (c.large or c.number is not None or by_style[c.style] <= max(2, 0.6 * texts))
        and not (c.plain and c.number and _is_alone(c.number, ranks))
        and not (
            c.plain
            and c.number
            and loud_ranks
            and c.number.rank in loud_ranks
            and ranks[c.number.rank] > 40
        )
    ]


def _is_alone(number: Number, ranks: Counter[int]) -> bool:
    """Tell whether nothing else bears a number out: no other of its kind, no shallower decimal."""
    parent = len(number.parts) > 1 and ranks[number.rank - 1] > 0
    return number.text.isascii() and ranks[number.rank] < 2 and not parent


def _outline_styles(pieces: Sequence[Piece]) -> dict[_Style, int]:
    """Return the level of every style that headings of a thin outline have."""
    levels: dict[_Style, Counter[int]] = defaultdict(Counter)
    for piece in pieces:
        if piece.kind is BlockKind.HEADING:
            style = (round(piece.size * 2) / 2, piece.bold, _is_capital(piece.text))
            levels[style][piece.level] += 1
    return {style: counts.most_common(1)[0][0] for style, counts in levels.items()}


def _levels(candidates: list[_Candidate], known: Mapping[_Style, int]) -> dict[int, int]:
    """Return the level of every candidate, by place.

    Numbers say theirs. A style that numbers use has their level; the others are ranked between
    these by size and weight.
    """
    by_rank = levels_of({c.number.rank for c in candidates if c.number is not None})
    by_style: dict[_Style, Counter[int]] = defaultdict(Counter)
    for c in candidates:
        if c.number is not None:
            by_style[c.style][by_rank[c.number.rank]] += 1
    levels = {style: min(counts) for style, counts in by_style.items()} | dict(known)
    styles = sorted(
        {c.style for c in candidates} | set(levels),
        key=lambda style: (-style[0], not style[1], not style[2]),
    )
    above: tuple[_Style, int] | None = None
    for style in styles:
        if style in levels:
            level = levels[style]
        elif above is None:
            level = 1
        elif _is_same(above[0], style):
            level = above[1]
        else:
            level = above[1] + 1
        levels[style] = min(level, _DEEPEST)
        above = (style, levels[style])
    return {
        c.place: min(by_rank[c.number.rank] if c.number else levels[c.style], _DEEPEST)
        for c in candidates
    }


def _is_same(one: _Style, other: _Style) -> bool:
    """Tell whether two styles are one to the eye."""
    return abs(one[0] - other[0]) < 0.06 * one[0] and one[1:] == other[1:]


def _joined_numbers(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with "Chapter 1" and the title on the next row made one heading."""
    result: list[Piece] = []
    for piece in pieces:
        last = result[-1] if result else None
        if (
            last is not None
            and last.kind is piece.kind is BlockKind.HEADING
            and last.page_end == piece.page
            and (number := number_of(f"{last.text} ")) is not None
            and folded(number.text) == folded(last.text)
            and number_of(piece.text) is None
            and piece.box.y0 - last.box.y1 < 2.5 * max(last.size, piece.size)
        ):
            result[-1] = replace(
                last,
                text=f"{last.text} {piece.text}",
                page_end=piece.page_end,
                rows=last.rows + piece.rows,
            )
        else:
            result.append(piece)
    return result
