"""One comparison of a filter: its key and its operand, checked."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from treespan.errors import InvalidField
from treespan.filters import (
    MOST_KEY_CHARACTERS,
    MOST_VALUES,
    WITH_SEVERAL,
    WITHOUT_OPERAND,
    Condition,
    Instant,
    Operator,
    Scalar,
    ValueType,
    value_type,
)

_TYPE_NAMES: Final = {
    ValueType.STRING: "strings",
    ValueType.NUMBER: "numbers",
    ValueType.BOOL: "truth values",
    ValueType.TIME: "times",
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def key_field(name: str) -> str:
    """Return how errors name the condition on a key."""
    return f"key({name!r})"


def scalar(field: str, value: object) -> Scalar:
    """Return a Python value as an operand.

    Raises:
        InvalidField: nothing of its type is compared with, or a datetime has no time zone.
    """
    match value:
        case datetime():
            if value.tzinfo is None:
                raise InvalidField(field, f"{value} has no time zone; give one: datetime.UTC")
            return Instant((value - _EPOCH) // timedelta(microseconds=1))
        case date():
            return scalar(field, datetime.combine(value, time(), tzinfo=UTC))
        case str() | int() | float() | Instant():
            return value
        case list() | tuple() | set() | frozenset():
            raise InvalidField(
                field, "one value is compared at a time; is_in and contains_any take several"
            )
    raise InvalidField(
        field,
        f"a {type(value).__name__} cannot be compared with; "
        "give str, int, float, bool, date or datetime, or ask exists() or is_empty()",
    )


def check_key(name: str) -> None:
    """Raise `InvalidField` for a key that is empty or too long."""
    if not 1 <= len(name) <= MOST_KEY_CHARACTERS:
        raise InvalidField(
            key_field(name[: MOST_KEY_CHARACTERS + 1]),
            f"it has {len(name)} characters; a key has 1 to {MOST_KEY_CHARACTERS}",
        )


def check_operand(condition: Condition) -> None:
    """Raise `InvalidField` where the operand is not what the operator takes."""
    field, name = key_field(condition.key), condition.operator.name
    values = condition.values
    if condition.operator in WITHOUT_OPERAND:
        if values:
            raise InvalidField(field, f"{name} takes no value, but has {len(values)}")
        return
    if condition.operator not in WITH_SEVERAL:
        if len(values) != 1:
            raise InvalidField(field, f"{name} takes one value, but has {len(values)}")
    elif not 1 <= len(values) <= MOST_VALUES:
        raise InvalidField(
            field, f"{name} takes 1 to {MOST_VALUES:,} values, but has {len(values):,}"
        )
    types = {value_type(value) for value in values}
    if len(types) > 1:
        mixed = " and ".join(_TYPE_NAMES[one] for one in sorted(types))
        raise InvalidField(field, f"the list mixes {mixed}; give values of one type")
    if condition.operator is Operator.TEXT_MATCH and types != {ValueType.STRING}:
        raise InvalidField(field, f"{values[0]!r} is no text whose words could be matched")
