"""The native module as Python sees it, against numpy and the protobuf runtime."""

from __future__ import annotations

import itertools
import struct
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trees import drawn
from treespan import _core
from treespan.v1 import chunk_pb2, metadata_pb2, node_pb2
from treespan.v1 import search_service_pb2 as pb

BOOK = "R0[S2[a10 b10 c10] T3[U2[d10 e10] f10]]"
HEAD = chunk_pb2.Chunk(
    artifact="book",
    document=chunk_pb2.Document(artifact="book", collection="c", file_name="b.md", title="B"),
    metadata={"year": metadata_pb2.MetadataValue(int_value=1994)},
)
MODE = pb.ContextOptions


def document(tree: str = BOOK, doc_id: str = "d") -> _core.Document:
    return _core.Document(doc_id, drawn(tree).tree.pack(), HEAD.SerializeToString())


def position(name: str, tree: str = BOOK) -> int:
    return drawn(tree).position(name)


def options(mode: int = MODE.MODE_TREE, budget: int = 1_000, **given: bool) -> _core.ContextOptions:
    return _core.ContextOptions(mode, budget, **given)


def chunks(
    hits: _core.Hits, *documents: _core.Document, context: _core.ContextOptions
) -> list[chunk_pb2.Chunk]:
    wire, tokens = _core.answer(hits, documents, context, 1 << 20)
    reply = pb.SearchResponse.FromString(wire)
    assert tokens == sum(chunk.total_token_count for chunk in reply.chunks)
    return list(reply.chunks)


def nodes(*names: str, key: int = 7) -> _core.Hits:
    return _core.Hits.of_nodes([(key, position(name)) for name in names])


def floats(rows: np.ndarray) -> bytes:
    return rows.astype("<f4").tobytes()


def uints(*numbers: int) -> bytes:
    return np.array(numbers, "<u4").tobytes()


def index_of(vectors: np.ndarray, documents: int, **given: int) -> _core.VectorIndex:
    """Return an index of rows dealt out to documents 0, 1, ... in runs of equal length."""
    index = _core.VectorIndex(vectors.shape[1], **given)
    for key, rows in enumerate(np.split(vectors, documents)):
        index.add(key, uints(*range(len(rows))), floats(rows))
    return index


def random_rows(rows: int, dimension: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, dimension))


# --- documents -------------------------------------------------------------------------------


def test_a_document_has_its_nodes_and_its_size() -> None:
    assert len(document()) == 10
    assert document().byte_size > len(HEAD.SerializeToString())


@pytest.mark.parametrize("packed", [b"", b"TSTREE1\0", drawn(BOOK).tree.pack()[:-1]])
def test_a_damaged_tree_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="packed tree"):
        _core.Document("d", packed, b"")


def test_windows_are_positions_in_document_order() -> None:
    windows = document().expand([position("b"), position("b")], options(budget=25))
    assert [struct.unpack("<4I", window) for window in windows] == [(0, 1, 3, 4)] * 2


def test_a_window_of_a_node_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no node 10"):
        document().expand([10], options())


# --- answers ---------------------------------------------------------------------------------


def test_a_chunk_has_every_field_of_its_hit_and_its_document() -> None:
    [chunk] = chunks(nodes("e"), document(), context=options(budget=40))
    expected = chunk_pb2.Chunk(
        node_id="d-8",
        text="e",
        previous_texts=["T", "U", "d"],
        next_texts=["f"],
        heading_path=["T", "U"],
        char_start=7,
        char_end=8,
        abs_idx=8,
        rel_idx=1,
        token_count=10,
        total_token_count=35,
        kind=node_pb2.NODE_KIND_CHUNK,
    )
    expected.MergeFrom(HEAD)
    assert chunk == expected


def test_a_search_gives_a_chunk_its_score() -> None:
    index = _core.VectorIndex(2)
    index.add(7, uints(position("e")), floats(np.array([[3.0, 4.0]])))
    [hits] = index.search(floats(np.array([[1.0, 0.0]])), 3)
    [chunk] = chunks(hits, document(), context=options(MODE.MODE_NONE))
    assert chunk.score == chunk.similarity == pytest.approx(0.6)
    assert (chunk.text, list(chunk.previous_texts), list(chunk.next_texts)) == ("e", [], [])


def test_context_nodes_are_every_text_in_document_order() -> None:
    [chunk] = chunks(nodes("b"), document(), context=options(budget=25, nodes=True))
    told = [(node.text, node.abs_idx, node.hit, node.gap_before) for node in chunk.context_nodes]
    assert told == [("S", 1, False, False), ("b", 3, True, True), ("c", 4, False, False)]
    assert [node.node_id for node in chunk.context_nodes] == ["d-1", "d-3", "d-4"]
    assert sum(node.token_count for node in chunk.context_nodes) == chunk.total_token_count


