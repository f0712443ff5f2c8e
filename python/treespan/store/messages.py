"""The metadata of an artifact, read from the message that it is kept as."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from treespan.filters import Instant, Scalar
from treespan.v1.ingest_service_pb2 import Artifact

if TYPE_CHECKING:
    from treespan.v1.metadata_pb2 import MetadataValue

Values: TypeAlias = Scalar | tuple[Scalar, ...]
"""One value of a key, or a list of them."""


def typed_metadata(packed: bytes) -> dict[str, Values]:
    """Return metadata, as `ArtifactRecord.metadata` has it, by key.

    Raises:
        ValueError: a value is not set, or a list holds a list; the edge refuses both.
    """
    metadata = Artifact.FromString(packed).metadata
    return {key: _values(key, value) for key, value in metadata.items()}


def stated_metadata(packed: bytes) -> dict[str, Values]:
    """Return what a file states of itself, as `Content.file_metadata` has it, by key.

    Raises:
        ValueError: as `typed_metadata`.
    """
    metadata = Artifact.FromString(packed).file_metadata
    return {key: _values(key, value) for key, value in metadata.items()}


def _values(key: str, value: MetadataValue) -> Values:
    if value.WhichOneof("value") == "list_value":
        return tuple(_scalar(key, element) for element in value.list_value.values)
    return _scalar(key, value)


def _scalar(key: str, value: MetadataValue) -> Scalar:
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
            return Instant(value.time_value.seconds * 1_000_000 + value.time_value.nanos // 1_000)
        case kind:
            raise ValueError(f"metadata {key!r} has no plain value but {kind or 'nothing'}")
