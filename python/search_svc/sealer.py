"""Seals new rows into segments, in the background, one process of a host for all of them.

Searches, and the rows they see, never wait for this: until a segment is swapped in, its rows are
scanned. Where sealing fails (a full disk), they are scanned for longer.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from search_svc.collection import CollectionIndex
    from search_svc.index import Index
    from search_svc.segments import SegmentCache

_LOOK_S = 0.5
_END_S = 1.0
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_log = logging.getLogger(__name__)


class Sealer:
    """Builds segments where this process is the builder, and adopts those of another.

    Args:
        index: What is sealed.
        cache: Where segments are kept.
        applied_seq: Returns the last change that the index holds.
    """

    def __init__(self, index: Index, cache: SegmentCache, applied_seq: Callable[[], int]) -> None:
        self._index = index
        self._cache = cache
        self._applied_seq = applied_seq
        self._stop = threading.Event()
        self._pause_s = 0.0
        self._unpublished = False
        self._thread = threading.Thread(target=self._run, name="seal", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; a segment that is being built is given up, since that could take minutes.

        The thread ends with the process. What it leaves is a temporary file, which the next
        builder deletes.
        """
        self._stop.set()
        self._thread.join(_END_S)

    def _run(self) -> None:
        while not self._stop.wait(self._pause_s or _LOOK_S):
            try:
                self._round()
                self._pause_s = 0.0
            except OSError as error:
                self._say(f"a segment cannot be written: {error}")
            except Exception:
                _log.exception("cannot seal a segment")
                self._slow_down()

    def _round(self) -> None:
        builds = self._cache.claim()
        if self._cache.changed():
            self._adopt()
        if builds:
            for collection in self._index.collections():
                self._build(collection)

    def _build(self, collection: CollectionIndex) -> None:
        while not self._stop.is_set():
            name = self._cache.unique_name()
            sealed = collection.vectors.seal(str(self._cache.folder), name)
            if not sealed and not self._unpublished:
                return
            self._unpublished = True
            with self._index.settling:
                if not self._index.whole:
                    return
                self._cache.write(self._index.manifest(self._cache, self._applied_seq()))
            self._unpublished = False
            if sealed:
                _log.info(
                    "sealed a segment",
                    extra={
                        "rows": collection.vectors.sealed_rows,
                        "segments": collection.vectors.segments,
                    },
                )

    def _adopt(self) -> None:
        """Take over what another process has sealed, once its changes are applied here."""
        with self._index.settling:
            if not self._index.whole:
                return
            manifest = self._cache.read()
            if manifest is None or manifest.epoch != self._index.epoch:
                # Lost, damaged or foreign: the builder says anew what there is.
                self._unpublished = True
                return
            if manifest.seq > self._applied_seq():
                self._cache.look_again()
                return
            self._index.adopt(self._cache, manifest)

    def _say(self, problem: str) -> None:
        """Log a failure, once for as long as it lasts."""
        if not self._pause_s:
            _log.error("%s; its rows are scanned meanwhile, and it is tried again", problem)
        self._slow_down()

    def _slow_down(self) -> None:
        self._pause_s = min(max(2 * self._pause_s, _FIRST_PAUSE_S), _LONGEST_PAUSE_S)
