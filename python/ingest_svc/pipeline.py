"""The write side in order: file -> blocks -> tree -> chunks -> vectors -> one transaction."""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from ingest_svc.embedding import EmbedLane, stand_back
from ingest_svc.grow import Grower, title_of
from ingest_svc.index_text import embedded_nodes
from ingest_svc.messages import packed_file_metadata
from ingest_svc.operations import Stage, packed_outcome
from ingest_svc.readers.ocr import engine_mark
from ingest_svc.readers.source import ReadOptions
from ingest_svc.summary import summary_of
from ingest_svc.threads import to_the_end, to_the_end_in
from ingest_svc.tree import TreeLimits
from treespan import identity, metrics
from treespan.errors import ArtifactNotFound, ModelMismatch
from treespan.store.records import Content, Draft, NewArtifact, WarningRecord

if TYPE_CHECKING:
    from ingest_svc.grow import Chunks, Grown
    from ingest_svc.operations import ArtifactKey, Job
    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.pool import ReaderPool
    from ingest_svc.upload import Spooled
    from treespan.config import OcrConfig
    from treespan.embed import Embedder
    from treespan.store.interface import Writer
    from treespan.store.records import (
        ArtifactRecord,
        CollectionRecord,
        ContentId,
        Tenant,
    )
    from treespan.tokens import TokenCounter

# Raise it when readers, trees, chunks or index texts change in what they make of a file.
PIPELINE_VERSION = 3

# Trees grown at the same time.
_GROWERS = 2

# Files between the start of their reading and the end of their embedding: enough that the model
# never waits, few enough that their texts fit in memory.
_FILES_AHEAD = 8

# Of one file; every answer about it carries them.
_MOST_WARNINGS = 100


@dataclass(frozen=True, slots=True)
class Source:
    """What is ingested, and into what."""

    tenant: Tenant
    collection: str
    artifact: str
    file_name: str
    metadata: bytes = b""
    """As in `ArtifactRecord.metadata`."""
    password: str = ""
    media_type: str = ""
    """How to read it, where its type is not to be found out."""
    options: ReadOptions = field(default_factory=ReadOptions)
    summary: str = ""
    """As in `ArtifactRecord`."""
    source_uri: str = ""
    """As in `ArtifactRecord`."""
    initialize_only: bool = False
    """Whether to stop when the tree is built, and keep it as a draft."""
    operation: str = ""
    """Id of the operation that ends with the commit."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an ingest."""

    seq: int
    """Sequence number of the change; 0 for a draft."""
    already_ingested: bool


