"""Requests checked and unpacked, and records as messages of the API."""

from ingest_svc.messages.answers import (
    artifact_message,
    collection_message,
    node_message,
    node_messages,
)
from ingest_svc.messages.changes import (
    artifact_paths,
    collection_paths,
    deletion,
    listed_filter,
    updated_artifact,
    updated_collection,
)
from ingest_svc.messages.checks import (
    checked_artifact,
    checked_chunk_tokens,
    checked_display_name,
    checked_file_name,
    checked_page_size,
    packed_metadata,
)

__all__ = [
    "artifact_message",
    "artifact_paths",
    "checked_artifact",
    "checked_chunk_tokens",
    "checked_display_name",
    "checked_file_name",
    "checked_page_size",
    "collection_message",
    "collection_paths",
    "deletion",
    "listed_filter",
    "node_message",
    "node_messages",
    "packed_metadata",
    "updated_artifact",
    "updated_collection",
]
