"""Follows the store: what ingest commits is searchable here within milliseconds.

Polling is the truth; nothing tells this process of a change. A change that is applied twice, or
after a later one of the same artifact, does no harm: what counts is what the store shows now.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from treespan import metrics
from treespan.errors import (
    CallCancelled,
    CollectionNotFound,
    DeadlineExceeded,
    NotServing,
    QueueFull,
    TreespanError,
)
from treespan.store.records import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from search_svc.index import Index
    from search_svc.segments import SegmentCache
    from treespan.rpc import Call
    from treespan.store.interface import Reader
    from treespan.store.records import LoggedChange, Tenant

_BATCH = 1000
_AFTER_FAILURE_S = 0.5
_AFTER_FAULT_S = 5.0
_RETRY_AFTER_S = 0.5
# How often one who waits looks whether its caller is still there.
_LOOK_S = 0.05
_log = logging.getLogger(__name__)


class Follower:
    """Keeps an index equal to the store, in a thread of its own."""

    def __init__(
        self,
        reader: Reader,
        index: Index,
        cache: SegmentCache,
        poll_s: float,
        tell: Callable[[bool], None],
        *,
        most_waiting: int,
    ) -> None:
        """Take the parts.

        Args:
            reader: The store.
            index: What is kept equal to it.
            cache: Sealed segments of an earlier process, or of another one.
            poll_s: How often the store is asked for changes.
            tell: Told True when the index is equal to the store, False when it cannot be kept so.
            most_waiting: Callers that may wait for a change; more are refused.
        """
        self._reader = reader
        self._index = index
        self._cache = cache
        self._poll_s = poll_s
        self._tell = tell
        self._applied = 0
        self._following = False
        self._loaded = False
        self._must_load = True
        self._stop = threading.Event()
        self._moved = threading.Condition()
        self._released = threading.Event()
        self._most_waiting = most_waiting
        self._waiting = 0
        self._thread = threading.Thread(target=self._follow, name="follow", daemon=True)

    def start(self) -> None:
        """Begin to follow; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the end."""
        self._stop.set()
        self._thread.join()

    @property
    def loaded(self) -> bool:
        """Return whether everything that the store held at the start is searchable."""
        return self._loaded

    @property
    def applied_seq(self) -> int:
        """Return the last change that is applied."""
        return self._applied

    def wait_for(self, seq: int, call: Call, *, soon: bool = False) -> None:
        """Wait until a change is applied.

        Args:
            seq: The change.
            call: Whose time it is.
            soon: The change is in the store already, so that this takes milliseconds; such waits
                are not counted among those that are bounded.

        Raises:
            DeadlineExceeded: it was not within the caller's time.
            CallCancelled: the caller went away.
            QueueFull: too many callers wait; each holds a thread.
            NotServing: the service is stopping.
        """
        with self._moved:
            if self._applied >= seq:
                return
            if not soon and self._waiting >= self._most_waiting:
                raise QueueFull(
                    f"{self._waiting} calls wait for a change, the most there may be; "
                    f"min_seq is {seq}, and change {self._applied} is applied",
                    _RETRY_AFTER_S,
                )
            self._waiting += not soon
            try:
                while self._applied < seq:
                    self._moved.wait(min(self._still_waiting_s(seq, call), _LOOK_S))
            finally:
                self._waiting -= not soon

    def release(self) -> None:
        """Send those away who wait for a change: the service is stopping."""
        self._released.set()

    def _still_waiting_s(self, seq: int, call: Call) -> float:
        """Return how long a caller may go on waiting."""
        if self._released.is_set():
            raise NotServing("the service is stopping; try again when it is back")
        if call.ended.is_set() and call.deadline > time.monotonic():
            raise CallCancelled("the caller went away")
        left_s = call.deadline - time.monotonic()
        if left_s <= 0:
            raise DeadlineExceeded(
                f"min_seq is {seq}, and only change {self._applied} is applied; "
                "try again, or with a longer deadline"
            )
        return left_s

    def _follow(self) -> None:
        while not self._stop.is_set():
            try:
                if self._reader.changed() or not self._following:
                    self._catch_up()
                    self._say(following=True)
                self._stop.wait(self._poll_s)
            except TreespanError as error:
                _log.warning("cannot read the store: %s", error)
                self._say(following=False)
                self._stop.wait(_AFTER_FAILURE_S)
            except Exception:
                # A fault of ours must not end the thread: nothing would be searchable any more.
                _log.exception("cannot apply a change; the index is made anew")
                self._must_load = True
                self._say(following=False)
                self._stop.wait(_AFTER_FAULT_S)

    def _say(self, *, following: bool) -> None:
        if following is not self._following:
            self._following = following
            self._tell(following)

    def _catch_up(self) -> None:
        epoch = self._reader.epoch()
        if epoch != self._index.epoch or self._must_load:
            self._load(epoch)
        while not self._stop.is_set() and (
            operations := self._reader.changes_after(self._applied, _BATCH)
        ):
            if operations[0].seq != self._applied + 1:
                _log.warning(
                    "changes up to %d are no longer in the store's log; everything is loaded anew",
                    operations[0].seq - 1,
                )
                self._load(epoch)
                continue
            for operation in operations:
                self._apply(operation)
                self._move_to(operation.seq)
        self._index.count()

    def _load(self, epoch: str) -> None:
        """Index everything that the store shows, from sealed segments where they hold it."""
        start = time.monotonic()
        self._loaded = False
        self._must_load = True
        with self._index.settling:
            self._index.begin(epoch)
            seq, versions = self._reader.visible()
            for record in self._reader.all_collections():
                self._index.put_collection(record)
            manifest = self._cache.read() if epoch else None
            missing = self._index.restore(self._cache, manifest, versions)
            for version in missing:
                if self._stop.is_set():
                    return
                self._put(version.tenant, version.collection, version.doc_id)
            self._move_to(seq)
            self._index.whole = True
        self._must_load = False
        self._loaded = True
        if not epoch:
            return  # nothing has been ingested yet
        _log.info(
            "loaded the store",
            extra={
                "documents": len(versions),
                "from_cache": len(versions) - len(missing),
                "seq": seq,
                "seconds": round(time.monotonic() - start, 2),
            },
        )

    def _put(self, tenant: Tenant, collection: str, doc_id: str) -> None:
        """Index what the store shows of a version; it may have gone since."""
        document = self._reader.searchable(tenant, collection, doc_id)
        if document is not None and self._index.collection(tenant, collection):
            self._index.put(document)

    def _apply(self, operation: LoggedChange) -> None:
        tenant, collection = operation.tenant, operation.collection
        match operation.change:
            case Change.COLLECTION_PUT:
                try:
                    self._index.put_collection(self._reader.collection(tenant, collection))
                except CollectionNotFound:
                    self._index.drop_collection(tenant, collection, operation.seq)
            case Change.COLLECTION_DELETED:
                self._index.drop_collection(tenant, collection, operation.seq)
            case Change.ARTIFACT_PUT:
                self._put(tenant, collection, operation.doc_id)
            case Change.ARTIFACT_UPDATED:
                self._index.touch(tenant, collection, operation.artifact, operation.seq)
            case Change.ARTIFACT_DELETED:
                self._index.drop(tenant, collection, operation.artifact, operation.seq)

    def _move_to(self, seq: int) -> None:
        with self._moved:
            self._applied = seq
            self._moved.notify_all()
        metrics.APPLIED_SEQ.set(seq)