class Pipeline:
    """Takes files in, one after another or several at a time."""

    def __init__(
        self,
        readers: ReaderPool,
        embedder: Embedder,
        budget_tokens: TokenCounter,
        writer: Writer,
        limits: TreeLimits,
        ocr: OcrConfig,
        nice: int = 0,
    ) -> None:
        self._readers = readers
        self._embedder = embedder
        self._writer = writer
        self._grower = Grower(embedder, budget_tokens, limits)
        self._ocr = ocr
        self._lane = EmbedLane(embedder, nice)
        # Trees of large files take long and much memory; the catalogue's calls must not wait.
        self._growers = ThreadPoolExecutor(
            _GROWERS, thread_name_prefix="grow", initializer=stand_back, initargs=(nice,)
        )
        self._ahead = asyncio.Semaphore(_FILES_AHEAD)

    async def ingest(self, source: Source, file: Spooled, job: Job) -> Outcome:
        """Take one file in, whole or not at all.

        Raises:
            FileProblem: it cannot be read, or has no text.
            ModelMismatch: the collection was made with another model.
            CollectionNotFound: the collection is gone.
        """
        collection = await asyncio.to_thread(
            self._writer.collection, source.tenant, source.collection
        )
        self._check_model(collection)
        fingerprint = await asyncio.to_thread(self._fingerprint, collection, source, file.sha256)
        content_id = identity.content_id(file.sha256, fingerprint)
        if not source.initialize_only:
            known = await to_the_end(self._known, source, content_id)
            if known is not None:
                return known
        job.enter(Stage.QUEUED)
        async with self._ahead:
            parsed = await self._read(source, file, job)
            job.enter(Stage.CHUNKING)
            grown = await to_the_end_in(self._growers, self._grower.grow, parsed, collection, job)
            content = _content(content_id, file, parsed, grown)
            _tell(job, content)
            artifact = replace(_artifact(source, content), outcome=packed_outcome(job))
            if source.initialize_only:
                job.enter(Stage.COMMITTING)
                await to_the_end(self._writer.save_draft, Draft(artifact))
                return Outcome(0, already_ingested=False)
            await to_the_end(
                self._writer.mark_initialized, source.tenant, source.collection, source.artifact
            )
            vectors = await self._embed(grown.chunks, job)
        job.enter(Stage.COMMITTING)
        return await to_the_end(self._commit, artifact, vectors)

    async def populate(self, key: ArtifactKey, operation: str, job: Job) -> Outcome:
        """Embed the draft of an artifact and make it searchable.

        Raises:
            ArtifactNotFound: there is no such artifact, or it has no draft.
            ModelMismatch: the collection was made with another model.
            CollectionNotFound: the collection is gone.
        """
        collection = await asyncio.to_thread(self._writer.collection, key.tenant, key.collection)
        self._check_model(collection)
        draft = await asyncio.to_thread(self._writer.draft, *key)
        content = _content_of(draft.artifact)
        _tell(job, content)
        artifact = replace(draft.artifact, operation=operation, outcome=packed_outcome(job))
        if await asyncio.to_thread(self._writer.has_content, key.tenant, content.content_id):
            job.enter(Stage.COMMITTING)
            with suppress(ArtifactNotFound):  # its last artifact may be deleted meanwhile
                known = replace(artifact, content=content.content_id)
                return await to_the_end(self._commit, known)
        job.enter(Stage.CHUNKING)
        async with self._ahead:
            chunks = await to_the_end_in(self._growers, self._grower.chunks_of, content, job)
            vectors = await self._embed(chunks, job)
        job.enter(Stage.COMMITTING)
        return await to_the_end(self._commit, artifact, vectors)

    def close(self) -> None:
        """Wait for what is under way to end."""
        self._growers.shutdown(cancel_futures=True)
        self._lane.close()

    def _check_model(self, collection: CollectionRecord) -> None:
        if collection.embedding_fingerprint != self._embedder.fingerprint:
            raise ModelMismatch(
                collection.name,
                f"collection {collection.name!r} was made with {collection.embedding_model} "
                f"({collection.embedding_fingerprint[:12]}), and this server has "
                f"{self._embedder.name} ({self._embedder.fingerprint[:12]}); use a collection of "
                "this model, or set models.embedding",
            )

    def _fingerprint(self, collection: CollectionRecord, source: Source, sha256: str) -> str:
        """Name all that decides what comes of a file's bytes, its name's ending included."""
        parts = (
            str(PIPELINE_VERSION),
            str(collection.chunk_tokens),
            self._embedder.fingerprint,
            self._grower.counter_fingerprint,
            source.media_type or PurePath(source.file_name).suffix.lower(),
            *self._way_of_reading(source.options),
            _password_mark(source.password, sha256),
        )
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _way_of_reading(self, options: ReadOptions) -> tuple[str, ...]:
        """Name what of the options changes what is read; an engine installed since does, too."""
        engine = "" if options.ocr == "off" else engine_mark(self._ocr, options.ocr_languages)
        return (options.pdf_mode, options.ocr, engine, str(options.include_hidden))

    def _known(self, source: Source, content_id: ContentId) -> Outcome | None:
        """Return the outcome where the tenant has this content: nothing is read or embedded."""
        if not self._writer.has_content(source.tenant, content_id):
            return None
        try:
            present = self._writer.artifact(source.tenant, source.collection, source.artifact)
        except ArtifactNotFound:
            present = None
        if present is not None and _is_already(present, source, content_id):
            return Outcome(self._writer.last_seq(), already_ingested=True)
        try:
            held = present is not None and present.content_id == content_id
            committed = self._commit(_artifact(source, content_id))
            return Outcome(committed.seq, already_ingested=held)
        except ArtifactNotFound:  # its last artifact was deleted meanwhile
            return None

    async def _read(self, source: Source, file: Spooled, job: Job) -> ParsedFile:
        def advance(done: int, total: int) -> None:
            if job.stage is Stage.QUEUED:
                job.enter(Stage.READING)
            job.advance(done, total)

        with metrics.stage("read"):
            return await self._readers.read(
                file.path,
                source.file_name,
                source.password,
                advance,
                media_type=source.media_type,
                options=source.options,
            )

    async def _embed(self, chunks: Chunks, job: Job) -> bytes:
        job.enter(Stage.EMBEDDING, len(chunks.ids))
        with metrics.stage("embed"):
            vectors = await self._lane.embed(chunks.ids, job)
        return np.ascontiguousarray(vectors[chunks.places], dtype="<f4").tobytes()

    def _commit(self, artifact: NewArtifact, vectors: bytes = b"") -> Outcome:
        if isinstance(artifact.content, Content):
            artifact = replace(artifact, content=replace(artifact.content, vectors=vectors))
        with metrics.stage("commit"):
            return Outcome(self._writer.commit_artifact(artifact), already_ingested=False)


