"""The words of a text: one segmentation for everything that is indexed and every query.

Text is first made alike: characters that show nothing (soft hyphen, zero-width ones, variation
selectors) go, then NFKC and case folding: `Straße` becomes `strasse`, full-width `ＡＢＣ` becomes
`abc`.

**Scripts with spaces.** A word is a run of letters, digits and combining marks that begins with a
letter or a digit. Everything else splits, and a phrase finds again what was split:

    foo.bar  two-words  snake_case  AT&T   foo bar  two words  snake case  at t
    3.14  1,234.56  2024-01-01             3 14  1 234 56  2024 01 01
    HTTP2  l'été  company's                http2  l été  company s

Two things are held together, because their parts would mean something else: a negation (`don't`,
with any apostrophe) and a single Latin letter before `++` or `#` (`c++`, `c#`, `f#`). A run longer
than `WORD_LIMIT` is cut. Hangul has spaces: its words are taken as they stand.

**Scripts without spaces** (Chinese and Japanese, Thai, Lao, Khmer, Myanmar). Every character of a
run begins one word, which is that character and the one behind it; the last character, with
nothing behind it, is a word by itself. Where another script begins, the run ends:

    北京大学           北京 京大 大学 学
    北京，用Python3写   北京 京 用 python3 写

So the word at position i begins with character i. That makes queries exact:

- A phrase of two or more characters asks for its pairs in a row, without the single last one:
  京大学 is `京大 大学`. It is found where exactly these characters stand in a row, also in the
  middle of a run, and never across the end of one, since there a single character lies between.
- A single character at the end of a phrase asks for every word that begins with it: 学 is `学*`,
  which finds 学 at the end of a run (`学`) as well as before anything (`学生`).
- Where a phrase itself goes on behind a run, the single last character stays: 京，用 is
  `京 用*`, and finds these two only with a border between them.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

FTS5_TOKENIZE: Final = "ascii tokenchars '''+#'"
"""For FTS5's option `tokenize`, in double quotes. Splits joined words at spaces, changes none."""

WORD_LIMIT: Final = 255
"""Characters of the longest word; at most 1,020 bytes, which every engine takes."""

_SILENT = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""What Unicode calls default ignorable."""

UNSPACED: Final = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # 々〆〇 and other marks of Han
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
    "\u3041-\u3096\u3099\u309a\u309d-\u309f"  # Hiragana
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # Katakana and rarer kana
    "\u3105-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ecf\u0edc-\u0edf"  # Lao
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"
)
"""Letters and marks of the scripts without spaces, as the inside of a regular expression's class.

Digits of these scripts are digits like all others. The last line is Myanmar.
"""

_UNSPACED_RUN = re.compile(f"([{UNSPACED}]+)")


def _combining_marks() -> str:
    r"""Return all combining marks as ranges for a regular expression, whose `\w` lacks them."""
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x3400), *range(0xA000, 0xAC00), *range(0xFB00, 0x1F000)):
        if unicodedata.category(chr(code)) not in {"Mn", "Mc"}:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_IN_WORD = rf"[a-z0-9\w{_combining_marks()}]"
"""ASCII is named although `\\w` has it, which is twice as fast: it is looked up before all else."""

_WORD = re.compile(
    rf"[a-z](?:\+\+|#)|[^\W_]{_IN_WORD}{{0,{WORD_LIMIT - 1}}}(?:(?<=n)'t(?!{_IN_WORD}))?"
)
_ASCII_WORD = re.compile(rf"[a-z](?:\+\+|#)|[a-z0-9]{{1,{WORD_LIMIT}}}(?:(?<=n)'t(?![a-z0-9]))?")


@dataclass(frozen=True, slots=True)
class Term:
    """A word to look for.

    Attributes:
        word: As `words` has it.
        prefix: Whether every word that begins with it is meant.
    """

    word: str
    prefix: bool = False


def words(text: str) -> list[str]:
    """Return the words of a text in order, for the index; no word has white space or a `"`.

    Words of two texts with a space between them are those of the one, then those of the other.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    parts = _UNSPACED_RUN.split(_alike(text))
    found: list[str] = _WORD.findall(parts[0])
    for run, spaced in zip(parts[1::2], parts[2::2], strict=True):
        found.extend(map(operator.add, run, run[1:]))
        found.append(run[-1])
        found.extend(_WORD.findall(spaced))
    return found


def phrase_terms(text: str) -> list[Term]:
    """Return what must stand in a row in a text that holds this phrase; empty without a word."""
    found = words(text)
    if not found or not _is_single(found[-1]):
        return [Term(word) for word in found]
    if _ends_run(found, len(found) - 1):
        return [Term(word) for word in found[:-1]]
    return [*map(Term, found[:-1]), Term(found[-1], prefix=True)]


def any_terms(text: str) -> list[Term]:
    """Return the distinct words of a query, in order, to look for any of them.

    A single character that ends a run is left out: the pairs before it say more.
    """
    found = words(text)
    terms = (
        Term(word, prefix=_is_single(word))
        for place, word in enumerate(found)
        if not _ends_run(found, place)
    )
    return list(dict.fromkeys(terms))


def match_phrase(text: str) -> str | None:
    """Return the FTS5 query for texts that hold this phrase; None if it has no word."""
    terms = phrase_terms(text)
    if not terms:
        return None
    return _quoted(" ".join(term.word for term in terms), prefix=terms[-1].prefix)


def match_any(text: str) -> str | None:
    """Return the FTS5 query for texts that hold any word of this one; None if it has no word."""
    terms = any_terms(text)
    return " OR ".join(_quoted(term.word, prefix=term.prefix) for term in terms) or None


def _alike(text: str) -> str:
    """Return a text in the one form in which texts are compared, its words not yet cut."""
    seen = _SILENT.sub("", text).replace("™", " ")  # NFKC would add "tm" to the word before it.
    folded = unicodedata.normalize("NFKC", seen).casefold()
    even = unicodedata.normalize("NFKC", folded)
    return even.replace("’", "'").replace("ʼ", "'").replace("_", " ")


def _is_single(word: str) -> bool:
    """Return whether a word is one character of a script without spaces."""
    return len(word) == 1 and _UNSPACED_RUN.match(word) is not None


def _ends_run(found: list[str], place: int) -> bool:
    """Return whether the word at a place is the last character of a run of several.

    Pairs are always followed by the single character that ends their run.
    """
    if place == 0 or not _is_single(found[place]):
        return False
    before = found[place - 1]
    return len(before) == 2 and _UNSPACED_RUN.match(before) is not None


def _quoted(joined: str, *, prefix: bool) -> str:
    """Return words as an FTS5 string, in which nothing has a meaning of its own."""
    return f'"{joined}"*' if prefix else f'"{joined}"'
