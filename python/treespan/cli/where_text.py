"""Filters as texts in the language of `--where`: what was understood, for people to read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from treespan import filters
from treespan.cli.where_words import RESERVED
from treespan.filters import Condition, Filter, Instant, Operator, Scalar

_SIGNS: Final = {
    Operator.EQ: "=",
    Operator.NE: "!=",
    Operator.LT: "<",
    Operator.LTE: "<=",
    Operator.GT: ">",
    Operator.GTE: ">=",
    Operator.IN: "in",
    Operator.NOT_IN: "not in",
    Operator.CONTAINS: "contains",
    Operator.CONTAINS_ANY: "contains any",
    Operator.CONTAINS_ALL: "contains all",
    Operator.TEXT_MATCH: "matches",
    Operator.EXISTS: "exists",
    Operator.IS_EMPTY: "is empty",
}
_LISTS: Final = (Operator.IN, Operator.NOT_IN, Operator.CONTAINS_ANY, Operator.CONTAINS_ALL)
_ESCAPED: Final = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def text_of(where: Filter) -> str:
    """Return a text that `parse` makes the same filter of."""
    match where:
        case Condition():
            return _condition(where)
        case filters.Not(part):
            return f"not {_inside(part)}"
        case filters.All(parts):
            return " and ".join(_inside(part) for part in parts)
        case filters.Any(parts):
            return " or ".join(_inside(part) for part in parts)


def _inside(where: Filter) -> str:
    """Return the text of a filter within another; parentheses more than needed read well."""
    text = text_of(where)
    return f"({text})" if isinstance(where, filters.All | filters.Any) else text


def _condition(condition: Condition) -> str:
    start = f"{_key(condition.key)} {_SIGNS[condition.operator]}"
    if condition.operator in _LISTS:
        return f"{start} ({', '.join(_value(value) for value in condition.values)})"
    return " ".join((start, *(_value(value) for value in condition.values)))


def _key(key: str) -> str:
    plain = key.replace("_", "a").replace(".", "a").replace("-", "a")
    bare = plain.isalnum() and (key[0].isalpha() or key[0] == "_") and key.lower() not in RESERVED
    return key if bare else _quoted(key, "`")


def _value(value: Scalar) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value, '"')
        case Instant():
            return _instant(value)
        case _:
            return repr(value)


def _instant(value: Instant) -> str:
    moment = _EPOCH + timedelta(microseconds=value.us)
    text = moment.isoformat().removesuffix("+00:00")
    return text.removesuffix("T00:00:00") if text.endswith("T00:00:00") else f"{text}Z"


def _quoted(text: str, mark: str) -> str:
    escapes = _ESCAPED | {mark: f"\\{mark}"}
    return mark + "".join(escapes.get(one, one) for one in text) + mark
