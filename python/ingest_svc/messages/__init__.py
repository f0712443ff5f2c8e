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
from ingest_svc.messages.file_facts import packed_file_metadata
from ingest_svc.messages.ingests import (
    check_batch,
    file_wanted,
    populate_wanted,
    request_digest,
    text_wanted,
    uri_wanted,
)
from ingest_svc.messages.operations import (
    checked_states,
    operation_message,
    refusal_message,
)

__all__ = [
    "artifact_message",
    "artifact_paths",
    "check_batch",
    "checked_artifact",
    "checked_chunk_tokens",
    "checked_display_name",
    "checked_file_name",
    "checked_page_size",
    "checked_states",
    "collection_message",
    "collection_paths",
    "deletion",
    "file_wanted",
    "listed_filter",
    "node_message",
    "node_messages",
    "operation_message",
    "packed_file_metadata",
    "packed_metadata",
    "populate_wanted",
    "refusal_message",
    "request_digest",
    "text_wanted",
    "updated_artifact",
    "updated_collection",
    "uri_wanted",
]
