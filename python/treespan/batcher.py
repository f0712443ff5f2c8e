"""Puts live queries of many calls into one run of the model, and remembers their vectors.

One thread owns the model. It takes whatever waits, up to a maximum, and starts at once: there is no
timer, so a lone query is not delayed, and while one batch runs the next one gathers.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict, deque
from concurrent.futures import Future, InvalidStateError, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from treespan.errors import DeadlineExceeded, InvalidField, NotServing, QueueFull
from treespan.tokens import has_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_BATCH_TEXTS: Final = 64
_BATCH_CHARACTERS: Final = 4096
"""About 1,024 tokens: a batch holds up everyone in it until its last text is done."""
_FIRST_GUESS_S: Final = 0.02
"""Time a query takes, before any has been timed."""


class QueryModel(Protocol):
    """What the batcher needs of an `Embedder`."""

    @property
    def fingerprint(self) -> str:
        """Return the model's fingerprint."""

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of queries, [texts, dimension]."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    text: str
    deadline: float
    """On the monotonic clock."""
    vector: Future[Vector] = field(default_factory=Future)


class QueryBatcher:
    """Embeds queries in batches across calls; safe from many threads."""

    def __init__(self, model: QueryModel, queue_length: int = 256, cached: int = 4096) -> None:
        """Start the thread.

        Args:
            model: The embedding model.
            queue_length: Queries that may wait; more are refused.
            cached: Query vectors remembered.
        """
        self._model = model
        self._queue_length = queue_length
        self._memory = _Memory(model.fingerprint, cached)
        self._queue: deque[_Waiting] = deque()
        self._arrived = threading.Condition()
        self._closed = False
        self._seconds_a_text = _FIRST_GUESS_S
        self._thread = threading.Thread(target=self._work, name="query-batcher", daemon=True)
        self._thread.start()

    @property
    def fingerprint(self) -> str:
        """Return the model's fingerprint."""
        return self._model.fingerprint

    @property
    def waiting(self) -> int:
        """Return how many queries wait."""
        return len(self._queue)

    def embed(self, text: str, timeout_s: float) -> Vector:
        """Return a query's vector, [dimension], of length 1, read-only.

        Args:
            text: The query, without the model's prefix.
            timeout_s: Longest wait; a query whose time is over is dropped from the queue.

        Raises:
            InvalidField: the text has nothing to read.
            QueueFull: too many queries wait.
            DeadlineExceeded: the time is over.
            NotServing: the batcher was closed.
        """
        if not has_text(text):
            raise InvalidField("text", "has nothing to read; a query needs a letter or sign")
        known = self._memory.get(text)
        if known is not None:
            return known
        future = self._submit(_Waiting(text, time.monotonic() + timeout_s))
        try:
            return future.result(max(0.0, timeout_s))
        except TimeoutError:
            future.cancel()
            raise DeadlineExceeded(
                f"the query was not embedded within {timeout_s:.3g} s; {self.waiting} are waiting"
            ) from None

    def prefetch(self, texts: Sequence[str], timeout_s: float) -> None:
        """Embed several queries together, so that `embed` finds their vectors remembered.

        What goes wrong with one of them is left for `embed` to say.
        """
        deadline = time.monotonic() + timeout_s
        wanted = [
            text
            for text in dict.fromkeys(texts)
            if has_text(text) and self._memory.get(text) is None
        ]
        try:
            wait([self._submit(_Waiting(text, deadline)) for text in wanted], timeout_s)
        except (QueueFull, NotServing):
            return

    def close(self) -> None:
        """Refuse what waits and what comes, and stop the thread once its batch is done."""
        with self._arrived:
            self._closed = True
            left = list(self._queue)
            self._queue.clear()
            self._arrived.notify()
        for waiting in left:
            _fail(waiting, NotServing("the server is stopping"))
        self._thread.join()

    def _submit(self, waiting: _Waiting) -> Future[Vector]:
        with self._arrived:
            if self._closed:
                raise NotServing("the server is stopping")
            if len(self._queue) >= self._queue_length:
                raise QueueFull(
                    f"{len(self._queue)} queries wait for the embedding model,"
                    f" the most is {self._queue_length}",
                    max(0.05, self._seconds_a_text * len(self._queue)),
                )
            self._queue.append(waiting)
            self._arrived.notify()
        return waiting.vector

    def _work(self) -> None:
        while batch := self._next_batch():
            self._run(batch)

    def _next_batch(self) -> list[_Waiting]:
        """Wait for queries and take them, first come first served; an empty list means closed."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._queue or self._closed)
            batch: list[_Waiting] = []
            characters = 0
            while self._queue and len(batch) < _BATCH_TEXTS:
                characters += len(self._queue[0].text)
                if batch and characters > _BATCH_CHARACTERS:
                    break
                batch.append(self._queue.popleft())
            return batch

    def _run(self, batch: Sequence[_Waiting]) -> None:
        live = [waiting for waiting in batch if _still_wanted(waiting)]
        if not live:
            return
        texts = list(dict.fromkeys(waiting.text for waiting in live))
        start = time.perf_counter()
        try:
            vectors = self._model.embed_queries(texts)
        except Exception as error:  # the callers' to act on, and this thread must go on
            for waiting in live:
                _fail(waiting, error)
            return
        self._seconds_a_text += 0.2 * (
            (time.perf_counter() - start) / len(texts) - self._seconds_a_text
        )
        by_text = {text: _own(row) for text, row in zip(texts, vectors, strict=True)}
        for text, vector in by_text.items():
            self._memory.put(text, vector)
        for waiting in live:
            waiting.vector.set_result(by_text[waiting.text])


class _Memory:
    """The vectors of the queries seen last, by a hash of model and text: no text is kept."""

    def __init__(self, fingerprint: str, limit: int) -> None:
        self._salt = fingerprint.encode()
        self._limit = limit
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Vector | None:
        key = self._key(text)
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def put(self, text: str, vector: Vector) -> None:
        with self._lock:
            self._vectors[self._key(text)] = vector
            while len(self._vectors) > self._limit:
                self._vectors.popitem(last=False)

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(
            self._salt + b"\0" + text.encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()


def _still_wanted(waiting: _Waiting) -> bool:
    """Return whether someone waits for it; from then on it cannot be cancelled."""
    if time.monotonic() >= waiting.deadline:
        _fail(waiting, DeadlineExceeded("the query's time was over before its turn came"))
        return False
    return waiting.vector.set_running_or_notify_cancel()


def _own(row: Vector) -> Vector:
    """Return a read-only copy; the row itself would keep its whole batch alive."""
    vector = row.copy()
    vector.flags.writeable = False
    return vector


def _fail(waiting: _Waiting, error: BaseException) -> None:
    try:
        waiting.vector.set_exception(error)
    except InvalidStateError:
        # Cancelled by its caller meanwhile: nobody waits.
        return
