"""Filters: a typed tree of conditions over the metadata of artifacts and the nodes in them.

    All([Condition("year", GTE, (2024,)), Not(Condition("language", EQ, ("de",)))])

What a condition means (`treespan.v1.MetadataCondition` says it to callers, the stores do it):

- A key names a built-in key, a column of table rows (`row.<column>`), what the file states of
  itself (`file.<key>`), or else metadata that the caller gave. `metadata.<key>` always is the
  caller's. The caller's own `file_name`, `title`, `language` or `media_type` takes the place of the
  built-in one.
- A list matches where one of its values does; `page` and `heading` are lists: the pages a node
  spans, the headings above it.
- NE, NOT_IN and IS_EMPTY are the complements of EQ, IN and "has a value that is not empty": they
  match where the key is missing. No other operator does.
- Whole and floating point numbers are one type. Values of different types are never equal and have
  no order. A type that no artifact of the collection has for a key is an error, not silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from treespan.errors import InvalidField

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CONDITIONS: Final = 256
MOST_NESTING: Final = 16
MOST_VALUES: Final = 1_024
MOST_KEY_CHARACTERS: Final = 137
"""`metadata.` and the longest key of metadata."""

_SHOWN_CHARACTERS = 40
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

METADATA_PREFIX: Final = "metadata."
ROW_PREFIX: Final = "row."
FILE_PREFIX: Final = "file."

ARTIFACT_KEYS: Final = (
    "artifact",
    "file_name",
    "media_type",
    "title",
    "language",
    "ingested_at",
    "source_uri",
)
"""Built-in keys of artifacts."""
NODE_KEYS: Final = ("page", "heading", "kind")
"""Built-in keys of nodes."""


class Operator(IntEnum):
    """How a key's value is compared; the numbers are those of `MetadataCondition.Operator`."""

    EQ = 1
    NE = 2
    GT = 3
    GTE = 4
    LT = 5
    LTE = 6
    IN = 7
    NOT_IN = 8
    CONTAINS = 9
    CONTAINS_ANY = 10
    CONTAINS_ALL = 11
    TEXT_MATCH = 12
    EXISTS = 13
    IS_EMPTY = 14


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time."""

    us: int
    """Microseconds since 1970 UTC."""


Scalar: TypeAlias = str | int | float | bool | Instant


class ValueType(IntEnum):
    """Type of a value; the numbers are kept in the store."""

    STRING = 1
    NUMBER = 2
    BOOL = 3
    TIME = 4


TYPE_NAMES: Final = {
    ValueType.STRING: "a string",
    ValueType.NUMBER: "a number",
    ValueType.BOOL: "a truth value",
    ValueType.TIME: "a time",
}
"""Types as messages say them."""

WITHOUT_OPERAND: Final = (Operator.EXISTS, Operator.IS_EMPTY)
WITH_SEVERAL: Final = (
    Operator.IN,
    Operator.NOT_IN,
    Operator.CONTAINS_ANY,
    Operator.CONTAINS_ALL,
)
"""Operators whose operand is several values."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison; true or false for an artifact or a node."""

    key: str
    operator: Operator
    values: tuple[Scalar, ...] = ()
    """The operand: several values for IN, NOT_IN, CONTAINS_ANY and CONTAINS_ALL, none for EXISTS
    and IS_EMPTY, else one. All of one type."""


@dataclass(frozen=True, slots=True)
class All:
    """True where every part is; at least one part."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """True where at least one part is; at least one part."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """True where its part is not."""

    part: Filter


Filter: TypeAlias = Condition | All | Any | Not


def value_type(value: Scalar) -> ValueType:
    """Return the type of a value."""
    match value:
        case bool():
            return ValueType.BOOL
        case str():
            return ValueType.STRING
        case int() | float():
            return ValueType.NUMBER
        case Instant():
            return ValueType.TIME


def shown(value: Scalar) -> str:
    """Return a value as a message says it, a long string cut."""
    match value:
        case str():
            return f'"{value[:_SHOWN_CHARACTERS]}"'
        case Instant(us):
            try:
                return (_EPOCH + timedelta(microseconds=us)).isoformat()
            except OverflowError:
                return f"{us} µs since 1970"
    return repr(value)


def conditions(where: Filter) -> Iterator[Condition]:
    """Yield the conditions of a filter, from left to right."""
    match where:
        case Condition():
            yield where
        case Not(part):
            yield from conditions(part)
        case All(parts) | Any(parts):
            for part in parts:
                yield from conditions(part)


def is_of_nodes(where: Filter) -> bool:
    """Return whether a filter asks for anything that nodes of one artifact may differ in."""
    return any(
        condition.key in NODE_KEYS or condition.key.startswith(ROW_PREFIX)
        for condition in conditions(where)
    )


def checked_artifact_filter(field: str, where: Filter) -> Filter:
    """Return a filter that is only of artifacts.

    Raises:
        InvalidField: it has a condition on nodes.
    """
    for condition in conditions(where):
        if is_of_nodes(condition):
            raise InvalidField(
                field,
                f"has the key {condition.key!r}, which nodes have; artifacts have "
                f"{', '.join(ARTIFACT_KEYS)}, the metadata given with them, and what their files "
                f"state ({FILE_PREFIX}<key>)",
            )
    return where
