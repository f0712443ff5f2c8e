"""Answers as JSON: plain numbers, names without prefixes, metadata as it was given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from treespan.client import metadata_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.descriptor import EnumDescriptor
    from google.protobuf.message import Message

_METADATA: Final = ("metadata", "file_metadata")

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def plain(message: Message) -> dict[str, Json]:
    """Return a message as a dict of all its fields; a message or optional field not set is null.

    Unlike protobuf's own JSON, 64-bit numbers are numbers, enum values lose their prefix, instants
    are ISO 8601 and durations are seconds.
    """
    # Its stubs know two classes for one.
    fields = cast("Iterable[FieldDescriptor]", message.DESCRIPTOR.fields)
    return {field.name: _field(message, field) for field in fields}


def _field(message: Message, field: FieldDescriptor) -> Json:
    value = getattr(message, field.name)
    if field.name in _METADATA:
        return {key: _metadata(item) for key, item in sorted(metadata_of(value).items())}
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        values = field.message_type.fields_by_name["value"]
        return {str(key): _value(values, value[key]) for key in sorted(value)}
    if field.is_repeated:
        return [_value(field, item) for item in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _value(field, value)


def _value(field: FieldDescriptor, value: Any) -> Json:
    if field.enum_type is not None:
        return _enum_name(field.enum_type, value)
    if isinstance(value, Timestamp):
        return value.ToDatetime(tzinfo=UTC).isoformat()
    if isinstance(value, Duration):
        return value.ToTimedelta().total_seconds()
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return plain(value)
    if field.type == FieldDescriptor.TYPE_FLOAT:
        # All digits that a 32-bit float has, and none that it has not.
        return float(f"{value:.7g}")
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{field.full_name} holds a {type(value).__name__}, which JSON cannot carry")


def _metadata(value: object) -> Json:
    if isinstance(value, list):
        return [_metadata(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"metadata holds a {type(value).__name__}, which JSON cannot carry")


def _enum_name(enum: EnumDescriptor, number: int) -> str:
    known = enum.values_by_number.get(number)
    if known is None:
        return str(number)
    # The zero value is the enum's name in capitals and UNSPECIFIED.
    return known.name.removeprefix(enum.values_by_number[0].name.removesuffix("UNSPECIFIED"))
