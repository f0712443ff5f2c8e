"""The gRPC edge of the read side: unpack, call, pack.

Replies leave as finished bytes, so the methods have generic handlers and no serializer.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import grpc

from search_svc import index, messages, query
from treespan.errors import InvalidField, ResponseTooLarge, TreespanError
from treespan.rpc import current_call
from treespan.rpc.status import code_number
from treespan.v1 import search_service_pb2 as pb
from treespan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.message import Message

    from search_svc.follower import Follower
    from search_svc.index import Index
    from search_svc.pipeline import Pipeline
    from treespan.config import SearchConfig
    from treespan.embed import Embedder
    from treespan.store.interface import Reader

SERVICE = pb.DESCRIPTOR.services_by_name["SearchService"].full_name


class SearchService:
    """Serves `treespan.v1.SearchService`."""

    def __init__(
        self,
        pipeline: Pipeline,
        index: Index,
        follower: Follower,
        reader: Reader,
        embedder: Embedder,
        config: SearchConfig,
    ) -> None:
        self._pipeline = pipeline
        self._index = index
        self._follower = follower
        self._reader = reader
        self._embedder = embedder
        self._config = config
        self._budget = config.context_window // 8
        self._started = time.monotonic()

    def handlers(self) -> grpc.GenericRpcHandler:
        """Return the methods for a server."""
        methods: dict[str, tuple[Callable[..., bytes], type[Message]]] = {
            "Search": (self.search, pb.SearchRequest),
            "BatchSearch": (self.batch_search, pb.BatchSearchRequest),
            "Expand": (self.expand, pb.ExpandRequest),
            "Explain": (self.explain, pb.ExplainRequest),
            "GetServerInfo": (self.get_server_info, pb.GetServerInfoRequest),
        }
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                name: grpc.unary_unary_rpc_method_handler(method, request.FromString, None)
                for name, (method, request) in methods.items()
            },
        )

    def about(self) -> dict[str, str]:
        """Return what the log says of the service at its start."""
        return {"store": self._reader.engine(), "model": self._embedder.name}

    def search(self, request: pb.SearchRequest, _: grpc.ServicerContext) -> bytes:
        """Answer one search."""
        call = current_call()
        found = self._pipeline.search(query.query(request, call.tenant, self._budget), call)
        return messages.search_response(found)

    def batch_search(self, request: pb.BatchSearchRequest, context: grpc.ServicerContext) -> bytes:
        """Answer up to 64 searches; a failure is that search's alone."""
        if not 1 <= len(request.requests) <= query.MOST_SEARCHES:
            raise InvalidField(
                "requests",
                f"has {len(request.requests)} searches; 1 to {query.MOST_SEARCHES} are allowed",
            )
        self._pipeline.prefetch([one.text for one in request.requests], current_call())
        results = []
        size = 0
        for one in request.requests:
            try:
                results.append(messages.batch_result(self.search(one, context)))
            except TreespanError as error:
                results.append(
                    messages.batch_failure(code_number(error), error.reason, error.message)
                )
            size += len(results[-1])
            if size > self._config.max_message_bytes:
                raise ResponseTooLarge(
                    f"the answers have more than {self._config.max_message_bytes:,} bytes "
                    "(search.max_message_bytes); send fewer searches in a batch"
                )
        return b"".join(results)

    def expand(self, request: pb.ExpandRequest, _: grpc.ServicerContext) -> bytes:
        """Return the context of known nodes."""
        call = current_call()
        wanted = query.nodes_query(request, call.tenant, self._budget)
        return messages.expand_response(*self._pipeline.expand(wanted, call))

    def explain(self, request: pb.ExplainRequest, _: grpc.ServicerContext) -> bytes:
        """Answer one search and say how."""
        call = current_call()
        request.search.context.nodes = True
        request.search.context.trace = True
        wanted = query.query(request.search, call.tenant, self._budget)
        found = self._pipeline.search(wanted, call)
        collection = self._index.collection(wanted.tenant, wanted.collection)
        documents = collection.vectors.documents if collection else 0
        return messages.explain_response(found, documents, self._embedder.name)

    def get_server_info(self, _: pb.GetServerInfoRequest, __: grpc.ServicerContext) -> bytes:
        """Return what the server is, holds and allows."""
        config = self._config
        applied_seq, store_seq = self._follower.applied_seq, self._reader.last_seq()
        info = pb.GetServerInfoResponse(
            version=VERSION,
            embedding_model=self._embedder.name,
            embedding_fingerprint=self._embedder.fingerprint,
            dimension=self._embedder.dimension,
            store=self._reader.engine(),
            applied_seq=applied_seq,
            store_seq=store_seq,
            lag=max(0, store_seq - applied_seq),
            collections=[
                pb.CollectionInfo(
                    collection=held.record.name,
                    documents=held.vectors.documents,
                    rows=held.vectors.rows,
                    sealed_rows=held.vectors.sealed_rows,
                    segments=held.vectors.segments,
                    memory_bytes=held.vectors.memory_bytes,
                )
                for held in self._index.collections(current_call().tenant)
            ],
            limits=pb.ServerLimits(
                limit=query.MOST_HITS,
                batch=query.MOST_SEARCHES,
                token_budget=self._budget,
                message_bytes=config.max_message_bytes,
                concurrency=config.concurrency,
            ),
            uptime=messages.duration(time.monotonic() - self._started),
            simd=index.simd(),
        )
        return info.SerializeToString()
