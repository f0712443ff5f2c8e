"""LlamaIndex's ingestion with the same model, as its documentation shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core import SimpleDirectoryReader
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from pydantic import PrivateAttr

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from treespan.embed import Embedder


class _Embedding(BaseEmbedding):
    """The same model behind LlamaIndex's interface, its batches of the default size."""

    _embedder: Any = PrivateAttr()

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(model_name=embedder.name)
        self._embedder = embedder

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed_passages(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self._embedder.embed_queries([query])[0].tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Peer:
    """A pipeline of LlamaIndex: directory reader, sentence splitter, embedding."""

    def __init__(self, embedder: Embedder, chunk_tokens: int | None) -> None:
        """Take the model and the size of chunks, in its tokens; None: as LlamaIndex has it."""
        splitter = SentenceSplitter()
        if chunk_tokens is not None:
            splitter = SentenceSplitter(
                chunk_size=chunk_tokens,
                chunk_overlap=0,
                include_metadata=False,
                tokenizer=lambda text: embedder.tokenizer.encode([text], 1 << 20)[0],
            )
        self._splitter = splitter
        self._embedding = _Embedding(embedder)

    def ingest(self, files: Sequence[Path]) -> int:
        """Read, split and embed files; return the number of chunks."""
        documents = SimpleDirectoryReader(input_files=[str(path) for path in files]).load_data()
        pipeline = IngestionPipeline(
            transformations=[self._splitter, self._embedding], disable_cache=True
        )
        return len(pipeline.run(documents=documents))
