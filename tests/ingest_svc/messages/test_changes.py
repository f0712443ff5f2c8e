"""Requests that change or delete, unpacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingest_svc.messages import (
    artifact_paths,
    deletion,
    listed_filter,
    packed_metadata,
    updated_artifact,
)
from treespan.errors import InvalidArgument, InvalidField, InvalidName
from treespan.filters import Condition, Operator
from treespan.store.records import ArtifactRecord, ArtifactState, Tenant
from treespan.v1 import context_filter_pb2, metadata_pb2
from treespan.v1 import ingest_service_pb2 as pb

T = Tenant("default")


def text(value: str) -> metadata_pb2.MetadataValue:
    return metadata_pb2.MetadataValue(string_value=value)


def condition(key: str, value: str = "x") -> context_filter_pb2.MetadataFilter:
    one = context_filter_pb2.MetadataCondition(
        key=key,
        operator=context_filter_pb2.MetadataCondition.OPERATOR_EQ,
        value=text(value),
    )
    return context_filter_pb2.MetadataFilter(condition=one)


def record(file_name: str = "old.txt", **metadata: str) -> ArtifactRecord:
    packed = packed_metadata({key: text(value) for key, value in metadata.items()})
    return ArtifactRecord(
        T, "c", "report", ArtifactState.POPULATED, file_name=file_name, metadata=packed
    )


def updated(
    before: ArtifactRecord, paths: Sequence[str], file_name: str = "", **metadata: str
) -> tuple[str, dict[str, str]]:
    values = {key: text(value) for key, value in metadata.items()}
    wanted = pb.Artifact(file_name=file_name, metadata=values)
    name, packed, _ = updated_artifact(before, wanted, paths)
    found = pb.Artifact.FromString(packed).metadata
    return name, {key: value.string_value for key, value in found.items()}


def test_only_the_named_fields_change() -> None:
    before = record(a="1", b="2")
    assert updated(before, ["file_name"], "new.txt", a="9") == ("new.txt", {"a": "1", "b": "2"})
    assert updated(before, ["metadata"], "new.txt", c="3") == ("old.txt", {"c": "3"})
    assert updated(before, ["metadata.a"], a="9", b="8") == ("old.txt", {"a": "9", "b": "2"})


def test_a_summary_is_replaced_taken_away_or_kept() -> None:
    before = replace(record(), summary="As it was.")
    new = pb.Artifact(summary="As it is.")
    assert updated_artifact(before, new, ["summary"])[2] == "As it is."
    assert updated_artifact(before, pb.Artifact(), ["summary"])[2] == ""
    assert updated_artifact(before, new, ["file_name"])[2] == "As it was."
    with pytest.raises(InvalidField, match="8,193 characters") as told:
        updated_artifact(before, pb.Artifact(summary="x" * 8_193), ["summary"])
    assert told.value.field == "artifact.summary"


def test_a_named_key_without_a_value_is_removed() -> None:
    assert updated(record(a="1", b="2"), ["metadata.a"])[1] == {"b": "2"}
    assert updated(record(b="2"), ["metadata.a"])[1] == {"b": "2"}
    assert updated(record(a="1"), ["metadata"])[1] == {}


def test_a_key_is_taken_verbatim_with_all_its_dots() -> None:
    before = record(**{"a.b": "1", "a": "2", "metadata.x": "3"})
    assert updated(before, ["metadata.a.b", "metadata.metadata.x"], **{"a.b": "9"})[1] == {
        "a.b": "9",
        "a": "2",
    }


def test_the_order_of_paths_does_not_matter() -> None:
    for paths in (["metadata", "metadata.a"], ["metadata.a", "metadata"]):
        assert updated(record(a="1", b="2"), paths, a="5", c="6")[1] == {"a": "5", "c": "6"}


def test_no_file_name_means_the_artifacts_name_as_at_ingest() -> None:
    assert updated(record(), ["file_name"])[0] == "report"


def test_limits_hold_for_what_comes_out() -> None:
    almost = record(**{f"k{number}": "x" * 8_000 for number in range(8)})
    with pytest.raises(InvalidField, match="65,536") as told:
        updated(almost, ["metadata.more"], more="x" * 8_000)
    assert told.value.field == "artifact.metadata"
    with pytest.raises(InvalidField, match="1,025 characters") as told:
        updated(record(), ["file_name"], "x" * 1_025)
    assert told.value.field == "artifact.file_name"
    with pytest.raises(InvalidField, match=r"artifact\.metadata\['a'\]: has 8,193 characters"):
        updated(record(), ["metadata.a"], a="x" * 8_193)


@pytest.mark.parametrize(
    "path", ["", "title", "metadata.", "artifact.file_name", "File_Name", "metadata_x", "*"]
)
def test_a_mask_of_anything_else_is_refused_naming_what_is_allowed(path: str) -> None:
    request = pb.UpdateArtifactRequest(update_mask={"paths": ["file_name", path]})
    with pytest.raises(InvalidField) as told:
        artifact_paths(request)
    assert told.value.field == "update_mask"
    assert repr(path) in told.value.message
    assert "file_name, summary, metadata or metadata.<key>" in told.value.message


def test_an_empty_mask_is_refused_naming_what_is_allowed() -> None:
    with pytest.raises(InvalidField, match=r"is empty; name file_name, summary, metadata or"):
        artifact_paths(pb.UpdateArtifactRequest())


def batch(*names: str, where: context_filter_pb2.MetadataFilter | None = None) -> object:
    context = context_filter_pb2.ContextFilter(
        collection="c", artifacts=names, metadata_filter=where
    )
    return deletion(pb.BatchDeleteArtifactsRequest(context_filter=context), T)


def test_names_come_sorted_and_once() -> None:
    wanted = batch("b", "a", "b")
    assert wanted.names == ("a", "b")  # type: ignore[attr-defined]
    assert wanted.where is None  # type: ignore[attr-defined]


def test_a_filter_comes_as_the_store_has_it() -> None:
    wanted = batch(where=condition("author"))
    assert wanted.where == Condition("author", Operator.EQ, ("x",))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("context", "field", "words"),
    [
        ({"collection": "c"}, "context_filter", "names no artifacts and has no metadata_filter"),
        ({"artifacts": ["a"]}, "context_filter.collection", "is empty"),
        ({"collection": "c", "artifacts": ["a", "b/c"]}, "context_filter.artifacts", "b/c"),
        (
            {"collection": "c", "artifacts": [f"n{number}" for number in range(10_001)]},
            "context_filter.artifacts",
            "10,001",
        ),
        (
            {"collection": "c", "metadata_filter": condition("page")},
            "context_filter.metadata_filter",
            "page",
        ),
        (
            {"collection": "c", "metadata_filter": condition("row.Price")},
            "context_filter.metadata_filter",
            "row.Price",
        ),
    ],
)
def test_a_deletion_that_does_not_say_what_is_refused(
    context: dict[str, object], field: str, words: str
) -> None:
    request = pb.BatchDeleteArtifactsRequest(
        context_filter=context_filter_pb2.ContextFilter(**context)  # type: ignore[arg-type]
    )
    with pytest.raises(InvalidArgument, match=words) as told:
        deletion(request, T)
    assert told.value.field.startswith(field)


def test_a_filter_that_is_set_and_empty_is_refused() -> None:
    empty = context_filter_pb2.MetadataFilter()
    with pytest.raises(InvalidField, match=r"context_filter\.metadata_filter: is empty"):
        batch("a", where=empty)
    with pytest.raises(InvalidField, match="metadata_filter: is empty"):
        listed_filter(pb.ListArtifactsRequest(collection="c", metadata_filter=empty))


def test_a_list_without_a_filter_is_of_everything() -> None:
    assert listed_filter(pb.ListArtifactsRequest(collection="c")) is None


def test_names_that_are_none_are_refused_as_names() -> None:
    with pytest.raises(InvalidName):
        batch("..")
