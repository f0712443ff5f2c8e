"""One condition of a filter, asked of the tables `attribute` and `span`.

Every statement walks stretches of one index: the entries of a key, those of a type and of values
where the condition names them. What a caller gave is bound, never part of a statement. The answer
to a statement is one row, whatever it finds: each row fetched takes the interpreter's lock once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import apsw
import numpy as np

from treespan.filters import (
    ARTIFACT_KEYS,
    FILE_PREFIX,
    METADATA_PREFIX,
    NODE_KEYS,
    ROW_PREFIX,
    Operator,
    ValueType,
    value_type,
)
from treespan.store.cells import plain
from treespan.store.ranges import NOTHING, intersection, runs, union, whole
from treespan.store.spans import column_key
from treespan.words import any_terms, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treespan.filters import Scalar
    from treespan.store.ranges import Numbers, Ranges
    from treespan.words import Term

FEW: Final = 1_000
"""Entries that are read, and artifacts that are asked one by one, without a thought for better."""

_ORDER: Final = {
    Operator.GT: ">",
    Operator.GTE: ">=",
    Operator.LT: "<",
    Operator.LTE: "<=",
}
_ALWAYS: Final = "1"
_NEVER: Final = "0"


@dataclass(frozen=True, slots=True)
class Sql:
    """A part of a statement, with what it binds."""

    text: str
    values: tuple[Any, ...] = ()
    values_equal: int = 0
    """Of a condition on entries that asks for equal values: how many they are."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key and where its entries are."""

    name: str
    """As the table has it."""
    table: str
    """`attribute` or `span`."""
    in_list: str
    """SQL: whether an entry's value is an element of a list."""


def key_of(name: str) -> Key:
    """Return a condition's key, and where its entries are."""
    if name.startswith(ROW_PREFIX):
        return Key(column_key(name.removeprefix(ROW_PREFIX)), "span", _NEVER)
    if name in NODE_KEYS:
        return Key(name, "span", _NEVER if name == "kind" else _ALWAYS)
    if name in ARTIFACT_KEYS or name.startswith((METADATA_PREFIX, FILE_PREFIX)):
        return Key(name, "attribute", "x.in_list = 1")
    return Key(METADATA_PREFIX + name, "attribute", "x.in_list = 1")


