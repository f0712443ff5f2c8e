"""Calls that ingest, and make searchable."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import grpc
import msgspec

from ingest_svc import messages
from ingest_svc.fetch import check_uri
from ingest_svc.operations import Live
from ingest_svc.operations.outcome import error_of, outcome_of
from ingest_svc.operations.views import view_of
from ingest_svc.upload import Expected, check_part, header_missing
from treespan.errors import (
    ArtifactNotFound,
    CallCancelled,
    CollectionNotFound,
    InvalidField,
    TreespanError,
)
from treespan.rpc import current_call
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ingest_svc.messages.ingests import Request
    from ingest_svc.operations.request import Wanted
    from ingest_svc.operations.runner import Begun
    from ingest_svc.operations.work import Bring
    from ingest_svc.service.parts import Context, Parts
    from treespan.store.records import OperationRecord


@dataclass(frozen=True, slots=True)
class _Told:
    """What a caller is told of an ingest."""

    artifact: pb.Artifact | None
    """None where it is gone already, or not there yet."""
    operation: pb.Operation
    received_bytes: int


class IngestCalls:
    """Begins operations, and waits for them."""

    _parts: Parts

    async def IngestFile(
        self, request_iterator: AsyncIterator[pb.IngestFileRequest], context: Context
    ) -> pb.IngestFileResponse:
        """Take one uploaded file in."""
        header = await self._header(request_iterator)
        wanted = messages.file_wanted(header, current_call().tenant, self._parts.defaults)
        size = header.size_bytes if header.HasField("size_bytes") else None
        expected = Expected(size, header.content_sha256)
        bring = partial(
            self._parts.spool.received, parts=_parts(request_iterator, context), expected=expected
        )
        told = await self._done(await _named(wanted, header), bring)
        return pb.IngestFileResponse(
            artifact=told.artifact,
            received_bytes=told.received_bytes,
            already_ingested=told.operation.already_ingested,
            seq=told.operation.seq,
            operation=told.operation,
        )

    async def IngestText(
        self, request: pb.IngestTextRequest, context: Context
    ) -> pb.IngestTextResponse:
        """Take one text in."""
        wanted = messages.text_wanted(request, current_call().tenant, self._parts.defaults)
        told = await self._done(await _named(wanted, request), self._writes(request))
        return pb.IngestTextResponse(
            artifact=told.artifact,
            already_ingested=told.operation.already_ingested,
            seq=told.operation.seq,
            operation=told.operation,
        )

    async def IngestUri(
        self, request: pb.IngestUriRequest, context: Context
    ) -> pb.IngestUriResponse:
        """Take what a URI names in."""
        told = await self._done(await _named(self._uri_wanted(request), request))
        return pb.IngestUriResponse(
            artifact=told.artifact,
            received_bytes=told.received_bytes,
            already_ingested=told.operation.already_ingested,
            seq=told.operation.seq,
            operation=told.operation,
        )

    async def PopulateArtifact(
        self, request: pb.PopulateArtifactRequest, context: Context
    ) -> pb.PopulateArtifactResponse:
        """Make an INITIALIZED artifact searchable."""
        wanted = messages.populate_wanted(request, current_call().tenant)
        told = await self._done(await _named(wanted, request))
        return pb.PopulateArtifactResponse(
            artifact=told.artifact, seq=told.operation.seq, operation=told.operation
        )

    async def BatchIngest(
        self, request: pb.BatchIngestRequest, context: Context
    ) -> pb.BatchIngestResponse:
        """Record several ingests; each goes on alone."""
        messages.check_batch(request)
        first: dict[tuple[str, str], int] = {}
        begun = [
            await self._begun(number, item, first) for number, item in enumerate(request.items)
        ]
        results = await asyncio.gather(*(self._recorded(one) for one in begun))
        return pb.BatchIngestResponse(results=results)

    async def _begun(
        self, number: int, item: pb.BatchIngestItem, first: dict[tuple[str, str], int]
    ) -> Begun | TreespanError:
        """Begin one item of a batch, or return why it is refused."""
        try:
            kind = item.WhichOneof("item")
            if kind is None:
                raise InvalidField(f"items[{number}]", "is empty; give a text or a uri")
            asked = item.text if kind == "text" else item.uri
            before = first.setdefault((asked.collection, asked.artifact), number)
            if before != number:
                raise InvalidField(
                    f"items[{number}]",
                    f"names artifact {asked.artifact!r}, as items[{before}] does; a batch holds "
                    "no artifact twice",
                )
            if isinstance(asked, pb.IngestTextRequest):
                wanted = messages.text_wanted(asked, current_call().tenant, self._parts.defaults)
                bring: Bring | None = self._writes(asked)
            else:
                wanted, bring = self._uri_wanted(asked), None
            detached = msgspec.structs.replace(wanted.kept, detached=True)
            wanted = replace(await _named(wanted, asked), kept=detached)
            return await self._parts.runner.begin(wanted, bring)
        except TreespanError as error:
            return error

    async def _recorded(self, begun: Begun | TreespanError) -> pb.BatchIngestResult:
        if isinstance(begun, TreespanError):
            return pb.BatchIngestResult(error=messages.refusal_message(begun))
        known, is_first = begun.known, begun.is_first
        try:
            if isinstance(known, Live):
                await self._parts.runner.answered(known, detached=True, is_first=is_first)
        except TreespanError as error:
            return pb.BatchIngestResult(error=messages.refusal_message(error))
        return pb.BatchIngestResult(operation=messages.operation_message(view_of(known)))

    async def _done(self, wanted: Wanted, bring: Bring | None = None) -> _Told:
        """Begin what is wanted, and wait for what its caller waits for."""
        begun = await self._parts.runner.begin(wanted, bring)
        known, detached = begun.known, wanted.kept.detached
        if isinstance(known, Live):
            await self._parts.runner.answered(known, detached=detached, is_first=begun.is_first)
        elif (problem := outcome_of(known.outcome).problem) is not None and not detached:
            raise error_of(problem)
        return await self._told(wanted, known)

    async def _told(self, wanted: Wanted, known: Live | OperationRecord) -> _Told:
        view = view_of(known)
        received = view.job or outcome_of(view.record.outcome)
        try:
            record = await asyncio.to_thread(self._parts.writer.artifact, *wanted.key)
            artifact = messages.artifact_message(record, self._parts.operations.of(wanted.key))
        except (ArtifactNotFound, CollectionNotFound):  # deleted since
            artifact = None
        return _Told(artifact, messages.operation_message(view), received.received_bytes)

    def _writes(self, request: pb.IngestTextRequest) -> Bring:
        return partial(self._parts.spool.written, data=request.text.encode())

    def _uri_wanted(self, request: pb.IngestUriRequest) -> Wanted:
        wanted = messages.uri_wanted(request, current_call().tenant, self._parts.defaults)
        check_uri(request.uri, self._parts.rules)
        return wanted

    async def _header(self, requests: AsyncIterator[pb.IngestFileRequest]) -> pb.IngestFileHeader:
        first = await self._parts.spool.within(anext(requests, None), "the header")
        if first is None:
            raise header_missing("missing: the stream ended")
        if first.WhichOneof("payload") != "header":
            raise header_missing("data" if first.WhichOneof("payload") else "empty")
        return first.header


async def _named(wanted: Wanted, request: Request) -> Wanted:
    """Return what is wanted with what tells it from others of the same `request_id`."""
    if not wanted.request_id:
        return wanted
    return replace(wanted, digest=await asyncio.to_thread(messages.request_digest, request))


async def _parts(
    requests: AsyncIterator[pb.IngestFileRequest], context: Context
) -> AsyncIterator[bytes]:
    """Yield the bytes of an upload.

    Raises:
        InvalidField: a part is none.
        CallCancelled: the caller went away. gRPC ends the stream then, as if it were whole; but
            nothing can be sent to that caller any more.
    """
    async for request in requests:
        if request.WhichOneof("payload") == "header":
            raise InvalidField("header", "came twice; only the first message is a header")
        yield check_part(request.data)
    try:
        await context.send_initial_metadata(())
    except grpc.aio.InternalError:
        raise CallCancelled("its caller went away before all bytes had come") from None
