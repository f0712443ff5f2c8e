"""The gRPC edge of the write side: unpack, call, pack."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ingest_svc import messages
from ingest_svc.catalogue import Catalogue
from ingest_svc.operations import ArtifactKey
from ingest_svc.page_token import list_mark, next_token, start_of
from ingest_svc.pipeline import Source
from ingest_svc.threads import to_the_end
from ingest_svc.upload import Expected, check_part, header_missing
from treespan import metrics
from treespan.errors import (
    ArtifactBusy,
    ArtifactNotFound,
    ArtifactNotReady,
    FileProblem,
    InvalidField,
    ModelMismatch,
    NodeNotFound,
    StoreUnavailable,
    TreespanError,
)
from treespan.identity import check_name, parse_node_id
from treespan.node import Tree
from treespan.rpc import current_call
from treespan.store.records import ArtifactRecord, ArtifactState, CollectionRecord
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1.ingest_service_pb2_grpc import IngestServiceServicer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import grpc

    from ingest_svc.operations import Job, Operations
    from ingest_svc.pipeline import Outcome, Pipeline
    from ingest_svc.upload import Spool
    from treespan.embed import Embedder
    from treespan.store.interface import Writer
    from treespan.store.records import Tenant

    Context = grpc.aio.ServicerContext[object, object]

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_MOST_TEXT_BYTES = 1 << 20
_TEXT_TYPES = ("text/plain", "text/markdown", "text/html")
_PAGE_BYTES = 900_000
# Reads of an artifact and its content that a replacement may come between.
_TRIES = 5
_SWEEP_S = 5.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Held:
    """A version of an artifact and its tree."""

    record: ArtifactRecord
    tree: Tree


class IngestService(IngestServiceServicer):
    """Serves `treespan.v1.IngestService`."""

    def __init__(
        self,
        pipeline: Pipeline,
        operations: Operations,
        spool: Spool,
        writer: Writer,
        embedder: Embedder,
    ) -> None:
        self._pipeline = pipeline
        self._operations = operations
        self._spool = spool
        self._writer = writer
        self._embedder = embedder
        self._catalogue = Catalogue(writer, operations)

    async def CreateCollection(
        self, request: pb.CreateCollectionRequest, context: Context
    ) -> pb.CreateCollectionResponse:
        """Create a collection."""
        wanted = request.collection
        check_name("collection.collection", wanted.collection)
        if wanted.embedding_model not in ("", self._embedder.name):
            raise ModelMismatch(
                wanted.collection,
                f"embedding_model is {wanted.embedding_model!r}, and this server has "
                f"{self._embedder.name!r}; leave it empty, or set models.embedding",
            )
        wanted_record = CollectionRecord(
            tenant=current_call().tenant,
            name=wanted.collection,
            display_name=messages.checked_display_name(wanted.display_name),
            embedding_model=self._embedder.name,
            embedding_fingerprint=self._embedder.fingerprint,
            dimension=self._embedder.dimension,
            chunk_tokens=messages.checked_chunk_tokens(wanted.chunk_tokens),
        )
        record, seq = await self._catalogue.create_collection(wanted_record)
        return pb.CreateCollectionResponse(collection=messages.collection_message(record), seq=seq)

    async def GetCollection(
        self, request: pb.GetCollectionRequest, context: Context
    ) -> pb.GetCollectionResponse:
        """Return a collection with its counts."""
        check_name("collection", request.collection)
        tenant = current_call().tenant
        record = await asyncio.to_thread(self._writer.collection, tenant, request.collection)
        counts = await asyncio.to_thread(self._writer.collection_counts, tenant, request.collection)
        return pb.GetCollectionResponse(collection=messages.collection_message(record, counts))

    async def ListCollections(
        self, request: pb.ListCollectionsRequest, context: Context
    ) -> pb.ListCollectionsResponse:
        """Return a page of collections."""
        size = messages.checked_page_size(request.page_size)
        tenant = current_call().tenant
        mark = list_mark("collections", tenant)
        after = start_of(request.page_token, mark)
        records = await asyncio.to_thread(self._writer.collections, tenant, after, size + 1)
        return pb.ListCollectionsResponse(
            collections=[messages.collection_message(record) for record in records[:size]],
            next_page_token=next_token(mark, [record.name for record in records], size),
        )

    async def UpdateCollection(
        self, request: pb.UpdateCollectionRequest, context: Context
    ) -> pb.UpdateCollectionResponse:
        """Change the named fields of a collection."""
        wanted = request.collection
        check_name("collection.collection", wanted.collection)
        paths = messages.collection_paths(request)
        record, seq = await self._catalogue.update_collection(
            current_call().tenant,
            wanted.collection,
            partial(messages.updated_collection, wanted=wanted, paths=paths),
        )
        return pb.UpdateCollectionResponse(collection=messages.collection_message(record), seq=seq)

    async def DeleteCollection(
        self, request: pb.DeleteCollectionRequest, context: Context
    ) -> pb.DeleteCollectionResponse:
        """Delete a collection."""
        check_name("collection", request.collection)
        seq, deleted = await self._catalogue.delete_collection(
            current_call().tenant,
            request.collection,
            force=request.force,
            allow_missing=request.allow_missing,
        )
        return pb.DeleteCollectionResponse(seq=seq, deleted_artifacts=deleted)

    async def IngestFile(
        self, request_iterator: AsyncIterator[pb.IngestFileRequest], context: Context
    ) -> pb.IngestFileResponse:
        """Take one uploaded file in."""
        header = await self._header(request_iterator)
        source = Source(
            tenant=current_call().tenant,
            collection=header.collection,
            artifact=header.artifact,
            file_name=messages.checked_file_name(
                "header.file_name", header.file_name, header.artifact
            ),
            metadata=messages.packed_metadata(header.metadata),
            password=header.password,
        )
        expected = Expected(
            header.size_bytes if header.HasField("size_bytes") else None, header.content_sha256
        )
        outcome, size = await self._ingest(source, _parts(request_iterator), expected)
        return pb.IngestFileResponse(
            artifact=await self._artifact(source),
            received_bytes=size,
            already_ingested=outcome.already_ingested,
            seq=outcome.seq,
        )

    async def IngestText(
        self, request: pb.IngestTextRequest, context: Context
    ) -> pb.IngestTextResponse:
        """Take one text in."""
        messages.checked_artifact(request.collection, request.artifact)
        media_type = request.media_type or _TEXT_TYPES[0]
        if media_type not in _TEXT_TYPES:
            known = ", ".join(_TEXT_TYPES)
            raise InvalidField("media_type", f"is {media_type[:100]!r}; it is one of {known}")
        data = request.text.encode()
        if not data.strip():
            raise InvalidField("text", "is empty; give at least one word")
        if len(data) > _MOST_TEXT_BYTES:
            raise InvalidField("text", f"has {len(data):,} bytes; use IngestFile above 1 MiB")
        source = Source(
            tenant=current_call().tenant,
            collection=request.collection,
            artifact=request.artifact,
            file_name=messages.checked_file_name("file_name", request.file_name, request.artifact),
            media_type=media_type,
            metadata=messages.packed_metadata(request.metadata),
        )
        outcome, _ = await self._ingest(source, _whole(data), Expected(len(data)))
        return pb.IngestTextResponse(
            artifact=await self._artifact(source),
            already_ingested=outcome.already_ingested,
            seq=outcome.seq,
        )

    async def GetArtifact(
        self, request: pb.GetArtifactRequest, context: Context
    ) -> pb.GetArtifactResponse:
        """Return an artifact."""
        messages.checked_artifact(request.collection, request.artifact)
        key = ArtifactKey(current_call().tenant, request.collection, request.artifact)
        record = await asyncio.to_thread(self._writer.artifact, *key)
        return pb.GetArtifactResponse(
            artifact=messages.artifact_message(record, self._operations.of(key))
        )

    async def ListArtifacts(
        self, request: pb.ListArtifactsRequest, context: Context
    ) -> pb.ListArtifactsResponse:
        """Return a page of artifacts."""
        check_name("collection", request.collection)
        tenant = current_call().tenant
        size = messages.checked_page_size(request.page_size)
        where = messages.listed_filter(request)
        mark = list_mark(
            "artifacts",
            tenant,
            request.collection,
            request.metadata_filter.SerializeToString(deterministic=True),
        )
        records = await asyncio.to_thread(
            self._writer.artifacts,
            tenant,
            request.collection,
            start_of(request.page_token, mark),
            size + 1,
            where,
        )
        page = pb.ListArtifactsResponse()
        page_bytes = 0
        for record in records[:size]:
            job = self._operations.of(ArtifactKey(tenant, record.collection, record.name))
            page.artifacts.append(messages.artifact_message(record, job))
            page_bytes += page.artifacts[-1].ByteSize()
            if page_bytes > _PAGE_BYTES:
                break
        names = [record.name for record in records]
        page.next_page_token = next_token(mark, names, len(page.artifacts))
        return page

    async def UpdateArtifact(
        self, request: pb.UpdateArtifactRequest, context: Context
    ) -> pb.UpdateArtifactResponse:
        """Change the named fields of an artifact; one that is being ingested is refused."""
        wanted = request.artifact
        messages.checked_artifact(wanted.collection, wanted.artifact, "artifact.")
        paths = messages.artifact_paths(request)
        record, seq = await self._catalogue.update_artifact(
            ArtifactKey(current_call().tenant, wanted.collection, wanted.artifact),
            partial(messages.updated_artifact, wanted=wanted, paths=paths),
        )
        return pb.UpdateArtifactResponse(artifact=messages.artifact_message(record), seq=seq)

    async def DeleteArtifact(
        self, request: pb.DeleteArtifactRequest, context: Context
    ) -> pb.DeleteArtifactResponse:
        """Delete an artifact; one that is being ingested is refused."""
        messages.checked_artifact(request.collection, request.artifact)
        seq = await self._catalogue.delete_artifact(
            ArtifactKey(current_call().tenant, request.collection, request.artifact),
            allow_missing=request.allow_missing,
        )
        return pb.DeleteArtifactResponse(seq=seq)

    async def BatchDeleteArtifacts(
        self, request: pb.BatchDeleteArtifactsRequest, context: Context
    ) -> pb.BatchDeleteArtifactsResponse:
        """Delete several artifacts in one step; none where one of them is being ingested."""
        wanted = messages.deletion(request, current_call().tenant)
        deleted = await self._catalogue.delete_artifacts(wanted)
        return pb.BatchDeleteArtifactsResponse(
            artifacts=deleted.names, deleted_artifacts=deleted.count, seq=deleted.seq
        )

    async def GetNode(self, request: pb.GetNodeRequest, context: Context) -> pb.GetNodeResponse:
        """Return one node."""
        check_name("collection", request.collection)
        doc_id, position = parse_node_id("node_id", request.node_id)
        tenant = current_call().tenant
        try:
            named = await asyncio.to_thread(
                self._writer.artifact_by_doc_id, tenant, request.collection, doc_id
            )
            held = await self._populated(tenant, request.collection, named.name)
        except ArtifactNotFound:
            raise NodeNotFound(request.node_id) from None
        if held.record.doc_id != doc_id or position >= len(held.tree):
            raise NodeNotFound(request.node_id)
        node = await asyncio.to_thread(messages.node_message, held.tree, doc_id, position)
        return pb.GetNodeResponse(node=node, artifact=named.name)

    async def ExportTree(
        self, request: pb.ExportTreeRequest, context: Context
    ) -> AsyncIterator[pb.ExportTreeResponse]:
        """Stream a tree."""
        messages.checked_artifact(request.collection, request.artifact)
        held = await self._populated(current_call().tenant, request.collection, request.artifact)
        nodes = messages.node_messages(held.tree, held.record.doc_id)
        page = pb.ExportTreeResponse()
        size = 0
        for node in nodes:
            size += node.ByteSize() + 8
            if page.nodes and size > _PAGE_BYTES:
                yield page
                page, size = pb.ExportTreeResponse(), node.ByteSize() + 8
            page.nodes.append(node)
        yield page

    async def _header(self, requests: AsyncIterator[pb.IngestFileRequest]) -> pb.IngestFileHeader:
        first = await self._spool.within(anext(requests, None), "the header")
        if first is None:
            raise header_missing("missing: the stream ended")
        if first.WhichOneof("payload") != "header":
            raise header_missing("data" if first.WhichOneof("payload") else "empty")
        header = first.header
        messages.checked_artifact(header.collection, header.artifact, "header.")
        if header.content_sha256 and not _SHA256.fullmatch(header.content_sha256):
            raise InvalidField(
                "header.content_sha256",
                f"is {header.content_sha256[:70]!r}; it has 64 hexadecimal digits",
            )
        return header

    async def _ingest(
        self, source: Source, parts: AsyncIterator[bytes], expected: Expected
    ) -> tuple[Outcome, int]:
        key = ArtifactKey(source.tenant, source.collection, source.artifact)
        try:
            with self._operations.claimed(key) as job:
                outcome, size = await self._whole_or_nothing(source, parts, expected, job)
        except TreespanError as error:
            told = error.reason if isinstance(error, FileProblem) else "refused"
            metrics.FILES.labels(told.lower()).inc()
            raise
        metrics.FILES.labels("already_ingested" if outcome.already_ingested else "ok").inc()
        return outcome, size

    async def _whole_or_nothing(
        self, source: Source, parts: AsyncIterator[bytes], expected: Expected, job: Job
    ) -> tuple[Outcome, int]:
        reserved = ArtifactRecord(
            tenant=source.tenant,
            collection=source.collection,
            name=source.artifact,
            state=ArtifactState.NOT_INITIALIZED,
            file_name=source.file_name,
            metadata=source.metadata,
        )
        try:
            await to_the_end(self._writer.reserve_artifact, reserved)
            async with self._spool.received(parts, expected, job) as file:
                return await self._pipeline.ingest(source, file, job), file.size_bytes
        except BaseException:
            job.cancelled = True
            await self._abandon(ArtifactKey(source.tenant, source.collection, source.artifact))
            raise

    async def _abandon(self, key: ArtifactKey) -> None:
        """Drop an artifact that did not become POPULATED; later, where it cannot be done now."""
        try:
            await to_the_end(self._writer.abandon_artifact, *key)
            self._operations.left_over.discard(key)
        except StoreUnavailable as error:
            self._operations.left_over.add(key)
            _log.warning("a failed ingest cannot be undone yet: %s", error)

    async def sweep(self) -> None:
        """Drop what failed ingests left while the store could not be written; never ends."""
        while True:
            await asyncio.sleep(_SWEEP_S)
            for key in list(self._operations.left_over):
                if self._operations.of(key) is None:
                    await self._abandon(key)

    async def _artifact(self, source: Source) -> pb.Artifact:
        record = await asyncio.to_thread(
            self._writer.artifact, source.tenant, source.collection, source.artifact
        )
        return messages.artifact_message(record)

    async def _populated(self, tenant: Tenant, collection: str, name: str) -> _Held:
        """Return an artifact that is POPULATED, with its tree."""
        for _ in range(_TRIES):
            record = await asyncio.to_thread(self._writer.artifact, tenant, collection, name)
            if record.state is not ArtifactState.POPULATED:
                raise ArtifactNotReady(
                    name, f"artifact {name!r} is {record.state.name}; it has no tree yet"
                )
            try:
                content = await asyncio.to_thread(
                    self._writer.content_by_id, tenant, record.content_id
                )
            except ArtifactNotFound:  # replaced between the two reads
                continue
            return _Held(record, Tree.unpack(content.tree))
        raise ArtifactBusy(f"artifact {name!r} changes faster than it can be read; try again")


async def _parts(requests: AsyncIterator[pb.IngestFileRequest]) -> AsyncIterator[bytes]:
    async for request in requests:
        if request.WhichOneof("payload") == "header":
            raise InvalidField("header", "came twice; only the first message is a header")
        yield check_part(request.data)


async def _whole(data: bytes) -> AsyncIterator[bytes]:
    yield data
