"""The contract of the store: any sequence of writes leaves it as the model in plain dicts."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from store import samples
from store.conftest import ENGINES
from store.model import ModelStore, assert_same
from treespan.errors import TreespanError
from treespan.filters import Condition, Operator
from treespan.store import open_reader, open_writer
from treespan.store.records import Draft, OperationRecord, OperationState

if TYPE_CHECKING:
    from collections.abc import Callable

TENANTS = st.sampled_from([samples.ACME, samples.GLOBEX])
COLLECTIONS = st.sampled_from(["papers", "法律"])
NAMES = st.sampled_from(["a", "b", "c"])
VERSIONS = st.integers(0, 3)


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the class of the error that it raises."""
    try:
        return call()
    except TreespanError as error:
        return type(error)


def without_created(record: OperationRecord) -> OperationRecord:
    return replace(record, created_us=0, ended_us=0)


class StoreMachine(RuleBasedStateMachine):
    """Does everything to a store and to the model, and compares them after every step."""

    engine: str

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="treespan-"))
        self.address = ENGINES[self.engine](self.folder)
        self.reader = open_reader(self.address)
        self.writer = open_writer(self.address)
        self.model = ModelStore()
        self.begun = 0

    def teardown(self) -> None:
        self.writer.close()
        self.reader.close()
        shutil.rmtree(self.folder)

    def both(self, call: Callable[[Any], Any]) -> None:
        assert outcome(lambda: call(self.writer)) == outcome(lambda: call(self.model))

    def newest_operation(self) -> str:
        return f"operation {self.begun:08}"

    @initialize()
    def start_with_a_collection(self) -> None:
        self.both(lambda store: store.create_collection(samples.collection()))

    @rule(tenant=TENANTS, name=COLLECTIONS)
    def create_collection(self, tenant: Any, name: str) -> None:
        self.both(lambda store: store.create_collection(samples.collection(name, tenant)))

    @rule(tenant=TENANTS, name=COLLECTIONS, chunk_tokens=st.integers(16, 460))
    def update_collection(self, tenant: Any, name: str, chunk_tokens: int) -> None:
        record = samples.collection(name, tenant, chunk_tokens=chunk_tokens, display_name="new")
        self.both(lambda store: store.update_collection(record))

    @rule(tenant=TENANTS, name=COLLECTIONS, force=st.booleans())
    def delete_collection(self, tenant: Any, name: str, force: bool) -> None:
        self.both(lambda store: store.delete_collection(tenant, name, force=force))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES)
    def reserve(self, tenant: Any, collection: str, name: str) -> None:
        record = samples.reserved(name, tenant, collection)
        self.both(lambda store: store.reserve_artifact(record))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES)
    def mark_initialized(self, tenant: Any, collection: str, name: str) -> None:
        self.both(lambda store: store.mark_initialized(tenant, collection, name))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES)
    def abandon(self, tenant: Any, collection: str, name: str) -> None:
        self.both(lambda store: store.abandon_artifact(tenant, collection, name))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES, version=VERSIONS)
    def commit(self, tenant: Any, collection: str, name: str, version: int) -> None:
        artifact = samples.new_artifact(
            name, samples.content(version), tenant=tenant, collection=collection
        )
        self.both(lambda store: store.commit_artifact(artifact))

    @rule(
        tenant=TENANTS,
        collection=COLLECTIONS,
        name=NAMES,
        request_id=st.sampled_from(["", "one", "two"]),
        reserves=st.booleans(),
    )
    def begin(
        self, tenant: Any, collection: str, name: str, request_id: str, reserves: bool
    ) -> None:
        self.begun += 1
        record = samples.operation(
            self.begun, name, tenant=tenant, collection=collection, request_id=request_id
        )
        reserved = samples.reserved(name, tenant, collection) if reserves else None
        self.both(lambda store: without_created(store.begin_operation(record, reserved)))

    @rule(
        tenant=TENANTS,
        state=st.sampled_from([OperationState.FAILED, OperationState.CANCELLED]),
        free=st.booleans(),
        back=st.integers(0, 2),
    )
    def end(self, tenant: Any, state: OperationState, free: bool, back: int) -> None:
        number = f"operation {max(self.begun - back, 0):08}"
        self.both(
            lambda store: store.end_operation(tenant, number, state, b"ended", free_request_id=free)
        )

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES, version=VERSIONS)
    def commit_with_operation(self, tenant: Any, collection: str, name: str, version: int) -> None:
        artifact = samples.new_artifact(
            name,
            samples.content(version),
            tenant=tenant,
            collection=collection,
            operation=self.newest_operation(),
        )
        self.both(lambda store: store.commit_artifact(artifact))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES, version=VERSIONS)
    def save_draft(self, tenant: Any, collection: str, name: str, version: int) -> None:
        content = replace(samples.content(version), vectors=b"")
        artifact = samples.new_artifact(name, content, tenant=tenant, collection=collection)
        self.both(lambda store: store.save_draft(Draft(artifact)))

    @rule()
    def prune(self) -> None:
        self.both(lambda store: store.prune_operations(2**62))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES, version=VERSIONS)
    def commit_by_id(self, tenant: Any, collection: str, name: str, version: int) -> None:
        content_id = samples.content(version).content_id
        artifact = samples.new_artifact(
            name, content_id, tenant=tenant, collection=collection, note=" by id"
        )
        self.both(lambda store: store.commit_artifact(artifact))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES)
    def delete(self, tenant: Any, collection: str, name: str) -> None:
        self.both(lambda store: store.delete_artifact(tenant, collection, name))

    @rule(tenant=TENANTS, collection=COLLECTIONS, names=st.lists(NAMES, max_size=4))
    def delete_several(self, tenant: Any, collection: str, names: list[str]) -> None:
        self.both(lambda store: store.delete_artifacts(tenant, collection, names))

    @rule(tenant=TENANTS, collection=COLLECTIONS, name=NAMES, note=st.sampled_from(["x", "y"]))
    def update(self, tenant: Any, collection: str, name: str, note: str) -> None:
        metadata = samples.metadata(note=note)
        self.both(
            lambda store: store.update_artifact(
                tenant, collection, name, f"{note}.md", metadata, note
            )
        )

    @rule(tenant=TENANTS, collection=COLLECTIONS, names=st.lists(NAMES, min_size=1, unique=True))
    def delete_matching(self, tenant: Any, collection: str, names: list[str]) -> None:
        where = Condition("artifact", Operator.IN, tuple(names))
        self.both(lambda store: store.delete_matching(tenant, collection, where))

    @rule()
    def restart(self) -> None:
        self.writer.close()
        self.writer = open_writer(self.address)
        self.both(lambda store: store.abandon_unfinished())

    @invariant()
    def same(self) -> None:
        assert_same(self.reader, self.model)

    @invariant()
    def contents_are_those_of_the_artifacts(self) -> None:
        for tenant in (samples.ACME, samples.GLOBEX):
            for version in range(4):
                content_id = samples.content(version).content_id
                held = (tenant, content_id) in self.model.contents
                assert self.reader.has_content(tenant, content_id) == held


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_any_sequence_of_writes_leaves_the_store_as_the_model(engine: str) -> None:
    machine = type("StoreMachine", (StoreMachine,), {"engine": engine})
    run = settings(
        max_examples=30,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(machine, settings=run)
