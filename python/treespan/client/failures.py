"""Failed calls as the exceptions of `treespan.errors`, by the reason in google.rpc.ErrorInfo."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, cast

import grpc
from google.rpc import error_details_pb2 as details_pb2
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status

from treespan import errors
from treespan.errors import TreespanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from treespan.v1.ingest_service_pb2 import OperationError
    from treespan.v1.search_service_pb2 import Failure

DOMAIN: Final = "treespan"
_STATUS_KEY = "grpc-status-details-bin"


class _FailedCall(Protocol):
    """What a failed call of either stack, blocking or asyncio, can be asked."""

    def code(self) -> grpc.StatusCode: ...

    def details(self) -> str | None: ...

    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None: ...


@dataclass(slots=True)
class _Details:
    """What google.rpc details say; empty where they say nothing."""

    reason: str = ""
    field: str = ""
    name: str = ""
    subject: str = ""
    retry_after_s: float = 1.0
    request_id: str = ""


@contextmanager
def translated(address: str) -> Iterator[None]:
    """Raise what a failed call to `address` means in place of grpc's own exception."""
    try:
        yield
    except grpc.RpcError as error:
        raise error_of_call(error, address) from error


def error_of_call(error: grpc.RpcError, address: str) -> TreespanError:
    """Return the error that a failed call stands for."""
    call = cast("_FailedCall", error)
    message = call.details() or ""
    details = _details(call.trailing_metadata() or ())
    if details.reason:
        return _error(details, message)
    return _error_without_reason(call.code(), message, details, address)


def error_of_item(failure: Failure | OperationError) -> TreespanError:
    """Return the error that the failed item of a batch, or a failed operation, stands for."""
    if failure.reason in errors_by_reason():
        return _error(_Details(reason=failure.reason), failure.message)
    return TreespanError(f"{Code.Name(failure.code)}: {failure.message}")


@cache
def errors_by_reason() -> dict[str, type[TreespanError]]:
    """Return the narrowest exception for every reason that the server may state."""
    found: dict[str, type[TreespanError]] = {}
    waiting: list[type[TreespanError]] = [TreespanError]
    while waiting:
        kind = waiting.pop(0)
        # Broad first, so that a narrower class of the same reason wins; groups without a reason of
        # their own still bear the base's.
        if kind.reason != TreespanError.reason and kind.__module__ == errors.__name__:
            found[kind.reason] = kind
        waiting.extend(kind.__subclasses__())
    return found


def _error(details: _Details, message: str) -> TreespanError:
    kind = errors_by_reason().get(details.reason)
    if kind is None:
        known = details.reason == TreespanError.reason
        text = message if known else f"{details.reason}: {message}"
        return TreespanError(_with_request(text, details))
    if issubclass(kind, errors.InvalidArgument):
        return kind(details.field, message.removeprefix(f"{details.field}: "))
    if issubclass(kind, errors.NotFound):
        return kind(details.name, message)
    if issubclass(kind, errors.FailedPrecondition):
        return kind(details.subject, message)
    if issubclass(kind, errors.QueueFull):
        return kind(message, details.retry_after_s)
    return kind(message)


def _error_without_reason(
    code: grpc.StatusCode, message: str, details: _Details, address: str
) -> TreespanError:
    match code:
        case grpc.StatusCode.UNAVAILABLE:
            # gRPC tells every layer's story; its last words are the cause.
            cause = message.rpartition(": ")[2]
            return errors.NotServing(
                f"no treespan server answers at {address} ({cause}); start one with "
                "`treespan serve`, or name another address"
            )
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return errors.DeadlineExceeded(f"{address} did not answer within the time allowed")
        case grpc.StatusCode.CANCELLED:
            return errors.CallCancelled(message or "the call was cancelled")
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            # The two refusals that gRPC itself makes: a message beyond its size, a call too many.
            if "larger than max" in message:
                return errors.ResponseTooLarge(message)
            return errors.QueueFull(message, details.retry_after_s)
    return TreespanError(_with_request(f"{code.name}: {message}", details))


def _with_request(message: str, details: _Details) -> str:
    wanted = details.request_id and details.request_id not in message
    return f"{message} (request {details.request_id})" if wanted else message


def _details(trailing_metadata: Iterable[tuple[str, str | bytes]]) -> _Details:
    found = _Details()
    packed = [value for key, value in trailing_metadata if key == _STATUS_KEY]
    if not packed or not isinstance(packed[0], bytes):
        return found
    for item in Status.FromString(packed[0]).details:
        _read(found, item.TypeName(), item.value)
    return found


def _read(found: _Details, type_name: str, value: bytes) -> None:
    match type_name:
        case "google.rpc.ErrorInfo":
            info = details_pb2.ErrorInfo.FromString(value)
            found.reason = info.reason if info.domain == DOMAIN else found.reason
        case "google.rpc.BadRequest":
            for violation in details_pb2.BadRequest.FromString(value).field_violations[:1]:
                found.field = violation.field
        case "google.rpc.ResourceInfo":
            found.name = details_pb2.ResourceInfo.FromString(value).resource_name
        case "google.rpc.PreconditionFailure":
            for unmet in details_pb2.PreconditionFailure.FromString(value).violations[:1]:
                found.subject = unmet.subject
        case "google.rpc.RetryInfo":
            delay = details_pb2.RetryInfo.FromString(value).retry_delay
            found.retry_after_s = delay.ToTimedelta().total_seconds()
        case "google.rpc.RequestInfo":
            found.request_id = details_pb2.RequestInfo.FromString(value).request_id
