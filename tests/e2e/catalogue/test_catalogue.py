"""Artifacts changed and listed, through a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import numpy as np
import pytest

from calls import refused
from catalogue_calls import (
    Op,
    delete,
    get,
    names,
    put,
    tree_request,
    under_way,
    update,
    values,
    where,
)
from treespan.filters import Condition, Instant, Operator
from treespan.store import open_reader
from treespan.store.records import Tenant
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import node_pb2

if TYPE_CHECKING:
    from servers import Servers
    from treespan.filters import Scalar
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub

INVALID = grpc.StatusCode.INVALID_ARGUMENT


def test_an_update_changes_what_it_names_and_embeds_nothing(
    ingest: IngestServiceStub, collection: str
) -> None:
    written = put(ingest, collection, "a", year=2023, draft=True)
    answer = update(ingest, collection, "a", ["file_name", "metadata.year"], "new.txt", year=2024)
    assert answer.seq == written.seq + 1
    assert answer.artifact == get(ingest, collection, "a")
    assert answer.artifact.file_name == "new.txt"
    assert dict(answer.artifact.metadata) == values({"year": 2024, "draft": True})
    before, after = written.artifact, answer.artifact
    for same in ("content_sha256", "node_count", "create_time", "ingest_time"):
        assert getattr(after, same) == getattr(before, same)
    assert after.update_time.ToMicroseconds() >= before.update_time.ToMicroseconds()
    nodes = [next(ingest.ExportTree(tree_request(collection, "a"))).nodes for _ in range(2)]
    assert nodes[0] == nodes[1]


def test_an_update_keeps_the_node_ids_and_the_time_of_ingest(
    ingest: IngestServiceStub, collection: str
) -> None:
    first = put(ingest, collection, "a").artifact
    ids = [node.node_id for node in next(ingest.ExportTree(tree_request(collection, "a"))).nodes]
    update(ingest, collection, "a", ["metadata"], year=1)
    after = next(ingest.ExportTree(tree_request(collection, "a"))).nodes
    assert [node.node_id for node in after] == ids
    again = put(ingest, collection, "a", "blue blue").artifact
    assert again.ingest_time.ToMicroseconds() > first.ingest_time.ToMicroseconds()
    assert again.create_time == first.create_time


def test_updates_at_the_same_time_all_hold(ingest: IngestServiceStub, collection: str) -> None:
    put(ingest, collection, "a", kept="yes")
    calls = []
    for number in range(30):
        key = f"key {number}"
        wanted = pb.Artifact(collection=collection, artifact="a", metadata=values({key: number}))
        request = pb.UpdateArtifactRequest(
            artifact=wanted, update_mask={"paths": [f"metadata.{key}"]}
        )
        calls.append(ingest.UpdateArtifact.future(request))
    seqs = sorted(call.result().seq for call in calls)
    assert seqs == list(range(seqs[0], seqs[0] + 30))
    assert dict(get(ingest, collection, "a").metadata) == values(
        {"kept": "yes", **{f"key {number}": number for number in range(30)}}
    )


@pytest.mark.parametrize("paths", [[], ["title"], ["metadata."], ["file_name", "state"]])
def test_an_update_of_something_else_is_refused_naming_what_can_be_changed(
    ingest: IngestServiceStub, collection: str, paths: list[str]
) -> None:
    put(ingest, collection, "a", year=1)
    with refused() as told:
        update(ingest, collection, "a", paths, "new.txt")
    assert (told.code, told.reason, told.field) == (INVALID, "INVALID_FIELD", "update_mask")
    assert "metadata.<key>" in told.message
    assert get(ingest, collection, "a").file_name == "a"


def test_metadata_is_held_to_the_limits_of_ingest(
    ingest: IngestServiceStub, collection: str
) -> None:
    put(ingest, collection, "a", **{f"k{number}": number for number in range(256)})
    with refused() as told:
        update(ingest, collection, "a", ["metadata.more"], more=1)
    assert (told.code, told.field) == (INVALID, "artifact.metadata")
    assert "257 keys" in told.message
    assert len(get(ingest, collection, "a").metadata) == 256


def test_what_is_not_there_cannot_be_updated(ingest: IngestServiceStub, collection: str) -> None:
    with refused() as told:
        update(ingest, collection, "a", ["metadata"])
    assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "ARTIFACT_NOT_FOUND")
    with refused() as told:
        update(ingest, "nowhere", "a", ["metadata"])
    assert (told.code, told.reason) == (grpc.StatusCode.NOT_FOUND, "COLLECTION_NOT_FOUND")
    with refused() as told:
        update(ingest, collection, "a/b", ["metadata"])
    assert (told.reason, told.field) == ("INVALID_NAME", "artifact.artifact")


def test_an_artifact_under_way_is_neither_updated_nor_deleted(
    ingest: IngestServiceStub, collection: str
) -> None:
    put(ingest, collection, "old", year=1)
    put(ingest, collection, "other", year=1)
    with under_way(ingest, collection, "new"):
        with refused() as told:
            update(ingest, collection, "new", ["metadata"])
        assert (told.code, told.reason) == (
            grpc.StatusCode.FAILED_PRECONDITION,
            "ARTIFACT_NOT_READY",
        )
    with under_way(ingest, collection, "old"):
        with refused() as told:
            update(ingest, collection, "old", ["metadata"])
        assert (told.code, told.reason) == (grpc.StatusCode.ABORTED, "ARTIFACT_BUSY")
        for wanted in (("other", "old"), ()):
            for validate_only in (False, True):
                with refused() as told:
                    delete(
                        ingest,
                        collection,
                        *wanted,
                        like=None if wanted else where("year", 1),
                        validate_only=validate_only,
                    )
                assert (told.code, told.reason) == (grpc.StatusCode.ABORTED, "ARTIFACT_BUSY")
                assert "'old'" in told.message
        assert names(ingest, collection) == ["new", "old", "other"]
        others = where("artifact", "old", Op.OPERATOR_NE)
        assert list(delete(ingest, collection, like=others).artifacts) == ["new", "other"]
    assert names(ingest, collection) == ["old"]


def test_a_list_is_of_the_artifacts_that_match_by_name_in_pages(
    ingest: IngestServiceStub, collection: str
) -> None:
    for number in range(7):
        put(ingest, collection, f"a{number}", year=2020 + number % 2)
    request = pb.ListArtifactsRequest(
        collection=collection, page_size=2, metadata_filter=where("year", 2020)
    )
    found = []
    while True:
        page = ingest.ListArtifacts(request)
        found.append([artifact.artifact for artifact in page.artifacts])
        request.page_token = page.next_page_token
        if not request.page_token:
            break
    assert found == [["a0", "a2"], ["a4", "a6"]]
    assert names(ingest, collection, where("artifact", "a3", Op.OPERATOR_GT)) == ["a4", "a5", "a6"]
    assert names(ingest, collection, where("media_type", "text/plain", Op.OPERATOR_NE)) == []


def test_a_list_sees_an_update(ingest: IngestServiceStub, collection: str) -> None:
    put(ingest, collection, "a", year=1)
    put(ingest, collection, "b", year=1)
    update(ingest, collection, "b", ["metadata.year"], year=2)
    assert names(ingest, collection, where("year", 1)) == ["a"]
    assert names(ingest, collection, where("year", 2)) == ["b"]


@pytest.mark.parametrize("key", ["page", "heading", "kind", "row.Price"])
def test_a_condition_on_nodes_is_refused_where_artifacts_are_meant(
    ingest: IngestServiceStub, collection: str, key: str
) -> None:
    put(ingest, collection, "a")
    like = where(key, {"page": 1, "kind": "TEXT"}.get(key, "x"))
    for call in (
        lambda: names(ingest, collection, like),
        lambda: delete(ingest, collection, like=like),
    ):
        with refused() as told:
            call()
        assert (told.code, told.reason) == (INVALID, "INVALID_FIELD")
        assert key in told.message
    assert names(ingest, collection) == ["a"]


def test_a_value_of_a_type_that_no_artifact_has_is_an_error_in_lists_and_deletions(
    ingest: IngestServiceStub, collection: str
) -> None:
    put(ingest, collection, "a", year=2024)
    like = where("year", "2024")
    for call, field in (
        (lambda: names(ingest, collection, like), "metadata_filter"),
        (lambda: delete(ingest, collection, like=like), "context_filter.metadata_filter"),
        (
            lambda: delete(ingest, collection, like=like, validate_only=True),
            "context_filter.metadata_filter",
        ),
    ):
        with refused() as told:
            call()
        assert (told.code, told.reason, told.field) == (INVALID, "INVALID_FIELD", field)
        assert "year" in told.message
    assert names(ingest, collection) == ["a"]


def test_the_page_token_of_another_list_is_refused_and_shows_nothing(
    ingest: IngestServiceStub, collection: str
) -> None:
    for name in ("first secret", "second", "third"):
        put(ingest, collection, name, year=1)
    other = f"{collection[:200]} two"
    ingest.CreateCollection(pb.CreateCollectionRequest(collection=pb.Collection(collection=other)))
    put(ingest, other, "z")
    request = pb.ListArtifactsRequest(collection=collection, page_size=1)
    token = ingest.ListArtifacts(request).next_page_token
    mine = {"page_token": token, "page_size": 1}
    lists = [
        (pb.ListArtifactsRequest(collection=other, **mine), "default"),
        (
            pb.ListArtifactsRequest(
                collection=collection, metadata_filter=where("year", 1), **mine
            ),
            "default",
        ),
        (pb.ListArtifactsRequest(collection=collection, **mine), "another"),
    ]
    stranger = (("treespan-tenant", "another"),)
    wanted = pb.Collection(collection=collection)
    ingest.CreateCollection(pb.CreateCollectionRequest(collection=wanted), metadata=stranger)
    for wrong, tenant in lists:
        with refused() as told:
            ingest.ListArtifacts(wrong, metadata=(("treespan-tenant", tenant),))
        assert (told.code, told.field) == (INVALID, "page_token")
        assert "secret" not in told.message
    with refused() as told:
        ingest.ListCollections(pb.ListCollectionsRequest(page_token=token))
    assert (told.code, told.field) == (INVALID, "page_token")
    request.page_token = token
    assert [a.artifact for a in ingest.ListArtifacts(request).artifacts] == ["second"]


def test_an_artifact_tells_its_language(ingest: IngestServiceStub, collection: str) -> None:
    german = "Der Reaktor wurde im Mai geprüft. Jedes Ventil hat seine Prüfung bestanden."
    assert put(ingest, collection, "de", german).artifact.language == "de"
    assert put(ingest, collection, "zh", "反应堆于五月接受检查。").artifact.language == "zh"
    assert put(ingest, collection, "x", "42 17").artifact.language == ""
    stated = pb.IngestTextRequest(
        collection=collection,
        artifact="fr",
        text=f"<html lang=fr-CA><p>{german}",
        media_type="text/html",
    )
    assert ingest.IngestText(stated).artifact.language == "fr"
    assert get(ingest, collection, "fr").language == "fr"
    assert names(ingest, collection, where("language", "de")) == ["de"]
    assert names(ingest, collection, where("language", "de", Op.OPERATOR_NE)) == ["fr", "x", "zh"]


def test_table_rows_are_kept_with_typed_cells_also_where_a_row_is_cut(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    table = (
        "<table><tr><th>Name<th>Unit\nprice<th>Since</tr>"
        "<tr><td>red<td>1,250<td>2024-01-31</tr>"
        f"<tr><td>{'green, ' * 700}<td>9.5<td>n/a</tr>"
        "<tr><td>blue<td>007<td></tr></table>"
    )
    ingest.IngestText(
        pb.IngestTextRequest(
            collection=collection, artifact="t", text=table, media_type="text/html"
        )
    )
    nodes = next(ingest.ExportTree(tree_request(collection, "t"))).nodes
    rows = [node for node in nodes if node.kind == node_pb2.NODE_KIND_TABLE_ROW]
    assert len(rows) == 3
    parts = [node.position for node in nodes if node.parent_id == rows[1].node_id]
    assert len(parts) > 1

    def found(column: str, operator: Operator, *operand: Scalar) -> list[int]:
        condition = Condition(f"row.{column}", operator, operand)
        matches = reader.matching(Tenant("default"), collection, condition)
        assert matches.nodes is not None
        return np.frombuffer(matches.nodes, "<u4").tolist()

    reader = open_reader(servers.data / "store")
    try:
        assert found("Unit price", Operator.GT, 9) == [rows[0].position, *parts]
        assert found("Unit price", Operator.EQ, "007") == [rows[2].position]
        day = Instant(1_706_659_200_000_000)
        assert found("Since", Operator.EQ, day) == [rows[0].position]
        assert found("Since", Operator.EXISTS) == [rows[0].position, *parts]
    finally:
        reader.close()
