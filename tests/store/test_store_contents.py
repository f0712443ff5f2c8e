"""The contract of the store: contents, shared by the artifacts of a tenant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from store.samples import ACME, GLOBEX, collection, content, new_artifact, searchable
from treespan.errors import ArtifactNotFound

if TYPE_CHECKING:
    from treespan.store.interface import Writer

SHARED = content(1)


@pytest.fixture(autouse=True)
def collections(writer: Writer) -> None:
    writer.create_collection(collection())
    writer.create_collection(collection("other"))
    writer.create_collection(collection(tenant=GLOBEX))


def has_shared(writer: Writer) -> bool:
    return writer.has_content(ACME, SHARED.content_id)


def test_content_given_by_id_is_shared_with_the_artifact_that_brought_it(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    second = new_artifact("b", SHARED.content_id, collection="other")
    writer.commit_artifact(second)
    assert writer.searchable(ACME, "other", second.doc_id) == searchable(second, SHARED, 5)


def test_content_that_is_held_already_is_not_written_again(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    writer.commit_artifact(new_artifact("b", replace(SHARED, title="never looked at")))
    assert writer.content_by_id(ACME, SHARED.content_id) == SHARED


def test_content_goes_with_its_last_artifact(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    writer.commit_artifact(new_artifact("b", SHARED))
    writer.delete_artifact(ACME, "papers", "a")
    assert has_shared(writer)
    writer.delete_artifact(ACME, "papers", "b")
    assert not has_shared(writer)


def test_content_goes_when_its_last_artifact_is_replaced(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    writer.commit_artifact(new_artifact("b", SHARED))
    writer.commit_artifact(new_artifact("a", content(2)))
    assert has_shared(writer)
    writer.commit_artifact(new_artifact("b", content(2).content_id))
    assert not has_shared(writer)


def test_content_stays_when_its_only_artifact_is_committed_again(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    writer.commit_artifact(new_artifact("a", SHARED.content_id, note=" again"))
    assert writer.content_by_id(ACME, SHARED.content_id) == SHARED


def test_content_stays_when_one_of_two_collections_is_deleted(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    writer.commit_artifact(new_artifact("b", SHARED, collection="other"))
    writer.delete_collection(ACME, "papers", force=True)
    assert has_shared(writer)
    writer.delete_collection(ACME, "other", force=True)
    assert not has_shared(writer)


def test_content_held_twice_in_one_deletion_goes(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    writer.commit_artifact(new_artifact("b", SHARED))
    writer.delete_artifacts(ACME, "papers", ["a", "b"])
    assert not has_shared(writer)


def test_tenants_share_no_content(writer: Writer) -> None:
    writer.commit_artifact(new_artifact("a", SHARED))
    with pytest.raises(ArtifactNotFound):
        writer.commit_artifact(new_artifact("a", SHARED.content_id, tenant=GLOBEX))
    writer.commit_artifact(new_artifact("a", SHARED, tenant=GLOBEX))
    writer.delete_artifact(ACME, "papers", "a")
    assert not has_shared(writer)
    assert writer.content_by_id(GLOBEX, SHARED.content_id) == SHARED


def test_same_content_under_two_names_has_two_document_ids(writer: Writer) -> None:
    first, second = new_artifact("a", SHARED), new_artifact("b", SHARED)
    writer.commit_artifact(first)
    writer.commit_artifact(second)
    assert writer.artifact_by_doc_id(ACME, "papers", first.doc_id).name == "a"
    assert writer.artifact_by_doc_id(ACME, "papers", second.doc_id).name == "b"
