"""The contract of the store: nodes found by their words."""

from __future__ import annotations

import json
import math
import random
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from store.outlines import outlined
from store.processes import python
from store.samples import ACME, GLOBEX, collection, content, metadata, new_artifact
from treespan.errors import CollectionNotFound
from treespan.words import match_any, match_phrase, words

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer
    from treespan.store.records import Tenant

PAPER = outlined(
    """
section Methods
  section Counting
    chunk We counted every word of the corpus.
    chunk 我们统计了北京大学的语料。
  table Table 2: results | language
    table_row language: German; words: 12
section Results
  text Nothing was found.
""",
    title="On Corpora",
)
"""Nodes: 0 root, 1 Methods, 2 Counting, 3 and 4 chunks, 5 table, 6 its row, 7 Results, 8 a text."""

VOCABULARY = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


@pytest.fixture(autouse=True)
def collections(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.create_collection(collection("other"))
    writer.create_collection(collection(tenant=GLOBEX))


def found(
    store: Reader, query: str, collection: str = "papers", tenant: Tenant = ACME
) -> list[tuple[int, int]]:
    """Return key and node of what has any word of a query, in order of place."""
    expression = match_any(query)
    assert expression
    hits = store.text_hits(tenant, collection, expression, 1000)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return sorted((hit.key, hit.node) for hit in hits)


@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        ("counted", [3]),
        ("COUNTED Nothing", [3, 8]),
        ("counting", [3, 4]),
        ("methods", [3, 4, 6]),
        ("results", [6, 8]),
        ("corpora", [3, 4, 6, 8]),
        ("北京", [4]),
        ("german", [6]),
        ("absent", []),
    ],
)
def test_node_is_found_by_its_own_words_and_those_of_headings_and_title(
    writer: Writer, reader: Reader, query: str, nodes: list[int]
) -> None:
    writer.commit_artifact(new_artifact("a", PAPER))
    assert found(reader, query) == [(4, node) for node in nodes]


