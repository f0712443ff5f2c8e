"""Filters of requests, checked: `MetadataFilter` messages as `treespan.filters` has them.

What needs no store is refused here, with the path of what is wrong: a form that is not allowed, an
operator that a type does not have, and built-in keys that are of another type everywhere. Whether
any artifact has a value of the operand's type, only the store can tell.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from treespan.errors import InvalidField
from treespan.filters import (
    FILE_PREFIX,
    METADATA_PREFIX,
    MOST_CONDITIONS,
    MOST_KEY_CHARACTERS,
    MOST_NESTING,
    MOST_VALUES,
    ROW_PREFIX,
    TYPE_NAMES,
    WITH_SEVERAL,
    WITHOUT_OPERAND,
    All,
    Any,
    Condition,
    Instant,
    Not,
    Operator,
    ValueType,
    shown,
    value_type,
)
from treespan.node import NodeKind
from treespan.v1 import context_filter_pb2 as pb
from treespan.words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.timestamp_pb2 import Timestamp

    from treespan.filters import Filter, Scalar
    from treespan.v1.metadata_pb2 import MetadataValue

MOST_STRING_CHARACTERS: Final = 8_192

# 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, as google.protobuf.Timestamp has them.
_FIRST_SECOND: Final = -62_135_596_800
_LAST_SECOND: Final = 253_402_300_799

_EQUALITY: Final = (Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN)
_ORDER: Final = (Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)

_FIXED_TYPES: Final = {
    "artifact": ValueType.STRING,
    "ingested_at": ValueType.TIME,
    "source_uri": ValueType.STRING,
    "page": ValueType.NUMBER,
    "heading": ValueType.STRING,
    "kind": ValueType.STRING,
}
"""Built-in keys of one type everywhere: the caller's own metadata never takes their place."""


def filter_of(field: str, message: pb.MetadataFilter) -> Filter:
    """Return the filter that a request sets; one that it does not set is not to be given here.

    Args:
        field: Path of the message in the request, such as "context_filter.metadata_filter".
        message: The message.

    Raises:
        InvalidField: something in it is not allowed; its path is named.
    """
    return _Checked(field).filter(field, message, nesting=1)


