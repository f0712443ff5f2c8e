"""Stores for the tests of filters, written from what `filter_model` has."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp

from store import samples
from treespan import identity
from treespan.filters import Instant
from treespan.node import NodeKind, Tree
from treespan.store.records import Cell, Content, NewArtifact, Tenant
from treespan.v1.ingest_service_pb2 import Artifact as ArtifactMessage
from treespan.v1.metadata_pb2 import MetadataList, MetadataValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from store.filter_model import Artifact, Document, Values
    from treespan.filters import Filter, Scalar
    from treespan.store.interface import Reader, Writer
    from treespan.store.records import Version


def content(document: Document) -> Content:
    """Return a document as the store takes it."""
    sha256 = hashlib.sha256(repr(document).encode()).hexdigest()
    vector_nodes = [place for place, node in enumerate(document.nodes) if node.has_vector]
    vectors = np.zeros((len(vector_nodes), samples.DIMENSION), dtype="<f4")
    vectors[:, 0] = 1
    return Content(
        content_id=identity.content_id(sha256, "pipeline"),
        sha256=sha256,
        size_bytes=1,
        media_type=document.media_type,
        title=document.title,
        page_count=0,
        node_count=len(document.nodes),
        token_count=0,
        tree=_tree(document).pack(),
        vector_nodes=np.array(vector_nodes, dtype="<u4").tobytes(),
        vectors=vectors.tobytes(),
        language=document.language,
        cells=tuple(
            Cell(place, column, value)
            for place, node in enumerate(document.nodes)
            for column, value in node.cells.items()
        ),
        file_metadata=stated(document.stated),
    )


def _tree(document: Document) -> Tree:
    texts = [node.text.encode() for node in document.nodes]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.uint32)
    characters = np.cumsum([0, *(len(node.text) for node in document.nodes)], dtype=np.uint32)
    no_sentence = np.zeros(0, dtype=np.uint32)

    def numbers(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        return np.array(values, dtype=np.uint32)

    return Tree(
        parent=numbers([node.parent for node in document.nodes]),
        own_tokens=numbers([len(text) for text in texts]),
        page_start=numbers([min(node.pages, default=0) for node in document.nodes]),
        page_end=numbers([max(node.pages, default=0) for node in document.nodes]),
        text_start=ends[:-1],
        text_end=ends[1:],
        char_start=characters[:-1],
        char_end=characters[1:],
        sentence_start=no_sentence,
        sentence_end=no_sentence,
        sentence_tokens=no_sentence,
        kind=np.array([NodeKind[node.kind] for node in document.nodes], dtype=np.uint8),
        flags=np.array([2 * node.has_vector for node in document.nodes], dtype=np.uint8),
        text=b"".join(texts),
    )


def packed(metadata: Mapping[str, Values]) -> bytes:
    """Return metadata as an artifact has it."""
    typed = {key: _message(value) for key, value in metadata.items() if value is not None}
    return ArtifactMessage(metadata=typed).SerializeToString(deterministic=True)


def stated(metadata: Mapping[str, Values]) -> bytes:
    """Return what a file states of itself as a content has it."""
    typed = {key: _message(value) for key, value in metadata.items() if value is not None}
    return ArtifactMessage(file_metadata=typed).SerializeToString(deterministic=True)


def _message(value: Scalar | list[Scalar]) -> MetadataValue:
    match value:
        case list():
            return MetadataValue(list_value=MetadataList(values=[_message(one) for one in value]))
        case bool():
            return MetadataValue(bool_value=value)
        case str():
            return MetadataValue(string_value=value)
        case int():
            return MetadataValue(int_value=value)
        case float():
            return MetadataValue(double_value=value)
        case Instant(us):
            stamp = Timestamp()
            stamp.FromMicroseconds(us)
            return MetadataValue(time_value=stamp)


def put(
    writer: Writer, artifact: Artifact, tenant: Tenant = samples.ACME, collection: str = "papers"
) -> int:
    """Commit an artifact; return its key."""
    what = content(artifact.document)
    return writer.commit_artifact(
        NewArtifact(
            tenant=tenant,
            collection=collection,
            name=artifact.name,
            file_name=artifact.file_name,
            metadata=packed(artifact.metadata),
            doc_id=identity.doc_id(tenant, collection, artifact.name, what.content_id),
            content=what,
            source_uri=artifact.source_uri,
        )
    )


def names(
    reader: Reader, where: Filter, tenant: Tenant = samples.ACME, collection: str = "papers"
) -> list[str]:
    """Return the names of artifacts that `matching` lets through; as listing says, too."""
    found = reader.matching(tenant, collection, where)
    assert found.nodes is None
    keys = np.frombuffer(found.keys, "<u8").tolist()
    assert keys == sorted(set(keys))
    by_key = {one.key: one.artifact for one in visible(reader, tenant, collection)}
    listed = [one.name for one in reader.artifacts(tenant, collection, "", 10**6, where)]
    assert listed == sorted(by_key[key] for key in keys)
    return listed


def nodes(
    reader: Reader, where: Filter, tenant: Tenant = samples.ACME, collection: str = "papers"
) -> list[tuple[str, int]]:
    """Return artifacts and nodes that `matching` lets through."""
    found = reader.matching(tenant, collection, where)
    assert found.nodes is not None
    pairs = list(
        zip(
            np.frombuffer(found.keys, "<u8").tolist(),
            np.frombuffer(found.nodes, "<u4").tolist(),
            strict=True,
        )
    )
    assert pairs == sorted(set(pairs))
    by_key = {one.key: one.artifact for one in visible(reader, tenant, collection)}
    return sorted((by_key[key], node) for key, node in pairs)


def visible(reader: Reader, tenant: Tenant, collection: str) -> list[Version]:
    """Return the visible versions of a collection."""
    return [
        one for one in reader.visible()[1] if (one.tenant, one.collection) == (tenant, collection)
    ]
