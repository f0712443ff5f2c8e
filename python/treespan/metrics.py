"""Prometheus metrics: fixed names, no ids in labels."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram, start_http_server

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)

STAGE_SECONDS = Histogram(
    "treespan_stage_seconds", "Time of a stage of the pipeline.", ["stage"], buckets=_SECONDS
)
REQUEST_SECONDS = Histogram(
    "treespan_request_seconds", "Time of a call.", ["rpc", "code"], buckets=_SECONDS
)
IN_FLIGHT = Gauge("treespan_requests_in_flight", "Calls under way.", ["rpc"])
QUEUE_LENGTH = Gauge("treespan_queue_length", "Items waiting.", ["queue"])
BATCH_TOKENS = Histogram(
    "treespan_batch_tokens",
    "Tokens in one run of the embedding model.",
    buckets=(16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
)
OPERATIONS = Gauge("treespan_operations", "Operations under way, by state.", ["state"])
OPERATIONS_ENDED = Counter(
    "treespan_operations_ended_total", "Operations, by how they ended.", ["state"]
)
FILES = Counter("treespan_files_total", "Files taken in, by outcome.", ["outcome"])
APPLIED_SEQ = Gauge("treespan_applied_seq", "Last change of the store that search has applied.")
INDEX_ROWS = Gauge("treespan_index_rows", "Searchable vectors.")


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Time a stage."""
    start = time.perf_counter()
    try:
        yield
    finally:
        STAGE_SECONDS.labels(name).observe(time.perf_counter() - start)


def serve(port: int) -> None:
    """Serve the metrics over HTTP on 127.0.0.1; does nothing for port 0.

    Raises:
        OSError: the port is taken.
    """
    if port:
        start_http_server(port, "127.0.0.1")