class _Checked:
    """Makes one filter and counts its conditions."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._conditions = 0

    def filter(self, field: str, message: pb.MetadataFilter, nesting: int) -> Filter:
        """Return a filter; `nesting` is the number of filters it lies in, itself included."""
        if nesting > MOST_NESTING:
            raise InvalidField(self._field, f"is nested more than {MOST_NESTING} deep")
        match message.WhichOneof("filter"):
            case "condition":
                self._count()
                return _condition(f"{field}.condition", message.condition)
            case "all_of":
                return All(self._parts(f"{field}.all_of", message.all_of, nesting))
            case "any_of":
                return Any(self._parts(f"{field}.any_of", message.any_of, nesting))
            case "negated":
                return Not(self.filter(f"{field}.negated", message.negated, nesting + 1))
        raise InvalidField(field, "is empty; set condition, all_of, any_of or negated")

    def _parts(
        self, field: str, message: pb.MetadataFilterList, nesting: int
    ) -> tuple[Filter, ...]:
        if not message.filters:
            raise InvalidField(f"{field}.filters", "is empty; give at least one filter")
        return tuple(
            self.filter(f"{field}.filters[{place}]", part, nesting + 1)
            for place, part in enumerate(message.filters)
        )

    def _count(self) -> None:
        self._conditions += 1
        if self._conditions > MOST_CONDITIONS:
            raise InvalidField(self._field, f"has more than {MOST_CONDITIONS} conditions")


def _condition(field: str, message: pb.MetadataCondition) -> Condition:
    _check_key(f"{field}.key", message.key)
    operator = _operator(f"{field}.operator", message.operator)
    values = _operand(f"{field}.value", operator, message)
    condition = Condition(message.key, operator, values)
    if values:
        _check_types(field, condition)
    return condition


def _check_key(field: str, key: str) -> None:
    if not key:
        raise InvalidField(field, "is empty; name what to compare")
    if len(key) > MOST_KEY_CHARACTERS:
        raise InvalidField(field, f"has {len(key):,} characters; the most is {MOST_KEY_CHARACTERS}")
    prefixes = ((METADATA_PREFIX, "a key"), (FILE_PREFIX, "a key"), (ROW_PREFIX, "a column"))
    for prefix, meaning in prefixes:
        if key.startswith(prefix) and not key.removeprefix(prefix).strip():
            raise InvalidField(field, f"is {key!r}; name {meaning} behind {prefix!r}")


def _operator(field: str, number: int) -> Operator:
    if number == 0:
        raise InvalidField(field, "is missing; say how to compare")
    try:
        return Operator(number)
    except ValueError:
        raise InvalidField(field, f"is {number}; the operators are 1 to {max(Operator)}") from None


def _operand(field: str, operator: Operator, message: pb.MetadataCondition) -> tuple[Scalar, ...]:
    """Return the operand of a condition, in the number and the form that its operator takes."""
    given = message.value.WhichOneof("value") if message.HasField("value") else None
    if operator in WITHOUT_OPERAND:
        if message.HasField("value"):
            raise InvalidField(field, f"is set; {operator.name} takes none")
        return ()
    takes = "a list of values" if operator in WITH_SEVERAL else "one value"
    if given is None:
        raise InvalidField(field, f"is missing; {operator.name} takes {takes}")
    if operator in WITH_SEVERAL:
        if given != "list_value":
            raise InvalidField(field, f"is a single value; {operator.name} takes {takes}")
        return _list(f"{field}.list_value", message.value.list_value.values)
    if given == "list_value":
        raise InvalidField(field, f"is a list; {operator.name} takes {takes}")
    return (_scalar(field, message.value),)


def _list(field: str, messages: Sequence[MetadataValue]) -> tuple[Scalar, ...]:
    if not messages:
        raise InvalidField(field, "is empty; give at least one value")
    if len(messages) > MOST_VALUES:
        raise InvalidField(field, f"has {len(messages):,} values; the most is {MOST_VALUES:,}")
    values = tuple(
        _scalar(f"{field}.values[{place}]", message) for place, message in enumerate(messages)
    )
    types = sorted({value_type(value) for value in values})
    if len(types) > 1:
        mixed = " and ".join(TYPE_NAMES[one] for one in types)
        raise InvalidField(field, f"mixes {mixed}; a list holds values of one type")
    return values


def _scalar(field: str, message: MetadataValue) -> Scalar:
    match message.WhichOneof("value"):
        case "string_value":
            return _text(f"{field}.string_value", message.string_value)
        case "int_value":
            return message.int_value
        case "double_value":
            if not math.isfinite(message.double_value):
                raise InvalidField(
                    f"{field}.double_value",
                    f"is {message.double_value}; only finite numbers are compared",
                )
            return message.double_value
        case "bool_value":
            return message.bool_value
        case "time_value":
            return _instant(f"{field}.time_value", message.time_value)
        case "list_value":
            raise InvalidField(field, "is a list within a list; lists hold plain values")
    raise InvalidField(field, "holds no value; set one of its fields")


def _text(field: str, text: str) -> str:
    if len(text) > MOST_STRING_CHARACTERS:
        raise InvalidField(
            field, f"has {len(text):,} characters; the most is {MOST_STRING_CHARACTERS:,}"
        )
    return text


def _instant(field: str, stamp: Timestamp) -> Instant:
    if not (_FIRST_SECOND <= stamp.seconds <= _LAST_SECOND and 0 <= stamp.nanos < 1_000_000_000):
        raise InvalidField(
            field,
            f"is {stamp.seconds} s and {stamp.nanos} ns since 1970; "
            "a time lies in the years 1 to 9999, its nanoseconds between 0 and 999,999,999",
        )
    return Instant(stamp.seconds * 1_000_000 + stamp.nanos // 1_000)


def _check_types(field: str, condition: Condition) -> None:
    """Check what can be said of the operand's type without knowing what artifacts have."""
    key, operator = condition.key, condition.operator
    given = value_type(condition.values[0])
    fixed = _FIXED_TYPES.get(key, given)
    if fixed is not given:
        raise InvalidField(
            f"{field}.value",
            f"is {TYPE_NAMES[given]} ({shown(condition.values[0])}), and {key!r} is "
            f"{TYPE_NAMES[fixed]}",
        )
    if operator in _ORDER and given is ValueType.BOOL:
        raise InvalidField(
            f"{field}.operator", f"is {operator.name}; truth values have no order, use EQ or NE"
        )
    if operator is Operator.TEXT_MATCH:
        _check_words(f"{field}.value", condition.values[0])
    if key == "kind" and operator in _EQUALITY:
        _check_kinds(f"{field}.value", condition.values)


def _check_words(field: str, value: Scalar) -> None:
    if not isinstance(value, str):
        raise InvalidField(
            field, f"is {TYPE_NAMES[value_type(value)]}; TEXT_MATCH looks for words of a string"
        )
    if not words(value):
        raise InvalidField(field, f"is {shown(value)}, which has no word to look for")


def _check_kinds(field: str, values: tuple[Scalar, ...]) -> None:
    for value in values:
        if value not in NodeKind.__members__:
            raise InvalidField(
                field, f"has {shown(value)}; kinds are {', '.join(NodeKind.__members__)}"
            )
