"""Metadata: dicts of Python values to `MetadataValue` messages, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import TypeAlias

from google.protobuf.timestamp_pb2 import Timestamp

from treespan.errors import InvalidField
from treespan.v1.metadata_pb2 import MetadataList, MetadataValue

_In: TypeAlias = str | int | float | bool | datetime | date
_Out: TypeAlias = str | int | float | bool | datetime

MetadataInput: TypeAlias = Mapping[str, _In | Sequence[_In]]
"""What a caller gives. A date means its midnight in UTC; a datetime must have a time zone."""

MetadataOutput: TypeAlias = dict[str, _Out | list[_Out]]
"""What comes back: instants as datetimes in UTC."""

_INT64 = range(-(2**63), 2**63)


def metadata_values(metadata: MetadataInput) -> dict[str, MetadataValue]:
    """Return metadata as messages.

    Raises:
        InvalidField: a value has no counterpart, is not finite, or a list mixes kinds.
    """
    return {key: _value(f"metadata[{key!r}]", value) for key, value in metadata.items()}


def metadata_of(values: Mapping[str, MetadataValue]) -> MetadataOutput:
    """Return the metadata of an artifact or chunk as Python values."""
    return {key: _python(value) for key, value in values.items()}


def scalar_value(field: str, value: object) -> MetadataValue:
    """Return one value, no list, as a message; raises as `metadata_values` does."""
    match value:
        case bool():
            return MetadataValue(bool_value=value)
        case str():
            return MetadataValue(string_value=value)
        case int():
            if value not in _INT64:
                raise InvalidField(field, f"{value} does not fit 64 bits")
            return MetadataValue(int_value=value)
        case float():
            if not math.isfinite(value):
                raise InvalidField(field, f"{value} is not a finite number")
            return MetadataValue(double_value=value)
        case datetime():
            return MetadataValue(time_value=_timestamp(field, value))
        case date():
            midnight = datetime.combine(value, time(), tzinfo=UTC)
            return MetadataValue(time_value=_timestamp(field, midnight))
    raise InvalidField(
        field,
        f"a value of type {type(value).__name__} cannot be kept; "
        "give str, int, float, bool, date, datetime, or a list of one of them",
    )


def _value(field: str, value: object) -> MetadataValue:
    if isinstance(value, list | tuple):
        return MetadataValue(list_value=_list(field, value))
    return scalar_value(field, value)


def _list(field: str, values: Sequence[object]) -> MetadataList:
    scalars = [scalar_value(f"{field}[{at}]", value) for at, value in enumerate(values)]
    kinds = {scalar.WhichOneof("value") for scalar in scalars}
    if len(kinds) > 1:
        names = " and ".join(sorted(str(kind).removesuffix("_value") for kind in kinds))
        raise InvalidField(field, f"the list mixes {names} values; give values of one kind")
    return MetadataList(values=scalars)


def _timestamp(field: str, value: datetime) -> Timestamp:
    if value.tzinfo is None:
        raise InvalidField(field, f"{value} has no time zone; give one, such as datetime.UTC")
    stamp = Timestamp()
    stamp.FromDatetime(value)
    return stamp


def _python(value: MetadataValue) -> _Out | list[_Out]:
    if value.WhichOneof("value") == "list_value":
        return [_python_scalar(item) for item in value.list_value.values]
    return _python_scalar(value)


def _python_scalar(value: MetadataValue) -> _Out:
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "int_value":
            return value.int_value
        case "double_value":
            return value.double_value
        case "bool_value":
            return value.bool_value
        case "time_value":
            return value.time_value.ToDatetime(tzinfo=UTC)
    raise ValueError("a metadata value without any value set, or a list inside a list")
