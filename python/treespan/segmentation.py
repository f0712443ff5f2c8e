"""Sentences of a text in any language, and good places to cut a sentence that is too long.

The finder is sentencex; on top come rules of our own. Chinese and Japanese sentences end at
。！？；with the quotes and brackets that close there. A line break always ends a sentence. A
number or letter that starts an item stays with it. A full stop inside a word or before a small
letter ends nothing. No character but white space is ever lost.
"""

from __future__ import annotations

import bisect
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise

from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]

Span = tuple[int, int]
"""Start and end in code points."""

_LINE = re.compile(r"[\n\r\u2028\u2029]+")
_WIDE_END = re.compile("[。！？；｡]+[”’」』）】》〉〕\\])\"'〞＂]*")
_OPENING = "“‘「『（【《〈〔([\"'"
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_ITEM_MARK = re.compile(r"[(（]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)）]")
_LINE_BODY = re.compile(r"[^\n\r\u2028\u2029]+")
_INK = re.compile(r"\S")
_SAMPLE = 2000
_WINDOW = 1000
"""Characters given to sentencex at once."""

_CLAUSE = re.compile("[，；、：][”’」』）】》]*|[,;:](?=\\s)|(?<=\\s)[—–-](?=\\s)|——")
_SPACE = re.compile(r"\s+")
_ZERO_WIDTH_JOINER = "\u200d"


def sentences(text: str, language: str = "") -> list[Span]:
    """Return the sentences of a text in order, with nothing but white space between two of them.

    Args:
        text: Without leading or trailing white space.
        language: Its ISO 639-1 code; empty means by the script.
    """
    if not text:
        return []
    cuts = {0, len(text)}
    cuts.update(_found(text, language or _language(text)))
    cuts.update(match.end() for match in _WIDE_END.finditer(text))
    cuts.update(match.end() for match in _LINE.finditer(text))
    return _without_bare_marks(text, _spans(text, sorted(cuts)))


def pieces(
    text: str, count: Callable[[Sequence[str]], list[int]], target_tokens: int
) -> list[Span]:
    """Return a text that is too long in pieces of at most `target_tokens`, about equal in size.

    A piece is larger only where it is a single character. Nothing but white space lies between two
    pieces.

    Args:
        text: Usually one sentence.
        count: Returns the tokens of each of several texts.
        target_tokens: At least 1.
    """
    done: list[Span] = []
    waiting = _spans(text, [0, len(text)])
    while waiting:
        sizes = count([text[start:end] for start, end in waiting])
        following: list[Span] = []
        for (start, end), size in zip(waiting, sizes, strict=True):
            if size <= target_tokens or end - start < 2:
                done.append((start, end))
                continue
            body = text[start:end]
            cuts = [0, *cut_points(body, math.ceil(size / target_tokens)), len(body)]
            following += [(start + first, start + last) for first, last in _spans(body, cuts)]
        waiting = following
    return sorted(done)


