"""Calls about collections."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from ingest_svc import messages
from ingest_svc.page_token import list_mark, next_token, start_of
from treespan.errors import ModelMismatch
from treespan.identity import check_name
from treespan.rpc import current_call
from treespan.store.records import CollectionRecord
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from ingest_svc.service.parts import Context, Parts


class CollectionCalls:
    """Creates, reads, changes and deletes collections."""

    _parts: Parts

    async def CreateCollection(
        self, request: pb.CreateCollectionRequest, context: Context
    ) -> pb.CreateCollectionResponse:
        """Create a collection."""
        wanted = request.collection
        check_name("collection.collection", wanted.collection)
        if wanted.embedding_model not in ("", self._parts.embedder.name):
            raise ModelMismatch(
                wanted.collection,
                f"embedding_model is {wanted.embedding_model!r}, and this server has "
                f"{self._parts.embedder.name!r}; leave it empty, or set models.embedding",
            )
        wanted_record = CollectionRecord(
            tenant=current_call().tenant,
            name=wanted.collection,
            display_name=messages.checked_display_name(wanted.display_name),
            embedding_model=self._parts.embedder.name,
            embedding_fingerprint=self._parts.embedder.fingerprint,
            dimension=self._parts.embedder.dimension,
            chunk_tokens=messages.checked_chunk_tokens(wanted.chunk_tokens),
        )
        record, seq = await self._parts.catalogue.create_collection(wanted_record)
        return pb.CreateCollectionResponse(collection=messages.collection_message(record), seq=seq)

    async def GetCollection(
        self, request: pb.GetCollectionRequest, context: Context
    ) -> pb.GetCollectionResponse:
        """Return a collection with its counts."""
        check_name("collection", request.collection)
        tenant = current_call().tenant
        record = await asyncio.to_thread(self._parts.writer.collection, tenant, request.collection)
        counts = await asyncio.to_thread(
            self._parts.writer.collection_counts, tenant, request.collection
        )
        return pb.GetCollectionResponse(collection=messages.collection_message(record, counts))

    async def ListCollections(
        self, request: pb.ListCollectionsRequest, context: Context
    ) -> pb.ListCollectionsResponse:
        """Return a page of collections."""
        size = messages.checked_page_size(request.page_size)
        tenant = current_call().tenant
        mark = list_mark("collections", tenant)
        after = start_of(request.page_token, mark)
        records = await asyncio.to_thread(self._parts.writer.collections, tenant, after, size + 1)
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
        record, seq = await self._parts.catalogue.update_collection(
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
        seq, deleted = await self._parts.catalogue.delete_collection(
            current_call().tenant,
            request.collection,
            force=request.force,
            allow_missing=request.allow_missing,
        )
        return pb.DeleteCollectionResponse(seq=seq, deleted_artifacts=deleted)
