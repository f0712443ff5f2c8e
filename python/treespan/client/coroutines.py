"""The client for asyncio: the methods of `Client`, as coroutines and asynchronous iterators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeVar, Unpack

import grpc.aio

from treespan.client.channel import INGEST_ADDRESS, SEARCH_ADDRESS, call_metadata, channel_options
from treespan.client.coroutines_ingest import AsyncIngestCalls
from treespan.client.failures import error_of_item, translated
from treespan.client.health import HEALTH_CHECK, health_request, is_ready
from treespan.client.requests import (
    artifact_update,
    collection_update,
    delete_request,
    expand_request,
    list_request,
    search_request,
)
from treespan.errors import CollectionExists, TreespanError
from treespan.v1 import ingest_service_pb2 as ingest_pb2
from treespan.v1 import search_service_pb2 as search_pb2
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
from treespan.v1.search_service_pb2_grpc import SearchServiceStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from types import TracebackType

    from treespan.client.health import Service
    from treespan.client.metadata import MetadataInput
    from treespan.client.requests import ExpandKeywords, Query, SearchKeywords
    from treespan.client.where import WhereInput
    from treespan.v1.node_pb2 import Node

Req = TypeVar("Req")
Resp = TypeVar("Resp")


class AsyncClient(AsyncIngestCalls):
    """Calls both services; make, use and close it inside one running event loop.

    Exceptions and retries are those of `Client`.
    """

    def __init__(
        self,
        ingest: str = INGEST_ADDRESS,
        search: str = SEARCH_ADDRESS,
        *,
        tenant: str | None = None,
        timeout_s: float = 30.0,
        ingest_timeout_s: float | None = None,
    ) -> None:
        """Take the services' addresses; `tenant` only for servers without authentication.

        `timeout_s` bounds every call but an ingest, which `ingest_timeout_s` bounds, if set.
        """
        self.ingest_address = ingest
        self.search_address = search
        self._metadata = call_metadata(tenant)
        self._timeout_s = timeout_s
        self._ingest_timeout_s = ingest_timeout_s
        self._ingest_channel = grpc.aio.insecure_channel(ingest, options=channel_options())
        self._search_channel = grpc.aio.insecure_channel(search, options=channel_options())
        self._ingest = IngestServiceStub(self._ingest_channel)
        self._search = SearchServiceStub(self._search_channel)

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()

    async def close(self) -> None:
        """Close both channels; calls under way fail with `CallCancelled`."""
        await self._ingest_channel.close()
        await self._search_channel.close()

    # Collections

    async def create_collection(
        self,
        collection: str,
        *,
        display_name: str = "",
        chunk_tokens: int = 0,
        exist_ok: bool = False,
    ) -> ingest_pb2.Collection:
        """Create a collection and return it; with `exist_ok` also one that exists."""
        wanted = ingest_pb2.Collection(
            collection=collection, display_name=display_name, chunk_tokens=chunk_tokens
        )
        request = ingest_pb2.CreateCollectionRequest(collection=wanted)
        try:
            return (await self._ask_ingest(self._ingest.CreateCollection, request)).collection
        except CollectionExists:
            if not exist_ok:
                raise
            return await self.get_collection(collection)

    async def get_collection(self, collection: str) -> ingest_pb2.Collection:
        """Return a collection with its counts."""
        request = ingest_pb2.GetCollectionRequest(collection=collection)
        return (await self._ask_ingest(self._ingest.GetCollection, request)).collection

    async def list_collections(self) -> AsyncIterator[ingest_pb2.Collection]:
        """Yield all collections by name, without counts; pages are fetched as they are needed."""
        request = ingest_pb2.ListCollectionsRequest()
        while True:
            page = await self._ask_ingest(self._ingest.ListCollections, request)
            for found in page.collections:
                yield found
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    async def update_collection(
        self, collection: str, *, display_name: str | None = None, chunk_tokens: int | None = None
    ) -> ingest_pb2.Collection:
        """Change what is given of a collection and return it."""
        request = collection_update(collection, display_name, chunk_tokens)
        return (await self._ask_ingest(self._ingest.UpdateCollection, request)).collection

    async def delete_collection(
        self, collection: str, *, force: bool = False, missing_ok: bool = False
    ) -> ingest_pb2.DeleteCollectionResponse:
        """Delete a collection; one that holds artifacts only with `force`."""
        request = ingest_pb2.DeleteCollectionRequest(
            collection=collection, force=force, allow_missing=missing_ok
        )
        return await self._ask_ingest(self._ingest.DeleteCollection, request)

    # Artifacts

    async def list_artifacts(
        self, collection: str, *, where: WhereInput | None = None
    ) -> AsyncIterator[ingest_pb2.Artifact]:
        """Yield all artifacts of a collection by name; pages are fetched as they are needed.

        `where` keeps those that are POPULATED and like this; it may ask for keys of artifacts only.
        """
        request = list_request(collection, where)
        while True:
            page = await self._ask_ingest(self._ingest.ListArtifacts, request)
            for found in page.artifacts:
                yield found
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    async def delete_artifact(
        self, artifact: str, collection: str, *, missing_ok: bool = False
    ) -> int:
        """Delete an artifact; return the sequence number of the change, 0 where nothing changed."""
        request = ingest_pb2.DeleteArtifactRequest(
            collection=collection, artifact=artifact, allow_missing=missing_ok
        )
        return (await self._ask_ingest(self._ingest.DeleteArtifact, request)).seq

    async def update_artifact(
        self,
        artifact: str,
        collection: str,
        *,
        file_name: str | None = None,
        summary: str | None = None,
        metadata: MetadataInput | None = None,
        remove: Iterable[str] = (),
        replace: bool = False,
    ) -> ingest_pb2.UpdateArtifactResponse:
        """Change an artifact's file name, summary and metadata; nothing is read or embedded anew.

        Keys in `metadata` are set, those in `remove` removed, and all others kept; with `replace`
        the metadata given takes the place of all there was.
        """
        request = artifact_update(
            artifact,
            collection,
            {"file_name": file_name, "summary": summary},
            metadata,
            remove,
            replace=replace,
        )
        return await self._ask_ingest(self._ingest.UpdateArtifact, request)

    async def delete_artifacts(
        self,
        collection: str,
        *,
        names: Iterable[str] | None = None,
        where: WhereInput | None = None,
        validate_only: bool = False,
        missing_ok: bool = False,
    ) -> ingest_pb2.BatchDeleteArtifactsResponse:
        """Delete several artifacts in one step, all of them or none.

        Those of these `names` that are like `where`; one of both is enough. `validate_only` says
        what would be deleted and deletes nothing. Without `missing_ok`, a name that does not exist
        is `ArtifactNotFound`; with it, the call may be repeated until it succeeds.
        """
        request = delete_request(
            collection, names, where, validate_only=validate_only, missing_ok=missing_ok
        )
        return await self._ask_ingest(self._ingest.BatchDeleteArtifacts, request)

    async def get_node(self, node_id: str, collection: str) -> ingest_pb2.GetNodeResponse:
        """Return one node, what is embedded for it, and the artifact that holds it."""
        request = ingest_pb2.GetNodeRequest(collection=collection, node_id=node_id)
        return await self._ask_ingest(self._ingest.GetNode, request)

    async def export_tree(self, artifact: str, collection: str) -> AsyncIterator[Node]:
        """Yield the nodes of an artifact in document order, as they arrive."""
        request = ingest_pb2.ExportTreeRequest(collection=collection, artifact=artifact)
        with translated(self.ingest_address):
            pages = self._ingest.ExportTree(
                request, timeout=self._timeout_s, metadata=self._metadata
            )
            try:
                async for page in pages:
                    for node in page.nodes:
                        yield node
            finally:
                pages.cancel()

    # Search

    async def search(
        self, query: Query, collection: str = "default", **keywords: Unpack[SearchKeywords]
    ) -> search_pb2.SearchResponse:
        """Return the chunks nearest to a text or vector, best first, each with its context."""
        request = search_request(query, collection, **keywords)
        return await self._ask_search(self._search.Search, request)

    async def batch_search(
        self, requests: Iterable[search_pb2.SearchRequest]
    ) -> list[search_pb2.SearchResponse | TreespanError]:
        """Answer up to 64 searches made by `search_request`; failures are in the list."""
        batch = search_pb2.BatchSearchRequest(requests=requests)
        return [
            error_of_item(result.failure) if result.HasField("failure") else result.response
            for result in (await self._ask_search(self._search.BatchSearch, batch)).results
        ]

    async def expand(
        self, node_ids: Iterable[str], collection: str, **keywords: Unpack[ExpandKeywords]
    ) -> search_pb2.ExpandResponse:
        """Return the context of known nodes, without searching."""
        return await self._ask_search(
            self._search.Expand, expand_request(node_ids, collection, **keywords)
        )

    async def explain(
        self, query: Query, collection: str = "default", **keywords: Unpack[SearchKeywords]
    ) -> search_pb2.ExplainResponse:
        """Return what `search` does, and how it came about."""
        request = search_request(query, collection, **keywords)
        return await self._ask_search(
            self._search.Explain, search_pb2.ExplainRequest(search=request)
        )

    async def server_info(self) -> search_pb2.GetServerInfoResponse:
        """Return what the search service is, holds and allows."""
        return await self._ask_search(self._search.GetServerInfo, search_pb2.GetServerInfoRequest())

    async def is_serving(self, service: Service) -> bool:
        """Return whether a service says that it is ready; `NotServing` where none answers."""
        ingest = service == "ingest"
        address = self.ingest_address if ingest else self.search_address
        channel = self._ingest_channel if ingest else self._search_channel
        check: grpc.aio.UnaryUnaryMultiCallable[bytes, bool] = channel.unary_unary(
            HEALTH_CHECK, response_deserializer=is_ready
        )
        with translated(address):
            return await check(health_request(service), timeout=self._timeout_s)

    async def _ask_search(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Req, Resp], request: Req
    ) -> Resp:
        with translated(self.search_address):
            return await method(request, timeout=self._timeout_s, metadata=self._metadata)
