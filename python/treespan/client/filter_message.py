"""Filters as the messages that requests carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

from treespan import filters
from treespan.client.conditions import check_key, check_operand, key_field
from treespan.client.metadata import scalar_value
from treespan.client.where import Where
from treespan.errors import InvalidField
from treespan.filters import WITH_SEVERAL, Condition, Instant, Scalar
from treespan.v1.context_filter_pb2 import MetadataCondition, MetadataFilter, MetadataFilterList
from treespan.v1.metadata_pb2 import MetadataList, MetadataValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from treespan.client.where import WhereInput


def filter_message(where: WhereInput) -> MetadataFilter:
    """Return a filter as the message that requests carry.

    Raises:
        InvalidField: it is larger than the server takes, or an operand does not fit its operator.
        TypeError: it is no filter.
    """
    tree = _tree(where)
    _check_size(tree)
    return _message(tree)


def _tree(where: WhereInput) -> filters.Filter:
    tree = where.filter if isinstance(where, Where) else where
    if not isinstance(tree, filters.Filter):
        raise TypeError(
            f'a {type(tree).__name__} is no filter; write one with key, as in key("year") >= 2024'
        )
    return tree


def _check_size(tree: filters.Filter) -> None:
    """Refuse what is too large, level by level, so that a deep tree exhausts no stack."""
    levels, conditions, row = 0, 0, [tree]
    while row:
        levels += 1
        if levels > filters.MOST_NESTING:
            raise InvalidField(
                "where", f"it is nested more than {filters.MOST_NESTING} deep, conditions included"
            )
        conditions += sum(isinstance(one, Condition) for one in row)
        row = [part for one in row for part in _parts(one)]
    if conditions > filters.MOST_CONDITIONS:
        raise InvalidField(
            "where", f"it has {conditions:,} conditions, at most {filters.MOST_CONDITIONS}"
        )


def _parts(tree: filters.Filter) -> Sequence[filters.Filter]:
    match tree:
        case Condition():
            return ()
        case filters.Not(part):
            return (part,)
        case filters.All(parts) | filters.Any(parts):
            if not parts:
                raise InvalidField(
                    "where", f"{type(tree).__name__} has no parts; give at least one"
                )
            return parts


def _message(tree: filters.Filter) -> MetadataFilter:
    match tree:
        case Condition():
            return MetadataFilter(condition=_condition(tree))
        case filters.Not(part):
            return MetadataFilter(negated=_message(part))
        case filters.All(parts):
            return MetadataFilter(all_of=_list(parts))
        case filters.Any(parts):
            return MetadataFilter(any_of=_list(parts))


def _list(parts: Iterable[filters.Filter]) -> MetadataFilterList:
    return MetadataFilterList(filters=[_message(part) for part in parts])


def _condition(condition: Condition) -> MetadataCondition:
    check_key(condition.key)
    check_operand(condition)
    message = MetadataCondition(
        key=condition.key,
        operator=MetadataCondition.Operator.Value(f"OPERATOR_{condition.operator.name}"),
    )
    field = key_field(condition.key)
    if condition.operator in WITH_SEVERAL:
        values = [_value(field, value) for value in condition.values]
        message.value.list_value.CopyFrom(MetadataList(values=values))
    elif condition.values:
        message.value.CopyFrom(_value(field, condition.values[0]))
    return message


def _value(field: str, value: Scalar) -> MetadataValue:
    if isinstance(value, Instant):
        seconds, us = divmod(value.us, 1_000_000)
        return MetadataValue(time_value=Timestamp(seconds=seconds, nanos=us * 1_000))
    return scalar_value(field, value)