def test_phrase_is_found_where_its_words_stand_in_a_row(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", PAPER))

    def nodes(phrase: str) -> list[int]:
        expression = match_phrase(phrase)
        assert expression
        return [hit.node for hit in writer.text_hits(ACME, "papers", expression, 10)]

    assert nodes("every word") == [3]
    assert nodes("word every") == []
    assert nodes("京大学") == [4]
    assert nodes("京学") == []


def test_word_of_the_own_text_counts_more_than_one_of_a_heading(writer: Writer) -> None:
    writer.commit_artifact(
        new_artifact(
            "a",
            outlined(
                "section Apples\n  chunk pears and plums\nsection Pears\n  chunk apples and plums"
            ),
        )
    )
    hits = writer.text_hits(ACME, "papers", '"apples"', 10)
    assert [hit.node for hit in hits] == [4, 2]
    assert hits[0].score > hits[1].score > 0


def test_alike_nodes_come_by_key_and_position(writer: Writer) -> None:
    for name in ("b", "a"):
        writer.commit_artifact(new_artifact(name, outlined("text same\ntext same\ntext other")))
    hits = writer.text_hits(ACME, "papers", '"same"', 3)
    assert [(hit.key, hit.node) for hit in hits] == [(4, 1), (4, 2), (5, 1)]
    assert len({hit.score for hit in hits}) == 1


def test_texts_go_with_the_version_that_had_them(writer: Writer, reader: Reader) -> None:
    writer.commit_artifact(new_artifact("a", outlined("text first")))
    writer.commit_artifact(new_artifact("b", outlined("text second")))
    writer.commit_artifact(new_artifact("a", outlined("text third")))
    assert found(reader, "first second third") == [(5, 1), (6, 1)]
    writer.delete_artifact(ACME, "papers", "b")
    assert found(reader, "first second third") == [(6, 1)]
    writer.delete_collection(ACME, "papers", force=True)
    with pytest.raises(CollectionNotFound):
        found(reader, "third")
    writer.create_collection(collection())
    assert found(reader, "first second third") == []


def test_text_of_a_shared_content_is_found_in_each_collection_under_its_own_key(
    writer: Writer, reader: Reader
) -> None:
    held = outlined("text shared words")
    writer.commit_artifact(new_artifact("a", held))
    writer.commit_artifact(new_artifact("b", held.content_id))
    writer.commit_artifact(new_artifact("a", held, collection="other"))
    assert found(reader, "shared") == [(4, 1), (5, 1)]
    assert found(reader, "shared", "other") == [(6, 1)]
    writer.delete_artifacts(ACME, "papers", ["a", "b"])
    assert found(reader, "shared") == []
    assert found(reader, "shared", "other") == [(6, 1)]
    writer.delete_artifact(ACME, "other", "a")
    assert found(reader, "shared", "other") == []


def test_update_of_metadata_leaves_texts_findable(writer: Writer, reader: Reader) -> None:
    writer.commit_artifact(new_artifact("a", outlined("text words")))
    writer.update_artifact(ACME, "papers", "a", "b.md", metadata(colour="red"), "")
    assert found(reader, "words") == [(4, 1)]


def test_texts_of_another_tenant_are_neither_found_nor_counted(writer: Writer) -> None:
    held = outlined("text common words\ntext rare words\ntext other")
    writer.commit_artifact(new_artifact("a", held))
    alone = writer.text_hits(ACME, "papers", '"rare"', 10)
    for number in range(20):
        theirs = outlined(f"text rare words {number}")
        writer.commit_artifact(new_artifact(f"a{number}", theirs, tenant=GLOBEX))
    assert writer.text_hits(ACME, "papers", '"rare"', 10) == alone
    assert found(writer, "rare", tenant=GLOBEX) == [(5 + number, 1) for number in range(20)]


def test_tenant_without_texts_finds_nothing(reader: Reader) -> None:
    assert reader.text_hits(ACME, "papers", '"words"', 10) == []


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_below_one_finds_nothing(writer: Writer, limit: int) -> None:
    writer.commit_artifact(new_artifact("a", PAPER))
    assert writer.text_hits(ACME, "papers", '"word"', limit) == []


def test_scores_are_bm25_over_the_texts_that_are_there(writer: Writer) -> None:
    """As Robertson and Zaragoza have it, k1 = 1.2 and b = 0.75, after many replacements."""
    chance = random.Random(7)
    texts: dict[str, list[str]] = {}
    for _ in range(60):
        name = f"a{chance.randrange(12)}"
        if chance.random() < 0.2 and name in texts:
            writer.delete_artifact(ACME, "papers", name)
            del texts[name]
            continue
        texts[name] = [
            " ".join(chance.choices(VOCABULARY, k=chance.randint(1, 9)))
            for _ in range(chance.randint(1, 4))
        ]
        lines = "\n".join(f"text {text}" for text in texts[name])
        writer.commit_artifact(new_artifact(name, outlined(lines, title=f"{name} {len(texts)}")))
    keys = {version.artifact: version.key for version in writer.visible()[1]}
    rows = {
        (keys[name], node): (Counter(_title(writer, name)), Counter(words(text)))
        for name, held in texts.items()
        for node, text in enumerate(held, 1)
    }
    for query in ("alpha", "beta gamma", "theta a3 delta"):
        expected = {place: score for place, score in _bm25(rows, words(query)).items() if score}
        hits = writer.text_hits(ACME, "papers", match_any(query) or "", 1000)
        scores = {(hit.key, hit.node): hit.score for hit in hits}
        assert scores == {place: pytest.approx(score) for place, score in expected.items()}


def _title(store: Reader, name: str) -> list[str]:
    return words(store.artifact(ACME, "papers", name).title)


def _bm25(
    rows: dict[tuple[int, int], tuple[Counter[str], Counter[str]]], query: list[str]
) -> dict[tuple[int, int], float]:
    sizes = {place: heading.total() + body.total() for place, (heading, body) in rows.items()}
    mean = sum(sizes.values()) / len(sizes)
    scores = dict.fromkeys(rows, 0.0)
    for word in query:
        holding = sum(1 for heading, body in rows.values() if heading[word] or body[word])
        rarity = math.log((len(rows) - holding + 0.5) / (holding + 0.5))
        for place, (heading, body) in rows.items():
            count = 0.5 * heading[word] + body[word]
            length = 1.2 * (0.25 + 0.75 * sizes[place] / mean)
            scores[place] += max(rarity, 1e-6) * count * 2.2 / (count + length)
    return scores


def test_another_process_sees_a_version_and_its_texts_together(
    writer: Writer, address: str
) -> None:
    """A reader in another process looks while versions come and go."""
    last = 120
    writer.commit_artifact(new_artifact("a", content(0)))
    process = python("store.read_texts", address, str(last), stdout=subprocess.PIPE)
    with process:
        for version in range(1, last + 1):
            writer.commit_artifact(new_artifact("a", content(version)))
        output, _ = process.communicate(timeout=90)
    assert process.returncode == 0
    seen = json.loads(output)
    assert seen == sorted(set(seen))
    assert seen[-1] == last
