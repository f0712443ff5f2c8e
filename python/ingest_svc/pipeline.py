"""The write side in order: file -> blocks -> tree -> chunks -> vectors -> one transaction."""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from ingest_svc.chunks import ChunkRules
from ingest_svc.index_text import embedded_nodes, index_texts
from ingest_svc.language import language_of
from ingest_svc.operations import Stage
from ingest_svc.threads import to_the_end, to_the_end_in
from ingest_svc.tree import TreeLimits, build_tree
from treespan import identity, metrics
from treespan.errors import ArtifactNotFound, EmptyFile, ModelMismatch
from treespan.store.records import Content, NewArtifact, WarningRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.operations import Job
    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.pool import ReaderPool
    from ingest_svc.upload import Spooled
    from treespan.embed import Embedder
    from treespan.node import Tree
    from treespan.store.interface import Writer
    from treespan.store.records import (
        ArtifactRecord,
        Cell,
        CollectionRecord,
        ContentId,
        Tenant,
    )
    from treespan.tokens import TokenCounter

# Raise it when readers, trees, chunks or index texts change in what they make of a file.
PIPELINE_VERSION = 2

# Of the model's window, what a chunk may fill; headings and the model's prefix need the rest.
WINDOW_SHARE = 0.9

# Trees grown at the same time.
_GROWERS = 2

# A title comes with every chunk of its document.
_LONGEST_TITLE = 1_000


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an ingest."""

    seq: int
    already_ingested: bool


@dataclass(frozen=True, slots=True)
class _Grown:
    """What blocks became."""

    tree: Tree
    texts: list[str]
    """Texts to embed, of `embedded_nodes` of the tree."""
    cells: tuple[Cell, ...]
    language: str


class Pipeline:
    """Takes files in, one after another or several at a time."""

    def __init__(
        self,
        readers: ReaderPool,
        embedder: Embedder,
        budget_tokens: TokenCounter,
        writer: Writer,
        limits: TreeLimits,
    ) -> None:
        self._readers = readers
        self._embedder = embedder
        self._budget_tokens = budget_tokens
        self._writer = writer
        self._limits = limits
        # The model has one lane: two runs at once would only halve each other's speed.
        self._lane = ThreadPoolExecutor(1, thread_name_prefix="embed")
        # Trees of large files take long and much memory; the catalogue's calls must not wait.
        self._growers = ThreadPoolExecutor(_GROWERS, thread_name_prefix="grow")

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
        known = await to_the_end(self._known, source, content_id)
        if known is not None:
            return known
        job.enter(Stage.QUEUED)
        parsed = await self._read(source, file, job)
        job.enter(Stage.CHUNKING)
        grown = await to_the_end_in(self._growers, self._grow, parsed, collection, job)
        await to_the_end(
            self._writer.mark_initialized, source.tenant, source.collection, source.artifact
        )
        job.enter(Stage.EMBEDDING, len(grown.texts))
        vectors = await asyncio.get_running_loop().run_in_executor(
            self._lane, self._embed, grown.texts, job
        )
        job.enter(Stage.COMMITTING)
        content = _content(content_id, file, parsed, grown, vectors)
        return await to_the_end(self._commit, source, content)

    def close(self) -> None:
        """Wait for what is under way to end."""
        self._growers.shutdown(cancel_futures=True)
        self._lane.shutdown(cancel_futures=True)

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
            self._budget_tokens.fingerprint,
            source.media_type or PurePath(source.file_name).suffix.lower(),
            _password_mark(source.password, sha256),
        )
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

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
            return Outcome(self._commit(source, content_id).seq, already_ingested=held)
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
            )

    def _grow(self, parsed: ParsedFile, collection: CollectionRecord, job: Job) -> _Grown:
        def count(texts: Sequence[str]) -> list[int]:
            job.check()  # a cancelled ingest of a large file ends here, between two of its parts
            return self._budget_tokens.count(texts)

        limit = int(self._embedder.max_tokens * WINDOW_SHARE)
        rules = ChunkRules(min(collection.chunk_tokens, limit), limit)
        with metrics.stage("chunk"):
            tree, cells = build_tree(parsed, count, rules, self._limits)
            texts = index_texts(
                tree, _title(parsed), self._embedder.tokenizer.count, self._embedder.text_tokens
            )
            language = language_of(parsed)
        if not texts:
            raise EmptyFile("the file was read, and has no text in it")
        return _Grown(tree, texts, cells, language)

    def _embed(self, texts: list[str], job: Job) -> bytes:
        job.check()
        with metrics.stage("embed"):
            vectors = self._embedder.embed_passages(
                texts,
                progress=lambda done: job.advance(done, len(texts)),
                cancelled=lambda: job.cancelled,
            )
        job.check()
        return np.ascontiguousarray(vectors, dtype="<f4").tobytes()

    def _commit(self, source: Source, content: Content | ContentId) -> Outcome:
        content_id = content.content_id if isinstance(content, Content) else content
        artifact = NewArtifact(
            tenant=source.tenant,
            collection=source.collection,
            name=source.artifact,
            file_name=source.file_name,
            metadata=source.metadata,
            doc_id=identity.doc_id(source.tenant, source.collection, source.artifact, content_id),
            content=content,
        )
        with metrics.stage("commit"):
            return Outcome(self._writer.commit_artifact(artifact), already_ingested=False)


def _title(parsed: ParsedFile) -> str:
    return parsed.title[:_LONGEST_TITLE]


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
    said = (source.file_name, source.metadata)
    return present.content_id == content_id and (present.file_name, present.metadata) == said


def _content(
    content_id: ContentId, file: Spooled, parsed: ParsedFile, grown: _Grown, vectors: bytes
) -> Content:
    tree = grown.tree
    return Content(
        content_id=content_id,
        sha256=file.sha256,
        size_bytes=file.size_bytes,
        media_type=parsed.media_type,
        title=_title(parsed),
        page_count=parsed.page_count,
        node_count=len(tree),
        token_count=int(tree.own_tokens.sum(dtype=np.uint64)),
        tree=tree.pack(),
        vector_nodes=np.array(embedded_nodes(tree), dtype="<u4").tobytes(),
        vectors=vectors,
        warnings=tuple(
            WarningRecord(warning.kind, warning.message, tuple(warning.pages[:100]))
            for warning in parsed.warnings
        ),
        language=grown.language,
        cells=grown.cells,
    )
