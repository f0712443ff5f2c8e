"""What an operation does: recorded first, then its bytes brought, and handed to the pipeline."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from ingest_svc.fetch import fetch
from ingest_svc.operations.job import Stage
from ingest_svc.operations.request import packed_request
from ingest_svc.pipeline import Source
from ingest_svc.upload import Spooled
from treespan.errors import ArtifactBusy, ArtifactNotFound, ArtifactNotReady
from treespan.store.records import ArtifactRecord, ArtifactState, OperationKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ingest_svc.fetch import FetchRules
    from ingest_svc.operations.under_way import Live
    from ingest_svc.pipeline import Outcome, Pipeline
    from ingest_svc.upload import Spool
    from treespan.store.interface import Writer
    from treespan.store.records import OperationRecord

    Bring: TypeAlias = Callable[[Live], Awaitable[Spooled]]

_FETCHES: Final = 4
"""URIs fetched at the same time."""


class Work:
    """Does what operations are for. Used from one event loop only."""

    def __init__(self, pipeline: Pipeline, spool: Spool, writer: Writer, rules: FetchRules) -> None:
        self._pipeline = pipeline
        self._spool = spool
        self._writer = writer
        self._rules = rules
        self._fetches = asyncio.Semaphore(_FETCHES)

    def record(self, live: Live) -> OperationRecord:
        """Record an operation, its artifact reserved; runs in a thread."""
        key, kept = live.key, live.kept
        populates = live.record.kind is OperationKind.POPULATE_ARTIFACT
        try:
            present = self._writer.artifact(*key)
        except ArtifactNotFound:
            present = None
        if populates:
            _check_draft(key.artifact, present)
        had_draft = present is not None and present.has_draft
        live.kept = msgspec.structs.replace(kept, had_draft=had_draft)
        record = replace(live.record, request=packed_request(live.kept))
        reserved = ArtifactRecord(
            *key,
            state=ArtifactState.NOT_INITIALIZED,
            file_name=kept.file_name or key.artifact,
            metadata=kept.metadata,
        )
        recorded = self._writer.begin_operation(record, None if populates else reserved)
        if recorded.operation != record.operation:
            raise ArtifactBusy(
                f"request {record.request_id!r} is just being recorded; try again in a moment"
            )
        return recorded

    async def do(self, live: Live, bring: Bring | None) -> Outcome:
        """Bring the bytes and hand them to the pipeline."""
        operation = live.record.operation
        if live.record.kind is OperationKind.POPULATE_ARTIFACT:
            live.job.enter(Stage.QUEUED)
            _is_safe(live)
            return await self._pipeline.populate(live.key, operation, live.job)
        if bring is None:
            live.job.enter(Stage.QUEUED)
            _is_safe(live)
            file, name = await self._fetched(live)
        else:
            file, name = await bring(live), ""
        live.job.received_bytes = file.size_bytes
        _is_safe(live)
        return await self._pipeline.ingest(_source(live, name), file, live.job)

    async def _fetched(self, live: Live) -> tuple[Spooled, str]:
        """Return what the URI names, and the name that it has there."""
        path = self._spool.part(live.record.operation)
        async with self._fetches:
            live.job.enter(Stage.FETCHING)
            fetched = await fetch(live.kept.source_uri, path, self._rules, live.job.advance)
        return Spooled(path, fetched.size_bytes, fetched.sha256), fetched.file_name


def _is_safe(live: Live) -> None:
    """Say that it is recorded and has its bytes: detached, it needs its caller no more."""
    live.is_detached = live.is_detached or live.kept.detached
    live.safe.set()


def _check_draft(artifact: str, present: ArtifactRecord | None) -> None:
    """Refuse to populate what does not wait for it."""
    if present is None:
        raise ArtifactNotFound(artifact)
    if not present.has_draft:
        raise ArtifactNotReady(
            artifact,
            f"artifact {artifact!r} is {present.state.name}, and no version of it waits to be "
            "populated; ingest one with initialize_only",
        )


def _source(live: Live, name: str) -> Source:
    kept = live.kept
    return Source(
        tenant=live.key.tenant,
        collection=live.key.collection,
        artifact=live.key.artifact,
        file_name=kept.file_name or name or live.key.artifact,
        metadata=kept.metadata,
        password=live.password,
        media_type=kept.media_type,
        options=kept.options,
        summary=kept.summary,
        source_uri=kept.source_uri,
        initialize_only=kept.initialize_only,
        operation=live.record.operation,
    )
