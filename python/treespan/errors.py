"""The one table of errors: every class has its gRPC code, its reason for machines, its details.

    TreespanError
    ├─ InvalidArgument
    │  ├─ InvalidField           a field's value is not allowed
    │  ├─ InvalidName            a name is empty, too long or holds a forbidden character
    │  ├─ InvalidVector          wrong dimension, zero or not finite
    │  ├─ HeaderMissing          an upload without a header
    │  ├─ SizeMismatch           an upload that differs from its stated size
    │  ├─ RequestIdReused        a request id that was used for another request
    │  └─ HashMismatch           an upload that differs from its stated SHA-256
    ├─ FileProblem               why a file was not ingested
    │  ├─ EmptyFile
    │  ├─ DamagedFile
    │  ├─ NoTextLayer
    │  ├─ EncryptedFile
    │  ├─ WrongPassword
    │  ├─ UnsupportedEncryption
    │  ├─ UnsupportedFile
    │  ├─ TooLarge
    │  └─ UriUnreachable         what a URI names could not be fetched
    ├─ NotFound
    │  ├─ CollectionNotFound
    │  ├─ ArtifactNotFound
    │  ├─ NodeNotFound
    │  └─ OperationNotFound
    ├─ CollectionExists
    ├─ FailedPrecondition
    │  ├─ CollectionNotEmpty
    │  ├─ ArtifactNotReady
    │  └─ ModelMismatch
    ├─ UriNotAllowed
    ├─ ArtifactBusy
    ├─ Interrupted               a restart ended an operation that cannot go on
    ├─ QueueFull                 try again after `retry_after_s`
    ├─ ResponseTooLarge
    ├─ DeadlineExceeded
    │  └─ UploadStalled
    ├─ NotServing                try again after `retry_after_s`
    ├─ StoreUnavailable          try again after `retry_after_s`
    ├─ StoreDamaged
    └─ CallCancelled

Anything else that reaches the edge becomes INTERNAL with a request id and nothing else.
`treespan.rpc` turns these into google.rpc details. Messages say what was wrong, its value, and what
would be right.
"""

from __future__ import annotations

from typing import ClassVar

import grpc


class TreespanError(Exception):
    """Base of all errors that a caller is told about."""

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.INTERNAL
    reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str) -> None:
        """Take the sentence for people."""
        super().__init__(message)
        self.message = message

    @property
    def retry_after_s(self) -> float | None:
        """Return when to try again, in seconds; None where trying again as it is will not help."""
        return None


class InvalidArgument(TreespanError):
    """The request itself is wrong."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "INVALID_FIELD"

    def __init__(self, field: str, message: str) -> None:
        """Take the field's path, as in the proto, and the sentence for people."""
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


class InvalidField(InvalidArgument):
    """A field's value is not allowed."""


class InvalidName(InvalidArgument):
    """A name is empty, too long or holds a forbidden character."""

    reason = "INVALID_NAME"


class InvalidVector(InvalidArgument):
    """A vector has another dimension than the collection, or is zero or not finite."""

    reason = "INVALID_VECTOR"


class HeaderMissing(InvalidArgument):
    """An upload's first message is not a header."""

    reason = "HEADER_MISSING"


class SizeMismatch(InvalidArgument):
    """The bytes received differ in number from what the header states."""

    reason = "SIZE_MISMATCH"


class RequestIdReused(InvalidArgument):
    """The request id was used for another request."""

    reason = "REQUEST_ID_REUSED"


class HashMismatch(InvalidArgument):
    """The bytes received differ from the SHA-256 that the header states."""

    reason = "HASH_MISMATCH"


class FileProblem(TreespanError):
    """Why a file was not ingested."""

    code = grpc.StatusCode.INVALID_ARGUMENT


class EmptyFile(FileProblem):
    """The file has no bytes, or no content."""

    reason = "EMPTY"


class DamagedFile(FileProblem):
    """The file cannot be read."""

    reason = "DAMAGED"


class NoTextLayer(FileProblem):
    """No page of the file has text."""

    reason = "NO_TEXT_LAYER"


class EncryptedFile(FileProblem):
    """The file is encrypted and no password was given."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "ENCRYPTED"


class WrongPassword(FileProblem):
    """The file is encrypted and the password given does not open it."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "WRONG_PASSWORD"


class UnsupportedEncryption(FileProblem):
    """The file is encrypted in a way that is not read, with or without its password."""

    code = grpc.StatusCode.UNIMPLEMENTED
    reason = "ENCRYPTION_UNSUPPORTED"


