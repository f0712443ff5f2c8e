"""Records of the store and nodes of trees, as messages of the API."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

from treespan.identity import node_id
from treespan.node import EMBEDDED, HEADING_STATED
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import node_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest_svc.operations import Job
    from treespan.node import Tree
    from treespan.store.records import (
        ArtifactRecord,
        CollectionCounts,
        CollectionRecord,
        WarningRecord,
    )


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
        create_time=timestamp(record.created_us),
        update_time=timestamp(record.updated_us),
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
        language=record.language,
        warnings=warning_messages(record.warnings),
        file_metadata=pb.Artifact.FromString(record.file_metadata).file_metadata,
        counts=dict(record.counts),
        summary=record.summary or record.content_summary,
        source_uri=record.source_uri,
        has_draft=record.has_draft,
    )
    if record.created_us:
        message.create_time.CopyFrom(timestamp(record.created_us))
        message.update_time.CopyFrom(timestamp(record.updated_us))
        message.ingest_time.CopyFrom(timestamp(record.ingested_us))
    if job is not None:
        message.progress.CopyFrom(progress_message(job))
    return message


def warning_messages(warnings: Iterable[WarningRecord]) -> list[pb.Warning]:
    """Return warnings as the API shows them."""
    return [
        pb.Warning(kind=warning.kind, message=warning.message, pages=warning.pages)
        for warning in warnings
    ]


def progress_message(job: Job) -> pb.Progress:
    """Return how far an ingest is."""
    return pb.Progress(stage=pb.Progress.Stage.ValueType(job.stage), done=job.done, total=job.total)


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


def timestamp(microseconds: int) -> Timestamp:
    """Return a point in time, given in microseconds since 1970 UTC."""
    stamp = Timestamp()
    stamp.FromMicroseconds(microseconds)
    return stamp
