"""Fields of requests, checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from treespan.errors import InvalidField
from treespan.identity import check_name
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.timestamp_pb2 import Timestamp

    from treespan.v1 import metadata_pb2

DEFAULT_CHUNK_TOKENS = 100
LEAST_CHUNK_TOKENS = 16
MOST_CHUNK_TOKENS = 460
_MOST_NAME_CHARACTERS = 1024
_MOST_KEYS = 256
_MOST_KEY_CHARACTERS = 128
_MOST_STRING_CHARACTERS = 8192
_MOST_VALUES = 1024
_MOST_METADATA_BYTES = 64 << 10
# 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, as google.protobuf.Timestamp has them.
_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799
_DEFAULT_PAGE = 100
_MOST_PAGE = 1000


def checked_artifact(collection: str, artifact: str, prefix: str = "") -> None:
    """Check the names of a collection and an artifact."""
    check_name(f"{prefix}collection", collection)
    check_name(f"{prefix}artifact", artifact)


def checked_file_name(field: str, file_name: str, artifact: str) -> str:
    """Return a file's name; the artifact's where none is given."""
    if len(file_name) > _MOST_NAME_CHARACTERS:
        raise InvalidField(
            field, f"has {len(file_name):,} characters; the most is {_MOST_NAME_CHARACTERS:,}"
        )
    return file_name or artifact


def checked_chunk_tokens(value: int) -> int:
    """Return a chunk size; the default for 0."""
    if value and not LEAST_CHUNK_TOKENS <= value <= MOST_CHUNK_TOKENS:
        raise InvalidField(
            "collection.chunk_tokens",
            f"is {value}; it is 0 (for {DEFAULT_CHUNK_TOKENS}) or "
            f"{LEAST_CHUNK_TOKENS} to {MOST_CHUNK_TOKENS}",
        )
    return value or DEFAULT_CHUNK_TOKENS


def checked_display_name(value: str) -> str:
    """Return a collection's name for people."""
    if len(value) > _MOST_NAME_CHARACTERS:
        raise InvalidField(
            "collection.display_name",
            f"has {len(value):,} characters; the most is {_MOST_NAME_CHARACTERS:,}",
        )
    return value


def checked_page_size(value: int) -> int:
    """Return the size of a page; the default for 0."""
    if value > _MOST_PAGE:
        raise InvalidField("page_size", f"is {value:,}; the most is {_MOST_PAGE:,}")
    return value or _DEFAULT_PAGE


def packed_metadata(
    metadata: Mapping[str, metadata_pb2.MetadataValue], field: str = "metadata"
) -> bytes:
    """Return checked metadata as `ArtifactRecord.metadata` has it.

    Args:
        metadata: The metadata.
        field: Its path in the request, for the error.

    Raises:
        InvalidField: a key or a value is not allowed.
    """
    if len(metadata) > _MOST_KEYS:
        raise InvalidField(field, f"has {len(metadata)} keys; the most is {_MOST_KEYS}")
    for key, value in metadata.items():
        if not 1 <= len(key) <= _MOST_KEY_CHARACTERS:
            raise InvalidField(
                field,
                f"key {key[:40]!r} has {len(key)} characters; "
                f"1 to {_MOST_KEY_CHARACTERS} are allowed",
            )
        _check_value(f"{field}[{key!r}]", value, nested=False)
    packed = pb.Artifact(metadata=metadata).SerializeToString(deterministic=True)
    if len(packed) > _MOST_METADATA_BYTES:
        raise InvalidField(
            field,
            f"has {len(packed):,} bytes; the most is {_MOST_METADATA_BYTES:,}, "
            "since it comes with every chunk",
        )
    return packed


def _check_value(field: str, value: metadata_pb2.MetadataValue, *, nested: bool) -> None:
    kind = value.WhichOneof("value")
    if kind is None:
        raise InvalidField(field, "holds no value; set one of its fields")
    if kind == "string_value" and len(value.string_value) > _MOST_STRING_CHARACTERS:
        raise InvalidField(
            field,
            f"has {len(value.string_value):,} characters; the most is {_MOST_STRING_CHARACTERS:,}",
        )
    if kind == "double_value" and not math.isfinite(value.double_value):
        raise InvalidField(field, f"is {value.double_value}; only finite numbers are allowed")
    if kind == "time_value" and not _is_time(value.time_value):
        raise InvalidField(
            field,
            f"is {value.time_value.seconds} s and {value.time_value.nanos} ns since 1970; "
            "a time lies in the years 1 to 9999, its nanoseconds between 0 and 999,999,999",
        )
    if kind == "list_value":
        if nested:
            raise InvalidField(field, "is a list within a list; lists hold plain values")
        _check_list(field, value.list_value)


def _is_time(value: Timestamp) -> bool:
    seconds, nanos = value.seconds, value.nanos
    return _FIRST_SECOND <= seconds <= _LAST_SECOND and 0 <= nanos < 1_000_000_000


def _check_list(field: str, values: metadata_pb2.MetadataList) -> None:
    if len(values.values) > _MOST_VALUES:
        raise InvalidField(
            field, f"has {len(values.values):,} values; the most is {_MOST_VALUES:,}"
        )
    kinds = {str(value.WhichOneof("value")) for value in values.values}
    if len(kinds) > 1:
        raise InvalidField(field, f"mixes {' and '.join(sorted(kinds))}; a list holds one kind")
    for value in values.values:
        _check_value(field, value, nested=True)
