"""How the client's channels are set up: retries, keepalive, message sizes, the tenant's header."""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from google.protobuf.descriptor_pb2 import MethodOptions

from treespan.v1 import ingest_service_pb2, search_service_pb2

INGEST_ADDRESS: Final = "127.0.0.1:50051"
SEARCH_ADDRESS: Final = "127.0.0.1:50052"
TENANT_KEY: Final = "treespan-tenant"

_RETRY: Final = {
    "maxAttempts": 3,
    "initialBackoff": "0.05s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}


@cache
def service_config() -> str:
    """Return the gRPC service config: reads of one answer are tried again on UNAVAILABLE alone."""
    retried = {"name": _pure_reads(), "retryPolicy": _RETRY}
    return json.dumps(
        {"methodConfig": [retried], "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}
    )


def channel_options() -> list[tuple[str, int | str]]:
    """Return the options of a channel to either service."""
    return [
        ("grpc.service_config", service_config()),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # A server that restarts is found again soon.
        ("grpc.max_reconnect_backoff_ms", 2_000),
        # The server refuses what is above its own limit, with a sentence that says so.
        ("grpc.max_receive_message_length", 64 * 1024 * 1024),
    ]


def call_metadata(tenant: str | None) -> tuple[tuple[str, str], ...]:
    """Return the metadata sent with every call."""
    return ((TENANT_KEY, tenant),) if tenant else ()


def _pure_reads() -> list[dict[str, str]]:
    files = (ingest_service_pb2.DESCRIPTOR, search_service_pb2.DESCRIPTOR)
    services = [service for file in files for service in file.services_by_name.values()]
    return [
        {"service": service.full_name, "method": method.name}
        for service in services
        for method in service.methods
        if method.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS
        # A stream that gRPC tries again for itself may never end where its server was killed.
        and not method.server_streaming
    ]
