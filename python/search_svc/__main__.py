"""The search service as a process: parts together, serve, drain."""

from __future__ import annotations

import logging
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from search_svc.documents import DocumentCache
from search_svc.filtered import FilterCache
from search_svc.follower import Follower
from search_svc.index import Index
from search_svc.pipeline import Pipeline
from search_svc.sealer import Sealer
from search_svc.segments import SegmentCache
from search_svc.service import SERVICE, SearchService
from treespan import metrics
from treespan.batcher import QueryBatcher
from treespan.config import Config
from treespan.embed import Embedder
from treespan.models.chosen import prepare_chosen
from treespan.process import run
from treespan.rpc import CountedPool, SyncEdge, bind, drained_on_signal, server_options
from treespan.store import open_reader

_log = logging.getLogger("search_svc")


def serve(config: Config) -> None:
    """Serve until SIGTERM or SIGINT, then drain."""
    with ExitStack() as parts:
        reader = open_reader(config.store.path)
        parts.callback(reader.close)
        index = Index(config.search)
        cache = SegmentCache(_cache_folder(config))
        parts.callback(cache.close)
        healthy = health.HealthServicer()
        healthy.set(SERVICE, health_pb2.HealthCheckResponse.NOT_SERVING)
        follower = Follower(
            reader,
            index,
            cache,
            config.search.poll_ms / 1000,
            partial(_tell, healthy),
            most_waiting=max(1, config.search.threads // 2),
        )
        follower.start()
        parts.callback(follower.stop)
        sealer = Sealer(index, cache, lambda: follower.applied_seq)
        sealer.start()
        parts.callback(sealer.stop)
        embedder = Embedder.open(
            prepare_chosen(config.models),
            threads=config.models.threads,
            batch_tokens=config.models.batch_tokens,
        )
        batcher = QueryBatcher(
            embedder, queue_length=config.models.query_queue, cached=config.models.query_cache
        )
        parts.callback(batcher.close)
        metrics.QUEUE_LENGTH.labels("query").set_function(lambda: batcher.waiting)
        pipeline = Pipeline(
            index,
            DocumentCache(config.search.document_cache_bytes),
            FilterCache(config.search.filter_cache_bytes),
            follower,
            reader,
            batcher,
            config.search.max_message_bytes,
        )
        service = SearchService(pipeline, index, follower, reader, embedder, config.search)
        _run(config, service, healthy, follower)


def _cache_folder(config: Config) -> Path:
    return Path(config.search.cache_path or Path(config.store.path) / "cache")


def _tell(healthy: health.HealthServicer, following: bool) -> None:
    """Say whether the index is equal to the store."""
    status = health_pb2.HealthCheckResponse
    healthy.set(SERVICE, status.SERVING if following else status.NOT_SERVING)


def _run(
    config: Config,
    service: SearchService,
    healthy: health.HealthServicer,
    follower: Follower,
) -> None:
    pool = CountedPool(config.search.threads, "call")
    edge = SyncEdge(config.log, config.search.default_deadline_s, pool, config.search.concurrency)
    server = grpc.server(
        pool, interceptors=[edge], options=server_options(config.search.max_message_bytes)
    )
    server.add_generic_rpc_handlers((service.handlers(),))
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection(
        (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server
    )
    bind(server, config.search.address)
    metrics.serve(config.search.metrics_port)
    server.start()
    _log.info("serving", extra={"address": config.search.address, **service.about()})

    def stop() -> None:
        _log.info("stopping", extra={"grace_s": config.search.drain_s})
        healthy.enter_graceful_shutdown()
        follower.release()
        server.stop(config.search.drain_s).wait()
        edge.close()

    drained_on_signal(stop)


if __name__ == "__main__":
    sys.exit(run("search", serve))
