"""The worked examples of the expansion rules, through Expand and Explain of a real search service.

The trees are put into the store as they are drawn, token counts and all; nothing is ingested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import numpy as np
import pytest

from servers import Servers
from trees import Drawn, drawn
from treespan import identity
from treespan.embed import Embedder
from treespan.models.cache import prepare
from treespan.store import open_writer
from treespan.store.records import CollectionRecord, Content, ContentId, NewArtifact, Tenant
from treespan.v1 import chunk_pb2, context_filter_pb2
from treespan.v1 import search_service_pb2 as pb
from treespan.v1.search_service_pb2_grpc import SearchServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.store.interface import Writer

TENANT = Tenant("default")
COLLECTION = "examples"
DIMENSION = 384

E3 = "R0[S3[P2, H0[h1 10, h2 90], N2]]"
E9 = "R0[H2[X5, Y2[y1 10, y2 10, y3 40]]]"
EXAMPLES = {
    "E1": ("R0[A10, B5[B1 10, B2 10, B3 50]]", "A", 40, "A", "A"),
    "E2": ("R0[B15[B1 50, B2 10, B3 10], A10]", "A", 60, "A", "A"),
    "E3": (E3, "H", 50, "S P h1", "S P h1 N"),
    "E4": ("R0[H2[X2[x1 10, x2 10, x3 40]]]", "H", 30, "H X x1 x2", "H X x1 x2"),
    "E5": ("R0[A10 B10 C10 D10]", "B", 100, "A B C D", "A B C D"),
    "E6": ("R0[a3, L60, H10, Q60, z3]", "H", 40, "H", "a H z"),
    "E7": ("R0[S3[H10, B60]]", "H", 40, "S H", "S H"),
    "E8": ("R0[S2[H10], T4[t1 80], U4[u1 80]]", "H", 60, "S H", "S H"),
    "E9": (E9, "H", 40, "H X Y y1 y2", "H X Y y1 y2"),
    "E10": ("R0[H2[Y2[y1 10, y2 10, y3 40], X5]]", "H", 40, "H Y y1 y2", "H Y y1 y2"),
    "E11": ("R0[B15[B1 50, B2 3], A10, C5, z14]", "A", 45, "A C z", "A C z"),
    "W1": ("R0[S4[a10 b10 c10 d10 e10 f10 g10]]", "d", 45, "S c d e f", "S c d e f"),
    "W2": (
        "R0[S1 2[a10 b10], S2 2[H10 c10], S3 2[d30]]",
        "H",
        60,
        "S1 a b S2 H c",
        "S1 a b S2 H c",
    ),
}
TOKENS = {
    "E1": (10, 10),
    "E2": (10, 10),
    "E3": (15, 17),
    "E4": (24, 24),
    "E5": (40, 40),
    "E6": (10, 16),
    "E7": (13, 13),
    "E8": (12, 12),
    "E9": (29, 29),
    "E10": (24, 24),
    "E11": (29, 29),
    "W1": (44, 44),
    "W2": (44, 44),
}
CASES = [(name, gaps) for name in EXAMPLES for gaps in (False, True)]


def commit(writer: Writer, name: str, example: Drawn) -> None:
    nodes = np.flatnonzero(example.tree.flags).astype("<u4")
    vectors = np.random.default_rng(len(name)).normal(size=(len(nodes), DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    content_id = identity.content_id(f"{hash_of(name)}", "examples")
    content = Content(
        content_id=ContentId(content_id),
        sha256=hash_of(name),
        size_bytes=1,
        media_type="text/plain",
        title="",
        page_count=0,
        node_count=len(example.tree),
        token_count=int(example.tree.own_tokens.sum()),
        tree=example.tree.pack(),
        vector_nodes=nodes.tobytes(),
        vectors=vectors.astype("<f4").tobytes(),
    )
    doc_id = identity.doc_id(TENANT, COLLECTION, name, content.content_id)
    writer.commit_artifact(NewArtifact(TENANT, COLLECTION, name, name, b"", doc_id, content))


def hash_of(name: str) -> str:
    return name.encode().hex().ljust(64, "0")


def hit_id(name: str) -> str:
    example = drawn(EXAMPLES[name][0])
    content_id = identity.content_id(hash_of(name), "examples")
    doc_id = identity.doc_id(TENANT, COLLECTION, name, content_id)
    return identity.node_id(doc_id, example.position(EXAMPLES[name][1]))


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchServiceStub]:
    running = Servers(tmp_path_factory.mktemp("examples"))
    embedder = Embedder.open(prepare("multilingual-e5-small"))
    writer = open_writer(running.data / "store")
    collection = CollectionRecord(
        TENANT, COLLECTION, "", embedder.name, embedder.fingerprint, DIMENSION, 100
    )
    writer.create_collection(collection)
    for name, (text, *_) in EXAMPLES.items():
        commit(writer, name, drawn(text))
    writer.close()
    running.start("search")
    with grpc.insecure_channel(running.address("search")) as channel:
        yield SearchServiceStub(channel)
    running.stop()


def options(name: str, gaps: bool) -> pb.ContextOptions:
    return pb.ContextOptions(token_budget=EXAMPLES[name][2], gaps=gaps, nodes=True, trace=True)


def check(chunk: chunk_pb2.Chunk, name: str, gaps: bool) -> None:
    _, hit, budget, closed, open_ = EXAMPLES[name]
    # A text whose tokens are 0 has no words; H of E3 is such a hit.
    expected = (open_ if gaps else closed).split()
    told = [node.text for node in chunk.context_nodes if node.text]
    assert told == expected
    around = [*chunk.previous_texts, *([chunk.text] if chunk.text else []), *chunk.next_texts]
    assert around == expected
    assert chunk.total_token_count == TOKENS[name][gaps]
    assert sum(node.token_count for node in chunk.context_nodes) == TOKENS[name][gaps]
    assert chunk.expansion.budget_tokens == budget
    assert chunk.expansion.used_tokens == TOKENS[name][gaps]
    assert [node.text for node in chunk.context_nodes if node.hit] == (
        [hit] if chunk.text else [""]
    )


@pytest.mark.parametrize(("name", "gaps"), CASES)
def test_expand_takes_what_the_rules_say(search: SearchServiceStub, name: str, gaps: bool) -> None:
    request = pb.ExpandRequest(
        collection=COLLECTION, node_ids=[hit_id(name)], context=options(name, gaps)
    )
    answer = search.Expand(request)
    assert not answer.missing_node_ids
    check(answer.chunks[0], name, gaps)


@pytest.mark.parametrize(("name", "gaps"), [case for case in CASES if case[0] != "E3"])
def test_explain_takes_what_the_rules_say(search: SearchServiceStub, name: str, gaps: bool) -> None:
    example = drawn(EXAMPLES[name][0])
    nodes = np.flatnonzero(example.tree.flags)
    vectors = np.random.default_rng(len(name)).normal(size=(len(nodes), DIMENSION))
    wanted = vectors[list(nodes).index(example.position(EXAMPLES[name][1]))]
    where = context_filter_pb2.ContextFilter(collection=COLLECTION, artifacts=[name])
    request = pb.SearchRequest(
        context_filter=where,
        vector=pb.Vector(f32_le=wanted.astype("<f4").tobytes()),
        limit=1,
        context=options(name, gaps),
    )
    answer = search.Explain(pb.ExplainRequest(search=request))
    [chunk] = answer.response.chunks
    assert chunk.node_id == hit_id(name)
    assert chunk.similarity == pytest.approx(1.0, abs=1e-5)
    check(chunk, name, gaps)
    assert answer.plan.method == pb.RecallPlan.METHOD_EXACT
    assert answer.plan.allowed_rows == len(nodes)


def test_the_steps_of_w1_are_told_as_the_rules_tell_them(search: SearchServiceStub) -> None:
    request = pb.ExpandRequest(
        collection=COLLECTION, node_ids=[hit_id("W1")], context=options("W1", False)
    )
    expansion = search.Expand(request).chunks[0].expansion
    steps = chunk_pb2.ExpansionStep
    names = drawn(EXAMPLES["W1"][0]).names
    told = [
        (
            steps.Direction.Name(step.direction).removeprefix("DIRECTION_"),
            steps.Outcome.Name(step.outcome).removeprefix("OUTCOME_"),
            names[step.abs_idx],
            step.tokens,
            step.budget_left,
        )
        for step in expansion.steps
    ]
    assert told[:5] == [
        ("NEXT", "TAKEN", "e", 10, 25),
        ("PREVIOUS", "TAKEN", "c", 10, 15),
        ("NEXT", "TAKEN", "f", 10, 5),
        ("PREVIOUS", "ROLLBACK", "b", 10, 5),
        ("NEXT", "ROLLBACK", "g", 10, 5),
    ]
    assert ("UP", "TAKEN", "S", 4, 1) in told[5:]
