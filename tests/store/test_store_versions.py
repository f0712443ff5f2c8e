"""The contract of the store: keys and revisions of versions, and changes of what is not content."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from store.samples import (
    ACME,
    GLOBEX,
    collection,
    content,
    metadata,
    new_artifact,
    reserved,
    searchable,
)
from treespan.errors import ArtifactNotFound, ArtifactNotReady
from treespan.filters import Condition, Operator
from treespan.store.records import Change, LoggedChange, Version

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer


@pytest.fixture(autouse=True)
def collections(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.create_collection(collection("other"))
    writer.create_collection(collection(tenant=GLOBEX))


def versions(store: Reader) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Return key and revision of what is visible."""
    return {
        (found.tenant, found.collection, found.artifact): (found.key, found.revision)
        for found in store.visible()[1]
    }


def test_version_is_named_by_the_change_that_made_it_visible(
    writer: Writer, reader: Reader
) -> None:
    first = new_artifact("a", content(1))
    assert writer.commit_artifact(first) == 4
    assert reader.visible() == (4, [Version(ACME, "papers", "a", first.doc_id, 4, 4)])
    assert writer.commit_artifact(first) == 5
    assert reader.visible() == (5, [Version(ACME, "papers", "a", first.doc_id, 5, 5)])


def test_one_content_in_two_collections_has_two_keys(writer: Writer) -> None:
    held = content(1)
    writer.commit_artifact(new_artifact("a", held))
    writer.commit_artifact(new_artifact("a", held, collection="other"))
    writer.commit_artifact(new_artifact("a", held, tenant=GLOBEX))
    assert versions(writer) == {
        (ACME, "papers", "a"): (4, 4),
        (ACME, "other", "a"): (5, 5),
        (GLOBEX, "papers", "a"): (6, 6),
    }


def test_update_replaces_file_name_and_metadata_and_nothing_else(
    writer: Writer, reader: Reader
) -> None:
    artifact = new_artifact("a", content(1))
    writer.commit_artifact(artifact)
    before = writer.artifact(ACME, "papers", "a")
    assert writer.update_artifact(ACME, "papers", "a", "b.md", metadata(colour="red"), "") == 5
    found = reader.artifact(ACME, "papers", "a")
    assert (found.file_name, found.metadata) == ("b.md", metadata(colour="red"))
    assert found.updated_us >= before.updated_us
    assert (found.created_us, found.ingested_us) == (before.created_us, before.ingested_us)
    assert (found.doc_id, found.content_id) == (before.doc_id, before.content_id)
    document = reader.searchable(ACME, "papers", artifact.doc_id)
    assert document
    assert (document.key, document.revision) == (4, 5)
    assert (document.file_name, document.metadata) == (found.file_name, found.metadata)
    assert reader.changes_after(4, 10) == [
        LoggedChange(5, Change.ARTIFACT_UPDATED, ACME, "papers", "a", artifact.doc_id)
    ]


def test_filters_see_updated_metadata_at_once(writer: Writer, reader: Reader) -> None:
    writer.commit_artifact(new_artifact("a", content(1), note="blue"))
    writer.commit_artifact(new_artifact("b", content(2), note="red"))
    writer.update_artifact(ACME, "papers", "a", "a.txt", metadata(note="red", more="x"), "")

    def found(key: str, value: str) -> list[str]:
        where = Condition(key, Operator.EQ, (value,))
        return [held.name for held in reader.artifacts(ACME, "papers", "", 10, where)]

    assert found("note", "red") == ["a", "b"]
    assert found("note", "blue") == []
    assert found("more", "x") == ["a"]
    assert found("file_name", "a.txt") == ["a"]


def test_updating_what_is_not_visible_is_refused(writer: Writer) -> None:
    with pytest.raises(ArtifactNotFound, match="'a'"):
        writer.update_artifact(ACME, "papers", "a", "", b"", "")
    writer.reserve_artifact(reserved("a"))
    with pytest.raises(ArtifactNotReady, match=r"NOT_INITIALIZED.*POPULATED"):
        writer.update_artifact(ACME, "papers", "a", "", b"", "")
    assert writer.last_seq() == 3


def test_collection_of_a_deleted_ones_name_has_another_number(writer: Writer) -> None:
    assert writer.collection(ACME, "papers").created_seq == 1
    writer.update_collection(collection(display_name="x"))
    assert writer.collection(ACME, "papers").created_seq == 1
    writer.delete_collection(ACME, "papers", force=False)
    writer.create_collection(collection())
    assert writer.collection(ACME, "papers").created_seq == 6


def test_clock_that_goes_back_changes_no_order(
    writer: Writer, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock_us = iter(range(2_000_000_000_000_000, 0, -1_000_000_000_000))
    monkeypatch.setattr(time, "time_ns", lambda: next(clock_us) * 1000)
    writer.commit_artifact(new_artifact("a", content(1)))
    writer.commit_artifact(new_artifact("a", content(2)))
    writer.update_artifact(ACME, "papers", "a", "x", b"", "")
    writer.delete_collection(ACME, "other", force=True)
    writer.create_collection(collection("other"))
    writer.commit_artifact(new_artifact("b", content(2)))
    assert [change.seq for change in reader.changes_after(3, 10)] == [4, 5, 6, 7, 8, 9]
    assert versions(reader) == {(ACME, "papers", "a"): (5, 6), (ACME, "papers", "b"): (9, 9)}
    assert reader.collection(ACME, "other").created_seq == 8
    found = reader.artifact(ACME, "papers", "a")
    assert found.created_us > found.ingested_us > found.updated_us


def test_document_is_read_without_its_vectors(writer: Writer, reader: Reader) -> None:
    held = content(1)
    artifact = new_artifact("a", held)
    writer.commit_artifact(artifact)
    found = reader.searchable(ACME, "papers", artifact.doc_id, vectors=False)
    assert found
    assert (found.vector_nodes, found.vectors) == (b"", b"")
    assert found.tree == held.tree
    assert reader.searchable(ACME, "papers", artifact.doc_id) == searchable(artifact, held, 4)


def test_artifacts_that_match_are_deleted_in_one_go(writer: Writer, reader: Reader) -> None:
    for name, note in (("c", "red"), ("a", "red"), ("b", "blue")):
        writer.commit_artifact(new_artifact(name, content(1), note=note))
    writer.commit_artifact(new_artifact("d", content(1), collection="other", note="red"))
    where = Condition("note", Operator.EQ, ("red",))
    assert writer.delete_matching(ACME, "papers", where) == (9, ["a", "c"])
    assert writer.delete_matching(ACME, "papers", where) == (9, [])
    assert [change.artifact for change in reader.changes_after(7, 10)] == ["a", "c"]
    assert list(versions(reader)) == [(ACME, "papers", "b"), (ACME, "other", "d")]


def test_listing_that_match_goes_on_behind_a_name(writer: Writer) -> None:
    for number in range(9):
        writer.commit_artifact(new_artifact(f"a{number}", content(1), note="xy"[number % 2]))
    where = Condition("note", Operator.EQ, ("x",))
    pages = [writer.artifacts(ACME, "papers", "", 2, where)]
    while pages[-1]:
        pages.append(writer.artifacts(ACME, "papers", pages[-1][-1].name, 2, where))
    names = [[found.name for found in page] for page in pages]
    assert names == [["a0", "a2"], ["a4", "a6"], ["a8"], []]
