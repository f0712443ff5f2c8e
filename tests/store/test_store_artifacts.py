"""The contract of the store: artifacts and their states."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from store.model import without_times
from store.samples import (
    ACME,
    DIMENSION,
    collection,
    content,
    new_artifact,
    populated,
    reserved,
    searchable,
)
from treespan.errors import ArtifactNotFound, ModelMismatch
from treespan.store.records import ArtifactRecord, ArtifactState, ContentId

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer

UNICODE_NAMES = ["Report.pdf", "a%_b", "naïve", "№ 7", "合同（2024）.docx", "𝔘", "🗎"]
"""In the order of code points."""


@pytest.fixture(autouse=True)
def papers(writer: Writer) -> None:
    writer.create_collection(collection())


def state(store: Reader, name: str) -> ArtifactState | None:
    found = {record.name: record.state for record in store.artifacts(ACME, "papers", "", 100)}
    return found.get(name)


def test_committed_artifact_is_read_back_whole(writer: Writer, reader: Reader) -> None:
    held = content(1)
    artifact = new_artifact("a", held)
    writer.commit_artifact(artifact)
    for store in (writer, reader):
        assert without_times(store.artifact(ACME, "papers", "a")) == populated(artifact, held)
        assert store.searchable(ACME, "papers", artifact.doc_id) == searchable(artifact, held, 2)
        assert store.content_by_id(ACME, held.content_id) == held
        found = store.artifact_by_doc_id(ACME, "papers", artifact.doc_id)
        assert found == store.artifact(ACME, "papers", "a")


def test_record_without_metadata_text_or_vectors_is_kept(writer: Writer) -> None:
    held = replace(content(2, sections=0), title="", page_count=0)
    artifact = replace(new_artifact("a", held), metadata=b"", file_name="")
    writer.commit_artifact(artifact)
    assert without_times(writer.artifact(ACME, "papers", "a")) == populated(artifact, held)
    assert writer.searchable(ACME, "papers", artifact.doc_id) == searchable(artifact, held, 2)


def test_bytes_of_every_value_and_numbers_of_every_size_survive(writer: Writer) -> None:
    every = bytes(range(256)) * 2
    held = replace(content(2, sections=16), vectors=every, size_bytes=2**53, token_count=2**40)
    held = replace(held, title="a'b\"c\x00d 😀")
    artifact = new_artifact("a", held, note="a'b\"c\x00d 😀")
    writer.commit_artifact(artifact)
    assert writer.searchable(ACME, "papers", artifact.doc_id) == searchable(artifact, held, 2)
    assert writer.content_by_id(ACME, held.content_id) == held


def test_new_version_takes_the_place_of_the_one_before(writer: Writer, reader: Reader) -> None:
    first, second = new_artifact("a", content(1)), new_artifact("a", content(2), note=" v2")
    writer.commit_artifact(first)
    writer.commit_artifact(second)
    assert without_times(reader.artifact(ACME, "papers", "a")) == populated(second, content(2))
    assert reader.searchable(ACME, "papers", first.doc_id) is None
    assert [found.doc_id for found in reader.visible()[1]] == [second.doc_id]
    with pytest.raises(ArtifactNotFound, match=first.doc_id):
        reader.artifact_by_doc_id(ACME, "papers", first.doc_id)


def test_same_version_again_replaces_file_name_and_metadata(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", content(1)))
    again = new_artifact("a", content(1), note=" again")
    writer.commit_artifact(again)
    assert without_times(writer.artifact(ACME, "papers", "a")) == populated(again, content(1))


def test_times_say_when_it_first_and_last_became_populated(writer: Writer) -> None:
    writer.reserve_artifact(reserved("a"))
    assert writer.artifact(ACME, "papers", "a").created_us == 0
    before_us = time.time_ns() // 1000
    writer.commit_artifact(new_artifact("a", content(1)))
    first = writer.artifact(ACME, "papers", "a")
    between_us = time.time_ns() // 1000
    writer.commit_artifact(new_artifact("a", content(2)))
    second = writer.artifact(ACME, "papers", "a")
    assert before_us <= first.created_us == first.updated_us <= between_us
    assert second.created_us == first.created_us
    assert between_us <= second.updated_us <= time.time_ns() // 1000


def test_artifact_made_again_after_deletion_has_new_times(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", content(1)))
    writer.delete_artifact(ACME, "papers", "a")
    between_us = time.time_ns() // 1000
    writer.commit_artifact(new_artifact("a", content(1)))
    assert writer.artifact(ACME, "papers", "a").created_us >= between_us


def test_artifacts_are_listed_by_code_point_in_pages(writer: Writer) -> None:
    names = UNICODE_NAMES
    for name in reversed(names):
        writer.commit_artifact(new_artifact(name, content(1)))
    pages = [writer.artifacts(ACME, "papers", "", 3)]
    while pages[-1]:
        pages.append(writer.artifacts(ACME, "papers", pages[-1][-1].name, 3))
    assert [[found.name for found in page] for page in pages] == [
        names[0:3],
        names[3:6],
        names[6:7],
        [],
    ]


def test_listing_goes_on_behind_a_name_that_is_gone(writer: Writer) -> None:
    for name in ("a", "b", "c"):
        writer.commit_artifact(new_artifact(name, content(1)))
    writer.delete_artifact(ACME, "papers", "b")
    assert [found.name for found in writer.artifacts(ACME, "papers", "b", 10)] == ["c"]


def test_missing_artifact_is_refused_by_name(writer: Writer) -> None:
    with pytest.raises(ArtifactNotFound, match="'nothing'"):
        writer.artifact(ACME, "papers", "nothing")
    with pytest.raises(ArtifactNotFound, match="'nothing'"):
        writer.delete_artifact(ACME, "papers", "nothing")


def test_reserved_artifact_is_listed_but_not_searchable(writer: Writer, reader: Reader) -> None:
    record = reserved("a")
    writer.reserve_artifact(record)
    assert reader.artifact(ACME, "papers", "a") == record
    assert reader.visible() == (1, [])
    assert reader.searchable(ACME, "papers", "") is None
    with pytest.raises(ArtifactNotFound):
        reader.artifact_by_doc_id(ACME, "papers", "")


def test_states_go_from_reserved_to_populated(writer: Writer) -> None:
    writer.reserve_artifact(reserved("a"))
    assert state(writer, "a") == ArtifactState.NOT_INITIALIZED
    writer.mark_initialized(ACME, "papers", "a")
    assert state(writer, "a") == ArtifactState.INITIALIZED
    writer.commit_artifact(new_artifact("a", content(1)))
    assert state(writer, "a") == ArtifactState.POPULATED


def test_reserving_again_changes_nothing(writer: Writer) -> None:
    writer.reserve_artifact(reserved("a"))
    writer.mark_initialized(ACME, "papers", "a")
    writer.reserve_artifact(replace(reserved("a"), file_name="other"))
    found = writer.artifact(ACME, "papers", "a")
    assert (found.state, found.file_name) == (ArtifactState.INITIALIZED, "a.txt")


def test_populated_artifact_stays_while_a_new_version_is_under_way(writer: Writer) -> None:
    artifact = new_artifact("a", content(1))
    writer.commit_artifact(artifact)
    before = writer.artifact(ACME, "papers", "a")
    writer.reserve_artifact(reserved("a"))
    writer.mark_initialized(ACME, "papers", "a")
    assert writer.artifact(ACME, "papers", "a") == before
    writer.abandon_artifact(ACME, "papers", "a")
    assert writer.abandon_unfinished() == 0
    assert writer.artifact(ACME, "papers", "a") == before


def test_abandoned_artifact_is_gone_in_either_unfinished_state(writer: Writer) -> None:
    writer.reserve_artifact(reserved("a"))
    writer.reserve_artifact(reserved("b"))
    writer.mark_initialized(ACME, "papers", "b")
    writer.abandon_artifact(ACME, "papers", "a")
    writer.abandon_artifact(ACME, "papers", "b")
    assert writer.artifacts(ACME, "papers", "", 10) == []


def test_marking_or_abandoning_what_is_not_there_does_nothing(writer: Writer) -> None:
    for name in ("papers", "no such collection"):
        writer.mark_initialized(ACME, name, "a")
        writer.abandon_artifact(ACME, name, "a")
    assert writer.artifacts(ACME, "papers", "", 10) == []


def test_abandon_unfinished_drops_all_but_populated_ones(writer: Writer) -> None:
    writer.create_collection(collection("other"))
    writer.commit_artifact(new_artifact("kept", content(1)))
    writer.reserve_artifact(reserved("a"))
    writer.reserve_artifact(reserved("b", collection="other"))
    writer.mark_initialized(ACME, "other", "b")
    assert writer.abandon_unfinished() == 2
    assert writer.abandon_unfinished() == 0
    assert [found.name for found in writer.artifacts(ACME, "papers", "", 10)] == ["kept"]
    assert writer.artifacts(ACME, "other", "", 10) == []


def test_unfinished_artifact_can_be_deleted(writer: Writer) -> None:
    writer.reserve_artifact(reserved("a"))
    assert writer.delete_artifact(ACME, "papers", "a") == 2
    assert writer.artifacts(ACME, "papers", "", 10) == []


def test_several_artifacts_are_deleted_in_one_go(writer: Writer, reader: Reader) -> None:
    for name in ("a", "b", "c"):
        writer.commit_artifact(new_artifact(name, content(1)))
    assert writer.delete_artifacts(ACME, "papers", ["c", "nothing", "a", "a"]) == 6
    assert [found.name for found in reader.artifacts(ACME, "papers", "", 10)] == ["b"]
    assert [change.artifact for change in reader.changes_after(4, 10)] == ["c", "a"]


@pytest.mark.parametrize("names", [[], ["nothing"]])
def test_deleting_no_artifact_returns_the_present_seq(writer: Writer, names: list[str]) -> None:
    assert writer.delete_artifacts(ACME, "papers", names) == writer.last_seq() == 1


def test_vectors_of_another_dimension_are_refused(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", content(1)))
    before: ArtifactRecord = writer.artifact(ACME, "papers", "a")
    wrong = content(2, dimension=DIMENSION + 1)
    with pytest.raises(ModelMismatch, match=r"8 dimensions .* these have 9"):
        writer.commit_artifact(new_artifact("a", wrong))
    assert writer.artifact(ACME, "papers", "a") == before
    assert not writer.has_content(ACME, wrong.content_id)
    assert writer.last_seq() == 2


def test_shared_content_of_another_dimension_is_refused(writer: Writer) -> None:
    writer.create_collection(collection("small", dimension=2))
    held = content(1)
    writer.commit_artifact(new_artifact("a", held))
    with pytest.raises(ModelMismatch, match="'small'"):
        writer.commit_artifact(new_artifact("a", held.content_id, collection="small"))


def test_content_id_that_is_not_there_is_refused(writer: Writer) -> None:
    missing = ContentId("0" * 64)
    with pytest.raises(ArtifactNotFound, match="0000"):
        writer.commit_artifact(new_artifact("a", missing))
    with pytest.raises(ArtifactNotFound, match="0000"):
        writer.content_by_id(ACME, missing)
    assert writer.artifacts(ACME, "papers", "", 10) == []
