"""The contract of the store: versions that wait to be populated."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from store.model import without_times
from store.samples import (
    ACME,
    GLOBEX,
    collection,
    content,
    new_artifact,
    operation,
    populated,
    reserved,
)
from treespan.errors import ArtifactNotFound, CollectionNotFound
from treespan.filters import Condition, Operator
from treespan.store import open_writer
from treespan.store.records import ArtifactState, Content, Draft

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer
    from treespan.store.records import NewArtifact


@pytest.fixture(autouse=True)
def papers(writer: Writer) -> None:
    writer.create_collection(collection())


def waiting(name: str, version: int, **fields: str) -> NewArtifact:
    """Return a version without vectors."""
    whole = new_artifact(name, replace(content(version), vectors=b""), **fields)  # type: ignore[arg-type]
    return replace(whole, operation="", outcome=b"")


def save(store: Writer, name: str, version: int, **fields: str) -> NewArtifact:
    """Reserve an artifact and save a draft of it."""
    artifact = waiting(name, version, **fields)
    store.reserve_artifact(reserved(name, artifact.tenant, artifact.collection))
    store.save_draft(Draft(artifact))
    return artifact


def assert_no_draft(store: Reader, name: str) -> None:
    assert not store.artifact(ACME, "papers", name).has_draft
    with pytest.raises(ArtifactNotFound, match=f"{name!r} has no version that waits"):
        store.draft(ACME, "papers", name)


def test_draft_comes_back_whole_with_its_cells_and_warnings(writer: Writer, reader: Reader) -> None:
    artifact = save(writer, "合同", 1, note="a note")
    for store in (writer, reader):
        draft = store.draft(ACME, "papers", "合同")
        assert draft.artifact == artifact
        assert draft.created_us > 0
        assert store.draft_by_doc_id(ACME, "papers", artifact.doc_id) == draft
    assert isinstance(artifact.content, Content)
    assert artifact.content.cells
    assert artifact.content.warnings
    assert artifact.content.file_metadata


def test_draft_makes_a_reserved_artifact_initialized_and_nothing_visible(
    writer: Writer, reader: Reader
) -> None:
    save(writer, "a", 1)
    found = reader.artifact(ACME, "papers", "a")
    assert found == replace(reserved("a"), state=ArtifactState.INITIALIZED, has_draft=True)
    assert reader.artifacts(ACME, "papers", "", 10) == [found]
    assert reader.visible() == (1, [])
    assert not reader.has_content(ACME, content(1).content_id)
    assert reader.text_hits(ACME, "papers", '"part"', 10) == []
    everything = Condition("artifact", Operator.EXISTS)
    assert reader.matching(ACME, "papers", everything).keys == b""


def test_draft_of_a_populated_artifact_waits_beside_the_version_that_is_visible(
    writer: Writer, reader: Reader
) -> None:
    visible = new_artifact("a", content(1))
    writer.commit_artifact(visible)
    before = reader.artifact(ACME, "papers", "a")
    artifact = save(writer, "a", 2, note="next")
    assert reader.artifact(ACME, "papers", "a") == replace(before, has_draft=True)
    assert reader.artifact_by_doc_id(ACME, "papers", visible.doc_id).has_draft
    assert reader.draft(ACME, "papers", "a").artifact == artifact
    with pytest.raises(ArtifactNotFound):
        reader.draft_by_doc_id(ACME, "papers", visible.doc_id)
    with pytest.raises(ArtifactNotFound):
        reader.artifact_by_doc_id(ACME, "papers", artifact.doc_id)
    assert reader.last_seq() == 2


def test_next_draft_takes_the_place_of_the_one_before(writer: Writer) -> None:
    first, second = save(writer, "a", 1), save(writer, "a", 2)
    assert writer.draft(ACME, "papers", "a").artifact == second
    with pytest.raises(ArtifactNotFound):
        writer.draft_by_doc_id(ACME, "papers", first.doc_id)


def test_draft_is_populated_by_a_commit_that_gives_its_vectors(
    writer: Writer, reader: Reader
) -> None:
    save(writer, "a", 1, note="mine")
    writer.begin_operation(operation(1), None)
    draft = writer.draft(ACME, "papers", "a").artifact
    assert isinstance(draft.content, Content)
    whole = replace(draft.content, vectors=content(1).vectors)
    artifact = replace(draft, content=whole, operation=operation(1).operation)
    assert writer.commit_artifact(artifact) == 2
    found = reader.artifact(ACME, "papers", "a")
    assert without_times(found) == populated(new_artifact("a", content(1), note="mine"), content(1))
    assert reader.content_by_id(ACME, content(1).content_id) == content(1)
    assert_no_draft(reader, "a")


@pytest.mark.parametrize("version", [1, 2])
def test_commit_of_any_version_drops_the_draft(writer: Writer, version: int) -> None:
    save(writer, "a", 1)
    kept = save(writer, "b", 1)
    writer.commit_artifact(new_artifact("a", content(version)))
    assert_no_draft(writer, "a")
    assert writer.draft(ACME, "papers", "b").artifact == kept


def test_update_leaves_the_draft_as_it_is(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", content(1)))
    artifact = save(writer, "a", 2)
    writer.update_artifact(ACME, "papers", "a", "other.txt", b"", "other")
    assert writer.draft(ACME, "papers", "a").artifact == artifact


def test_abandoning_drops_the_draft_and_what_was_never_populated(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("kept", content(1)))
    before = writer.artifact(ACME, "papers", "kept")
    save(writer, "kept", 2)
    save(writer, "gone", 2)
    for name in ("kept", "gone"):
        writer.abandon_artifact(ACME, "papers", name)
    assert writer.artifacts(ACME, "papers", "", 10) == [before]
    assert_no_draft(writer, "kept")


def test_crash_does_not_take_an_artifact_with_a_draft(writer: Writer) -> None:
    artifact = save(writer, "a", 1)
    writer.reserve_artifact(reserved("b"))
    assert writer.abandon_unfinished() == 1
    assert [found.name for found in writer.artifacts(ACME, "papers", "", 10)] == ["a"]
    assert writer.draft(ACME, "papers", "a").artifact == artifact


def test_draft_goes_with_its_artifact_and_an_artifact_of_the_same_name_has_none(
    writer: Writer,
) -> None:
    artifact = save(writer, "a", 1)
    writer.delete_artifact(ACME, "papers", "a")
    with pytest.raises(ArtifactNotFound):
        writer.draft(ACME, "papers", "a")
    writer.reserve_artifact(reserved("a"))
    assert_no_draft(writer, "a")
    with pytest.raises(ArtifactNotFound):
        writer.draft_by_doc_id(ACME, "papers", artifact.doc_id)


def test_draft_goes_with_its_collection(writer: Writer) -> None:
    save(writer, "a", 1)
    assert writer.delete_collection(ACME, "papers", force=True) == (2, 1)
    with pytest.raises(CollectionNotFound):
        writer.draft(ACME, "papers", "a")
    writer.create_collection(collection())
    with pytest.raises(ArtifactNotFound):
        writer.draft(ACME, "papers", "a")


def test_draft_goes_with_the_artifacts_that_a_filter_deletes(writer: Writer) -> None:
    for name in ("a", "b"):
        writer.commit_artifact(new_artifact(name, content(1)))
        save(writer, name, 2)
    writer.delete_matching(ACME, "papers", Condition("artifact", Operator.EQ, ("a",)))
    writer.commit_artifact(new_artifact("a", content(1)))
    assert_no_draft(writer, "a")
    assert writer.artifact(ACME, "papers", "b").has_draft


def test_drafts_of_other_tenants_and_collections_are_not_found(writer: Writer) -> None:
    writer.create_collection(collection("laws"))
    writer.create_collection(collection(tenant=GLOBEX))
    artifact = save(writer, "a", 1)
    for tenant, name in ((ACME, "laws"), (GLOBEX, "papers")):
        with pytest.raises(ArtifactNotFound):
            writer.draft(tenant, name, "a")
        with pytest.raises(ArtifactNotFound, match=artifact.doc_id):
            writer.draft_by_doc_id(tenant, name, artifact.doc_id)
    with pytest.raises(CollectionNotFound):
        writer.draft_by_doc_id(GLOBEX, "laws", artifact.doc_id)


def test_draft_of_what_is_gone_is_refused(writer: Writer) -> None:
    with pytest.raises(ArtifactNotFound, match="'a'"):
        writer.save_draft(Draft(waiting("a", 1)))
    with pytest.raises(CollectionNotFound, match="lost"):
        writer.save_draft(Draft(waiting("a", 1, collection="lost")))
    assert writer.artifacts(ACME, "papers", "", 10) == []


def test_draft_without_its_content_is_a_fault_of_the_caller(writer: Writer) -> None:
    writer.reserve_artifact(reserved("a"))
    by_id = new_artifact("a", content(1).content_id)
    with pytest.raises(ValueError, match="has no content but the id"):
        writer.save_draft(Draft(by_id))
    assert writer.artifact(ACME, "papers", "a") == reserved("a")


def test_draft_is_there_after_a_restart(writer: Writer, address: str) -> None:
    artifact = save(writer, "a", 1)
    created_us = writer.draft(ACME, "papers", "a").created_us
    writer.close()
    with closing(open_writer(address)) as again:
        assert again.draft(ACME, "papers", "a") == Draft(artifact, created_us)