def test_an_expansion_is_told_only_when_asked_for() -> None:
    [silent] = chunks(nodes("b"), document(), context=options(budget=25))
    assert not silent.HasField("expansion")
    [chunk] = chunks(nodes("b"), document(), context=options(budget=25, trace=True))
    assert (chunk.expansion.budget_tokens, chunk.expansion.used_tokens) == (25, 22)
    first = chunk.expansion.steps[0]
    assert (first.node_id, first.direction, first.outcome, first.tokens, first.budget_left) == (
        "d-4",
        chunk_pb2.ExpansionStep.DIRECTION_NEXT,
        chunk_pb2.ExpansionStep.OUTCOME_TAKEN,
        10,
        5,
    )


def test_merged_hits_are_one_passage() -> None:
    [chunk] = chunks(nodes("c", "a"), document(), context=options(budget=22, merge=True))
    assert chunk.text == "c"
    assert [hit.node_id for hit in chunk.hits] == ["d-4", "d-2"]
    assert [*chunk.previous_texts, chunk.text, *chunk.next_texts] == ["S", "a", "b", "c"]


def test_a_hit_given_twice_comes_twice_and_merged_once() -> None:
    alone = options(MODE.MODE_NONE)
    assert len(chunks(nodes("a", "a"), document(), context=alone)) == 2
    merged = options(MODE.MODE_NONE, merge=True)
    assert len(chunks(nodes("a", "a"), document(), context=merged)) == 1


def test_documents_are_those_of_the_hits_in_order_of_appearance() -> None:
    hits = _core.Hits.of_nodes([(9, 2), (4, 3), (9, 4)])
    assert hits.documents() == [9, 4]
    found = chunks(hits, document(doc_id="x"), document(doc_id="y"), context=options(1))
    assert [chunk.node_id for chunk in found] == ["x-2", "y-3", "x-4"]


def test_another_number_of_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="hits are in 1 documents; 0"):
        _core.answer(nodes("a"), [], options(), 1_000)


def test_an_answer_beyond_the_limit_overflows() -> None:
    wire, _ = _core.answer(nodes("a", "f"), [document()], options(), 1 << 20)
    assert _core.answer(nodes("a", "f"), [document()], options(), len(wire))[0] == wire
    with pytest.raises(OverflowError, match=f"most is {len(wire) - 1}"):
        _core.answer(nodes("a", "f"), [document()], options(), len(wire) - 1)


def test_an_answer_budget_bounds_all_hits_together() -> None:
    context = _core.ContextOptions(MODE.MODE_TREE, 1_000, 25)
    _, tokens = _core.answer(nodes("a", "d", "f"), [document()], context, 1 << 20)
    assert tokens <= 25


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="mode 0 is unknown"):
        _core.ContextOptions(0, 10)


