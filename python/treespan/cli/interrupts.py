"""Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends at once."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from treespan.errors import CallCancelled, TreespanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from treespan.client import Client

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED_EXIT_CODE: Final = 130
"""What shells expect of a program that Ctrl-C ended."""


class UnderWay:
    """Operations that this program has begun, to be cancelled where it is interrupted."""

    def __init__(self, client: Client) -> None:
        """Take the client to cancel with."""
        self._client = client
        self._operations: set[str] = set()
        self._lock = threading.Lock()
        self.stopped = threading.Event()

    @contextmanager
    def of(self, operation: str) -> Iterator[None]:
        """Count an operation in while the block runs."""
        with self._lock:
            self._operations.add(operation)
        if self.stopped.is_set():
            self._cancel(operation)
        try:
            yield
        finally:
            with self._lock:
                self._operations.discard(operation)

    def check(self) -> None:
        """Raise `CallCancelled` once all is to end."""
        if self.stopped.is_set():
            raise CallCancelled("interrupted")

    def pause(self, seconds: float) -> None:
        """Wait; raise `CallCancelled` once all is to end."""
        self.stopped.wait(seconds)
        self.check()

    def stop(self) -> None:
        """Begin nothing further, and cancel what is under way."""
        self.stopped.set()
        with self._lock:
            operations = sorted(self._operations)
        for operation in operations:
            self._cancel(operation)

    def _cancel(self, operation: str) -> None:
        try:
            self._client.cancel_operation(operation)
        except (TreespanError, ValueError):
            # It has ended, or the server or the channel is gone: whoever waits for it is told.
            return


@contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first signal, in a thread of its own; leave the next to Python."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may take signals
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def first(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's signature
        restore()
        threading.Thread(target=stop, name="stop", daemon=True).start()

    for number in _SIGNALS:
        signal.signal(number, first)
    try:
        yield
    finally:
        restore()