def cut_points(text: str, parts: int) -> list[int]:
    """Return where to cut a text into about `parts` equal parts, in rising order.

    Each cut is the clause mark next to its ideal place, else the white space, else a place between
    two characters as readers see them; never one inside a letter with its accents or an emoji
    sequence, unless it is as long as a part.

    Args:
        text: At least 2 characters.
        parts: At least 2.
    """
    length = len(text) / parts
    cuts: list[int] = []
    for part in range(1, parts):
        place = _best_cut(text, part * length, length, cuts[-1] if cuts else 0)
        if place:
            cuts.append(place)
    return cuts or [max(1, len(text) // 2)]


def _language(text: str) -> str:
    """Return the code of a language whose rules suit the script of the text."""
    sample = text[:_SAMPLE]
    if 5 * len(_HAN.findall(sample)) > len(sample):
        return "ja" if _KANA.search(sample) else "zh"
    if _KANA.search(sample):
        return "ja"
    return "ru" if 5 * len(_CYRILLIC.findall(sample)) > len(sample) else "en"


def _found(text: str, language: str) -> list[int]:
    """Return the ends that sentencex finds, without those that are none.

    It is given a line at a time, and of a long line a window at a time: its time grows with the
    square of what it is given, and it holds the interpreter meanwhile. A window begins where the
    last sentence of the one before begins, so that none is cut by it.
    """
    ends: list[int] = []
    for line in _LINE_BODY.finditer(text):
        start, stop = line.span()
        while start < stop:
            window = text[start : min(stop, start + _WINDOW)]
            found = [
                start + boundary["end_index"]
                for boundary in get_sentence_boundaries(language, window)
            ]
            is_last = start + len(window) == stop
            inner = found if is_last else [end for end in found if end < start + len(window)]
            ends += inner
            start = stop if is_last else max(inner, default=start + _WINDOW // 2)
    return [end for end in ends if 0 < end < len(text) and _may_end(text, end)]


def _may_end(text: str, end: int) -> bool:
    """Tell whether a sentence may end here: not inside a word, nor before a small letter."""
    before, after = text[end - 1], text[end]
    if not before.isspace():
        return not (before.isascii() and after.isalnum() and after.isascii())
    following = _INK.search(text, end)
    lower = following is not None and following[0].islower()
    return not lower or _LINE.search(before) is not None


def _spans(text: str, cuts: Sequence[int]) -> list[Span]:
    """Return what lies between cuts, trimmed, where it is anything."""
    spans = []
    for start, end in pairwise(cuts):
        body = text[start:end]
        left = len(body) - len(body.lstrip())
        right = len(body.rstrip())
        if left < right:
            spans.append((start + left, start + right))
    return spans


def _without_bare_marks(text: str, spans: Sequence[Span]) -> list[Span]:
    """Join a mark such as "2." that stands alone with what follows."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and _stands_alone(text, joined[-1], start):
            start = joined.pop()[0]
        joined.append((start, end))
    return joined


def _stands_alone(text: str, span: Span, following: int) -> bool:
    """Tell whether a span is but an item's mark or an opening quote before others."""
    words = text[span[0] : span[1]]
    if _LINE.search(text, span[1], following):
        return False
    return bool(_ITEM_MARK.fullmatch(words)) or not words.strip(_OPENING)


def _best_cut(text: str, ideal: float, length: float, after: int) -> int:
    """Return the best place near `ideal`, above `after` and within the text; 0 where there is none.

    Marks and white space are looked for a third of a part away, borders of characters a whole part.
    """
    reach = max(1.0, length / 3)
    low = max(after + 1, math.ceil(ideal - reach))
    high = min(len(text) - 1, math.floor(ideal + reach))
    if low > high:
        return 0
    for pattern in (_CLAUSE, _SPACE):
        places = [match.end() for match in pattern.finditer(text, low - 1, high)]
        if places := [place for place in places if place >= low]:
            return _nearest(places, round(ideal))
    middle = min(max(round(ideal), low), high)
    for distance in range(math.ceil(length)):
        for place in (middle - distance, middle + distance):
            if after < place < len(text) and _between_characters(text, place):
                return place
    return middle


def _nearest(places: Sequence[int], ideal: int) -> int:
    at = bisect.bisect_left(places, ideal)
    return min(places[max(0, at - 1) : at + 1], key=lambda place: abs(place - ideal))


def _between_characters(text: str, place: int) -> bool:
    """Tell whether the code points around a place belong to two characters as readers see them."""
    before, after = text[place - 1], text[place]
    if before == _ZERO_WIDTH_JOINER or _extends(after):
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        start = place
        while start and _is_flag_letter(text[start - 1]):
            start -= 1
        return (place - start) % 2 == 0
    return not _in_hangul_syllable(before, after)


def _extends(character: str) -> bool:
    """Tell whether a code point belongs to the one before it, as accents and skin tones do."""
    if character.isascii():
        return False
    return (
        character == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character).startswith("M")
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _in_hangul_syllable(before: str, after: str) -> bool:
    """Tell whether two code points are parts of one Korean syllable written apart."""
    return "\u1160" <= after <= "\u11ff" and (
        "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    )