# --- vectors ---------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 12),
    st.integers(1, 40),
    st.integers(1, 60),
    st.one_of(st.none(), st.lists(st.integers(0, 14))),
    st.one_of(st.none(), st.floats(0, 1, width=32)),
)
def test_hits_are_those_of_numpy(
    documents: int, rows: int, limit: int, allowed: list[int] | None, threshold: float | None
) -> None:
    vectors = random_rows(documents * rows, 24, seed=rows)
    index = index_of(vectors, documents)
    query = random_rows(1, 24, seed=99)[0]
    [hits] = index.search(floats(query), limit, threshold, allowed)
    unit = vectors.astype("<f4").astype(float)
    cosine = unit @ query / np.linalg.norm(unit, axis=1) / np.linalg.norm(query)
    similarity = np.clip(cosine, 0, 1)
    expected = [
        (row // rows, row % rows)
        for row in sorted(range(len(vectors)), key=lambda row: (-similarity[row], row))
        if allowed is None or row // rows in allowed
    ]
    first = expected[:limit]
    kept = [
        pair
        for pair in first
        if threshold is None or similarity[pair[0] * rows + pair[1]] >= threshold
    ]
    assert [(key, node) for key, node, _ in hits.items()] == kept
    for key, node, found in hits.items():
        assert found == pytest.approx(similarity[key * rows + node], abs=1e-6)
    assert (hits.rows, hits.allowed_rows) == (len(vectors), len(expected))
    assert hits.below_threshold == len(first) - len(kept)


def test_queries_of_a_batch_are_answered_each_for_itself() -> None:
    index = index_of(random_rows(300, 16), 10)
    queries = random_rows(5, 16, seed=3)
    together = index.search(floats(queries), 7)
    alone = [index.search(floats(query), 7)[0] for query in queries]
    assert [hits.items() for hits in together] == [hits.items() for hits in alone]
    assert index.search(b"", 7) == []


def test_allowed_keys_may_be_packed() -> None:
    index = index_of(random_rows(40, 8), 10)
    query = floats(random_rows(1, 8, seed=3))
    keys = np.array([3, 1, 77], "<u8").tobytes()
    assert (
        index.search(query, 9, None, keys)[0].items()
        == index.search(query, 9, None, [1, 3, 77])[0].items()
    )
    assert index.search(query, 9, None, [])[0].items() == []


def test_allowed_nodes_are_pairs_with_their_documents() -> None:
    index = index_of(random_rows(40, 8), 10)
    query = floats(random_rows(1, 8, seed=3))
    pairs = [(1, 0), (1, 3), (4, 2), (77, 1)]
    keys = np.array([key for key, _ in pairs], "<u8").tobytes()
    nodes = uints(*(node for _, node in pairs))
    [hits] = index.search(query, 9, None, keys, nodes)
    assert {(key, node) for key, node, _ in hits.items()} == set(pairs[:3])
    assert hits.allowed_rows == 3
    with pytest.raises(ValueError, match="node 0 of document 1 comes after node 3 of document 1"):
        index.search(query, 9, None, keys, nodes[4:8] + nodes[:4] + nodes[8:])
    with pytest.raises(ValueError, match="3 nodes are allowed, of 4 documents"):
        index.search(query, 9, None, keys, nodes[4:])
    with pytest.raises(ValueError, match="with `allowed` as bytes"):
        index.search(query, 9, None, [1], uints(1))


def test_a_sealed_index_answers_from_its_graph(tmp_path: Path) -> None:
    vectors = random_rows(2_000, 32)
    index = index_of(vectors, 20, proposal_cost=0, seal_rows=1_000)
    queries = floats(random_rows(20, 32, seed=5))
    before = [hits.items() for hits in index.search(queries, 5)]
    assert index.seal(str(tmp_path), "a")
    assert not index.seal(str(tmp_path), "b")
    assert (index.segments, index.sealed_rows, index.rows, index.documents) == (1, 2_000, 2_000, 20)
    after = index.search(queries, 5)
    assert all(hits.graph_segments == 1 and hits.exact_segments == 0 for hits in after)
    found = [set(hits.items()) & set(right) for hits, right in zip(after, before, strict=True)]
    assert sum(map(len, found)) >= 0.97 * 100


def test_another_index_is_filled_from_the_files_of_one(tmp_path: Path) -> None:
    vectors = random_rows(600, 16)
    first = index_of(vectors, 6, seal_rows=100)
    first.add(6, b"", b"")
    assert first.seal(str(tmp_path), "a")
    [(name, size, digest, rows)] = first.sealed
    assert (name, size, rows) == ("a", (tmp_path / "a.segment").stat().st_size, 600)
    exact, halves = 600 * 16 * 4, 600 * 16 * 2
    assert halves < first.memory_bytes < size - exact + 4_096
    second = _core.VectorIndex(16)
    live = np.array([0, 1, 2, 4, 5, 6, 9], "<u8").tobytes()
    second.install(str(tmp_path), [(name, size, digest)], live)
    assert np.frombuffer(second.keys(), "<u8").tolist() == [0, 1, 2, 4, 5]
    assert first.holds(6)
    assert not second.holds(6)
    assert first.remove(3)
    query = floats(vectors[5])
    assert first.search(query, 50)[0].items() == second.search(query, 50)[0].items()


def test_rows_of_a_file_leave_those_in_memory(tmp_path: Path) -> None:
    vectors = random_rows(600, 16)
    first, second = (index_of(vectors, 6, seal_rows=100) for _ in range(2))
    second.add(9, uints(1), floats(vectors[0]))
    assert first.seal(str(tmp_path), "a")
    before = second.search(floats(vectors[5]), 50)[0].items()
    second.install(str(tmp_path), [segment[:3] for segment in first.sealed])
    assert (second.rows, second.sealed_rows) == (601, 600)
    assert second.search(floats(vectors[5]), 50)[0].items() == before


def test_a_damaged_or_missing_file_is_refused(tmp_path: Path) -> None:
    first = index_of(random_rows(600, 16), 6, seal_rows=100)
    assert first.seal(str(tmp_path), "a")
    [(name, size, digest, _)] = first.sealed
    index = _core.VectorIndex(16)
    with pytest.raises(ValueError, match=r"b\.segment: it is missing"):
        index.install(str(tmp_path), [("b", size, digest)], b"")
    with pytest.raises(ValueError, match="32 hexadecimal digits"):
        index.install(str(tmp_path), [(name, size, "hash")], b"")
    path = tmp_path / "b.segment"
    path.write_bytes((tmp_path / "a.segment").read_bytes()[:-1] + b"\1")
    with pytest.raises(ValueError, match="damaged"):
        index.install(str(tmp_path), [("b", size, digest)], b"")
    assert index.sealed == []


def test_a_seal_that_cannot_write_says_why(tmp_path: Path) -> None:
    index = index_of(random_rows(600, 16), 6, seal_rows=100)
    with pytest.raises(FileNotFoundError, match="could not be written"):
        index.seal(str(tmp_path / "missing"), "a")
    with pytest.raises(ValueError, match="part of a file name"):
        index.seal(str(tmp_path), "../a")
    (tmp_path / "a.segment").write_bytes(b"")
    with pytest.raises(OSError, match=r"a\.segment could not be written"):
        index.seal(str(tmp_path), "a")
    assert (index.rows, index.sealed_rows) == (600, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["a.segment"]


def test_a_removed_document_is_never_found_again(tmp_path: Path) -> None:
    vectors = random_rows(600, 16)
    index = index_of(vectors, 6, proposal_cost=0, seal_rows=100)
    assert index.seal(str(tmp_path), "a")
    assert index.remove(2)
    assert not index.remove(2)
    [hits] = index.search(floats(vectors[250]), 600)
    assert {key for key, _, _ in hits.items()} == {0, 1, 3, 4, 5}
    assert len(hits) == index.rows == 500


def test_a_version_replaces_another_in_one_step() -> None:
    index = index_of(random_rows(4, 8), 2)
    index.add(2, uints(5), floats(random_rows(1, 8)), replaces=0)
    assert {key for key, _, _ in index.search(floats(random_rows(1, 8)), 9)[0].items()} == {1, 2}


@pytest.mark.parametrize(
    ("nodes", "vectors", "told"),
    [
        (uints(1, 1), floats(np.ones((2, 4))), "node 1 comes after node 1"),
        (uints(1), floats(np.ones((2, 4))), "1 nodes of 4 dimensions have 4 numbers"),
        (uints(1), floats(np.zeros((1, 4))), "vector 0 is zero"),
        (uints(1), floats(np.array([[1, np.nan, 0, 0]])), "vector 0 is not finite"),
        (b"123", floats(np.ones((1, 4))), "nodes have 3 bytes"),
        (uints(1), b"12345", "vectors have 5 bytes"),
    ],
)
def test_bad_vectors_are_refused(nodes: bytes, vectors: bytes, told: str) -> None:
    index = _core.VectorIndex(4)
    with pytest.raises(ValueError, match=told):
        index.add(1, nodes, vectors)
    assert (index.documents, index.rows) == (0, 0)


def test_bad_queries_are_refused() -> None:
    index = index_of(random_rows(4, 4), 1)
    query = floats(np.ones(4))
    with pytest.raises(ValueError, match="no multiple of the dimension, 4"):
        index.search(query[:12], 1)
    with pytest.raises(ValueError, match="limit is 0"):
        index.search(query, 0)
    with pytest.raises(ValueError, match="out of range"):
        index.search(query, -1)
    with pytest.raises(ValueError, match="threshold is not a number"):
        index.search(query, 1, float("nan"))
    with pytest.raises(ValueError, match="in the index already"):
        index.add(0, uints(1), query)
    with pytest.raises(ValueError, match="dimension is 0"):
        _core.VectorIndex(0)


def test_searches_run_beside_changes(tmp_path: Path) -> None:
    vectors = random_rows(3_000, 16)
    index = _core.VectorIndex(16, proposal_cost=0, seal_rows=500, threads=2)
    index.add(10_000, uints(0), floats(vectors[0] * 5))
    stop = threading.Event()
    wrong: list[object] = []

    def search() -> None:
        while not stop.is_set():
            [hits] = index.search(floats(vectors[0]), 3)
            if hits.items()[0] != (10_000, 0, 1.0) and len(wrong) < 5:
                wrong.append(hits.items())

    def seal() -> None:
        names = map(str, itertools.count())
        while not stop.is_set():
            index.seal(str(tmp_path), next(names))

    threads = [threading.Thread(target=work) for work in (search, search, search, seal)]
    for thread in threads:
        thread.start()
    for key, rows in enumerate(np.split(vectors, 30)):
        index.add(key, uints(*range(1, 101)), floats(-rows if key == 0 else rows))
        if key % 3 == 2:
            index.remove(key - 2)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert index.rows == 2_001


def test_the_module_says_what_it_uses() -> None:
    assert _core.simd() in {"avx512f", "avx2+fma", "sse2", "neon", "scalar"}
    assert _core.__version__.count(".") == 2
