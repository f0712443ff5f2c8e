"""The standard health check, by which a service says whether it is ready."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

Service: TypeAlias = Literal["ingest", "search"]

HEALTH_CHECK: Final = "/grpc.health.v1.Health/Check"


def health_request(service: Service) -> bytes:
    """Return a serialised request for the readiness of a service."""
    request = HealthCheckRequest(service=f"treespan.v1.{service.title()}Service")
    return bytes(request.SerializeToString())


def is_ready(answer: bytes) -> bool:
    """Return whether a serialised answer says that the service is ready."""
    return bool(HealthCheckResponse.FromString(answer).status == HealthCheckResponse.SERVING)
