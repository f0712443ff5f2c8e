"""The words of `--where`: a text cut into quoted strings, signs and bare words, and values read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from rich.cells import cell_len

from treespan.filters import Instant, Scalar

RESERVED: Final = frozenset(
    ("and", "or", "not", "in", "contains", "any", "all", "matches", "exists", "is", "empty")
)
"""Bare words with a meaning; quoted they are keys or strings like others."""

_TOKEN: Final = re.compile(
    r"""
    (?P<quoted>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `(?:[^`\\]|\\.)*`)
  | (?P<sign><= | >= | != | == | [=<>(),])
  | (?P<word>[^\s"'`=<>!(),]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_SPACE: Final = re.compile(r"\s*")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Cells of the text that an error shows on either side of its place.
_AROUND: Final = 60


class WhereError(ValueError):
    """A text that is no filter; says where, and what was expected there."""

    def __init__(self, text: str, at: int, said: str) -> None:
        """Take the text, the place in it, and what is wrong there."""
        self.message = f"{said}\n{_pointed(text, at)}"
        super().__init__(self.message)
        self.at = at


class Kind(Enum):
    """What a token is."""

    QUOTED = "quoted"
    SIGN = "sign"
    WORD = "word"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A part of the text."""

    kind: Kind
    text: str
    """As it was written; of quoted ones what stands between the marks, escapes resolved."""
    at: int
    mark: str = ""
    """The quotation mark."""

    def is_word(self, *words: str) -> bool:
        """Return whether it is one of these bare words, in any case."""
        return self.kind is Kind.WORD and self.text.lower() in words

    def is_sign(self, *signs: str) -> bool:
        """Return whether it is one of these signs."""
        return self.kind is Kind.SIGN and self.text in signs

    def shown(self) -> str:
        """Return how an error names it."""
        if self.kind is Kind.END:
            return "the end"
        return f"{self.mark}{self.text}{self.mark}" if self.mark else repr(self.text)


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, the last of them its end.

    Raises:
        WhereError: a quotation mark is not closed, or a character has no place.
    """
    found: list[Token] = []
    at = _after_space(text, 0)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise WhereError(text, at, _no_token(text[at]))
        found.append(_token(match))
        at = _after_space(text, match.end())
    return [*found, Token(Kind.END, "", len(text))]


def value(text: str, token: Token) -> Scalar:
    """Return the value that a token stands for.

    Raises:
        WhereError: it stands for none.
    """
    if token.kind is Kind.QUOTED and token.mark != "`":
        return token.text
    if token.kind is not Kind.WORD or token.is_word(*RESERVED):
        raise WhereError(text, token.at, _no_value(token))
    word = token.text
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if _WHOLE.fullmatch(word):
        return _whole(text, token)
    if _FLOAT.fullmatch(word):
        return float(word)
    if _TIME.fullmatch(word):
        return _instant(text, token)
    if word[0].isalpha() or word[0] == "_":
        return word
    raise WhereError(
        text,
        token.at,
        f"{word!r} is no number and no date such as 2024-01-31 or 2024-01-31T12:30:00Z; "
        "a string that does not begin with a letter stands in quotes",
    )


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _token(match: re.Match[str]) -> Token:
    kind, text = Kind(match.lastgroup), match.group()
    if kind is not Kind.QUOTED:
        return Token(kind, text, match.start())
    inside = _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])
    return Token(kind, inside, match.start(), text[0])


def _no_token(character: str) -> str:
    if character in "\"'`":
        return f"the quotation mark {character} is never closed"
    return f"{character!r} has no meaning here; not equal is written !="


def _no_value(token: Token) -> str:
    said = "expected a value (a number, true, false, a date, or a string)"
    if token.kind is Kind.QUOTED:
        return f"{said}; backticks are for keys, strings stand in double or single quotes"
    if token.is_word(*RESERVED):
        return f"{said}, found the word {token.text!r}; a string like this stands in quotes"
    return f"{said}, found {token.shown()}"


def _whole(text: str, token: Token) -> int:
    # More digits than this are refused as a number, and Python takes long to read very many.
    if len(token.text) > 20 or not -(2**63) <= int(token.text) < 2**63:
        raise WhereError(text, token.at, "this number does not fit 64 bits")
    return int(token.text)


def _instant(text: str, token: Token) -> Instant:
    try:
        moment = datetime.fromisoformat(token.text)
    except ValueError as error:
        raise WhereError(text, token.at, f"{token.text} is no date: {error}") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Instant((moment - _EPOCH) // timedelta(microseconds=1))


def _pointed(text: str, at: int) -> str:
    """Return the text around a place, on one line, and a caret below the place."""
    start, end = max(0, at - _AROUND), at + _AROUND
    before = ("…" if start else "") + _visible(text[start:at])
    after = _visible(text[at:end]) + ("…" if end < len(text) else "")
    return f"  {before}{after}\n  {' ' * cell_len(before)}^"


def _visible(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)
