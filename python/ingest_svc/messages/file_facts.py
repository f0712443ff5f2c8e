"""What a file states of itself, as a message of the API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from google.protobuf.timestamp_pb2 import Timestamp

from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import metadata_pb2

if TYPE_CHECKING:
    from ingest_svc.readers.block import ParsedFile, Value

# The bounds of a caller's own metadata hold for a file's, too.
_MOST_KEYS: Final = 256
_MOST_BYTES: Final = 64 << 10
_KEY_CHARACTERS: Final = 128
_VALUE_CHARACTERS: Final = 8_192
_MOST_VALUES: Final = 1_024
_LARGEST_INT: Final = 2**63 - 1


def packed_file_metadata(parsed: ParsedFile) -> bytes:
    """Return the metadata and the dates of a file as `Content.file_metadata` holds them.

    Long values are cut, and what comes after 256 keys or 64 KiB is left out: a file says of itself
    whatever its maker wanted.
    """
    message = pb.Artifact()
    size = 0
    values = {key: _value(value) for key, value in parsed.metadata.items()}
    values |= {key: _instant(date) for key, date in parsed.dates.items()}
    for key, value in values.items():
        name = " ".join(key.split())[:_KEY_CHARACTERS]
        if value is None or not name or name in message.file_metadata:
            continue
        size += len(name.encode()) + value.ByteSize() + 8
        if size > _MOST_BYTES or len(message.file_metadata) >= _MOST_KEYS:
            break
        message.file_metadata[name].CopyFrom(value)
    return message.SerializeToString(deterministic=True)


def _value(value: Value) -> metadata_pb2.MetadataValue | None:
    match value:
        case bool():
            return metadata_pb2.MetadataValue(bool_value=value)
        case int() if abs(value) <= _LARGEST_INT:
            return metadata_pb2.MetadataValue(int_value=value)
        case int():
            return metadata_pb2.MetadataValue(string_value=str(value)[:_VALUE_CHARACTERS])
        case float() if value - value == 0:  # neither infinite nor no number
            return metadata_pb2.MetadataValue(double_value=value)
        case str() if value.strip():
            return metadata_pb2.MetadataValue(string_value=value.strip()[:_VALUE_CHARACTERS])
        case list():
            found = [_value(part) for part in value[:_MOST_VALUES]]
            kept = [part for part in found if part is not None]
            values = metadata_pb2.MetadataList(values=kept)
            return metadata_pb2.MetadataValue(list_value=values) if kept else None
        case _:
            return None


def _instant(date: str) -> metadata_pb2.MetadataValue | None:
    """Return a point in time; None for what is none, or has no zone."""
    try:
        moment = datetime.fromisoformat(date)
        if moment.tzinfo is None:
            return None
        stamp = Timestamp()
        stamp.FromDatetime(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None
    return metadata_pb2.MetadataValue(time_value=stamp)
