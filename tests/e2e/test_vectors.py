"""Vectors belong to their nodes, every text is embedded once, similarities are what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from calls import ingest_bytes
from treespan.embed import Embedder
from treespan.models.cache import prepare
from treespan.node import Tree
from treespan.store import open_reader
from treespan.store.records import Tenant
from treespan.v1 import context_filter_pb2
from treespan.v1 import search_service_pb2 as pb

if TYPE_CHECKING:
    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

SAMPLES = Path(__file__).parents[2] / "samples"
PAGE = """<h1>Tides</h1><p>{}</p><img src="x.png"><p>{}</p><img src="y.png" alt=""><p>{}</p>"""
TEXTS = [
    "High water comes about fifty minutes later every day, because the moon moves on in its orbit "
    "while the earth turns once, and so the bulge of water has to be caught up with.",
    "Spring tides fall at new moon and at full moon, when sun and moon pull along one line, and "
    "they rise higher and fall lower than the tides of the weeks between them.",
    "In narrow bays the tide can be ten metres and more, since the water that enters the wide "
    "mouth is squeezed on its way to the head of the bay.",
]


def where(collection: str) -> context_filter_pb2.ContextFilter:
    return context_filter_pb2.ContextFilter(collection=collection)


def stored(servers: Servers, collection: str, name: str) -> tuple[Tree, np.ndarray, np.ndarray]:
    """Return tree, positions and vectors of an artifact as they lie in the store."""
    reader = open_reader(servers.data / "store")
    artifact = reader.artifact(Tenant("default"), collection, name)
    held = reader.searchable(Tenant("default"), collection, artifact.doc_id)
    reader.close()
    assert held is not None
    nodes = np.frombuffer(held.vector_nodes, "<u4")
    vectors = np.frombuffer(held.vectors, "<f4").reshape(len(nodes), -1)
    return Tree.unpack(held.tree), nodes, vectors


def test_a_node_without_text_has_no_vector_and_shifts_none(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    written = ingest_bytes(ingest, collection, "tides.html", PAGE.format(*TEXTS).encode())
    embedder = Embedder.open(prepare("multilingual-e5-small"))
    wanted = embedder.embed_passages([f"Tides\n{text}" for text in TEXTS])
    for text, vector in zip(TEXTS, wanted, strict=True):
        request = pb.SearchRequest(
            context_filter=where(collection),
            min_seq=written.seq,
            vector=pb.Vector(f32_le=vector.astype("<f4").tobytes()),
            limit=10,
        )
        chunks = search.Search(request).chunks
        assert chunks[0].text == text
        assert chunks[0].similarity == pytest.approx(1.0, abs=1e-4)
        assert len(chunks) == len(TEXTS)


def test_every_text_is_embedded_once(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    name = "handbook.md"
    ingest_bytes(ingest, collection, name, (SAMPLES / "handbook.md").read_bytes())
    tree, nodes, vectors = stored(servers, collection, name)
    assert len(nodes) == len(set(nodes.tolist())) == len(vectors)
    inner = set(tree.parent[1:].tolist())
    headings = [n for n in range(1, len(tree)) if n in inner and tree.own_text(n)]
    written = [n for n in range(len(tree)) if tree.own_text(n)]
    # A heading is embedded with the texts below it; a table's head is a text of its own.
    assert set(written) - set(nodes.tolist()) <= set(headings)
    embedded = sum(len(tree.own_text(int(node))) for node in nodes)
    assert embedded <= len(tree.text.decode())
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_cosine_of_zero_or_less_is_a_similarity_of_zero(
    servers: Servers, ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    name = "tides.txt"
    written = ingest_bytes(ingest, collection, name, TEXTS[0].encode())
    _, _, vectors = stored(servers, collection, name)
    across = np.zeros(vectors.shape[1])
    across[0], across[1] = vectors[0][1], -vectors[0][0]
    for vector, expected in ((across, 0.0), (-vectors[0], 0.0), (vectors[0], 1.0)):
        request = pb.SearchRequest(
            context_filter=where(collection),
            min_seq=written.seq,
            vector=pb.Vector(f32_le=np.asarray(vector, "<f4").tobytes()),
        )
        [chunk] = search.Search(request).chunks
        assert chunk.similarity == pytest.approx(expected, abs=1e-6)
        assert chunk.score == chunk.similarity


def test_a_threshold_of_zero_keeps_a_similarity_of_zero_and_a_higher_one_does_not(
    servers: Servers, ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    name = "tides.txt"
    written = ingest_bytes(ingest, collection, name, TEXTS[1].encode())
    _, _, vectors = stored(servers, collection, name)
    request = pb.SearchRequest(
        context_filter=where(collection),
        min_seq=written.seq,
        vector=pb.Vector(f32_le=(-vectors[0]).astype("<f4").tobytes()),
    )
    found = []
    for threshold in (0.0, 0.01):
        request.score_threshold = threshold
        found.append(len(search.Search(request).chunks))
    assert found == [1, 0]


def test_a_hit_above_the_budget_comes_whole_and_alone(
    ingest: IngestServiceStub, search: SearchServiceStub, collection: str
) -> None:
    written = ingest_bytes(ingest, collection, "tides.html", PAGE.format(*TEXTS).encode())
    context = pb.ContextOptions(token_budget=5, trace=True, nodes=True)
    request = pb.SearchRequest(
        context_filter=where(collection),
        min_seq=written.seq,
        text="spring tides",
        limit=1,
        context=context,
    )
    [chunk] = search.Search(request).chunks
    assert chunk.text == TEXTS[1]
    assert not chunk.previous_texts
    assert not chunk.next_texts
    assert chunk.expansion.hit_exceeds_budget
    assert [node.hit for node in chunk.context_nodes] == [True]
