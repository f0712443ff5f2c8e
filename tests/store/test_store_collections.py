"""The contract of the store: collections."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from store.samples import ACME, GLOBEX, collection, content, new_artifact, reserved
from treespan.errors import (
    ArtifactNotFound,
    CollectionExists,
    CollectionNotEmpty,
    CollectionNotFound,
)
from treespan.filters import Condition, Operator
from treespan.store.records import CollectionCounts, CollectionRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from treespan.store.interface import Reader, Writer

UNICODE_NAMES = [
    "Zebra",
    "a b",
    "a'; DROP TABLE artifact; --",
    "e\u0301te",
    "\u00e9te",
    "法律",
    "\uff5e",
    "\U0001d49c",
]
"""In the order of code points, which is not that of UTF-16; two of them look alike."""


def timeless(record: CollectionRecord) -> CollectionRecord:
    return replace(record, created_us=0, updated_us=0, created_seq=0)


def test_created_collection_is_read_back_as_it_was_given(writer: Writer) -> None:
    given = collection(display_name="Öffentliches 文件", dimension=384, chunk_tokens=120)
    writer.create_collection(given)
    assert timeless(writer.collection(ACME, "papers")) == given


def test_times_of_a_collection_are_the_clock_of_the_store(writer: Writer) -> None:
    before_us = time.time_ns() // 1000
    writer.create_collection(collection(created_us=1, updated_us=2))
    after_us = time.time_ns() // 1000
    found = writer.collection(ACME, "papers")
    assert before_us <= found.created_us == found.updated_us <= after_us


def test_second_collection_of_a_name_is_refused(writer: Writer) -> None:
    writer.create_collection(collection(display_name="first"))
    with pytest.raises(CollectionExists, match="'papers'"):
        writer.create_collection(collection(display_name="second"))
    assert writer.collection(ACME, "papers").display_name == "first"
    assert writer.last_seq() == 1


def test_update_replaces_display_name_and_chunk_size_only(writer: Writer) -> None:
    writer.create_collection(collection())
    created = writer.collection(ACME, "papers")
    other = collection(
        display_name="New", chunk_tokens=64, embedding_model="x", embedding_fingerprint="y"
    )
    writer.update_collection(replace(other, dimension=1))
    found = writer.collection(ACME, "papers")
    assert timeless(found) == collection(display_name="New", chunk_tokens=64)
    assert found.created_us == created.created_us
    assert found.updated_us >= created.updated_us


def test_update_of_a_missing_collection_is_refused(writer: Writer) -> None:
    with pytest.raises(CollectionNotFound, match="'papers'"):
        writer.update_collection(collection())


@pytest.mark.parametrize("method", ["collection", "collection_counts"])
def test_reading_a_missing_collection_is_refused(writer: Writer, method: str) -> None:
    with pytest.raises(CollectionNotFound, match="'papers'"):
        getattr(writer, method)(ACME, "papers")


def test_every_method_on_artifacts_wants_the_collection(writer: Writer) -> None:
    calls: list[Callable[[], object]] = [
        lambda: writer.artifact(ACME, "papers", "a"),
        lambda: writer.artifacts(ACME, "papers", "", 10),
        lambda: writer.artifact_by_doc_id(ACME, "papers", "0" * 16),
        lambda: writer.reserve_artifact(reserved("a")),
        lambda: writer.commit_artifact(new_artifact("a", content(1))),
        lambda: writer.delete_artifact(ACME, "papers", "a"),
        lambda: writer.delete_artifacts(ACME, "papers", ["a"]),
        lambda: writer.update_artifact(ACME, "papers", "a", "a.txt", b"", ""),
        lambda: writer.delete_matching(ACME, "papers", Condition("artifact", Operator.EXISTS)),
        lambda: writer.artifacts(ACME, "papers", "", 1, Condition("artifact", Operator.EXISTS)),
        lambda: writer.matching(ACME, "papers", Condition("artifact", Operator.EXISTS)),
        lambda: writer.text_hits(ACME, "papers", '"part"', 10),
        lambda: writer.delete_collection(ACME, "papers", force=True),
    ]
    for call in calls:
        with pytest.raises(CollectionNotFound, match="'papers'"):
            call()
    assert writer.searchable(ACME, "papers", "0" * 16) is None
    assert not writer.has_content(ACME, content(1).content_id)
    assert writer.last_seq() == 0


def test_collections_are_listed_by_code_point_in_pages(writer: Writer) -> None:
    names = UNICODE_NAMES
    for name in reversed(names):
        writer.create_collection(collection(name))
    pages = [writer.collections(ACME, "", 3)]
    while pages[-1]:
        pages.append(writer.collections(ACME, pages[-1][-1].name, 3))
    assert [[found.name for found in page] for page in pages] == [
        names[0:3],
        names[3:6],
        names[6:8],
        [],
    ]


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_below_one_returns_nothing(writer: Writer, limit: int) -> None:
    writer.create_collection(collection())
    writer.commit_artifact(new_artifact("a", content(1)))
    assert writer.collections(ACME, "", limit) == []
    assert writer.artifacts(ACME, "papers", "", limit) == []
    assert writer.changes_after(0, limit) == []


def test_tenants_see_nothing_of_each_other(writer: Writer) -> None:
    writer.create_collection(collection(tenant=ACME, display_name="acme's"))
    writer.create_collection(collection(tenant=GLOBEX, display_name="globex's"))
    writer.commit_artifact(new_artifact("a", content(1)))
    doc_id = writer.artifact(ACME, "papers", "a").doc_id

    assert [found.display_name for found in writer.collections(GLOBEX, "", 10)] == ["globex's"]
    assert writer.artifacts(GLOBEX, "papers", "", 10) == []
    assert writer.collection_counts(GLOBEX, "papers") == CollectionCounts(0, 0, 0, 0)
    assert writer.searchable(GLOBEX, "papers", doc_id) is None
    assert not writer.has_content(GLOBEX, content(1).content_id)
    with pytest.raises(ArtifactNotFound):
        writer.artifact(GLOBEX, "papers", "a")
    with pytest.raises(ArtifactNotFound):
        writer.artifact_by_doc_id(GLOBEX, "papers", doc_id)
    with pytest.raises(ArtifactNotFound):
        writer.content_by_id(GLOBEX, content(1).content_id)
    with pytest.raises(ArtifactNotFound):
        writer.delete_artifact(GLOBEX, "papers", "a")
    writer.abandon_artifact(GLOBEX, "papers", "a")
    writer.delete_artifacts(GLOBEX, "papers", ["a"])
    writer.delete_collection(GLOBEX, "papers", force=True)
    assert writer.artifact(ACME, "papers", "a").doc_id == doc_id


def test_all_collections_are_those_of_every_tenant(writer: Writer) -> None:
    for tenant, name in [(GLOBEX, "a"), (ACME, "b"), (ACME, "a")]:
        writer.create_collection(collection(name, tenant))
    found = [(record.tenant, record.name) for record in writer.all_collections()]
    assert found == [(ACME, "a"), (ACME, "b"), (GLOBEX, "a")]


def test_counts_are_sums_over_populated_artifacts(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.create_collection(collection("other"))
    writer.commit_artifact(new_artifact("a", content(1, sections=2)))
    writer.commit_artifact(new_artifact("b", content(2, sections=5)))
    writer.commit_artifact(new_artifact("c", content(2, sections=5)))
    writer.commit_artifact(new_artifact("a", content(3), collection="other"))
    writer.reserve_artifact(reserved("unfinished"))
    counts = writer.collection_counts(ACME, "papers")
    assert counts == CollectionCounts(artifacts=3, nodes=3 + 6 + 6, vectors=12, tokens=7 * 12)


def test_empty_collection_is_deleted_without_force(writer: Writer, reader: Reader) -> None:
    writer.create_collection(collection())
    assert writer.delete_collection(ACME, "papers", force=False) == (2, 0)
    assert reader.all_collections() == []


def test_collection_with_artifacts_is_deleted_only_with_force(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.commit_artifact(new_artifact("a", content(1)))
    writer.commit_artifact(new_artifact("b", content(2)))
    with pytest.raises(CollectionNotEmpty, match="holds 2 artifacts"):
        writer.delete_collection(ACME, "papers", force=False)
    assert len(writer.artifacts(ACME, "papers", "", 10)) == 2

    assert writer.delete_collection(ACME, "papers", force=True) == (4, 2)
    assert not writer.has_content(ACME, content(1).content_id)
    assert writer.visible()[1] == []


def test_unfinished_artifact_makes_a_collection_not_empty(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.reserve_artifact(reserved("a"))
    with pytest.raises(CollectionNotEmpty, match="holds 1 artifact"):
        writer.delete_collection(ACME, "papers", force=False)


def test_collection_of_a_deleted_ones_name_starts_empty(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.commit_artifact(new_artifact("a", content(1)))
    writer.delete_collection(ACME, "papers", force=True)
    writer.create_collection(collection(dimension=4))
    assert writer.artifacts(ACME, "papers", "", 10) == []
    assert writer.collection(ACME, "papers").dimension == 4