class Entries:
    """The entries of one key in a collection.

    Args:
        connection: The connection, inside a transaction.
        collection: The `collection.id`.
        key: The key.
        within: Artifacts that matter, where they are few; entries of others may be left out.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        collection: int,
        key: Key,
        within: Numbers | None = None,
    ) -> None:
        self._connection = connection
        self._collection = collection
        self._key = key
        self._within = within

    def types(self) -> list[ValueType]:
        """Return the types that the key's values have; one probe of the index for each."""
        asked = self._all(Sql("x.type = ?"))
        statement = f"SELECT 1 {asked.text} LIMIT 1"
        return [
            kind
            for kind in ValueType
            if self._connection.execute(statement, (*asked.values, int(kind))).get is not None
        ]

    def matching(self, operator: Operator, values: Sequence[Scalar]) -> Ranges:
        """Return where a condition holds, of those that hold nowhere without the key."""
        match operator:
            case Operator.EXISTS:
                return self._where(Sql("1"))
            case Operator.TEXT_MATCH:
                return self._with_words(str(values[0]))
            case Operator.EQ | Operator.IN:
                return self._where(_equal(values))
            case Operator.CONTAINS | Operator.CONTAINS_ANY:
                return union([self._elements(values), self._texts(values, every=False)])
            case Operator.CONTAINS_ALL:
                each = [self._elements((value,)) for value in dict.fromkeys(values)]
                return union([reduce(intersection, each), self._texts(values, every=True)])
        kind, value = plain(values[0])
        return self._where(Sql(f"x.type = ? AND x.value {_ORDER[operator]} ?", (int(kind), value)))

    def not_empty(self) -> Ranges:
        """Return where the key has a value other than an empty string or an empty list."""
        plain_value = f"NOT ({self._key.in_list})"
        text = f"x.type > 0 AND NOT (x.type = ? AND x.value = '' AND {plain_value})"
        return self._where(Sql(text, (int(ValueType.STRING),)))

    def equal_if_few(self, values: Sequence[Scalar], most: int) -> Ranges | None:
        """Return where EQ or IN holds; None where that has more than `most` entries."""
        found = self._columns(self._all(_equal(values)), limit=f"LIMIT {most + 1}")
        return None if len(found[0]) > most else self._ranges(found)

    def _elements(self, values: Sequence[Scalar]) -> Ranges:
        """Return where one of the values is an element of a list."""
        if self._key.in_list == _NEVER:
            return NOTHING
        equal = _equal(values)
        return self._where(replace(equal, text=f"{equal.text} AND {self._key.in_list}"))

    def _texts(self, values: Sequence[Scalar], *, every: bool) -> Ranges:
        """Return where a string that is not in a list has one of the values in it, or each."""
        if self._key.in_list == _ALWAYS or value_type(values[0]) is not ValueType.STRING:
            return NOTHING
        operand = _operand(values)
        sought, wanted = ("= 0", "IS NULL") if every else ("> 0", "IS NOT NULL")
        text = (
            f"x.type = ? AND NOT ({self._key.in_list}) AND (SELECT 1 FROM ({operand.text}) AS o"
            f" WHERE instr(x.value, o.value) {sought} LIMIT 1) {wanted}"
        )
        return self._where(Sql(text, (int(ValueType.STRING), *operand.values)))

    def _with_words(self, text: str) -> Ranges:
        """Return where a string has all words of a text."""
        asked = self._entries(Sql("x.type = ?", (int(ValueType.STRING),)))
        statement = f"SELECT DISTINCT x.value {asked.text}"
        terms = any_terms(text)
        found = [
            string
            for (string,) in self._connection.execute(statement, asked.values)
            if _has(words(string), terms)
        ]
        return self._where(_equal(found)) if found else NOTHING

    def _where(self, like: Sql) -> Ranges:
        """Return where entries are like this."""
        return self._ranges(self._columns(self._entries(like)))

    def _entries(self, like: Sql) -> Sql:
        """Return the entries that are like this, by the index in which the way is shorter."""
        if self._within is None:
            return self._all(like)
        if self._key.table == "attribute" or not like.values_equal:
            return self._of_each(like, f"{self._key.table}_by_artifact")
        # An artifact may have a hundred thousand cells in one column.
        if like.values_equal * len(self._within) <= FEW:
            return self._of_each(like, "sqlite_autoindex_span_1")
        return self._all(like)

    def _all(self, like: Sql) -> Sql:
        return Sql(
            f"FROM {self._key.table} AS x WHERE x.collection = ? AND x.key = ? AND {like.text}",
            (self._collection, self._key.name, *like.values),
        )

    def _of_each(self, like: Sql, index: str) -> Sql:
        """Return the entries that artifacts of `within` have; CROSS JOIN begins with those."""
        return Sql(
            f"FROM carray(?) AS w CROSS JOIN {self._key.table} AS x INDEXED BY {index}"
            f" WHERE x.artifact = w.value AND x.collection = ? AND x.key = ? AND {like.text}",
            (apsw.carray(self._within), self._collection, self._key.name, *like.values),
        )

    def _columns(self, entries: Sql, limit: str = "") -> list[Numbers]:
        names = ("artifact",) if self._key.table == "attribute" else ("artifact", "first", "last")
        selected = ", ".join(f"x.{name} AS {name}" for name in names)
        inner = Sql(f"SELECT {selected} {entries.text} {limit}", entries.values)
        return columns(self._connection, names, inner)

    def _ranges(self, found: list[Numbers]) -> Ranges:
        return whole(found[0]) if len(found) == 1 else runs(*found)


def columns(connection: apsw.Connection, names: Sequence[str], query: Sql) -> list[Numbers]:
    """Return columns of whole numbers that a query gives, in one step of SQLite."""
    joined = ", ".join(f"group_concat({name})" for name in names)
    [found] = connection.execute(f"SELECT {joined} FROM ({query.text})", query.values)
    return [np.fromstring(text or "", dtype=np.int64, sep=",") for text in found]


def _equal(values: Sequence[Scalar]) -> Sql:
    kind, value = plain(values[0])
    if len(values) == 1:
        return Sql("x.type = ? AND x.value = ?", (int(kind), value), values_equal=1)
    operand = _operand(values)
    return Sql(
        f"x.type = ? AND x.value IN ({operand.text})",
        (int(kind), *operand.values),
        values_equal=len(values),
    )


def _operand(values: Sequence[Scalar]) -> Sql:
    """Return a query for values of one type, in a column `value`; however many, few are bound."""
    if isinstance(values[0], str):
        texts = tuple(str(value).encode("utf-8", "replace") for value in values)
        # As bytes: strings of C end where a character is 0.
        return Sql("SELECT CAST(value AS TEXT) AS value FROM carray(?)", (apsw.carray(texts),))
    found = [value for _, value in map(plain, values)]
    whole_numbers = np.array([value for value in found if isinstance(value, int)], dtype=np.int64)
    others = np.array([value for value in found if isinstance(value, float)], dtype=np.float64)
    bound = tuple(apsw.carray(numbers) for numbers in (whole_numbers, others) if len(numbers))
    return Sql(" UNION ALL ".join(["SELECT value FROM carray(?)"] * len(bound)), bound)


def _has(found: Sequence[str], terms: Sequence[Term]) -> bool:
    """Return whether words have all of these among them."""
    there = set(found)
    return all(
        any(word.startswith(term.word) for word in found) if term.prefix else term.word in there
        for term in terms
    )
