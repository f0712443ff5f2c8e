"""Small helpers around the raw stubs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from treespan.v1 import ingest_service_pb2 as ingest_pb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

PART = 256 * 1024


def upload(
    header: ingest_pb.IngestFileHeader, data: bytes
) -> Iterator[ingest_pb.IngestFileRequest]:
    yield ingest_pb.IngestFileRequest(header=header)
    for start in range(0, len(data), PART):
        yield ingest_pb.IngestFileRequest(data=data[start : start + PART])


def ingest_bytes(
    ingest: IngestServiceStub, collection: str, artifact: str, data: bytes, file_name: str = ""
) -> ingest_pb.IngestFileResponse:
    header = ingest_pb.IngestFileHeader(
        collection=collection, artifact=artifact, file_name=file_name or artifact
    )
    answer: ingest_pb.IngestFileResponse = ingest.IngestFile(upload(header, data), timeout=120)
    return answer


@dataclass
class Refused:
    """What a refused call was told."""

    code: grpc.StatusCode | None = None
    message: str = ""
    reason: str = ""
    field: str = ""
    retry_s: float | None = None
    request_id: str = ""
    trailers: dict[str, object] | None = None


@contextmanager
def refused() -> Iterator[Refused]:
    """Expect a call to be refused; its details are there after the block."""
    told = Refused()
    with pytest.raises(grpc.RpcError) as caught:
        yield told
    error = caught.value
    told.code, told.message = error.code(), error.details()
    told.trailers = dict(error.trailing_metadata() or ())
    status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        _read(detail, told)


def _read(detail: object, told: Refused) -> None:
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    request = error_details_pb2.RequestInfo()
    if detail.Unpack(info):  # type: ignore[attr-defined]
        assert info.domain == "treespan"
        told.reason = info.reason
    elif detail.Unpack(bad):  # type: ignore[attr-defined]
        told.field = bad.field_violations[0].field
    elif detail.Unpack(retry):  # type: ignore[attr-defined]
        told.retry_s = retry.retry_delay.ToTimedelta().total_seconds()
    elif detail.Unpack(request):  # type: ignore[attr-defined]
        told.request_id = request.request_id
