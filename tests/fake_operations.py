"""Operations of the fake ingest service: begun, held, ended and watched as a test says."""

from __future__ import annotations

from threading import Condition
from typing import TYPE_CHECKING

import grpc

from treespan import errors
from treespan.rpc.status import status_of
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from treespan.errors import TreespanError

_PAGE = 2
_ENDED = (pb.Operation.STATE_SUCCEEDED, pb.Operation.STATE_FAILED, pb.Operation.STATE_CANCELLED)


class FakeOperations:
    """Operations in memory. One is done at once, unless its artifact is among those held."""

    def __init__(self) -> None:
        self.operations: dict[str, pb.Operation] = {}
        self.held: set[str] = set()
        """Artifacts whose operations stay RUNNING until `release` or a cancel."""
        self.cut_watches = 0
        """Watches that are cut off after their first state, as by a restart."""
        self.uris: list[pb.IngestUriRequest] = []
        self.texts: list[pb.IngestTextRequest] = []
        self._changed = Condition()
        self._endings: dict[str, Callable[[], None]] = {}

    def begin(
        self,
        kind: pb.Operation.Kind.ValueType,
        collection: str,
        artifact: str,
        request_id: str,
        ending: Callable[[], None],
    ) -> pb.Operation:
        """Record an operation and end it, unless it is held; `ending` may raise why it fails."""
        begun = pb.Operation(
            operation=f"op-{len(self.operations) + 1:03}",
            kind=kind,
            state=pb.Operation.STATE_RUNNING,
            collection=collection,
            artifact=artifact,
            request_id=request_id,
            progress=pb.Progress(stage=pb.Progress.STAGE_READING, done=1, total=4),
        )
        with self._changed:
            self.operations[begun.operation] = begun
            self._endings[begun.operation] = ending
        if artifact not in self.held:
            self.release(begun.operation)
        return begun

    def release(self, operation: str) -> None:
        """Let an operation end as it will."""
        try:
            self._endings[operation]()
        except errors.TreespanError as error:
            self._end(operation, pb.Operation.STATE_FAILED, error)
        else:
            self._end(operation, pb.Operation.STATE_SUCCEEDED, None)

    def _end(
        self, operation: str, state: pb.Operation.State.ValueType, error: TreespanError | None
    ) -> None:
        with self._changed:
            ended = self.operations[operation]
            ended.state = state
            ended.ClearField("progress")
            if error is None:
                ended.seq = 7
            else:
                ended.error.reason, ended.error.message = error.reason, error.message
                ended.error.code = error.code.value[0]
            self._changed.notify_all()

    def known(self, request_id: str) -> pb.Operation | None:
        """Return the operation that a request id names."""
        found = [one for one in self.operations.values() if one.request_id == request_id]
        return found[0] if request_id and found else None

    def _operation(self, operation: str, context: grpc.ServicerContext) -> pb.Operation:
        if operation not in self.operations:
            context.abort_with_status(status_of(errors.OperationNotFound(operation), "req-1"))
        return self.operations[operation]

    def GetOperation(self, request, context):
        self._enter("GetOperation", context)
        return pb.GetOperationResponse(operation=self._operation(request.operation, context))

    def ListOperations(self, request, context):
        self._enter("ListOperations", context)
        found = [
            operation
            for _, operation in sorted(self.operations.items(), reverse=True)
            if request.collection in ("", operation.collection)
            and (not request.states or operation.state in request.states)
            and (not request.page_token or operation.operation < request.page_token)
        ]
        return pb.ListOperationsResponse(
            operations=found[:_PAGE],
            next_page_token=found[_PAGE - 1].operation if len(found) > _PAGE else "",
        )

    def WatchOperation(self, request, context) -> Iterator[pb.WatchOperationResponse]:
        self._enter("WatchOperation", context)
        context.add_callback(self._wake)
        last = None
        while context.is_active():
            with self._changed:
                state = pb.Operation()
                state.CopyFrom(self._operation(request.operation, context))
                if state == last:
                    self._changed.wait(5)
                    continue
            last = state
            yield pb.WatchOperationResponse(operation=state)
            if self.cut_watches:
                self.cut_watches -= 1
                context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
            if state.state in _ENDED:
                return

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def CancelOperation(self, request, context):
        self._enter("CancelOperation", context)
        found = self._operation(request.operation, context)
        if found.state not in _ENDED:
            error = errors.CallCancelled("the operation was cancelled")
            self._end(request.operation, pb.Operation.STATE_CANCELLED, error)
        return pb.CancelOperationResponse(operation=found)

    def IngestUri(self, request, context):
        self._enter("IngestUri", context)
        return self._taken_uri(request)

    def _taken_uri(self, request: pb.IngestUriRequest) -> pb.IngestUriResponse:
        self.uris.append(request)

        def ending() -> None:
            if "refused" in request.uri:
                raise errors.UriNotAllowed("the host is not among ingest.uri_hosts")
            self.artifacts[request.artifact] = pb.Artifact(
                artifact=request.artifact,
                file_name=request.file_name,
                source_uri=request.uri,
                state=pb.Artifact.STATE_POPULATED,
                page_count=1,
                chunk_count=2,
                token_count=30,
            )

        operation = self.begin(
            pb.Operation.KIND_INGEST_URI,
            request.collection,
            request.artifact,
            request.options.request_id,
            ending,
        )
        return pb.IngestUriResponse(
            artifact=self.artifacts.get(request.artifact), seq=7, operation=operation
        )

    def BatchIngest(self, request, context):
        self._enter("BatchIngest", context)
        results = []
        for item in request.items:
            if item.HasField("uri"):
                taken = self._taken_uri(item.uri).operation
                results.append(pb.BatchIngestResult(operation=taken))
            elif not item.text.text:
                error = pb.OperationError(reason="EMPTY", message="the text is empty", code=3)
                results.append(pb.BatchIngestResult(error=error))
            else:
                self.texts.append(item.text)
                begun = self.begin(
                    pb.Operation.KIND_INGEST_TEXT,
                    item.text.collection,
                    item.text.artifact,
                    "",
                    lambda: None,
                )
                results.append(pb.BatchIngestResult(operation=begun))
        return pb.BatchIngestResponse(results=results)

    def PopulateArtifact(self, request, context):
        self._enter("PopulateArtifact", context)
        found = self.artifacts.get(request.artifact)
        if found is None:
            context.abort_with_status(status_of(errors.ArtifactNotFound(request.artifact), "r"))
        operation = self.begin(
            pb.Operation.KIND_POPULATE_ARTIFACT,
            request.collection,
            request.artifact,
            request.options.request_id,
            lambda: None,
        )
        found.state = pb.Artifact.STATE_POPULATED
        return pb.PopulateArtifactResponse(artifact=found, seq=7, operation=operation)
