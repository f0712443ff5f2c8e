"""Calls about operations in few words."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import grpc
import psutil

from calls import upload
from slow_files import long_to_read
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

Op = pb.Operation
Stage = pb.Progress
ENDED = (Op.STATE_SUCCEEDED, Op.STATE_FAILED, Op.STATE_CANCELLED)
TIMEOUT_S = 60


def of(tenant: str) -> tuple[tuple[str, str], ...]:
    return (("treespan-tenant", tenant),)


def send(
    ingest: IngestServiceStub,
    collection: str,
    artifact: str,
    data: bytes,
    tenant: str = "default",
    **options: Any,
) -> pb.IngestFileResponse:
    """Upload a Markdown file; `options` are those of its header."""
    answer: pb.IngestFileResponse = ingest.IngestFile(
        upload(header(collection, artifact, **options), data),
        timeout=TIMEOUT_S,
        metadata=of(tenant),
    )
    return answer


def header(collection: str, artifact: str, **options: Any) -> pb.IngestFileHeader:
    return pb.IngestFileHeader(
        collection=collection,
        artifact=artifact,
        file_name=f"{artifact}.md",
        options=pb.IngestOptions(**options),
    )


def detach(ingest: IngestServiceStub, collection: str, artifact: str, data: bytes) -> str:
    """Upload a file and let it go on alone; return its operation."""
    return send(ingest, collection, artifact, data, detached=True).operation.operation


def write(
    ingest: IngestServiceStub, collection: str, artifact: str, text: str, **options: Any
) -> pb.IngestTextResponse:
    request = pb.IngestTextRequest(
        collection=collection,
        artifact=artifact,
        text=text,
        options=pb.IngestOptions(**options),
    )
    answer: pb.IngestTextResponse = ingest.IngestText(request, timeout=TIMEOUT_S)
    return answer


def operation(ingest: IngestServiceStub, name: str, tenant: str = "default") -> pb.Operation:
    request = pb.GetOperationRequest(operation=name)
    found: pb.Operation = ingest.GetOperation(request, metadata=of(tenant)).operation
    return found


def watched(ingest: IngestServiceStub, name: str) -> list[pb.Operation]:
    """All that is told of an operation until its end."""
    stream = ingest.WatchOperation(pb.WatchOperationRequest(operation=name), timeout=TIMEOUT_S)
    return [told.operation for told in stream]


def ended(ingest: IngestServiceStub, name: str) -> pb.Operation:
    """The operation at its end."""
    return watched(ingest, name)[-1]


def at_stage(ingest: IngestServiceStub, name: str, stage: int) -> pb.Operation:
    """Wait until an operation is at a stage, and return it; a watcher might miss a short one."""
    end = time.monotonic() + TIMEOUT_S
    while (now := operation(ingest, name)).progress.stage != stage:
        assert now.state not in ENDED, f"{name} has ended and was not seen at {stage}"
        assert time.monotonic() < end, f"{name} is not at stage {stage}"
    return now


@contextmanager
def reading(servers: Servers, ingest: IngestServiceStub, collection: str) -> Iterator[str]:
    """The operation of an artifact "read" that is being read until the block ends, by a reader that
    stands still; it is cancelled then."""
    name = detach(ingest, collection, "read", long_to_read())
    at_stage(ingest, name, Stage.STAGE_READING)
    readers = servers.readers()
    for reader in readers:
        reader.suspend()
    try:
        yield name
    finally:
        for reader in readers:
            with suppress(psutil.NoSuchProcess):
                reader.resume()
        cancel(ingest, name)


def cancel(ingest: IngestServiceStub, name: str) -> tuple[pb.Operation, float]:
    """Cancel an operation; return it, and how long the call took."""
    start = time.monotonic()
    request = pb.CancelOperationRequest(operation=name)
    stopped = ingest.CancelOperation(request, timeout=TIMEOUT_S).operation
    return stopped, time.monotonic() - start


def listed(ingest: IngestServiceStub, tenant: str = "default", **fields: Any) -> list[pb.Operation]:
    """All pages of a list."""
    found: list[pb.Operation] = []
    request = pb.ListOperationsRequest(**fields)
    while True:
        page = ingest.ListOperations(request, metadata=of(tenant))
        found += page.operations
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def spooled(servers: Servers) -> list[Path]:
    return list((servers.store / "spool").iterdir())


def until(true: Callable[[], Any], what: str, most_s: float = 20.0) -> None:
    end = time.monotonic() + most_s
    while not true():
        assert time.monotonic() < end, f"not within {most_s:g} s: {what}"
        time.sleep(0.02)


def texts(
    ingest: IngestServiceStub, collection: str, artifact: str, tenant: str = "default"
) -> list[str]:
    """The text of every node, in document order."""
    request = pb.ExportTreeRequest(collection=collection, artifact=artifact)
    pages: Iterable[pb.ExportTreeResponse] = ingest.ExportTree(request, metadata=of(tenant))
    return [node.text for page in pages for node in page.nodes]


def make(ingest: IngestServiceStub, collection: str, tenant: str = "default") -> None:
    """Create a collection where there is none."""
    wanted = pb.Collection(collection=collection)
    try:
        ingest.CreateCollection(pb.CreateCollectionRequest(collection=wanted), metadata=of(tenant))
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.ALREADY_EXISTS:
            raise
