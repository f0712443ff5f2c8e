"""Interceptors: around every call stand a request id, metrics, the error table and a log line.

Handlers raise what `treespan.errors` has; here, at the one place where all errors end, it becomes a
status. Health and reflection pass untouched.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
from google.protobuf.message import DecodeError

from treespan import metrics
from treespan.errors import CallCancelled, InvalidField, QueueFull, TreespanError
from treespan.rpc.admission import answered_in
from treespan.rpc.call import REQUEST_ID_KEY, Call, check_tenant, enter_call
from treespan.rpc.status import internal_status, status_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from treespan.config import LogConfig
    from treespan.rpc.admission import CountedPool

_OURS = "/treespan."
_HEALTH = "/grpc.health."
_RETRY_AFTER_S = 0.1
_log = logging.getLogger(__name__)


class SyncEdge(grpc.ServerInterceptor):
    """The edge of a `grpc.server`; unary calls only, as the search service has them."""

    def __init__(
        self, log: LogConfig, default_deadline_s: float, pool: CountedPool, most_calls: int
    ) -> None:
        """Take the parts.

        Args:
            log: What is logged of calls.
            default_deadline_s: Deadline of calls that state none.
            pool: The server's own pool.
            most_calls: Calls under way or waiting in it; more are refused.
        """
        self._slow_s = log.slow_ms / 1000
        self._default_deadline_s = default_deadline_s
        self._pool = pool
        self._most_calls = most_calls
        self._side_pools = {
            name: ThreadPoolExecutor(2, thread_name_prefix=name)
            for name in ("refusals", "health", "reflection")
        }

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Wrap the handler of one of treespan's own methods, and give others their own threads."""
        handler = continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None:
            return None
        if not method.startswith(_OURS):
            return self._aside(method, handler)
        if handler.unary_unary is None:
            return handler
        unary = self._unary(method, handler.unary_unary, handler.request_deserializer)
        if self._pool.under_way >= self._most_calls:
            unary = answered_in(self._side_pools["refusals"], self._refusal(method))
        return grpc.unary_unary_rpc_method_handler(unary, None, handler.response_serializer)

    def close(self) -> None:
        """Let go of the threads."""
        for pool in self._side_pools.values():
            pool.shutdown(wait=False)

    def _aside(
        self, method: str, handler: grpc.RpcMethodHandler[Any, Any]
    ) -> grpc.RpcMethodHandler[Any, Any]:
        """Return a handler of health or reflection that needs no thread of the server's pool."""
        pool = self._side_pools["health" if method.startswith(_HEALTH) else "reflection"]
        serving = (handler.request_deserializer, handler.response_serializer)
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                answered_in(pool, handler.unary_unary), *serving
            )
        if handler.stream_stream is not None:
            return grpc.stream_stream_rpc_method_handler(
                answered_in(pool, handler.stream_stream), *serving
            )
        return handler

    def _unary(
        self,
        method: str,
        answer: Callable[[Any, grpc.ServicerContext], Any],
        parse: Callable[[bytes], Any] | None,
    ) -> Callable[[bytes, grpc.ServicerContext], Any]:
        def unary(request: bytes, context: grpc.ServicerContext) -> Any:
            call = self._enter(method, context)
            with _Observed(call, self._slow_s) as observed:
                try:
                    check_tenant(call)
                    context.set_trailing_metadata(((REQUEST_ID_KEY, call.request_id),))
                    reply = answer(parsed(parse, request), context)
                    if call.ended.is_set():
                        observed.failed_with(CallCancelled("the caller went away"))
                    return reply
                except Exception as error:
                    context.abort_with_status(observed.status_of(error))

        return unary

    def _refusal(self, method: str) -> Callable[[bytes, grpc.ServicerContext], Any]:
        full = QueueFull(
            f"{self._most_calls} calls are under way or waiting, the most there may be "
            "(search.concurrency); try again in a moment",
            _RETRY_AFTER_S,
        )

        def refuse(_: bytes, context: grpc.ServicerContext) -> Any:
            with _Observed(self._enter(method, context), self._slow_s) as observed:
                context.abort_with_status(observed.status_of(full))

        return refuse

    def _enter(self, method: str, context: grpc.ServicerContext) -> Call:
        call = enter_call(
            method,
            context.invocation_metadata(),
            context.time_remaining(),
            self._default_deadline_s,
        )
        if not context.add_callback(call.ended.set):
            call.ended.set()
        return call


def parsed(parse: Callable[[bytes], Any] | None, request: bytes) -> Any:
    """Return a request as a message.

    Raises:
        InvalidField: the bytes are none; they come from a caller with another schema, or a fault.
    """
    if parse is None:
        return request
    try:
        return parse(request)
    except DecodeError as error:
        raise InvalidField(
            "", "the request is no message of this method: its bytes are damaged, or not UTF-8"
        ) from error


