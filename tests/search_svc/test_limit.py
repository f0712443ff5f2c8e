"""`limit` hits come back whenever that many rows match, and they are those of a brute-force search.

Whatever was added, replaced, deleted, sealed and loaded again before, with any filter.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from search_svc.collection import CollectionIndex
from search_svc.index import Index
from search_svc.segments import SegmentCache
from treespan.config import SearchConfig
from treespan.store.records import (
    CollectionRecord,
    Matches,
    SearchableDocument,
    Tenant,
    Version,
)

TENANT = Tenant("t")
RECORD = CollectionRecord(TENANT, "c", "", "m", "f", 8, 100, created_seq=1)
SEAL_ROWS = 40
NAMES = st.sampled_from([f"a{number}" for number in range(12)])
SEEDS = st.integers(0, 2**32 - 1)
LIMITS = st.integers(1, 60)


class IndexMachine(RuleBasedStateMachine):
    """Changes an index and plain dicts alike, and compares what searches of both find."""

    proposal_cost: int

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="treespan-"))
        self.cache = SegmentCache(self.folder)
        self.documents: dict[str, SearchableDocument] = {}
        self.seq = 1
        self.index = self.opened()

    def teardown(self) -> None:
        self.cache.close()
        shutil.rmtree(self.folder)

    def opened(self) -> Index:
        config = SearchConfig(seal_rows=SEAL_ROWS, proposal_cost=self.proposal_cost)
        index = Index(config)
        index.begin("epoch")
        index.put_collection(RECORD)
        return index

    @property
    def collection(self) -> CollectionIndex:
        found = self.index.collection(TENANT, "c")
        assert found is not None
        return found

    @rule(name=NAMES, rows=st.integers(0, 50), seed=SEEDS, alike=st.booleans())
    def put(self, name: str, rows: int, seed: int, alike: bool) -> None:
        self.seq += 1
        self.documents[name] = document(name, self.seq, rows, seed, alike=alike)
        self.index.put(self.documents[name])

    @rule(name=NAMES)
    def drop(self, name: str) -> None:
        self.seq += 1
        self.documents.pop(name, None)
        self.index.drop(TENANT, "c", name, self.seq)

    @rule()
    def seal(self) -> None:
        while self.collection.vectors.seal(str(self.cache.folder), self.cache.unique_name()):
            pass
        self.cache.write(self.index.manifest(self.cache, self.seq))

    @rule()
    def restart(self) -> None:
        self.index = self.opened()
        held = self.documents.values()
        versions = [
            Version(TENANT, "c", each.artifact, each.doc_id, each.key, each.revision)
            for each in held
        ]
        missing = self.index.restore(self.cache, self.cache.read(), versions)
        for version in missing:
            self.index.put(self.documents[version.artifact])

    @rule(seed=SEEDS, limit=LIMITS)
    def search_all(self, seed: int, limit: int) -> None:
        query = np.random.default_rng(seed).standard_normal(8)
        hits = self.collection.nearest(query.astype("<f4").tobytes(), limit, None, ())
        self.compare(hits.items(), query, limit, self.rows())

    @rule(seed=SEEDS, limit=LIMITS, names=st.lists(NAMES, min_size=1, unique=True))
    def search_artifacts(self, seed: int, limit: int, names: list[str]) -> None:
        query = np.random.default_rng(seed).standard_normal(8)
        hits = self.collection.nearest(query.astype("<f4").tobytes(), limit, None, names)
        keys = {self.documents[name].key for name in names if name in self.documents}
        allowed = {row for row in self.rows() if row[0] in keys}
        self.compare(hits.items(), query, limit, allowed)

    @rule(seed=SEEDS, limit=LIMITS, share=st.sampled_from([0.0, 0.02, 0.2, 0.7, 1.0]))
    def search_documents(self, seed: int, limit: int, share: float) -> None:
        chance = np.random.default_rng(seed)
        keys = sorted(each.key for each in self.documents.values() if chance.random() < share)
        matches = Matches(self.seq, np.array(keys, "<u8").tobytes())
        self.search_matches(chance.standard_normal(8), limit, matches)

    @rule(seed=SEEDS, limit=LIMITS, share=st.sampled_from([0.02, 0.2, 0.7, 1.0]))
    def search_nodes(self, seed: int, limit: int, share: float) -> None:
        chance = np.random.default_rng(seed)
        allowed = [row for row in sorted(self.rows()) if chance.random() < share]
        matches = Matches(
            self.seq,
            np.array([key for key, _ in allowed], "<u8").tobytes(),
            np.array([node for _, node in allowed], "<u4").tobytes(),
        )
        self.search_matches(chance.standard_normal(8), limit, matches)

    def search_matches(self, query: np.ndarray, limit: int, matches: Matches) -> None:
        hits = self.collection.nearest_of(query.astype("<f4").tobytes(), limit, None, matches)
        assert hits is not None
        keys = np.frombuffer(matches.keys, "<u8").tolist()
        if matches.nodes is None:
            allowed = {row for row in self.rows() if row[0] in set(keys)}
        else:
            allowed = set(zip(keys, np.frombuffer(matches.nodes, "<u4").tolist(), strict=True))
        self.compare(hits.items(), query, limit, allowed)

    def rows(self) -> set[tuple[int, int]]:
        return {(each.key, node) for each in self.documents.values() for node in nodes_of(each)}

    def compare(
        self,
        hits: list[tuple[int, int, float]],
        query: np.ndarray,
        limit: int,
        allowed: set[tuple[int, int]],
    ) -> None:
        right = {
            (each.key, node): similarity
            for each in self.documents.values()
            for node, similarity in zip(nodes_of(each), similarities(each, query), strict=True)
            if (each.key, node) in allowed
        }
        best = sorted(right.values(), reverse=True)[:limit]
        found = {(key, node) for key, node, _ in hits}
        assert len(hits) == len(found) == len(best)
        assert found <= allowed
        for key, node, similarity in hits:
            assert similarity == pytest.approx(right[key, node], abs=1e-5)
        assert [similarity for *_, similarity in hits] == pytest.approx(best, abs=1e-5)
        assert hits == sorted(hits, key=lambda hit: (-hit[2], hit[0], hit[1]))


def document(name: str, key: int, rows: int, seed: int, *, alike: bool) -> SearchableDocument:
    """A version with random vectors, or with one random vector again and again."""
    chance = np.random.default_rng(seed)
    vectors = chance.standard_normal((rows, 8))
    if alike:
        vectors[:] = vectors[:1]
    nodes = np.sort(chance.choice(3 * rows + 1, rows, replace=False))
    return SearchableDocument(
        tenant=TENANT,
        collection="c",
        artifact=name,
        doc_id=f"{key:016x}",
        key=key,
        revision=key,
        file_name=name,
        title="",
        media_type="text/plain",
        page_count=0,
        metadata=b"",
        tree=b"",
        vector_nodes=nodes.astype("<u4").tobytes(),
        vectors=vectors.astype("<f4").tobytes(),
    )


def nodes_of(each: SearchableDocument) -> list[int]:
    nodes: list[int] = np.frombuffer(each.vector_nodes, "<u4").tolist()
    return nodes


def similarities(each: SearchableDocument, query: np.ndarray) -> list[float]:
    """The cosine with every row, 0 where it is negative, in double precision."""
    vectors = np.frombuffer(each.vectors, "<f4").reshape(-1, 8).astype(np.float64)
    wanted = query.astype("<f4").astype(np.float64)
    cosines = vectors @ wanted / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(wanted))
    similarities: list[float] = np.maximum(cosines, 0).tolist()
    return similarities


@pytest.mark.parametrize("proposal_cost", [SearchConfig().proposal_cost, 0])
def test_limit_hits_come_back_and_they_are_the_nearest(proposal_cost: int) -> None:
    machine = type("IndexMachine", (IndexMachine,), {"proposal_cost": proposal_cost})
    run = settings(
        max_examples=60,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(machine, settings=run)
