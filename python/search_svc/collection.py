"""The searchable documents of one collection: names and keys beside the native vectors."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from treespan.errors import InvalidVector, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from search_svc.index import Hits, VectorIndex
    from treespan.store.records import CollectionRecord, Matches, SearchableDocument, Version

# Changes of versions that are remembered, to know whether a filter's matches are still right.
_REMEMBERED = 4096


@dataclass(slots=True)
class Visible:
    """A visible version of an artifact."""

    key: int
    """Its key in the native index: that of the store."""
    artifact: str
    doc_id: str
    revision: int
    """The last change of the artifact that is applied."""
    before: int | None = None
    """Key of the version before: of the two, the native index holds exactly one at any time."""


@dataclass(slots=True)
class CollectionIndex:
    """The searchable documents of one collection."""

    record: CollectionRecord
    vectors: VectorIndex
    generation: int
    """Tells the keys of one load of the store from those of the next, which may be of another."""
    by_artifact: dict[str, Visible] = field(default_factory=dict)
    by_doc_id: dict[str, Visible] = field(default_factory=dict)
    by_key: dict[int, Visible] = field(default_factory=dict)
    changed_seq: int = 0
    """The last change of any of its artifacts."""
    _touched: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    """(seq, key): versions that were replaced, or whose metadata changed, by which change."""
    _touched_seq: int = 0
    """The last change in `_touched`; not its last entry's where a change was applied ahead."""
    _forgotten_seq: int = 0
    """Changes up to this one are not in `_touched` any more."""

    def put(self, document: SearchableDocument) -> None:
        """Make a version visible in the place of the artifact's version before, in one step."""
        if document.key in self.by_key:
            self.touch(document.artifact, document.revision)
            return
        before = self.by_artifact.get(document.artifact)
        visible = Visible(
            document.key,
            document.artifact,
            document.doc_id,
            document.revision,
            before.key if before else None,
        )
        # Named, and remembered as a change, before it is there: a search that sees the new version
        # sees these, too, and one that has the old one's name or filter sees that it has changed.
        self.by_key[document.key] = visible
        self.by_artifact[document.artifact] = visible
        if before:
            self._remember(document.key, before.key)
        self.vectors.add(
            document.key, document.vector_nodes, document.vectors, replaces=visible.before
        )
        self.by_doc_id[document.doc_id] = visible
        if before:
            self._forget(before)
        self.changed_seq = max(self.changed_seq, document.key)

    def know(self, version: Version) -> None:
        """Make a version visible whose vectors are here already."""
        visible = Visible(version.key, version.artifact, version.doc_id, version.revision)
        self.by_key[version.key] = visible
        self.by_artifact[version.artifact] = visible
        self.by_doc_id[version.doc_id] = visible

    def touch(self, artifact: str, seq: int) -> None:
        """Note that what is said of an artifact has changed."""
        visible = self.by_artifact.get(artifact)
        if visible is not None and visible.revision < seq:
            visible.revision = seq
            self._remember(seq, visible.key)
            self.changed_seq = max(self.changed_seq, seq)

    def drop(self, artifact: str, seq: int) -> None:
        """Take an artifact out of all later answers, unless a later change has put it in again."""
        visible = self.by_artifact.get(artifact)
        if visible is not None and visible.key < seq:
            del self.by_artifact[artifact]
            self.vectors.remove(visible.key)
            self._forget(visible)
            self.changed_seq = max(self.changed_seq, seq)

    def nearest(
        self, vector: bytes, limit: int, threshold: float | None, artifacts: Sequence[str]
    ) -> Hits:
        """Return the hits of a query vector, best first.

        Args:
            vector: f32 little-endian.
            limit: Most hits.
            threshold: Least similarity, or None.
            artifacts: Artifacts to look at; none for all. One that is replaced meanwhile is seen in
                its old version or its new one.

        Raises:
            InvalidVector: the vector has another dimension, or is zero or not finite.
            StoreUnavailable: a sealed segment cannot be read.
        """
        if not artifacts:
            return self._search(vector, limit, threshold)
        while True:
            named = {name: self.by_artifact.get(name) for name in artifacts}
            hits = self._search(vector, limit, threshold, _keys(named.values()))
            if all(self.by_artifact.get(name) is visible for name, visible in named.items()):
                return hits

    def nearest_of(
        self, vector: bytes, limit: int, threshold: float | None, matches: Matches
    ) -> Hits | None:
        """Return the hits among what a filter let through.

        None where one of those versions was changed after the filter saw it: its artifact could be
        missing, or match no more.

        Raises:
            InvalidVector: the vector has another dimension, or is zero or not finite.
            StoreUnavailable: a sealed segment cannot be read.
        """
        hits = self._search(vector, limit, threshold, matches.keys, matches.nodes)
        return None if self._touched_since(matches) else hits

    def _touched_since(self, matches: Matches) -> bool:
        if self._touched_seq <= matches.seq:
            return False
        if self._forgotten_seq > matches.seq:
            return True
        later = [key for seq, key in tuple(self._touched) if seq > matches.seq]
        return bool(np.isin(later, np.frombuffer(matches.keys, "<u8")).any())

    def _search(
        self,
        vector: bytes,
        limit: int,
        threshold: float | None,
        keys: Sequence[int] | bytes | None = None,
        nodes: bytes | None = None,
    ) -> Hits:
        if len(vector) != 4 * self.record.dimension:
            raise InvalidVector(
                "vector.f32_le",
                f"has {len(vector) // 4:,} elements; vectors of collection "
                f"{self.record.name!r} have {self.record.dimension:,}",
            )
        try:
            return self.vectors.search(vector, limit, threshold, keys, nodes)[0]
        except ValueError as error:
            raise InvalidVector("vector.f32_le", str(error)) from error
        except OSError as error:
            raise StoreUnavailable(
                "a sealed segment cannot be read; where that lasts, delete the cache folder "
                "(search.cache_path) and start search again"
            ) from error

    def _remember(self, seq: int, key: int) -> None:
        if len(self._touched) == _REMEMBERED:
            self._forgotten_seq = max(self._forgotten_seq, self._touched[0][0])
        self._touched.append((seq, key))
        self._touched_seq = max(self._touched_seq, seq)

    def _forget(self, visible: Visible) -> None:
        self.by_key.pop(visible.key, None)
        if self.by_doc_id.get(visible.doc_id) is visible:
            del self.by_doc_id[visible.doc_id]


def _keys(named: Iterable[Visible | None]) -> list[int]:
    """Return the keys under which the native index may hold artifacts."""
    keys = []
    for visible in named:
        if visible is not None:
            keys += [visible.key] if visible.before is None else [visible.key, visible.before]
    return keys
