"""Calls about operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc import messages
from ingest_svc.operations import Live
from ingest_svc.operations.ids import check_operation_id
from ingest_svc.operations.views import view_of
from ingest_svc.page_token import list_mark, next_token, start_of
from treespan.identity import check_name
from treespan.rpc import current_call
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ingest_svc.service.parts import Context, Parts
    from treespan.store.records import OperationRecord


class OperationCalls:
    """Shows, watches and cancels operations."""

    _parts: Parts

    async def GetOperation(
        self, request: pb.GetOperationRequest, context: Context
    ) -> pb.GetOperationResponse:
        """Return an operation."""
        known = await self._operation(request.operation)
        return pb.GetOperationResponse(operation=messages.operation_message(view_of(known)))

    async def ListOperations(
        self, request: pb.ListOperationsRequest, context: Context
    ) -> pb.ListOperationsResponse:
        """Return a page of operations."""
        if request.collection:
            check_name("collection", request.collection)
        size = messages.checked_page_size(request.page_size)
        states = messages.checked_states(request.states)
        tenant = current_call().tenant
        marks = ",".join(str(int(state)) for state in sorted(states))
        mark = list_mark("operations", tenant, request.collection, marks)
        views = await self._parts.views.page(
            tenant, request.collection, states, start_of(request.page_token, mark), size + 1
        )
        return pb.ListOperationsResponse(
            operations=[messages.operation_message(view) for view in views[:size]],
            next_page_token=next_token(mark, [view.record.operation for view in views], size),
        )

    async def WatchOperation(
        self, request: pb.WatchOperationRequest, context: Context
    ) -> AsyncIterator[pb.WatchOperationResponse]:
        """Stream an operation until its end."""
        known = await self._operation(request.operation)
        if isinstance(known, Live):
            async for view in self._parts.views.watched(known):
                yield pb.WatchOperationResponse(operation=messages.operation_message(view))
        else:
            yield pb.WatchOperationResponse(operation=messages.operation_message(view_of(known)))

    async def CancelOperation(
        self, request: pb.CancelOperationRequest, context: Context
    ) -> pb.CancelOperationResponse:
        """Cancel an operation and answer when it has stopped."""
        known = await self._operation(request.operation)
        if isinstance(known, Live):
            await self._parts.runner.cancelled(known)
        return pb.CancelOperationResponse(operation=messages.operation_message(view_of(known)))

    async def _operation(self, operation: str) -> Live | OperationRecord:
        check_operation_id(operation)
        return await self._parts.views.one(current_call().tenant, operation)
