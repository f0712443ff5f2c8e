"""Errors as google.rpc statuses: code, sentence and typed details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from treespan.errors import FailedPrecondition, InvalidArgument, NotFound, TreespanError
from treespan.rpc.call import REQUEST_ID_KEY

if TYPE_CHECKING:
    import grpc
    from google.protobuf.message import Message

DOMAIN = "treespan"

# Details travel in trailers of at most 8 KiB; a message may quote what the caller sent.
_LONGEST_MESSAGE = 1000


def status_of(error: TreespanError, request_id: str) -> grpc.Status:
    """Return the status that tells a caller of an error."""
    message = _shortened(error.message)
    details: list[Message] = [
        error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN),
        error_details_pb2.RequestInfo(request_id=request_id),
    ]
    if error.retry_after_s is not None:
        delay = Duration()
        delay.FromMilliseconds(int(error.retry_after_s * 1000))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    details += _details(error, message)
    return _status(code_number(error), message, details, request_id)


def internal_status(request_id: str) -> grpc.Status:
    """Return the status for a fault of the server: a request id to look for in its log."""
    details: list[Message] = [
        error_details_pb2.ErrorInfo(reason="INTERNAL", domain=DOMAIN),
        error_details_pb2.RequestInfo(request_id=request_id),
    ]
    message = f"a fault of the server; its log has the details under request id {request_id}"
    return _status(code_pb2.INTERNAL, message, details, request_id)


def code_number(error: TreespanError) -> int:
    """Return the number of an error's code, as in google.rpc.Code."""
    number: int = error.code.value[0]
    return number


def _details(error: TreespanError, message: str) -> list[Message]:
    if isinstance(error, InvalidArgument):
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=error.field, description=message, reason=error.reason
        )
        return [error_details_pb2.BadRequest(field_violations=[violation])]
    if isinstance(error, NotFound):
        info = error_details_pb2.ResourceInfo(
            resource_type=error.kind, resource_name=_shortened(error.name), description=message
        )
        return [info]
    if isinstance(error, FailedPrecondition):
        unmet = error_details_pb2.PreconditionFailure.Violation(
            type=error.reason, subject=_shortened(error.subject), description=message
        )
        return [error_details_pb2.PreconditionFailure(violations=[unmet])]
    return []


def _status(code: int, message: str, details: list[Message], request_id: str) -> grpc.Status:
    status = status_pb2.Status(code=code, message=message)
    for detail in details:
        status.details.add().Pack(detail)
    made: Any = rpc_status.to_status(status)
    trailers = (*made.trailing_metadata, (REQUEST_ID_KEY, request_id))
    told: grpc.Status = made._replace(trailing_metadata=trailers)
    return told


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"
