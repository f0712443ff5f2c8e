"""Requests that change or delete what is in the catalogue, and lists of it, unpacked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ingest_svc.catalogue import Deletion
from ingest_svc.messages.checks import (
    checked_chunk_tokens,
    checked_display_name,
    checked_file_name,
    checked_summary,
    packed_metadata,
)
from treespan.errors import InvalidField
from treespan.filters import checked_artifact_filter
from treespan.identity import check_name
from treespan.rpc.filters import filter_of
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treespan.filters import Filter
    from treespan.store.records import ArtifactRecord, CollectionRecord, Tenant
    from treespan.v1 import context_filter_pb2

MOST_ARTIFACTS = 10_000
_KEY = "metadata."
_FIELDS_OF_COLLECTIONS = "display_name or chunk_tokens"
_FIELDS_OF_ARTIFACTS = "file_name, summary, metadata or metadata.<key>"


def collection_paths(request: pb.UpdateCollectionRequest) -> list[str]:
    """Return the fields that a request changes.

    Raises:
        InvalidField: it names none, or one that cannot be changed.
    """
    paths = list(request.update_mask.paths)
    known = [path in ("display_name", "chunk_tokens") for path in paths]
    _check_mask(paths, known, _FIELDS_OF_COLLECTIONS)
    return paths


def updated_collection(
    record: CollectionRecord, wanted: pb.Collection, paths: Sequence[str]
) -> CollectionRecord:
    """Return a collection with the named fields changed.

    Raises:
        InvalidField: a value is not allowed.
    """
    if "display_name" in paths:
        record = replace(record, display_name=checked_display_name(wanted.display_name))
    if "chunk_tokens" in paths:
        record = replace(record, chunk_tokens=checked_chunk_tokens(wanted.chunk_tokens))
    return record


def artifact_paths(request: pb.UpdateArtifactRequest) -> list[str]:
    """Return the fields that a request changes; raises as `collection_paths` does."""
    paths = list(request.update_mask.paths)
    known = [
        path in ("file_name", "summary", "metadata") or (path.startswith(_KEY) and path != _KEY)
        for path in paths
    ]
    _check_mask(paths, known, _FIELDS_OF_ARTIFACTS)
    return paths


def updated_artifact(
    record: ArtifactRecord, wanted: pb.Artifact, paths: Sequence[str]
) -> tuple[str, bytes, str]:
    """Return an artifact's file name, packed metadata and summary, the named fields changed.

    Raises:
        InvalidField: a value is not allowed, or the metadata is too much with it.
    """
    file_name = record.file_name
    if "file_name" in paths:
        file_name = checked_file_name("artifact.file_name", wanted.file_name, record.name)
    summary = record.summary
    if "summary" in paths:
        summary = checked_summary("artifact.summary", wanted.summary)
    metadata = dict(pb.Artifact.FromString(record.metadata).metadata)
    if "metadata" in paths:
        metadata = dict(wanted.metadata)
    for key in (path.removeprefix(_KEY) for path in paths if path.startswith(_KEY)):
        metadata.pop(key, None)
        if key in wanted.metadata:
            metadata[key] = wanted.metadata[key]
    return file_name, packed_metadata(metadata, "artifact.metadata"), summary


def listed_filter(request: pb.ListArtifactsRequest) -> Filter | None:
    """Return the filter of a list; None for everything.

    Raises:
        InvalidField: something in it is not allowed.
    """
    if not request.HasField("metadata_filter"):
        return None
    return _filter("metadata_filter", request.metadata_filter)


def deletion(request: pb.BatchDeleteArtifactsRequest, tenant: Tenant) -> Deletion:
    """Return what is to be deleted.

    Raises:
        InvalidArgument: a name is none, or nothing is said that tells what to delete.
    """
    context = request.context_filter
    check_name("context_filter.collection", context.collection)
    if len(context.artifacts) > MOST_ARTIFACTS:
        raise InvalidField(
            "context_filter.artifacts",
            f"names {len(context.artifacts):,} artifacts; the most is {MOST_ARTIFACTS:,}",
        )
    for name in context.artifacts:
        check_name("context_filter.artifacts", name)
    filtered = context.HasField("metadata_filter")
    if not context.artifacts and not filtered:
        raise InvalidField(
            "context_filter",
            "names no artifacts and has no metadata_filter; give one of them, or call "
            "DeleteCollection to delete everything",
        )
    field = "context_filter.metadata_filter"
    return Deletion(
        tenant=tenant,
        collection=context.collection,
        names=tuple(sorted(set(context.artifacts))),
        where=_filter(field, context.metadata_filter) if filtered else None,
        validate_only=request.validate_only,
        allow_missing=request.allow_missing,
    )


def _filter(field: str, message: context_filter_pb2.MetadataFilter) -> Filter:
    return checked_artifact_filter(field, filter_of(field, message))


def _check_mask(paths: Sequence[str], known: Sequence[bool], allowed: str) -> None:
    if not paths:
        raise InvalidField("update_mask", f"is empty; name {allowed}")
    for path, is_known in zip(paths, known, strict=True):
        if not is_known:
            raise InvalidField(
                "update_mask", f"names {path[:100]!r}; what can be changed is {allowed}"
            )