def _password_mark(password: str, sha256: str) -> str:
    """Return what makes the content of a file opened with a password another one.

    Without it, whoever has an encrypted file could have its text from the store with no password,
    or a wrong one. Node ids depend on the mark, so it is one that costs a guesser time and memory.
    """
    if not password:
        return ""
    return hashlib.scrypt(
        password.encode("utf-8", "surrogatepass"), salt=sha256.encode(), n=1 << 14, r=8, p=1
    ).hex()


def _is_already(present: ArtifactRecord, source: Source, content_id: ContentId) -> bool:
    said = (source.file_name, source.metadata, source.summary, source.source_uri)
    held = (present.file_name, present.metadata, present.summary, present.source_uri)
    return present.content_id == content_id and held == said


def _artifact(source: Source, content: Content | ContentId) -> NewArtifact:
    content_id = content.content_id if isinstance(content, Content) else content
    return NewArtifact(
        tenant=source.tenant,
        collection=source.collection,
        name=source.artifact,
        file_name=source.file_name,
        metadata=source.metadata,
        doc_id=identity.doc_id(source.tenant, source.collection, source.artifact, content_id),
        content=content,
        summary=source.summary,
        source_uri=source.source_uri,
        operation=source.operation,
    )


def _content(content_id: ContentId, file: Spooled, parsed: ParsedFile, grown: Grown) -> Content:
    """Return the content without its vectors."""
    tree = grown.tree
    return Content(
        content_id=content_id,
        sha256=file.sha256,
        size_bytes=file.size_bytes,
        media_type=parsed.media_type,
        title=title_of(parsed),
        page_count=parsed.page_count,
        node_count=len(tree),
        token_count=int(tree.own_tokens.sum(dtype=np.uint64)),
        tree=tree.pack(),
        vector_nodes=np.array(embedded_nodes(tree), dtype="<u4").tobytes(),
        vectors=b"",
        warnings=tuple(
            WarningRecord(warning.kind, warning.message, tuple(warning.pages[:100]))
            for warning in parsed.warnings[:_MOST_WARNINGS]
        ),
        language=grown.language,
        cells=grown.cells,
        file_metadata=packed_file_metadata(parsed),
        summary=summary_of(parsed),
        counts=tuple(sorted((name, count) for name, count in parsed.counts.items() if count)),
    )


def _content_of(artifact: NewArtifact) -> Content:
    if not isinstance(artifact.content, Content):
        raise ValueError(f"the draft of artifact {artifact.name!r} holds no content")
    return artifact.content


def _tell(job: Job, content: Content) -> None:
    """Show what was found of a file to whoever watches its operation."""
    job.page_count = content.page_count
    job.node_count = content.node_count
    job.chunk_count = content.vector_count
    job.warnings = content.warnings
    job.counts = content.counts
