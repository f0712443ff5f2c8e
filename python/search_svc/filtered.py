"""What filters let through, remembered until their collection changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from search_svc.collection import CollectionIndex
    from treespan.filters import Filter
    from treespan.store.records import Matches

_Key: TypeAlias = tuple[int, int, str]
"""Generation of the index, the collection's `created_seq`, and the filter, written out: as a value
the filter for 1 would be equal to that for true."""

# Of an entry's own, beside the numbers in it.
_ENTRY_BYTES = 1000


class FilterCache:
    """Matches of filters within a number of bytes; the least used go first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._held: OrderedDict[_Key, Matches] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, collection: CollectionIndex, where: Filter) -> Matches | None:
        """Return what a filter lets through, or None where that is not known any more."""
        key = _key(collection, where)
        with self._lock:
            matches = self._held.get(key)
            if matches is None:
                return None
            if matches.seq < collection.changed_seq:
                self._drop(key)
                return None
            self._held.move_to_end(key)
            return matches

    def put(self, collection: CollectionIndex, where: Filter, matches: Matches) -> None:
        """Remember what a filter lets through."""
        key = _key(collection, where)
        with self._lock:
            if key in self._held:
                self._drop(key)
            self._held[key] = matches
            self._bytes += _size(matches)
            while self._bytes > self._max_bytes and self._held:
                self._drop(next(iter(self._held)))

    def _drop(self, key: _Key) -> None:
        self._bytes -= _size(self._held.pop(key))


def _key(collection: CollectionIndex, where: Filter) -> _Key:
    return collection.generation, collection.record.created_seq, repr(where)


def _size(matches: Matches) -> int:
    return _ENTRY_BYTES + len(matches.keys) + len(matches.nodes or b"")
