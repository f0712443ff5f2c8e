"""Calls of the catalogue in few words."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from treespan.v1 import context_filter_pb2, metadata_pb2
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

Value = str | int | bool
Op = context_filter_pb2.MetadataCondition


def value(plain: Value) -> metadata_pb2.MetadataValue:
    match plain:
        case bool():
            return metadata_pb2.MetadataValue(bool_value=plain)
        case int():
            return metadata_pb2.MetadataValue(int_value=plain)
        case str():
            return metadata_pb2.MetadataValue(string_value=plain)


def values(metadata: dict[str, Value]) -> dict[str, metadata_pb2.MetadataValue]:
    return {key: value(plain) for key, plain in metadata.items()}


def put(
    ingest: IngestServiceStub,
    collection: str,
    artifact: str,
    text: str = "red green blue",
    **metadata: Value,
) -> pb.IngestTextResponse:
    answer: pb.IngestTextResponse = ingest.IngestText(
        pb.IngestTextRequest(
            collection=collection, artifact=artifact, text=text, metadata=values(metadata)
        ),
        timeout=60,
    )
    return answer


def get(ingest: IngestServiceStub, collection: str, artifact: str) -> pb.Artifact:
    request = pb.GetArtifactRequest(collection=collection, artifact=artifact)
    found: pb.Artifact = ingest.GetArtifact(request).artifact
    return found


def update(
    ingest: IngestServiceStub,
    collection: str,
    artifact: str,
    paths: Sequence[str],
    file_name: str = "",
    **metadata: Value,
) -> pb.UpdateArtifactResponse:
    wanted = pb.Artifact(
        collection=collection, artifact=artifact, file_name=file_name, metadata=values(metadata)
    )
    request = pb.UpdateArtifactRequest(artifact=wanted, update_mask={"paths": paths})
    answer: pb.UpdateArtifactResponse = ingest.UpdateArtifact(request)
    return answer


def where(
    key: str, plain: Value, operator: Op.Operator.ValueType = Op.OPERATOR_EQ
) -> context_filter_pb2.MetadataFilter:
    condition = Op(key=key, operator=operator, value=value(plain))
    return context_filter_pb2.MetadataFilter(condition=condition)


def delete(
    ingest: IngestServiceStub,
    collection: str,
    *names: str,
    like: context_filter_pb2.MetadataFilter | None = None,
    **flags: bool,
) -> pb.BatchDeleteArtifactsResponse:
    context = context_filter_pb2.ContextFilter(
        collection=collection, artifacts=names, metadata_filter=like
    )
    answer: pb.BatchDeleteArtifactsResponse = ingest.BatchDeleteArtifacts(
        pb.BatchDeleteArtifactsRequest(context_filter=context, **flags)
    )
    return answer


def listed(
    ingest: IngestServiceStub,
    collection: str,
    like: context_filter_pb2.MetadataFilter | None = None,
) -> list[pb.Artifact]:
    request = pb.ListArtifactsRequest(collection=collection, metadata_filter=like)
    return list(ingest.ListArtifacts(request).artifacts)


def names(
    ingest: IngestServiceStub,
    collection: str,
    like: context_filter_pb2.MetadataFilter | None = None,
) -> list[str]:
    return [artifact.artifact for artifact in listed(ingest, collection, like)]


@contextmanager
def under_way(ingest: IngestServiceStub, collection: str, artifact: str) -> Iterator[None]:
    """Keep an upload from ending while the block runs; it is complete afterwards."""
    ending = threading.Event()

    def parts() -> Iterator[pb.IngestFileRequest]:
        header = pb.IngestFileHeader(collection=collection, artifact=artifact)
        yield pb.IngestFileRequest(header=header)
        yield pb.IngestFileRequest(data=b"red blue ")
        while not ending.wait(0.2):
            yield pb.IngestFileRequest(data=b"green ")

    call = ingest.IngestFile.future(parts(), timeout=60)
    try:
        while not any(one.HasField("progress") for one in listed(ingest, collection)):
            assert not call.done()
        yield
    finally:
        ending.set()
        call.result()


def tree_request(collection: str, artifact: str) -> pb.ExportTreeRequest:
    return pb.ExportTreeRequest(collection=collection, artifact=artifact)
