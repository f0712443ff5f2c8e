"""Calls about artifacts."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from ingest_svc import messages
from ingest_svc.operations import ArtifactKey
from ingest_svc.page_token import list_mark, next_token, start_of
from treespan.identity import check_name
from treespan.rpc import current_call
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from ingest_svc.service.parts import Context, Parts

_PAGE_BYTES = 900_000


class ArtifactCalls:
    """Reads, changes and deletes artifacts."""

    _parts: Parts

    async def GetArtifact(
        self, request: pb.GetArtifactRequest, context: Context
    ) -> pb.GetArtifactResponse:
        """Return an artifact."""
        messages.checked_artifact(request.collection, request.artifact)
        key = ArtifactKey(current_call().tenant, request.collection, request.artifact)
        record = await asyncio.to_thread(self._parts.writer.artifact, *key)
        return pb.GetArtifactResponse(
            artifact=messages.artifact_message(record, self._parts.operations.of(key))
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
            self._parts.writer.artifacts,
            tenant,
            request.collection,
            start_of(request.page_token, mark),
            size + 1,
            where,
        )
        page = pb.ListArtifactsResponse()
        page_bytes = 0
        for record in records[:size]:
            job = self._parts.operations.of(ArtifactKey(tenant, record.collection, record.name))
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
        record, seq = await self._parts.catalogue.update_artifact(
            ArtifactKey(current_call().tenant, wanted.collection, wanted.artifact),
            partial(messages.updated_artifact, wanted=wanted, paths=paths),
        )
        return pb.UpdateArtifactResponse(artifact=messages.artifact_message(record), seq=seq)

    async def DeleteArtifact(
        self, request: pb.DeleteArtifactRequest, context: Context
    ) -> pb.DeleteArtifactResponse:
        """Delete an artifact; one that is being ingested is refused."""
        messages.checked_artifact(request.collection, request.artifact)
        seq = await self._parts.catalogue.delete_artifact(
            ArtifactKey(current_call().tenant, request.collection, request.artifact),
            allow_missing=request.allow_missing,
        )
        return pb.DeleteArtifactResponse(seq=seq)

    async def BatchDeleteArtifacts(
        self, request: pb.BatchDeleteArtifactsRequest, context: Context
    ) -> pb.BatchDeleteArtifactsResponse:
        """Delete several artifacts in one step; none where one of them is being ingested."""
        wanted = messages.deletion(request, current_call().tenant)
        deleted = await self._parts.catalogue.delete_artifacts(wanted)
        return pb.BatchDeleteArtifactsResponse(
            artifacts=deleted.names, deleted_artifacts=deleted.count, seq=deleted.seq
        )
