"""Operations: what their states mean, and how a watcher gets over the loss of its server."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from treespan.client.failures import error_of_item
from treespan.errors import CallCancelled, DeadlineExceeded, InvalidField, NotServing
from treespan.v1.ingest_service_pb2 import ListOperationsRequest, Operation

if TYPE_CHECKING:
    from treespan.errors import TreespanError

State: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]

UNDER_WAY: Final[tuple[State, ...]] = ("queued", "running")
PATIENCE_S: Final = 60.0
"""How long a server may be away before a watcher gives it up."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 2.0
_ENDED: Final = (Operation.STATE_SUCCEEDED, Operation.STATE_FAILED, Operation.STATE_CANCELLED)


def has_ended(operation: Operation) -> bool:
    """Return whether an operation has come to its end."""
    return operation.state in _ENDED


def succeeded(operation: Operation) -> Operation:
    """Return an ended operation that succeeded.

    Raises:
        TreespanError: why it failed, of the class that the call itself would have raised.
        CallCancelled: it was cancelled.
    """
    if operation.state == Operation.STATE_SUCCEEDED:
        return operation
    raise error_of_operation(operation)


def error_of_operation(operation: Operation) -> TreespanError:
    """Return why an operation ended without success."""
    if operation.HasField("error") and operation.error.reason:
        return error_of_item(operation.error)
    return CallCancelled(f"operation {operation.operation} was cancelled")


def operation_id(operation: str | Operation) -> str:
    """Return the id of what is given as an id or as the operation itself."""
    return operation if isinstance(operation, str) else operation.operation


def operations_request(collection: str, states: Sequence[State]) -> ListOperationsRequest:
    """Return a request of ListOperations for the first page.

    Raises:
        InvalidField: a state is not known.
    """
    given = [states] if isinstance(states, str) else states
    return ListOperationsRequest(collection=collection, states=[_state(name) for name in given])


def _state(name: str) -> Operation.State.ValueType:
    known = {one.removeprefix("STATE_").lower(): one for one in Operation.State.keys()[1:]}
    if name not in known:
        raise InvalidField("states", f"{name!r} is none of {', '.join(known)}")
    return Operation.State.Value(known[name])


class Patience:
    """How long a lost server is waited for, with pauses that grow until it is heard again."""

    def __init__(self, timeout_s: float | None, patience_s: float) -> None:
        """Take the longest time for all, and the longest without a word from the server."""
        self._end = None if timeout_s is None else time.monotonic() + timeout_s
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self.heard()

    def heard(self) -> None:
        """Take note that the server is there."""
        self._heard = time.monotonic()
        self._pause_s = _FIRST_PAUSE_S

    def left_s(self) -> float | None:
        """Return the time left for all; None where it is not bounded."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def pause_s(self, lost: TreespanError | None) -> float:
        """Return how long to wait before asking again.

        Raises:
            TreespanError: `lost`, where the server has been away for too long.
            DeadlineExceeded: there is no time left.
        """
        left = self.left_s()
        if left is not None and left <= 0:
            raise DeadlineExceeded(f"the operation did not end within {self._timeout_s:g} s")
        if time.monotonic() - self._heard > self._patience_s:
            raise lost or NotServing("the server ends every watch before the operation's end")
        pause, self._pause_s = self._pause_s, min(2 * self._pause_s, _LONGEST_PAUSE_S)
        return pause if left is None else min(pause, left)
