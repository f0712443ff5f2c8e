"""Filters, written as Python expressions.

    from treespan.client import key

    where = (key("year") >= 2024) & key("tags").contains("climate") & ~(key("language") == "de")
    client.search("How fast does the sea rise?", "papers", where=where)

Comparisons stand in parentheses, because `&`, `|` and `~` bind tighter. What keys there are, and
what a condition means, is said in `treespan.v1.MetadataCondition`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from treespan import filters
from treespan.client.conditions import check_key, check_operand, key_field, scalar
from treespan.filters import Condition, Operator, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable

Operand: TypeAlias = str | int | float | bool | datetime | date
"""What a key is compared with. A date means its midnight in UTC; a datetime has a time zone."""

_PARENTHESES: Final = (
    "&, | and ~ join conditions; put comparisons in parentheses, as in "
    '(key("year") >= 2024) & (key("language") == "en")'
)


@dataclass(frozen=True, slots=True)
class Where:
    """A filter; `&`, `|` and `~` make filters of filters."""

    filter: filters.Filter

    def __and__(self, other: Where) -> Where:
        """Return a filter that is true where both are."""
        parts = (*_alike(filters.All, self), *_alike(filters.All, _checked(other)))
        return Where(filters.All(parts))

    def __or__(self, other: Where) -> Where:
        """Return a filter that is true where at least one is."""
        parts = (*_alike(filters.Any, self), *_alike(filters.Any, _checked(other)))
        return Where(filters.Any(parts))

    def __invert__(self) -> Where:
        """Return a filter that is true where this one is not."""
        return Where(filters.Not(self.filter))

    def __rand__(self, other: object) -> NoReturn:
        """Refuse what `key("year") >= 2024 & where` comes to."""
        raise TypeError(_PARENTHESES)

    __ror__ = __rand__

    def __bool__(self) -> bool:
        """Refuse `and`, `or`, `not` and `a < key < b`, which Python would answer by itself."""
        raise TypeError(f"a filter is neither true nor false before it is asked; {_PARENTHESES}")


WhereInput: TypeAlias = Where | filters.Filter
"""What is taken for a filter: an expression over `key`, or a tree of `treespan.filters`."""


class Key:
    """A key to compare; made by `key`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        """Take the key's name."""
        self._name = name

    __hash__ = None  # type: ignore[assignment] # what is equal to it is not known here

    def __eq__(self, value: Operand) -> Where:  # type: ignore[override]
        """Compare; a list matches where one of its elements does."""
        return self._one(Operator.EQ, value)

    def __ne__(self, value: Operand) -> Where:  # type: ignore[override]
        """Compare; matches where `==` does not, also where the key is missing."""
        return self._one(Operator.NE, value)

    def __gt__(self, value: Operand) -> Where:
        """Compare; strings by code point."""
        return self._one(Operator.GT, value)

    def __ge__(self, value: Operand) -> Where:
        """Compare; strings by code point."""
        return self._one(Operator.GTE, value)

    def __lt__(self, value: Operand) -> Where:
        """Compare; strings by code point."""
        return self._one(Operator.LT, value)

    def __le__(self, value: Operand) -> Where:
        """Compare; strings by code point."""
        return self._one(Operator.LTE, value)

    def is_in(self, values: Iterable[Operand]) -> Where:
        """Match where the value is one of these."""
        return self._several(Operator.IN, values)

    def not_in(self, values: Iterable[Operand]) -> Where:
        """Match where the value is none of these, also where the key is missing."""
        return self._several(Operator.NOT_IN, values)

    def contains(self, value: Operand) -> Where:
        """Match a list that has this element, or a string that has this text somewhere."""
        return self._one(Operator.CONTAINS, value)

    def contains_any(self, values: Iterable[Operand]) -> Where:
        """Match where `contains` holds for at least one of these."""
        return self._several(Operator.CONTAINS_ANY, values)

    def contains_all(self, values: Iterable[Operand]) -> Where:
        """Match where `contains` holds for every one of these."""
        return self._several(Operator.CONTAINS_ALL, values)

    def matches(self, words: str) -> Where:
        """Match a string that has all these words, in any order and case."""
        return self._one(Operator.TEXT_MATCH, words)

    def exists(self) -> Where:
        """Match where the key is there, with whatever value."""
        return Where(Condition(self._name, Operator.EXISTS))

    def is_empty(self) -> Where:
        """Match where the key is missing, or holds an empty string or list."""
        return Where(Condition(self._name, Operator.IS_EMPTY))

    def __and__(self, other: object) -> NoReturn:
        """Refuse a key where a condition belongs."""
        raise TypeError(_PARENTHESES)

    __rand__ = __or__ = __ror__ = __and__

    def __invert__(self) -> NoReturn:
        """Refuse a key where a condition belongs."""
        raise TypeError(_PARENTHESES)

    def _one(self, operator: Operator, value: object) -> Where:
        return self._condition(operator, (scalar(key_field(self._name), value),))

    def _several(self, operator: Operator, values: Iterable[object]) -> Where:
        # A lone string is iterable too, and would become one value a character.
        given = [values] if isinstance(values, str) else list(values)
        scalars = [scalar(f"{key_field(self._name)}[{at}]", one) for at, one in enumerate(given)]
        return self._condition(operator, tuple(scalars))

    def _condition(self, operator: Operator, values: tuple[Scalar, ...]) -> Where:
        condition = Condition(self._name, operator, values)
        check_operand(condition)
        return Where(condition)


def key(name: str) -> Key:
    """Return a key to compare: a built-in one, `row.<column>`, `file.<key>`, or one's own.

    Raises:
        InvalidField: the name is empty or too long.
    """
    check_key(name)
    return Key(name)


def _checked(other: object) -> Where:
    if not isinstance(other, Where):
        raise TypeError(f"a {type(other).__name__} is no condition; {_PARENTHESES}")
    return other


def _alike(kind: type[filters.All | filters.Any], where: Where) -> tuple[filters.Filter, ...]:
    """Return the parts of a filter of this kind, so that `a & b & c` nests once; else itself."""
    tree = where.filter
    if isinstance(tree, filters.All | filters.Any) and isinstance(tree, kind):
        return tree.parts
    return (tree,)
