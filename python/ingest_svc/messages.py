"""Requests checked, and records as messages of the API."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

from treespan.errors import InvalidField
from treespan.identity import check_name, node_id
from treespan.node import EMBEDDED, HEADING_STATED
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import metadata_pb2, node_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ingest_svc.operations import Job
    from treespan.node import Tree
    from treespan.store.records import ArtifactRecord, CollectionCounts, CollectionRecord

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


def packed_metadata(metadata: Mapping[str, metadata_pb2.MetadataValue]) -> bytes:
    """Return checked metadata as `ArtifactRecord.metadata` has it.

    Raises:
        InvalidField: a key or a value is not allowed.
    """
    if len(metadata) > _MOST_KEYS:
        raise InvalidField("metadata", f"has {len(metadata)} keys; the most is {_MOST_KEYS}")
    for key, value in metadata.items():
        if not 1 <= len(key) <= _MOST_KEY_CHARACTERS:
            raise InvalidField(
                "metadata",
                f"key {key[:40]!r} has {len(key)} characters; "
                f"1 to {_MOST_KEY_CHARACTERS} are allowed",
            )
        _check_value(f"metadata[{key!r}]", value, nested=False)
    packed = pb.Artifact(metadata=metadata).SerializeToString(deterministic=True)
    if len(packed) > _MOST_METADATA_BYTES:
        raise InvalidField(
            "metadata",
            f"has {len(packed):,} bytes; the most is {_MOST_METADATA_BYTES:,}, "
            "since it comes with every chunk",
        )
    return packed


def collection_message(
    record: CollectionRecord, counts: CollectionCounts | None = None
) -> pb.Collection:
    """Return a collection as the API shows it."""
    message = pb.Collection(
        collection=record.name,
        display_name=record.display_name,
        embedding_model=record.embedding_model,
        embedding_fingerprint=record.embedding_fingerprint,
        dimension=record.dimension,
        chunk_tokens=record.chunk_tokens,
        create_time=_timestamp(record.created_us),
        update_time=_timestamp(record.updated_us),
    )
    if counts is not None:
        message.stats.CopyFrom(
            pb.CollectionStats(
                artifacts=counts.artifacts,
                nodes=counts.nodes,
                vectors=counts.vectors,
                tokens=counts.tokens,
            )
        )
    return message


def artifact_message(record: ArtifactRecord, job: Job | None = None) -> pb.Artifact:
    """Return an artifact as the API shows it, with the ingest of it that is under way."""
    message = pb.Artifact(
        artifact=record.name,
        collection=record.collection,
        state=pb.Artifact.State.ValueType(record.state),
        file_name=record.file_name,
        media_type=record.media_type,
        size_bytes=record.size_bytes,
        content_sha256=record.sha256,
        title=record.title,
        metadata=pb.Artifact.FromString(record.metadata).metadata,
        page_count=record.page_count,
        node_count=record.node_count,
        chunk_count=record.vector_count,
        token_count=record.token_count,
        warnings=[
            pb.Warning(kind=warning.kind, message=warning.message, pages=warning.pages)
            for warning in record.warnings
        ],
    )
    if record.created_us:
        message.create_time.CopyFrom(_timestamp(record.created_us))
        message.update_time.CopyFrom(_timestamp(record.updated_us))
    if job is not None:
        message.progress.CopyFrom(
            pb.Progress(
                stage=pb.Progress.Stage.ValueType(job.stage), done=job.done, total=job.total
            )
        )
    return message


@dataclass(frozen=True, slots=True)
class _Derived:
    """What a node's message says beyond its columns."""

    end: list[int]
    depth: list[int]
    rel_idx: list[int]
    tokens_before: list[int]


def node_messages(tree: Tree, doc_id: str) -> Iterator[node_pb2.Node]:
    """Yield every node of a tree, in document order."""
    derived = _derived(tree)
    for position in range(len(tree)):
        yield _node(tree, doc_id, position, derived)


def node_message(tree: Tree, doc_id: str, position: int) -> node_pb2.Node:
    """Return one node of a tree."""
    return _node(tree, doc_id, position, _derived(tree))


def _derived(tree: Tree) -> _Derived:
    children = [0] * len(tree)
    rel_idx = [0] * len(tree)
    for position, parent in enumerate(tree.parent.tolist()):
        if position:
            rel_idx[position] = children[parent]
            children[parent] += 1
    return _Derived(
        end=tree.ends().tolist(),
        depth=tree.depths().tolist(),
        rel_idx=rel_idx,
        tokens_before=[0, *accumulate(tree.own_tokens.tolist())],
    )


def _node(tree: Tree, doc_id: str, position: int, derived: _Derived) -> node_pb2.Node:
    end = derived.end[position]
    return node_pb2.Node(
        node_id=node_id(doc_id, position),
        kind=node_pb2.NodeKind.ValueType(int(tree.kind[position])),
        parent_id=node_id(doc_id, int(tree.parent[position])) if position else "",
        position=position,
        end=end,
        depth=derived.depth[position],
        rel_idx=derived.rel_idx[position],
        text=tree.own_text(position),
        own_tokens=int(tree.own_tokens[position]),
        subtree_tokens=derived.tokens_before[end] - derived.tokens_before[position],
        page_start=int(tree.page_start[position]),
        page_end=int(tree.page_end[position]),
        char_start=int(tree.char_start[position]),
        char_end=int(tree.char_end[position]),
        heading_stated=bool(tree.flags[position] & HEADING_STATED),
        embedded=bool(tree.flags[position] & EMBEDDED),
    )


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


def _timestamp(microseconds: int) -> Timestamp:
    stamp = Timestamp()
    stamp.FromMicroseconds(microseconds)
    return stamp
