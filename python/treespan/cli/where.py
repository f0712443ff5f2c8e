"""The language of `--where`: a text becomes a filter.

either    = both {"or" both}
both      = negation {"and" negation}
negation  = "not" negation | "(" either ")" | condition
condition = key ("=" | "!=" | "<" | "<=" | ">" | ">=") value
          | key ["not"] "in" values
          | key "contains" (value | ("any" | "all") values)
          | key "matches" string
          | key "exists" | key "is" "empty"
values    = "(" value {"," value} ")"
key       = word | "`...`" | quoted
value     = number | "true" | "false" | date | date-time | quoted | word
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from treespan import filters
from treespan.cli.where_words import RESERVED, Kind, Token, WhereError, tokens, value
from treespan.filters import MOST_NESTING, Condition, Operator, Scalar, value_type

if TYPE_CHECKING:
    from treespan.filters import Filter

_COMPARISONS: Final = {
    "=": Operator.EQ,
    "==": Operator.EQ,
    "!=": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LTE,
    ">": Operator.GT,
    ">=": Operator.GTE,
}
_OPERATORS: Final = "an operator (= != < <= > >= in, not in, contains, matches, exists, is empty)"
_KEY: Final = "a condition (such as year >= 2024), not or ("


def parse(text: str) -> Filter:
    """Return the filter that a text says.

    Raises:
        WhereError: it says none.
    """
    return _Parser(text).whole()


class _Parser:
    """Walks over the tokens from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._next = 0
        self._depth = 0

    def whole(self) -> Filter:
        where = self._either()
        if self._token.kind is not Kind.END:
            raise self._expected("and, or, or the end")
        return where

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._token
        self._next += token.kind is not Kind.END
        return token

    def _take_word(self, *words: str) -> bool:
        found = self._token.is_word(*words)
        self._next += found
        return found

    def _take_sign(self, sign: str) -> bool:
        found = self._token.is_sign(sign)
        self._next += found
        return found

    def _expected(self, what: str) -> WhereError:
        return WhereError(
            self._text, self._token.at, f"expected {what}, found {self._token.shown()}"
        )

    def _either(self) -> Filter:
        parts = [self._both()]
        while self._take_word("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else filters.Any(tuple(parts))

    def _both(self) -> Filter:
        parts = [self._negation()]
        while self._take_word("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else filters.All(tuple(parts))

    def _negation(self) -> Filter:
        if not (self._token.is_word("not") or self._token.is_sign("(")):
            return self._condition()
        if self._depth == MOST_NESTING:
            said = f"not and ( are nested more than {MOST_NESTING} deep here"
            raise WhereError(self._text, self._token.at, said)
        self._depth += 1
        inner = self._negated() if self._take_word("not") else self._grouped()
        self._depth -= 1
        return inner

    def _negated(self) -> Filter:
        return filters.Not(self._negation())

    def _grouped(self) -> Filter:
        self._take_sign("(")
        inner = self._either()
        if not self._take_sign(")"):
            raise self._expected("and, or, or )")
        return inner

    def _condition(self) -> Condition:
        key = self._key()
        token = self._token
        if token.kind is Kind.SIGN and token.text in _COMPARISONS:
            self._take()
            return Condition(key, _COMPARISONS[token.text], (self._value(),))
        if self._take_word("not"):
            if not self._take_word("in"):
                raise self._expected("in")
            return Condition(key, Operator.NOT_IN, self._values())
        if self._take_word("in"):
            return Condition(key, Operator.IN, self._values())
        if self._take_word("contains"):
            return self._contains(key)
        if self._take_word("matches"):
            return Condition(key, Operator.TEXT_MATCH, (self._words(),))
        return self._without_operand(key)

    def _without_operand(self, key: str) -> Condition:
        if self._take_word("exists"):
            return Condition(key, Operator.EXISTS)
        if not self._take_word("is"):
            raise self._expected(_OPERATORS)
        if not self._take_word("empty"):
            raise self._expected("empty")
        return Condition(key, Operator.IS_EMPTY)

    def _contains(self, key: str) -> Condition:
        if self._take_word("any"):
            return Condition(key, Operator.CONTAINS_ANY, self._values())
        if self._take_word("all"):
            return Condition(key, Operator.CONTAINS_ALL, self._values())
        return Condition(key, Operator.CONTAINS, (self._value(),))

    def _key(self) -> str:
        token = self._token
        if token.kind is Kind.QUOTED:
            return self._take().text
        if token.kind is not Kind.WORD or token.is_word(*RESERVED):
            raise self._expected(_KEY)
        if not (token.text[0].isalpha() or token.text[0] == "_"):
            said = f"expected a key, found {token.text!r}; one like this stands in backticks"
            raise WhereError(self._text, token.at, said)
        return self._take().text

    def _value(self) -> Scalar:
        found = value(self._text, self._token)
        self._take()
        return found

    def _words(self) -> str:
        token, found = self._token, self._value()
        if isinstance(found, str):
            return found
        raise WhereError(self._text, token.at, f"expected words in quotes, found {token.shown()}")

    def _values(self) -> tuple[Scalar, ...]:
        if not self._take_sign("("):
            raise self._expected("( and a list of values")
        found = [self._value()]
        while self._take_sign(","):
            at = self._token.at
            found.append(self._value())
            if value_type(found[-1]) is not value_type(found[0]):
                raise WhereError(self._text, at, "the values of a list are of one type")
        if not self._take_sign(")"):
            raise self._expected(", or )")
        return tuple(found)
