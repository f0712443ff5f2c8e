"""Indexes over one sealed file, asked the same filtered searches in turn.

They differ in `proposal_cost` alone, which decides whether a search scans or takes the graph.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from treespan._core import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from corpus import Corpus
    from treespan._core import Hits

LIMIT = 10
SEAL_ROWS = 20_000
ALWAYS_SCAN, ALWAYS_GRAPH = 0xFFFF_FFFF, 0


@dataclass(frozen=True, slots=True)
class Filter:
    """Rows that a search may look at, as the index takes them and as a mask; None for all."""

    rows: NDArray[np.bool_]
    keys: bytes | None = None
    nodes: bytes | None = None


def indexes(
    data: Corpus, folder: Path, seal_rows: int, costs: dict[str, int]
) -> dict[str, VectorIndex]:
    """Return an index for each `proposal_cost`, all over the same sealed segments."""
    first = filled(data, seal_rows)
    number = 0
    while first.seal(str(folder), f"bench{number}"):
        number += 1
    files = [(name, size, digest) for name, size, digest, _ in first.sealed]
    live = np.unique(data.doc + 1).astype("<u8").tobytes()
    made = {}
    for name, cost in costs.items():
        made[name] = VectorIndex(data.vectors.shape[1], proposal_cost=cost, seal_rows=seal_rows)
        made[name].install(str(folder), files, live)
        assert made[name].sealed_rows == len(data.doc), "rows were left unsealed"
    return made


def filled(data: Corpus, seal_rows: int) -> VectorIndex:
    """Return an index of a corpus; key of a document is its number + 1."""
    index = VectorIndex(data.vectors.shape[1], seal_rows=seal_rows)
    nodes = data.nodes()
    starts = np.flatnonzero(np.diff(data.doc, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(data.doc)], strict=True):
        index.add(
            int(data.doc[start]) + 1,
            nodes[start:end].astype("<u4").tobytes(),
            data.vectors[start:end].astype("<f4").tobytes(),
        )
    return index


def random_filter(data: Corpus, share: float, seed: int = 7) -> Filter:
    """Return a filter of rows anywhere."""
    chosen = np.random.default_rng(seed).choice(
        len(data.doc), max(LIMIT, round(share * len(data.doc))), replace=False
    )
    rows = np.zeros(len(data.doc), bool)
    rows[chosen] = True
    keys, nodes = data.doc[rows] + 1, data.nodes()[rows]
    return Filter(rows, keys.astype("<u8").tobytes(), nodes.astype("<u4").tobytes())


def around(data: Corpus, similarities: NDArray[np.float32], share: float) -> Filter:
    """Return a filter of the documents whose best rows are most like a query."""
    starts = np.flatnonzero(np.diff(data.doc, prepend=-1))
    order = np.argsort(-np.maximum.reduceat(similarities, starts), kind="stable")
    sizes = np.diff(starts, append=len(data.doc))
    wanted = max(LIMIT, share * len(data.doc))
    chosen = order[: int(np.searchsorted(np.cumsum(sizes[order]), wanted)) + 1]
    documents = np.sort(data.doc[starts[chosen]])
    return Filter(np.isin(data.doc, documents), (documents + 1).astype("<u8").tobytes())


def filters(
    data: Corpus, similarities: NDArray[np.float32], kind: str, share: float
) -> Iterator[Filter]:
    """Yield the filter of every query."""
    fixed = random_filter(data, share) if kind == "random" else None
    for at in range(len(data.queries)):
        of = at if kind == "near" else (at + len(data.queries) // 2) % len(data.queries)
        yield fixed or around(data, similarities[of], share)


class Asked:
    """What came of asking one index many queries."""

    def __init__(self) -> None:
        self.times_us: list[float] = []
        self.found = 0
        self.wanted = 0
        self.scanned = 0

    def ask(self, index: VectorIndex, query: bytes, only: Filter) -> Hits:
        """Ask, and note the processor time."""
        start = time.thread_time_ns()
        [hits] = index.search(query, LIMIT, None, only.keys, only.nodes)
        self.times_us.append((time.thread_time_ns() - start) / 1000)
        self.scanned += hits.exact_segments > 0
        return hits

    def check(
        self, hits: Hits, similarities: NDArray[np.float32], rows: dict[tuple[int, int], int]
    ) -> None:
        """Compare an answer with the similarities of the rows allowed; others have none (-1)."""
        best = np.sort(np.partition(similarities, -LIMIT)[-LIMIT:])
        for key, node, similarity in hits.items():
            right = float(similarities[rows[key, node]])
            assert abs(similarity - right) < 1e-5, "a similarity is not exact"
            self.found += right >= float(best[0]) - 1e-6
        self.wanted += min(LIMIT, int((similarities >= 0).sum()))

    @property
    def recall(self) -> float:
        """Hits that are among the best, of those that should be."""
        return self.found / self.wanted

    @property
    def p50_us(self) -> float:
        """Median processor time."""
        return float(np.median(self.times_us))


def compare(
    made: dict[str, VectorIndex], data: Corpus, kind: str, share: float, rounds: int
) -> dict[str, Asked]:
    """Ask every index every query, in turn."""
    similarities = data.queries @ data.vectors.T
    every = Filter(np.ones(len(data.doc), bool))
    # As the index has it: a cosine below 0 counts as no similarity.
    similar = np.maximum(similarities, 0)
    rows = {
        pair: at
        for at, pair in enumerate(zip((data.doc + 1).tolist(), data.nodes().tolist(), strict=True))
    }
    only = (
        [every] * len(data.queries)
        if kind == "none"
        else list(filters(data, similarities, kind, share))
    )
    asked = {name: Asked() for name in made}
    orders = list(permutations(made))
    for turn in range(rounds):
        for at, allowed in enumerate(only):
            query = data.queries[at].astype("<f4").tobytes()
            # All orders in turn: what was asked before decides what the caches hold.
            for name in orders[(turn + at) % len(orders)]:
                hits = asked[name].ask(made[name], query, allowed)
                if turn == 0:
                    asked[name].check(hits, np.where(allowed.rows, similar[at], -1), rows)
    return asked
