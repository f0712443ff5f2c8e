"""The half of the client for threads that ingests and follows operations."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

import grpc

from treespan.client.failures import error_of_item, translated
from treespan.client.ingest_requests import (
    batch_request,
    file_header,
    ingest_options,
    text_request,
    uri_request,
)
from treespan.client.operations import (
    PATIENCE_S,
    Patience,
    has_ended,
    operation_id,
    operations_request,
    succeeded,
)
from treespan.client.upload import POLL_S, Upload
from treespan.errors import NotServing, StoreUnavailable, TreespanError
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from treespan.client.ingest_requests import FileKeywords, TextKeywords, UriKeywords
    from treespan.client.operations import State
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

Req = TypeVar("Req")
Resp = TypeVar("Resp")


class IngestCalls:
    """Ingests and operations; `Client` brings the channel."""

    ingest_address: str
    _ingest: IngestServiceStub
    _metadata: tuple[tuple[str, str], ...]
    _timeout_s: float
    _ingest_timeout_s: float | None

    def ingest_file(
        self,
        path: str | Path,
        collection: str,
        artifact: str | None = None,
        *,
        progress: Callable[[pb.Progress], None] | None = None,
        **keywords: Unpack[FileKeywords],
    ) -> pb.IngestFileResponse:
        """Ingest a file from disk and return when it is searchable, or sent with `detached`.

        Artifact and file name are the path's last part unless given. `progress` is called about
        seven times a second with the stage that the ingest is in.

        Raises:
            OSError: the file cannot be read.
            FileProblem: the server does not take the file; the class says why.
            TypeError: a keyword is not known.
        """
        name = Path(path).name
        keywords["file_name"] = keywords.get("file_name") or name
        header = file_header(collection, artifact or name, **keywords)
        return self._upload(Upload.of_file(path, header), progress)

    def ingest_bytes(
        self,
        data: bytes,
        collection: str,
        artifact: str,
        *,
        progress: Callable[[pb.Progress], None] | None = None,
        **keywords: Unpack[FileKeywords],
    ) -> pb.IngestFileResponse:
        """Ingest a file held in memory; otherwise as `ingest_file`."""
        header = file_header(collection, artifact, **keywords)
        return self._upload(Upload.of_bytes(data, header), progress)

    def ingest_text(
        self, text: str, collection: str, artifact: str, **keywords: Unpack[TextKeywords]
    ) -> pb.IngestTextResponse:
        """Ingest a text of at most 1 MiB and return when it is searchable."""
        return self._write(
            self._ingest.IngestText, text_request(text, collection, artifact, **keywords)
        )

    def ingest_uri(
        self,
        uri: str,
        collection: str,
        artifact: str | None = None,
        **keywords: Unpack[UriKeywords],
    ) -> pb.IngestUriResponse:
        """Ingest what a URI names and return when it is searchable.

        Raises:
            UriNotAllowed: the server's settings do not allow it.
            UriUnreachable: the server could not fetch it.
        """
        return self._write(
            self._ingest.IngestUri, uri_request(uri, collection, artifact, **keywords)
        )

    def batch_ingest(
        self, items: Iterable[pb.IngestTextRequest | pb.IngestUriRequest]
    ) -> list[pb.Operation | TreespanError]:
        """Record up to 256 ingests made by `text_request` and `uri_request`; each goes on alone.

        Those that were refused are errors in the list.
        """
        answer = self._write(self._ingest.BatchIngest, batch_request(items))
        return [
            error_of_item(result.error) if result.HasField("error") else result.operation
            for result in answer.results
        ]

    def populate_artifact(
        self, artifact: str, collection: str, *, detached: bool = False, request_id: str = ""
    ) -> pb.PopulateArtifactResponse:
        """Make an artifact searchable that was ingested with `initialize_only`."""
        request = pb.PopulateArtifactRequest(
            collection=collection,
            artifact=artifact,
            options=ingest_options({"detached": detached, "request_id": request_id}),
        )
        return self._write(self._ingest.PopulateArtifact, request)

    def get_operation(self, operation: str) -> pb.Operation:
        """Return an operation as it stands."""
        request = pb.GetOperationRequest(operation=operation)
        return self._ask_ingest(self._ingest.GetOperation, request).operation

    def list_operations(
        self, collection: str = "", *, states: Sequence[State] = ()
    ) -> Iterator[pb.Operation]:
        """Yield operations, newest first; pages are fetched as they are needed.

        Of one collection and in one of these states, where given.
        """
        request = operations_request(collection, states)
        while True:
            page = self._ask_ingest(self._ingest.ListOperations, request)
            yield from page.operations
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    def watch_operation(
        self, operation: str, *, timeout_s: float | None = None
    ) -> Iterator[pb.Operation]:
        """Yield an operation as it stands, then after every change, until it has ended."""
        request = pb.WatchOperationRequest(operation=operation)
        with translated(self.ingest_address):
            states = self._ingest.WatchOperation(
                request, timeout=timeout_s, metadata=self._metadata
            )
            try:
                for state in states:
                    yield state.operation
            finally:
                states.cancel()

    def wait_operation(
        self,
        operation: str | pb.Operation,
        *,
        timeout_s: float | None = None,
        patience_s: float = PATIENCE_S,
        progress: Callable[[pb.Operation], None] | None = None,
    ) -> pb.Operation:
        """Return an operation when it has succeeded, however often the server restarts meanwhile.

        `progress` is called with every state of it; `patience_s` is how long the server may be
        away.

        Raises:
            TreespanError: why it failed, of the class that the call itself would have raised.
            CallCancelled: it was cancelled.
            NotServing: the server was away for longer than `patience_s`.
            DeadlineExceeded: it did not end within `timeout_s`.
        """
        patience = Patience(timeout_s, patience_s)
        while True:
            lost: TreespanError | None = None
            watched = self.watch_operation(operation_id(operation), timeout_s=patience.left_s())
            try:
                with closing(watched):  # type: ignore[type-var] # a generator, which has `close`
                    for known in watched:
                        patience.heard()
                        if progress is not None:
                            progress(known)
                        if has_ended(known):
                            return succeeded(known)
            except (NotServing, StoreUnavailable) as error:
                lost = error
            time.sleep(patience.pause_s(lost))

    def cancel_operation(self, operation: str) -> pb.Operation:
        """Stop an operation and return it when it has stopped; one that has ended stays so."""
        request = pb.CancelOperationRequest(operation=operation)
        return self._ask_ingest(self._ingest.CancelOperation, request).operation

    def get_artifact(self, artifact: str, collection: str) -> pb.Artifact:
        """Return an artifact, with the progress of an ingest under way."""
        request = pb.GetArtifactRequest(collection=collection, artifact=artifact)
        return self._ask_ingest(self._ingest.GetArtifact, request).artifact

    def _ask_ingest(self, method: grpc.UnaryUnaryMultiCallable[Req, Resp], request: Req) -> Resp:
        with translated(self.ingest_address):
            return method(request, timeout=self._timeout_s, metadata=self._metadata)

    def _write(self, method: grpc.UnaryUnaryMultiCallable[Req, Resp], request: Req) -> Resp:
        with translated(self.ingest_address):
            return method(request, timeout=self._ingest_timeout_s, metadata=self._metadata)

    def _upload(
        self, upload: Upload, progress: Callable[[pb.Progress], None] | None
    ) -> pb.IngestFileResponse:
        with closing(upload), translated(self.ingest_address):
            call = self._ingest.IngestFile.future(
                upload, timeout=self._ingest_timeout_s, metadata=self._metadata
            )
            try:
                if progress is None:
                    return call.result()
                while True:
                    try:
                        return call.result(timeout=POLL_S)
                    except grpc.FutureTimeoutError:
                        progress(self._progress(upload))
            finally:
                call.cancel()

    def _progress(self, upload: Upload) -> pb.Progress:
        if not upload.is_sent:
            return upload.progress()
        try:
            known = self.get_artifact(upload.artifact, upload.collection)
        except TreespanError:
            # The ingest itself will say what is wrong, if anything is.
            return upload.progress()
        return known.progress if known.HasField("progress") else upload.progress()
