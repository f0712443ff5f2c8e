"""The catalogue: collections and artifacts are changed and deleted, nothing is read or embedded.

What is read, changed and written back is so by one call at a time, and never beside an ingest of
the same artifact: no change is lost.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest_svc.operations import ArtifactKey
from ingest_svc.threads import to_the_end
from treespan.errors import ArtifactNotFound, ArtifactNotReady, CollectionNotFound
from treespan.filters import All, Condition, Operator
from treespan.store.records import ArtifactState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ingest_svc.operations import Operations
    from treespan.filters import Filter
    from treespan.store.interface import Writer
    from treespan.store.records import ArtifactRecord, CollectionRecord, Tenant

MOST_LISTED = 1_000
"""Names of deleted artifacts that are told."""
_KEY_BYTES = 8


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is to be deleted: by name, by a filter of artifacts, or what is both; not neither."""

    tenant: Tenant
    collection: str
    names: tuple[str, ...] = ()
    where: Filter | None = None
    validate_only: bool = False
    """Only say what would be deleted."""
    allow_missing: bool = False
    """Pass over names that do not exist."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What was deleted, or would be."""

    names: tuple[str, ...] = ()
    """Sorted; at most `MOST_LISTED`."""
    count: int = 0
    seq: int = 0
    """0 where nothing was."""


class Catalogue:
    """Changes the catalogue. Used from one event loop only."""

    def __init__(self, writer: Writer, operations: Operations) -> None:
        self._writer = writer
        self._operations = operations
        self._collections = asyncio.Lock()
        self._artifacts = asyncio.Lock()

    async def create_collection(self, record: CollectionRecord) -> tuple[CollectionRecord, int]:
        """Create a collection; return it and the change's seq; raises `CollectionExists`."""
        async with self._collections:
            seq = await to_the_end(self._writer.create_collection, record)
            return await self._collection(record.tenant, record.name), seq

    async def update_collection(
        self, tenant: Tenant, name: str, change: Callable[[CollectionRecord], CollectionRecord]
    ) -> tuple[CollectionRecord, int]:
        """Change a collection; return it and the change's seq; raises `CollectionNotFound`."""
        async with self._collections:
            changed = change(await self._collection(tenant, name))
            seq = await to_the_end(self._writer.update_collection, changed)
            return await self._collection(tenant, name), seq

    async def delete_collection(
        self, tenant: Tenant, name: str, *, force: bool, allow_missing: bool
    ) -> tuple[int, int]:
        """Delete a collection; return the change's seq and the artifacts deleted with it.

        Raises:
            CollectionNotFound: there is none.
            CollectionNotEmpty: it holds artifacts.
            ArtifactBusy: an ingest into it is under way.
        """
        self._operations.check_idle(tenant, name)
        async with self._collections:
            try:
                return await to_the_end(self._writer.delete_collection, tenant, name, force=force)
            except CollectionNotFound:
                if not allow_missing:
                    raise
                return 0, 0

    async def update_artifact(
        self, key: ArtifactKey, change: Callable[[ArtifactRecord], tuple[str, bytes, str]]
    ) -> tuple[ArtifactRecord, int]:
        """Change an artifact's file name, metadata and summary; return it and the change's seq.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: there is no such artifact.
            ArtifactNotReady: it is not POPULATED.
            ArtifactBusy: an ingest of it is under way.
        """
        async with self._artifacts:
            await self._populated(key)
            with self._operations.changing([key]):
                changed = change(await self._populated(key))
                seq = await to_the_end(self._writer.update_artifact, *key, *changed)
                return await self._populated(key), seq

    async def delete_artifact(self, key: ArtifactKey, *, allow_missing: bool) -> int:
        """Delete an artifact; return the change's seq, 0 where there was none to delete.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: there is no such artifact.
            ArtifactBusy: an ingest of it is under way.
        """
        async with self._artifacts:
            try:
                with self._operations.changing([key]):
                    return await to_the_end(self._writer.delete_artifact, *key)
            except (ArtifactNotFound, CollectionNotFound):
                if not allow_missing:
                    raise
                return 0

    async def delete_artifacts(self, wanted: Deletion) -> Deleted:
        """Delete several artifacts in one transaction.

        Raises:
            CollectionNotFound: there is no such collection.
            ArtifactNotFound: there is no artifact of one of the names.
            ArtifactBusy: an ingest of one of them is under way.
            InvalidField: the filter has an operand of a type that its key has in no artifact.
            NotServing: the service is stopping.
        """
        self._operations.check_serving()
        async with self._artifacts:
            try:
                if wanted.where is None:
                    return await self._delete_named(wanted)
                return await self._delete_matching(wanted, wanted.where)
            except CollectionNotFound:
                if not wanted.allow_missing:
                    raise
                return Deleted()

    async def _delete_named(self, wanted: Deletion) -> Deleted:
        keys = [ArtifactKey(wanted.tenant, wanted.collection, name) for name in wanted.names]
        with self._operations.changing(keys):
            names = await asyncio.to_thread(self._present, wanted)
            seq = 0
            if names and not wanted.validate_only:
                seq = await to_the_end(
                    self._writer.delete_artifacts, wanted.tenant, wanted.collection, names
                )
        return Deleted(tuple(names[:MOST_LISTED]), len(names), seq)

    async def _delete_matching(self, wanted: Deletion, where: Filter) -> Deleted:
        """Delete what matches at the moment when the store deletes it."""
        place = (wanted.tenant, wanted.collection)
        if wanted.names:
            await asyncio.to_thread(self._present, wanted)
            where = All((_named(wanted.names), where))
        matches = await asyncio.to_thread(self._writer.matching, *place, where)
        if not matches.keys:
            return Deleted()
        # The artifacts with an ingest under way are few, and asked for alone.
        if under_way := self._operations.under_way(*place):
            busy = await self._first_names(wanted, All((_named(under_way), where)), 1)
            self._operations.check_not_busy([ArtifactKey(*place, name) for name in busy])
        if wanted.validate_only:
            first = await self._first_names(wanted, where, MOST_LISTED)
            return Deleted(first, max(len(first), len(matches.keys) // _KEY_BYTES))
        seq, names = await to_the_end(self._writer.delete_matching, *place, where)
        return Deleted(tuple(names[:MOST_LISTED]), len(names), seq if names else 0)

    def _present(self, wanted: Deletion) -> list[str]:
        """Return the names that exist, in any state, sorted."""
        present = []
        for name in sorted(wanted.names):
            try:
                self._writer.artifact(wanted.tenant, wanted.collection, name)
                present.append(name)
            except ArtifactNotFound:
                if not wanted.allow_missing:
                    raise
        return present

    async def _first_names(self, wanted: Deletion, where: Filter, most: int) -> tuple[str, ...]:
        records = await asyncio.to_thread(
            self._writer.artifacts, wanted.tenant, wanted.collection, "", most, where
        )
        return tuple(record.name for record in records)

    async def _collection(self, tenant: Tenant, name: str) -> CollectionRecord:
        return await asyncio.to_thread(self._writer.collection, tenant, name)

    async def _populated(self, key: ArtifactKey) -> ArtifactRecord:
        record = await asyncio.to_thread(self._writer.artifact, *key)
        if record.state is not ArtifactState.POPULATED:
            raise ArtifactNotReady(
                key.artifact,
                f"artifact {key.artifact!r} is {record.state.name}; it can be changed when it is "
                "POPULATED",
            )
        return record


def _named(names: Sequence[str]) -> Condition:
    return Condition("artifact", Operator.IN, tuple(names))
