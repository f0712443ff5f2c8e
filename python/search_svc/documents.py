"""Trees and texts of documents, in memory as long as they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from search_svc.index import Document

DocumentKey: TypeAlias = tuple[int, int]
"""Generation of the index and key of the version in it; never used twice."""


@dataclass(frozen=True, slots=True)
class Held:
    """A version of a document and what its chunks say of its artifact."""

    document: Document
    revision: int
    """The last change of the artifact that it shows."""


class DocumentCache:
    """Documents, loaded when needed, kept within a number of bytes; the least used go first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._held: OrderedDict[DocumentKey, Held] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: DocumentKey, revision: int, load: Callable[[], Held]) -> Held:
        """Return a document, as of a revision or a later one; load it where it is not here."""
        with self._lock:
            held = self._held.get(key)
            if held is not None and held.revision >= revision:
                self._held.move_to_end(key)
                return held
        held = load()
        with self._lock:
            before = self._held.pop(key, None)
            if before is not None:
                self._bytes -= before.document.byte_size
            self._held[key] = held
            self._bytes += held.document.byte_size
            while self._bytes > self._max_bytes and len(self._held) > 1:
                _, oldest = self._held.popitem(last=False)
                self._bytes -= oldest.document.byte_size
        return held
