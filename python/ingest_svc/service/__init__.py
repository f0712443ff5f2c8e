"""The gRPC edge of the write side: unpack, call, pack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.service.artifacts import ArtifactCalls
from ingest_svc.service.collections import CollectionCalls
from ingest_svc.service.ingests import IngestCalls
from ingest_svc.service.operations import OperationCalls
from ingest_svc.service.trees import TreeCalls
from treespan.v1.ingest_service_pb2_grpc import IngestServiceServicer

if TYPE_CHECKING:
    from ingest_svc.service.parts import Parts


class IngestService(
    CollectionCalls,
    ArtifactCalls,
    TreeCalls,
    IngestCalls,
    OperationCalls,
    IngestServiceServicer,
):
    """Serves `treespan.v1.IngestService`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