class AsyncEdge(grpc.aio.ServerInterceptor):
    """The edge of a `grpc.aio.server`: unary calls, client streams and server streams."""

    def __init__(self, log: LogConfig, default_deadline_s: float) -> None:
        self._slow_s = log.slow_ms / 1000
        self._default_deadline_s = default_deadline_s

    async def intercept_service(
        self,
        continuation: Callable[
            [grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]
        ],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Wrap the handler of one of treespan's own methods."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or not method.startswith(_OURS):
            return handler
        parse = handler.request_deserializer
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                self._stream(method, handler.unary_stream, parse),
                None,
                handler.response_serializer,
            )
        make = (
            grpc.stream_unary_rpc_method_handler
            if handler.request_streaming
            else grpc.unary_unary_rpc_method_handler
        )
        inner = handler.stream_unary if handler.request_streaming else handler.unary_unary
        return make(
            self._unary(
                method, inner, _each_parsed if handler.request_streaming else parsed, parse
            ),
            None,
            handler.response_serializer,
        )

    def _enter(self, method: str, context: grpc.aio.ServicerContext[Any, Any]) -> Call:
        return enter_call(
            method,
            context.invocation_metadata(),
            context.time_remaining(),
            self._default_deadline_s,
        )

    def _unary(self, method: str, inner: Any, read: Any, parse: Any) -> Any:
        async def unary(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            call = self._enter(method, context)
            with _Observed(call, self._slow_s) as observed:
                try:
                    check_tenant(call)
                    context.set_trailing_metadata(((REQUEST_ID_KEY, call.request_id),))
                    return await inner(read(parse, request), context)
                except asyncio.CancelledError:
                    observed.failed_with(CallCancelled("the caller went away"))
                    raise
                except Exception as error:
                    await _abort(context, observed.status_of(error))

        return unary

    def _stream(self, method: str, inner: Any, parse: Any) -> Any:
        async def stream(
            request: Any, context: grpc.aio.ServicerContext[Any, Any]
        ) -> AsyncIterator[Any]:
            call = self._enter(method, context)
            with _Observed(call, self._slow_s) as observed:
                try:
                    check_tenant(call)
                    context.set_trailing_metadata(((REQUEST_ID_KEY, call.request_id),))
                    async for message in inner(parsed(parse, request), context):
                        yield message
                except asyncio.CancelledError:
                    observed.failed_with(CallCancelled("the caller went away"))
                    raise
                except Exception as error:
                    await _abort(context, observed.status_of(error))

        return stream


async def _each_parsed(
    parse: Callable[[bytes], Any] | None, requests: AsyncIterator[bytes]
) -> AsyncIterator[Any]:
    async for request in requests:
        yield parsed(parse, request)


async def _abort(context: grpc.aio.ServicerContext[Any, Any], status: grpc.Status) -> NoReturn:
    # grpc.aio has no abort_with_status in its stubs, and takes the parts of a status one by one.
    await context.abort(status.code, status.details, tuple(status.trailing_metadata or ()))


class _Observed:
    """Times one call, counts it, and writes its log line."""

    def __init__(self, call: Call, slow_s: float) -> None:
        self._call = call
        self._slow_s = slow_s
        self._code = grpc.StatusCode.OK
        self._reason = ""

    def __enter__(self) -> _Observed:
        self._start = time.perf_counter()
        metrics.IN_FLIGHT.labels(self._call.method).inc()
        return self

    def __exit__(self, *_: object) -> None:
        seconds = time.perf_counter() - self._start
        metrics.IN_FLIGHT.labels(self._call.method).dec()
        metrics.REQUEST_SECONDS.labels(self._call.method, self._code.name).observe(seconds)
        worth_telling = self._code is not grpc.StatusCode.OK or seconds > self._slow_s
        level = logging.INFO if worth_telling else logging.DEBUG
        if not _log.isEnabledFor(level):
            return
        extra: dict[str, object] = {
            "code": self._code.name,
            "ms": round(seconds * 1000, 1),
            "request_id": self._call.request_id,
            "tenant": self._call.tenant,
        }
        if self._reason:
            extra["reason"] = self._reason
        _log.log(level, "%s", self._call.method, extra=extra)

    def failed_with(self, error: TreespanError) -> None:
        """Note why the call failed."""
        self._code, self._reason = error.code, error.reason

    def status_of(self, error: Exception) -> grpc.Status:
        """Note why the call failed and return what the caller is told."""
        if isinstance(error, TreespanError):
            self.failed_with(error)
            return status_of(error, self._call.request_id)
        self._code, self._reason = grpc.StatusCode.INTERNAL, "INTERNAL"
        _log.error(
            "fault in %s",
            self._call.method,
            exc_info=error,
            extra={"request_id": self._call.request_id},
        )
        return internal_status(self._call.request_id)
