"""Vectors to measure with: the sentences of a real corpus, or generated ones.

Real ones are embedded once, which takes a quarter of an hour, and kept in
`~/.cache/treespan/bench/<corpus>-<model>-<data>.npz` with the arrays `vectors` (n x d), `doc` (n,
ascending) and `queries` (q x d).
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from treespan.config import ModelsConfig
from treespan.embed import Embedder
from treespan.models.chosen import prepare_chosen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

CACHE = Path.home() / ".cache" / "treespan" / "bench"
# Rows generated at a time: block i of a seed is always the same, whatever comes before it.
BLOCK_ROWS = 10_000
_CLUSTERS = 1_000
# Within a cluster rows differ along few directions, as embeddings do, and a little in all others.
_DIRECTIONS = 24
_ALONG, _ACROSS = 0.8, 0.3


@dataclass(frozen=True, slots=True)
class Corpus:
    """Unit vectors of the rows of documents, and of queries."""

    name: str
    vectors: NDArray[np.float32]
    doc: NDArray[np.int64]
    """The document of every row, ascending from 0."""
    queries: NDArray[np.float32]

    def nodes(self) -> NDArray[np.uint32]:
        """Return for every row its position among the rows of its document, from 1."""
        starts = np.searchsorted(self.doc, self.doc)
        return (np.arange(len(self.doc)) - starts + 1).astype(np.uint32)


def scifact(folder: Path) -> Corpus:
    """Return every sentence of SciFact's abstracts, each below its title, and the claims."""
    files = [folder / "scifact" / name for name in ("corpus.jsonl", "queries_dev.jsonl")]
    model = prepare_chosen(ModelsConfig())
    embedder = Embedder.open(model)
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    kept = CACHE / f"scifact-{embedder.fingerprint.replace('@', '-')}-{digest}.npz"
    if not kept.exists():
        _embed(embedder, files, kept)
    with np.load(kept) as arrays:
        return Corpus("scifact", arrays["vectors"], arrays["doc"], arrays["queries"])


def real() -> Corpus | None:
    """Return the real corpus of the folder that TREESPAN_DATA names; None where it names none."""
    folder = os.environ.get("TREESPAN_DATA", "")
    return scifact(Path(folder)) if folder else None


def generated(rows: int, rows_a_document: int = 10, queries: int = 200, seed: int = 1) -> Corpus:
    """Return clustered vectors of 384 elements, and queries that lie near some of them."""
    vectors = np.concatenate(list(blocks(rows, 384, seed)))
    chance = np.random.default_rng(seed + 1)
    near = vectors[chance.choice(rows, queries)]
    return Corpus(
        "generated",
        vectors,
        np.arange(rows) // rows_a_document,
        _unit(near + 0.5 * _spread(chance, *near.shape)),
    )


def blocks(rows: int, dimension: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Yield clustered unit vectors, a block at a time; the same for the same arguments, always."""
    centres = _unit(np.random.default_rng(seed).standard_normal((_CLUSTERS, dimension), np.float32))
    for number, start in enumerate(range(0, rows, BLOCK_ROWS)):
        chance = np.random.default_rng((seed, number))
        size = min(BLOCK_ROWS, rows - start)
        # Rows that follow one another, as those of a document do, are mostly of one cluster.
        of = chance.integers(0, _CLUSTERS, -(-size // 50)).repeat(50)[:size]
        yield _unit(centres[of] + _spread(chance, size, dimension))


def _spread(chance: np.random.Generator, rows: int, dimension: int) -> NDArray[np.float32]:
    along = np.random.default_rng(0).standard_normal((_DIRECTIONS, dimension), np.float32)
    inner = chance.standard_normal((rows, _DIRECTIONS), np.float32) @ _unit(along)
    outer = chance.standard_normal((rows, dimension), np.float32)
    scale = np.float32(_ALONG / _DIRECTIONS**0.5), np.float32(_ACROSS / dimension**0.5)
    spread: NDArray[np.float32] = inner * scale[0] + outer * scale[1]
    return spread


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _embed(embedder: Embedder, files: list[Path], kept: Path) -> None:
    corpus, questions = (_lines(file) for file in files)
    pairs = [
        (number, f"{document['title']}\n{sentence}")
        for number, document in enumerate(corpus)
        for sentence in document["sentences"]
        if sentence.strip()
    ]
    print(f"embedding {len(pairs):,} sentences, once, into {kept}", flush=True)
    vectors = embedder.embed_passages([text for _, text in pairs])
    queries = embedder.embed_queries([question["query"] for question in questions])
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(".partial.npz")
    np.savez(partial, vectors=vectors, doc=np.array([of for of, _ in pairs]), queries=queries)
    partial.replace(kept)


def _lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
