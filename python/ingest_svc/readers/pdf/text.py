"""Characters: cleaning what a text layer holds, and joining the ends of lines.

Compatibility forms are folded only where the plain letters are the same text: Latin and Arabic
ligatures, radicals that stand for ideographs, and odd spaces. Full-width letters, superscripts and
fractions keep their form, for folding them changes the meaning (x² is not x2).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
SOFT_HYPHEN = "\N{SOFT HYPHEN}"

_FOLDED_RANGES = (
    (0xFB00, 0xFB06),  # Latin ligatures
    (0xFB13, 0xFB17),  # Armenian ligatures
    (0xFB1D, 0xFB4F),  # Hebrew presentation forms
    (0xFB50, 0xFDCF),  # Arabic presentation forms A
    (0xFE70, 0xFEFC),  # Arabic presentation forms B
    (0x2E80, 0x2FD5),  # radicals drawn for ideographs
    (0xF900, 0xFAFF),  # compatibility ideographs
)
_DROPPED = "\u200b\u2060\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def _table() -> dict[int, str]:
    """Return the translation of characters that are folded, dropped or made plain spaces."""
    table = {
        code: unicodedata.normalize("NFKC", chr(code))
        for first, last in _FOLDED_RANGES
        for code in range(first, last + 1)
        if unicodedata.normalize("NFKC", chr(code)) != chr(code)
    }
    table |= {ord(character): "" for character in _DROPPED}
    table |= {ord(character): " " for character in _SPACES}
    return table


_TABLE = _table()
_BROKEN = re.compile("[\x00\ud800-\udfff]")
_DRAWN_BULLET = re.compile("^[^\\w\\s(\\[{]?[a-z]?[\x01-\x08\x0e-\x1b\uf000-\uf0ff]+\\s*")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_SPECIAL = re.compile("[^\x20-\x7e\u00a1-\u1fff\u3000-\ud7ff]|[\u1680]")
_BLANKS = re.compile(r" {2,}")
_DOTS = re.compile(r"(?:\s*[.·…‥_]){5,}|\ufffd{5,}")
_LEADERS = re.compile(r"[.·…‥_\ufffd]\s*[.·…‥_\ufffd]")
"""What any row of leader dots has; cheap to look for."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31f0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]"
)


def clean(text: str) -> tuple[str, int]:
    """Return the text with plain letters and spaces, and how many characters were replaced.

    Control characters, which some fonts map their symbols to, are dropped.
    """
    if (text.isascii() and text.isprintable()) or not _SPECIAL.search(text):
        return text, 0
    text, broken = _BROKEN.subn(REPLACEMENT, text)
    return _CONTROL.sub("", text.translate(_TABLE)), broken


def with_plain_bullet(text: str) -> str:
    """Return the text of a line with a bullet of a symbol font made a plain one."""
    if not _SPECIAL.search(text[:4]):
        return text
    return _DRAWN_BULLET.sub("• ", text)


def squeezed(text: str) -> str:
    """Return the text with runs of blanks made one, and rows of leader dots made short."""
    if _LEADERS.search(text):
        text = _DOTS.sub(" … ", text)
    if "  " in text:
        text = _BLANKS.sub(" ", text)
    return text.strip()


def is_right_to_left(text: str) -> bool:
    """Tell whether most letters of a text are of a script that reads from right to left."""
    if text.isascii():
        return False
    marked = len(_RIGHT_TO_LEFT.findall(text))
    return marked > 0 and 2 * marked >= sum(character.isalpha() for character in text)


def has_right_to_left(text: str) -> bool:
    """Tell whether a text has any letter that reads from right to left."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def is_unspaced(character: str) -> bool:
    """Tell whether a character is of a script that sets no spaces between words."""
    return not character.isascii() and _UNSPACED.match(character) is not None


def unspaced_count(text: str) -> int:
    """Return how many characters of a text are of scripts that set no spaces between words."""
    return 0 if text.isascii() else len(_UNSPACED.findall(text))


def without_doubles(text: str, width: float, size: float) -> str:
    """Return the text with every second character dropped where all are drawn twice on one spot.

    Fake bold prints a glyph twice, a hair apart. Text that merely has pairs ("1100") is twice as
    wide as such a line.
    """
    pairs = len(text) // 2
    if pairs < 2 or len(text) % 2 or text[0] != text[1] or text[::2] != text[1::2]:
        return text
    usual = sum(1.0 if is_unspaced(character) else 0.5 for character in text) * size
    return text[::2] if width < 0.65 * usual else text


_HYPHENS = ("-", "\N{HYPHEN}", SOFT_HYPHEN)
_LAST_WORD = re.compile(r"[\w]+(?:[-\u2010][\w]+)*[-\u2010\u00ad]$")
_FIRST_WORD = re.compile(r"^[\w]+(?:[-\u2010][\w]+)*")


def join(left: str, right: str, words: Container[str]) -> str:
    """Return two ends of lines as one text, with the hyphen of a word broken over them taken out.

    Args:
        left: The text so far.
        right: The text of the next line.
        words: The document's own words in lower case, hyphenated ones too. A hyphen stays where
            the joined word occurs nowhere else and the hyphenated one does.
    """
    if not left or not right:
        return left or right
    if left.endswith(SOFT_HYPHEN):
        return left[:-1] + right
    if left.endswith(_HYPHENS) and len(left) > 1 and left[-2].isalpha():
        return _hyphen_joined(left, right, words)
    if is_unspaced(left[-1]) and is_unspaced(right[0]):
        return left + right
    if left.endswith(("/", "\N{EN DASH}")) and not left[-2:-1].isspace() and "://" in left[-80:]:
        return left + right
    return f"{left} {right}"


def _hyphen_joined(left: str, right: str, words: Container[str]) -> str:
    """Return two ends of lines joined where the first ends with a hyphen after a letter."""
    first = _FIRST_WORD.match(right)
    last = _LAST_WORD.search(left)
    if not right[0].islower() or not first or not last:
        return left + right if right[0].isalnum() else f"{left} {right}"
    stem = last.group()[:-1].lower()
    whole, hyphenated = stem + first.group().lower(), f"{stem}-{first.group().lower()}"
    if whole not in words and hyphenated in words:
        return left + right
    return left[:-1] + right


_WORD = re.compile(r"\w+(?:-\w+)*")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, hyphenated ones whole."""
    return _WORD.findall(text.lower().replace("\N{HYPHEN}", "-"))


_STOPS, _CLOSERS = "[.!?;:。！？；：…۔؟।]", "['\"”’»)\\]」』）】]*"
_TERMINAL = re.compile(rf"{_STOPS}{_CLOSERS}\s*$|\D{_STOPS}{_CLOSERS}\d{{1,3}}$")


def ends_sentence(text: str) -> bool:
    """Tell whether a text ends as a sentence does, footnote marks after the stop allowed."""
    return _TERMINAL.search(text[-12:]) is not None


_DIGITS = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")


def is_number(text: str) -> bool:
    """Tell whether a cell holds a number, an amount, a share or a date rather than words."""
    digits = sum(character.isdecimal() for character in text)
    letters = sum(character.isalpha() for character in text)
    return digits > 0 and letters <= 0.34 * digits


def is_period(text: str) -> bool:
    """Tell whether the numbers of a text are years, or years and their short forms ("2015-16")."""
    numbers = _DIGITS.findall(text)
    years = [number for number in numbers if len(number) == 4 and _YEAR.match(number)]
    return bool(years) and all(number in years or len(number) < 3 for number in numbers)
