"""Ingests and changes under way: what may happen beside what."""

from __future__ import annotations

import pytest

from ingest_svc.operations import ArtifactKey, Operations
from treespan.errors import ArtifactBusy, NotServing, QueueFull
from treespan.store.records import Tenant

T = Tenant("default")
A, B = ArtifactKey(T, "c", "a"), ArtifactKey(T, "c", "b")


def test_an_artifact_has_one_ingest_at_a_time() -> None:
    operations = Operations(8)
    with operations.claimed(A) as job:
        assert operations.of(A) is job
        with pytest.raises(ArtifactBusy, match="'a' is under way"), operations.claimed(A):
            pass
        with operations.claimed(B):
            assert operations.under_way(T, "c") == ["a", "b"]
    assert operations.of(A) is None
    assert operations.under_way(T, "c") == []


def test_more_ingests_than_allowed_are_refused() -> None:
    operations = Operations(1)
    with (
        operations.claimed(A),
        pytest.raises(QueueFull, match="the most is 1"),
        operations.claimed(B),
    ):
        pass


def test_an_artifact_is_not_changed_beside_its_ingest() -> None:
    operations = Operations(8)
    with (
        operations.claimed(B),
        pytest.raises(ArtifactBusy, match="'b' is under way"),
        operations.changing([A, B]),
    ):
        pass
    with operations.changing([A, B]), pytest.raises(ArtifactBusy, match="changed or deleted"):
        operations.claimed(A).__enter__()
    with operations.claimed(A):
        pass


def test_changes_are_no_ingests_and_need_no_place_in_the_queue() -> None:
    operations = Operations(1)
    with operations.claimed(A), operations.changing([B]):
        assert operations.of(B) is None
        assert operations.under_way(T, "c") == ["a"]


def test_another_tenant_or_collection_is_no_matter() -> None:
    operations = Operations(8)
    with operations.claimed(A):
        assert operations.under_way(Tenant("other"), "c") == []
        operations.check_idle(T, "d")
        with pytest.raises(ArtifactBusy, match="of artifact 'a'"):
            operations.check_idle(T, "c")


def test_nothing_begins_while_the_service_stops() -> None:
    operations = Operations(8)
    operations.drain()
    with pytest.raises(NotServing):
        operations.claimed(A).__enter__()
    with pytest.raises(NotServing):
        operations.changing([A]).__enter__()
