"""Both services over gRPC on a random port, with answers that a test lays down.

They keep what they were sent, so that tests of the client and the command line see the requests,
and fail with the real encoder of errors.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, NoReturn

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from fake_operations import FakeOperations
from treespan import errors
from treespan.rpc.status import status_of
from treespan.v1 import ingest_service_pb2 as ingest_pb2
from treespan.v1 import ingest_service_pb2_grpc as ingest_grpc
from treespan.v1 import node_pb2
from treespan.v1 import search_service_pb2 as search_pb2
from treespan.v1 import search_service_pb2_grpc as search_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.errors import TreespanError
    from treespan.v1.context_filter_pb2 import MetadataFilter

_PAGE = 2


class _Fake:
    """Notes tenants and numbers of calls, and fails as a test says."""

    def __init__(self) -> None:
        self.tenants: set[str] = set()
        self.calls: list[str] = []
        self.fail_with: TreespanError | None = None
        self.unavailable_times = 0

    def _enter(self, name: str, context: grpc.ServicerContext) -> None:
        self.calls.append(name)
        self.tenants |= {v for k, v in context.invocation_metadata() if k == "treespan-tenant"}
        if self.unavailable_times:
            self.unavailable_times -= 1
            context.abort(grpc.StatusCode.UNAVAILABLE, "starting")
        if self.fail_with is not None:
            fail(context, self.fail_with)


class FakeIngest(_Fake, FakeOperations, ingest_grpc.IngestServiceServicer):
    """A catalogue in memory; a file whose bytes start with "bad" is refused."""

    def __init__(self) -> None:
        _Fake.__init__(self)
        FakeOperations.__init__(self)
        self.collections: dict[str, ingest_pb2.Collection] = {}
        self.artifacts: dict[str, ingest_pb2.Artifact] = {}
        self.headers: dict[str, ingest_pb2.IngestFileHeader] = {}
        self.part_sizes: list[int] = []
        self.nodes: list[node_pb2.Node] = []
        self.matching: set[str] = set()
        """Artifacts that every filter lets through."""
        self.filters: list[MetadataFilter] = []
        """Filters of the requests, in the order of the calls."""
        self.stages: list[ingest_pb2.Progress] = []
        """Stages that an ingest goes through, one with every look at its progress."""
        self.export_ended = Event()
        self._looked = Event()

    def CreateCollection(self, request, context):
        self._enter("CreateCollection", context)
        name = request.collection.collection
        if name in self.collections:
            fail(context, errors.CollectionExists(f"there is a collection {name!r} already"))
        self.collections[name] = request.collection
        return ingest_pb2.CreateCollectionResponse(collection=request.collection, seq=1)

    def GetCollection(self, request, context):
        self._enter("GetCollection", context)
        if request.collection not in self.collections:
            fail(context, errors.CollectionNotFound(request.collection))
        found = ingest_pb2.Collection()
        found.CopyFrom(self.collections[request.collection])
        found.stats.artifacts = len(self.artifacts)
        return ingest_pb2.GetCollectionResponse(collection=found)

    def ListCollections(self, request, context):
        self._enter("ListCollections", context)
        names = sorted(name for name in self.collections if name > request.page_token)
        return ingest_pb2.ListCollectionsResponse(
            collections=[self.collections[name] for name in names[:_PAGE]],
            next_page_token=names[_PAGE - 1] if len(names) > _PAGE else "",
        )

    def UpdateCollection(self, request, context):
        self._enter("UpdateCollection", context)
        found = self.collections[request.collection.collection]
        request.update_mask.MergeMessage(request.collection, found)
        return ingest_pb2.UpdateCollectionResponse(collection=found)

    def DeleteCollection(self, request, context):
        self._enter("DeleteCollection", context)
        del self.collections[request.collection]
        return ingest_pb2.DeleteCollectionResponse(deleted_artifacts=3, seq=9)

    def IngestFile(self, request_iterator, context):
        self._enter("IngestFile", context)
        header = next(request_iterator).header
        if header.collection not in self.collections:
            fail(context, errors.CollectionNotFound(header.collection))
        self.headers[header.artifact] = header
        parts = [request.data for request in request_iterator]
        self.part_sizes += [len(part) for part in parts]
        data = b"".join(parts)
        if len(data) != header.size_bytes:
            fail(context, errors.SizeMismatch("header.size_bytes", "it differs"))
        if hashlib.sha256(data).hexdigest() != header.content_sha256:
            fail(context, errors.HashMismatch("header.content_sha256", "it differs"))
        if header.options.detached:
            return self._detached(header, data)
        if data.startswith(b"bad"):
            fail(context, errors.DamagedFile("page 3 cannot be read"))
        while self.stages and context.is_active():
            self._looked.wait(0.2)
            self._looked.clear()
        return self._ingested(header, data)

    def _detached(self, header, data):
        first = self.known(header.options.request_id)
        answer = ingest_pb2.IngestFileResponse(received_bytes=len(data), operation=first)
        if first is not None:
            return answer

        def ending():
            if data.startswith(b"bad"):
                raise errors.DamagedFile("page 3 cannot be read")
            answer.CopyFrom(self._ingested(header, data))

        kind = ingest_pb2.Operation.KIND_INGEST_FILE
        given = (header.collection, header.artifact, header.options.request_id)
        begun = self.begin(kind, *given, ending)
        begun.already_ingested = answer.already_ingested
        answer.operation.CopyFrom(begun)
        return answer

    def _ingested(self, header, data):
        known = self.artifacts.get(header.artifact)
        sha256 = hashlib.sha256(data).hexdigest()
        already = known is not None and known.content_sha256 in ("", sha256)
        artifact = ingest_pb2.Artifact(
            artifact=header.artifact,
            collection=header.collection,
            state=ingest_pb2.Artifact.STATE_POPULATED,
            file_name=header.file_name,
            media_type="text/plain",
            size_bytes=len(data),
            content_sha256=sha256,
            metadata=header.metadata,
            summary=header.summary,
            source_uri=header.source_uri,
            page_count=2,
            chunk_count=5,
            token_count=1200,
        )
        if b"odd" in data:
            artifact.warnings.add(kind="NO_TEXT_LAYER", message="page 2 has no text", pages=[2])
        self.artifacts[header.artifact] = artifact
        return ingest_pb2.IngestFileResponse(
            artifact=artifact, received_bytes=len(data), already_ingested=already, seq=7
        )

    def IngestText(self, request, context):
        self._enter("IngestText", context)
        self.texts.append(request)
        header = ingest_pb2.IngestFileHeader(
            collection=request.collection, artifact=request.artifact, metadata=request.metadata
        )
        answer = self._ingested(header, request.text.encode())
        return ingest_pb2.IngestTextResponse(artifact=answer.artifact, seq=answer.seq)

    def GetArtifact(self, request, context):
        self._enter("GetArtifact", context)
        if self.stages:
            artifact = ingest_pb2.Artifact(artifact=request.artifact, progress=self.stages.pop(0))
            self._looked.set()
            return ingest_pb2.GetArtifactResponse(artifact=artifact)
        if request.artifact not in self.artifacts:
            fail(context, errors.ArtifactNotFound(request.artifact))
        return ingest_pb2.GetArtifactResponse(artifact=self.artifacts[request.artifact])

    def ListArtifacts(self, request, context):
        self._enter("ListArtifacts", context)
        if request.collection not in self.collections:
            fail(context, errors.CollectionNotFound(request.collection))
        names = sorted(name for name in self.artifacts if name > request.page_token)
        if request.HasField("metadata_filter"):
            names = self._let_through(names, request.metadata_filter)
        return ingest_pb2.ListArtifactsResponse(
            artifacts=[self.artifacts[name] for name in names[:_PAGE]],
            next_page_token=names[_PAGE - 1] if len(names) > _PAGE else "",
        )

    def _let_through(self, names, metadata_filter):
        self.filters.append(metadata_filter)
        return [name for name in names if name in self.matching]

    def UpdateArtifact(self, request, context):
        self._enter("UpdateArtifact", context)
        given = request.artifact
        if given.artifact not in self.artifacts:
            fail(context, errors.ArtifactNotFound(given.artifact))
        found = self.artifacts[given.artifact]
        for path in request.update_mask.paths:
            name, _, key = path.partition(".")
            if name in ("file_name", "summary"):
                setattr(found, name, getattr(given, name))
            elif not key:
                found.ClearField("metadata")
                found.MergeFrom(ingest_pb2.Artifact(metadata=given.metadata))
            elif key in given.metadata:
                found.metadata[key].CopyFrom(given.metadata[key])
            else:
                found.metadata.pop(key, None)
        return ingest_pb2.UpdateArtifactResponse(artifact=found, seq=11)

    def BatchDeleteArtifacts(self, request, context):
        self._enter("BatchDeleteArtifacts", context)
        asked = request.context_filter
        for name in asked.artifacts:
            if name not in self.artifacts and not request.allow_missing:
                fail(context, errors.ArtifactNotFound(name))
        names = sorted(self.artifacts.keys() & set(asked.artifacts or self.artifacts))
        if asked.HasField("metadata_filter"):
            names = self._let_through(names, asked.metadata_filter)
        for name in () if request.validate_only else names:
            del self.artifacts[name]
        return ingest_pb2.BatchDeleteArtifactsResponse(
            artifacts=names[:1_000],
            deleted_artifacts=len(names),
            seq=0 if request.validate_only or not names else 12,
        )

    def DeleteArtifact(self, request, context):
        self._enter("DeleteArtifact", context)
        if request.artifact not in self.artifacts:
            if request.allow_missing:
                return ingest_pb2.DeleteArtifactResponse()
            fail(context, errors.ArtifactNotFound(request.artifact))
        del self.artifacts[request.artifact]
        return ingest_pb2.DeleteArtifactResponse(seq=8)

    def GetNode(self, request, context):
        self._enter("GetNode", context)
        found = [node for node in self.nodes if node.node_id == request.node_id]
        if not found:
            fail(context, errors.NodeNotFound(request.node_id))
        return ingest_pb2.GetNodeResponse(
            node=found[0], artifact="a", indexed_text=f"Title\n{found[0].text}"
        )

    def ExportTree(self, request, context):
        self._enter("ExportTree", context)
        context.add_callback(self.export_ended.set)
        for start in range(0, len(self.nodes), 3):
            yield ingest_pb2.ExportTreeResponse(nodes=self.nodes[start : start + 3])


class FakeSearch(_Fake, search_grpc.SearchServiceServicer):
    """Answers every search with `answer`, and keeps the request."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = search_pb2.SearchResponse()
        self.plan = search_pb2.RecallPlan()
        self.info = search_pb2.GetServerInfoResponse(version="1.2.3")
        self.request = search_pb2.SearchRequest()
        self.expand_request = search_pb2.ExpandRequest()

    def Search(self, request, context):
        self._enter("Search", context)
        self.request = request
        return self.answer

    def BatchSearch(self, request, context):
        self._enter("BatchSearch", context)
        failure = search_pb2.Failure(
            code=5, reason="COLLECTION_NOT_FOUND", message="there is no collection 'x'"
        )
        fault = search_pb2.Failure(code=13, reason="INTERNAL", message="see the log")
        result = search_pb2.BatchSearchResponse.Result
        return search_pb2.BatchSearchResponse(
            results=[
                result(response=self.answer),
                result(failure=failure),
                result(failure=fault),
            ][: len(request.requests)]
        )

    def Expand(self, request, context):
        self._enter("Expand", context)
        self.expand_request = request
        return search_pb2.ExpandResponse(missing_node_ids=request.node_ids)

    def Explain(self, request, context):
        self._enter("Explain", context)
        self.request = request.search
        return search_pb2.ExplainResponse(response=self.answer, plan=self.plan)

    def GetServerInfo(self, request, context):
        self._enter("GetServerInfo", context)
        return self.info


def fail(context: grpc.ServicerContext, error: TreespanError) -> NoReturn:
    """End a call as the real services do."""
    context.abort_with_status(status_of(error, "req-1"))
    raise AssertionError("unreachable")


@contextmanager
def serving(*fakes: FakeIngest | FakeSearch, port: int = 0) -> Iterator[str]:
    """Serve on a port, a free one for 0, and yield the address."""
    server = grpc.server(ThreadPoolExecutor(32))
    ready = health.HealthServicer()
    for fake in fakes:
        if isinstance(fake, FakeIngest):
            ingest_grpc.add_IngestServiceServicer_to_server(fake, server)
            ready.set("treespan.v1.IngestService", health_pb2.HealthCheckResponse.SERVING)
        else:
            search_grpc.add_SearchServiceServicer_to_server(fake, server)
            ready.set("treespan.v1.SearchService", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(ready, server)
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
