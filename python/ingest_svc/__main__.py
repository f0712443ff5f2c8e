"""The ingest service as a process: parts together, serve, drain."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection

from ingest_svc.catalogue import Catalogue
from ingest_svc.fetch import FetchRules
from ingest_svc.operations import Operations
from ingest_svc.operations.endings import Endings
from ingest_svc.operations.resume import Resumption
from ingest_svc.operations.runner import Runner
from ingest_svc.operations.sweep import sweep
from ingest_svc.operations.views import Views
from ingest_svc.operations.work import Work
from ingest_svc.pipeline import Pipeline
from ingest_svc.readers.pool import ReaderPool
from ingest_svc.readers.source import ReadOptions
from ingest_svc.service import IngestService
from ingest_svc.service.parts import Parts
from ingest_svc.tree import TreeLimits
from ingest_svc.upload import MAX_PART_BYTES, Spool
from treespan import metrics
from treespan.config import Config
from treespan.embed import Embedder
from treespan.errors import StoreUnavailable
from treespan.models.chosen import prepare_chosen
from treespan.process import run
from treespan.rpc import AsyncEdge, bind, server_options
from treespan.store import open_writer
from treespan.tokens import TokenCounter
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1.ingest_service_pb2_grpc import add_IngestServiceServicer_to_server

if TYPE_CHECKING:
    from treespan.store.interface import Writer

SERVICE = pb.DESCRIPTOR.services_by_name["IngestService"].full_name

# A message is a part and a few bytes around it; metadata of an artifact may be large, too.
_MAX_MESSAGE_BYTES = 4 * MAX_PART_BYTES
# Reading and embedding take as long as they take; a caller that wants less says so.
_DEFAULT_DEADLINE_S = 24 * 3600.0

_log = logging.getLogger("ingest_svc")


async def serve(config: Config) -> None:
    """Serve until SIGTERM or SIGINT, then drain."""
    writer = open_writer(config.store.path)
    try:
        await _serve(config, writer)
    finally:
        writer.close()


async def _serve(config: Config, writer: Writer) -> None:
    embedder = await asyncio.to_thread(_embedder, config)
    readers = ReaderPool(
        config.ingest.concurrent_files, config.readers, config.ocr, config.ingest.nice
    )
    pipeline = Pipeline(
        readers,
        embedder,
        TokenCounter(embedder.tokenizer),
        writer,
        TreeLimits(config.readers.max_nodes, config.readers.max_nesting),
        config.ocr,
        config.ingest.nice,
    )
    spool = Spool(
        Path(config.store.path), config.readers.max_file_bytes, config.ingest.upload_stall_s
    )
    operations, endings = Operations(config.ingest.queue_length), Endings(writer)
    rules = FetchRules.of(config.ingest, config.readers)
    work = Work(pipeline, spool, writer, rules)
    runner = Runner(work, operations, endings, spool, writer)
    parts = Parts(
        writer,
        embedder,
        operations,
        Catalogue(writer, operations),
        runner,
        Views(operations, endings, writer),
        spool,
        rules,
        _read_options(config),
    )
    server, healthy = _server(config, parts)
    await Resumption(runner, endings, spool, writer).go_on()
    bind(server, config.ingest.address)
    metrics.serve(config.ingest.metrics_port)
    await server.start()
    await healthy.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
    _log.info(
        "serving",
        extra={"address": config.ingest.address, "store": writer.engine(), "model": embedder.name},
    )
    sweeping = asyncio.create_task(sweep(endings, writer, config.ingest.operations_kept_s))
    await _asked_to_stop()
    sweeping.cancel()
    _log.info("stopping", extra={"grace_s": config.ingest.drain_s})
    operations.drain()
    await healthy.enter_graceful_shutdown()
    await server.stop(config.ingest.drain_s)
    await runner.stop()
    with suppress(StoreUnavailable):  # the next start will find what is not written
        await endings.retry()
    pipeline.close()
    await readers.close()


def _server(config: Config, parts: Parts) -> tuple[grpc.aio.Server, HealthServicer]:
    """Return the server with all that it serves, not started."""
    server = grpc.aio.server(
        interceptors=[AsyncEdge(config.log, _DEFAULT_DEADLINE_S)],
        options=server_options(_MAX_MESSAGE_BYTES),
    )
    add_IngestServiceServicer_to_server(IngestService(parts), server)
    healthy = HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection(
        (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server
    )
    return server, healthy


def _read_options(config: Config) -> ReadOptions:
    """Return how files are read unless a request says."""
    return ReadOptions(
        pdf_mode=config.readers.pdf_mode,
        ocr=config.ocr.mode,
        ocr_languages=config.ocr.languages,
        include_hidden=config.readers.include_hidden,
    )


def _embedder(config: Config) -> Embedder:
    return Embedder.open(
        prepare_chosen(config.models),
        threads=config.models.threads,
        batch_tokens=config.models.batch_tokens,
    )


async def _asked_to_stop() -> None:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked.set)
    await asked.wait()


if __name__ == "__main__":
    sys.exit(run("ingest", lambda config: asyncio.run(serve(config))))