class UnsupportedFile(FileProblem):
    """Files of this type are not read."""

    code = grpc.StatusCode.UNIMPLEMENTED
    reason = "UNSUPPORTED"


class TooLarge(FileProblem):
    """A limit on bytes, pages, nodes, memory or time was passed; the message names both."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_LARGE"


class UriUnreachable(FileProblem):
    """What a URI names could not be fetched."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "URI_UNREACHABLE"


class NotFound(TreespanError):
    """Something named in the request does not exist."""

    code = grpc.StatusCode.NOT_FOUND
    kind: ClassVar[str] = ""

    def __init__(self, name: str, message: str = "") -> None:
        """Take the name looked for and, where the plain sentence is not enough, another."""
        super().__init__(message or f"there is no {self.kind} {name!r}")
        self.name = name


class CollectionNotFound(NotFound):
    """No such collection."""

    reason = "COLLECTION_NOT_FOUND"
    kind = "collection"


class ArtifactNotFound(NotFound):
    """No such artifact."""

    reason = "ARTIFACT_NOT_FOUND"
    kind = "artifact"


class NodeNotFound(NotFound):
    """No such node."""

    reason = "NODE_NOT_FOUND"
    kind = "node"


class OperationNotFound(NotFound):
    """No such operation, or one that ended too long ago."""

    reason = "OPERATION_NOT_FOUND"
    kind = "operation"


class CollectionExists(TreespanError):
    """A collection of this name exists."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "COLLECTION_EXISTS"


class FailedPrecondition(TreespanError):
    """The state of something forbids the call."""

    code = grpc.StatusCode.FAILED_PRECONDITION

    def __init__(self, subject: str, message: str) -> None:
        """Take what the condition is about and the sentence for people."""
        super().__init__(message)
        self.subject = subject


class CollectionNotEmpty(FailedPrecondition):
    """The collection still holds artifacts."""

    reason = "COLLECTION_NOT_EMPTY"


class ArtifactNotReady(FailedPrecondition):
    """An artifact named by the request is not POPULATED."""

    reason = "ARTIFACT_NOT_READY"


class ModelMismatch(FailedPrecondition):
    """The collection was made with another embedding model than the server has."""

    reason = "MODEL_MISMATCH"


class UriNotAllowed(TreespanError):
    """The settings do not allow a URI, or it leads to an address that they do not allow."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "URI_NOT_ALLOWED"


class ArtifactBusy(TreespanError):
    """Another ingest of this artifact is under way."""

    code = grpc.StatusCode.ABORTED
    reason = "ARTIFACT_BUSY"


class Interrupted(TreespanError):
    """A restart of the service ended an operation that cannot go on."""

    code = grpc.StatusCode.ABORTED
    reason = "INTERRUPTED"


class QueueFull(TreespanError):
    """Too much work is queued."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "QUEUE_FULL"

    def __init__(self, message: str, retry_after_s: float) -> None:
        """Take the sentence for people and when to try again."""
        super().__init__(message)
        self._retry_after_s = retry_after_s

    @property
    def retry_after_s(self) -> float | None:
        """Return when to try again, in seconds."""
        return self._retry_after_s


class ResponseTooLarge(TreespanError):
    """The answer would exceed the message size."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "RESPONSE_TOO_LARGE"


class DeadlineExceeded(TreespanError):
    """The caller's deadline passed."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED
    reason = "DEADLINE"


class UploadStalled(DeadlineExceeded):
    """The upload sent nothing for too long."""

    reason = "UPLOAD_STALLED"


class NotServing(TreespanError):
    """The server is starting or stopping."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "NOT_SERVING"

    @property
    def retry_after_s(self) -> float | None:
        """Return when to try again, in seconds."""
        return 1.0


class StoreUnavailable(TreespanError):
    """The store cannot be read or written as it is: disk full, read-only, locked, unknown version.

    Nothing was changed; the call may be made again once an operator has mended the cause.
    """

    code = grpc.StatusCode.UNAVAILABLE
    reason = "STORE_UNAVAILABLE"

    @property
    def retry_after_s(self) -> float | None:
        """Return when to try again, in seconds."""
        return 5.0


class StoreDamaged(TreespanError):
    """The store's file is not what was written to it."""

    code = grpc.StatusCode.DATA_LOSS
    reason = "STORE_DAMAGED"


class CallCancelled(TreespanError):
    """The caller went away."""

    code = grpc.StatusCode.CANCELLED
    reason = "CANCELLED"
