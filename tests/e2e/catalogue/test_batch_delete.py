"""Artifacts deleted by name and by what they are like, through a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

from calls import refused
from catalogue_calls import Op, delete, names, put, values, where
from treespan.v1 import context_filter_pb2
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

INVALID = grpc.StatusCode.INVALID_ARGUMENT


def test_names_are_deleted_in_one_step(ingest: IngestServiceStub, collection: str) -> None:
    for name in "abcd":
        seq = put(ingest, collection, name).seq
    answer = delete(ingest, collection, "c", "a", "c")
    assert (list(answer.artifacts), answer.deleted_artifacts) == (["a", "c"], 2)
    assert answer.seq == seq + 2
    assert names(ingest, collection) == ["b", "d"]


def test_a_missing_name_deletes_nothing_unless_it_may_be_missing(
    ingest: IngestServiceStub, collection: str
) -> None:
    put(ingest, collection, "a", year=1)
    for like in (None, where("year", 1)):
        with refused() as told:
            delete(ingest, collection, "a", "gone", like=like)
        assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "ARTIFACT_NOT_FOUND")
        assert "'gone'" in told.message
    assert names(ingest, collection) == ["a"]
    answer = delete(ingest, collection, "a", "gone", allow_missing=True)
    assert (list(answer.artifacts), answer.deleted_artifacts) == (["a"], 1)
    again = delete(ingest, collection, "a", "gone", allow_missing=True)
    assert (list(again.artifacts), again.deleted_artifacts, again.seq) == ([], 0, 0)


def test_a_filter_deletes_what_is_like_it(ingest: IngestServiceStub, collection: str) -> None:
    for number in range(6):
        put(ingest, collection, f"a{number}", year=2020 + number)
    like = where("year", 2023, Op.OPERATOR_GTE)
    planned = delete(ingest, collection, like=like, validate_only=True)
    assert (list(planned.artifacts), planned.deleted_artifacts) == (["a3", "a4", "a5"], 3)
    assert planned.seq == 0
    assert len(names(ingest, collection)) == 6
    answer = delete(ingest, collection, like=like)
    assert (list(answer.artifacts), answer.deleted_artifacts) == (["a3", "a4", "a5"], 3)
    assert answer.seq > 0
    assert names(ingest, collection) == ["a0", "a1", "a2"]
    nothing = delete(ingest, collection, like=like)
    assert (list(nothing.artifacts), nothing.deleted_artifacts, nothing.seq) == ([], 0, 0)


def test_names_and_a_filter_delete_only_what_is_both(
    ingest: IngestServiceStub, collection: str
) -> None:
    for number in range(4):
        put(ingest, collection, f"a{number}", year=number)
    like = where("year", 2, Op.OPERATOR_GTE)
    planned = delete(ingest, collection, "a0", "a3", like=like, validate_only=True)
    assert list(planned.artifacts) == ["a3"]
    assert list(delete(ingest, collection, "a0", "a3", like=like).artifacts) == ["a3"]
    assert names(ingest, collection) == ["a0", "a1", "a2"]


def test_a_deletion_by_name_can_be_tried_first(ingest: IngestServiceStub, collection: str) -> None:
    put(ingest, collection, "a")
    planned = delete(ingest, collection, "a", "gone", allow_missing=True, validate_only=True)
    assert (list(planned.artifacts), planned.deleted_artifacts, planned.seq) == (["a"], 1, 0)
    with refused() as told:
        delete(ingest, collection, "a", "gone", validate_only=True)
    assert told.reason == "ARTIFACT_NOT_FOUND"
    assert names(ingest, collection) == ["a"]


def test_a_deletion_of_nothing_in_particular_is_refused(
    ingest: IngestServiceStub, collection: str
) -> None:
    put(ingest, collection, "a")
    with refused() as told:
        delete(ingest, collection)
    assert (told.code, told.field) == (INVALID, "context_filter")
    assert "DeleteCollection" in told.message
    with refused() as told:
        delete(ingest, collection, *(f"n{number}" for number in range(10_001)))
    assert (told.code, told.field) == (INVALID, "context_filter.artifacts")
    assert "10,001" in told.message
    assert names(ingest, collection) == ["a"]


def test_ten_thousand_names_at_once_are_taken(ingest: IngestServiceStub, collection: str) -> None:
    put(ingest, collection, "n9999", year=1)
    many = [f"n{number}" for number in range(10_000)]
    for like in (where("year", 1), None):
        planned = delete(
            ingest, collection, *many, like=like, allow_missing=True, validate_only=True
        )
        assert list(planned.artifacts) == ["n9999"]
    assert delete(ingest, collection, *many, allow_missing=True).deleted_artifacts == 1


def test_more_than_a_thousand_deleted_artifacts_are_counted_and_the_first_are_named(
    ingest: IngestServiceStub, collection: str
) -> None:
    wanted = [f"a{number:04}" for number in range(1_003)]
    for start in range(0, len(wanted), 200):
        calls = [
            ingest.IngestText.future(
                pb.IngestTextRequest(
                    collection=collection, artifact=name, text="red", metadata=values({"year": 1})
                )
            )
            for name in wanted[start : start + 200]
        ]
        for call in calls:
            call.result()
    like = where("year", 1)
    for flags in ({"validate_only": True}, {}):
        answer = delete(ingest, collection, like=like, **flags)
        assert answer.deleted_artifacts == 1_003
        assert list(answer.artifacts) == wanted[:1_000]
    assert names(ingest, collection) == []


def test_a_missing_collection_is_not_found_unless_it_may_be_missing(
    ingest: IngestServiceStub,
) -> None:
    for like in (None, where("artifact", "a")):
        with refused() as told:
            delete(ingest, "nowhere", "a", like=like)
        assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "COLLECTION_NOT_FOUND")
        assert delete(ingest, "nowhere", "a", like=like, allow_missing=True).seq == 0


def test_another_tenant_sees_and_deletes_nothing(
    ingest: IngestServiceStub, collection: str
) -> None:
    put(ingest, collection, "a", year=1)
    stranger = (("treespan-tenant", "stranger"),)
    wanted = pb.Collection(collection=collection)
    ingest.CreateCollection(pb.CreateCollectionRequest(collection=wanted), metadata=stranger)
    like = where("artifact", "a")
    listed = pb.ListArtifactsRequest(collection=collection, metadata_filter=like)
    assert not ingest.ListArtifacts(listed, metadata=stranger).artifacts
    context = context_filter_pb2.ContextFilter(collection=collection, metadata_filter=like)
    request = pb.BatchDeleteArtifactsRequest(context_filter=context)
    assert ingest.BatchDeleteArtifacts(request, metadata=stranger).deleted_artifacts == 0
    assert names(ingest, collection) == ["a"]
