"""What a filter costs in SQLite: which index each statement walks, and how far.

Costs are steps of SQLite's machine, which do not depend on how busy the computer is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import pytest

from store import samples
from treespan.filters import All, Condition, Not, Operator
from treespan.filters import Any as AnyOf
from treespan.store.records import CollectionRecord, Tenant
from treespan.store.sqlite.filters import matching, matching_artifacts
from treespan.store.sqlite.tables import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.filters import Filter

O = Operator  # noqa: E741
NODES = 20


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    opened = apsw.Connection(":memory:")
    opened.execute(SCHEMA)
    yield opened
    opened.close()


def fill(
    connection: apsw.Connection, artifacts: int, tenant: Tenant = samples.ACME, name: str = "papers"
) -> CollectionRecord:
    """Write a collection; ten of its artifacts have `rare`, half have `half`, all have `year`."""
    record = samples.collection(name, tenant)
    connection.execute(
        "INSERT INTO collection (tenant, name, display_name, embedding_model,"
        " embedding_fingerprint, dimension, chunk_tokens, created_seq, created_us, updated_us)"
        " VALUES (?, ?, '', '', '', 8, 100, 1, 1, 1)",
        (tenant, name),
    )
    collection = connection.last_insert_rowid()
    first = connection.execute("SELECT ifnull(max(id), 0) + 1 FROM artifact").get
    for place, artifact in enumerate(range(first, first + artifacts)):
        connection.execute(
            "INSERT INTO content VALUES"
            " (?, ?, ?, '', 1, '', '', '', 0, 1, 1, 1, '[]', '', x'', '', '[]')",
            (artifact, tenant, f"content {artifact}"),
        )
        connection.execute(
            "INSERT INTO artifact (id, tenant, collection, name, state, file_name, metadata,"
            " doc_id, content_id, key, revision, ingested_us, created_us, updated_us)"
            " VALUES (?1, ?2, ?3, ?4, 3, '', x'', ?4, 'content ' || ?1, ?1, ?1, 1, 1, 1)",
            (artifact, tenant, name, f"name {artifact}"),
        )
        attributes = [("artifact", 1, f"name {artifact}", 0), ("metadata.year", 2, place, 0)]
        attributes += [("metadata.half", 3, place % 2, 0), ("metadata.text", 1, "some words", 0)]
        attributes += [("metadata.tags", 1, "common", 1)]
        if place < 10:
            attributes += [("metadata.rare", 2, 1, 0), ("metadata.tags", 1, "rare", 1)]
        connection.executemany(
            "INSERT INTO attribute VALUES (?, ?, ?, ?, ?, ?)",
            ((collection, *row[:3], artifact, row[3]) for row in attributes),
        )
        connection.executemany(
            "INSERT INTO chunk (content, node, kind, page_start, page_end) VALUES (?, ?, 3, 1, 1)",
            ((artifact, node) for node in range(1, 3)),
        )
        spans = [("kind", 1, "TEXT", 1, 3), ("page", 2, 1, 1, 3)]
        spans += [("heading", 1, "rare" if place < 10 else "common", 1, 3)]
        spans += [("row.cell", 2, 1 if place < 10 else 2, 1, 2)]
        connection.executemany(
            "INSERT INTO span VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((collection, *row[:3], artifact, *row[3:]) for row in spans),
        )
    return record


class Watched:
    """Statements that ran on a connection, and what they cost."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.statements: dict[str, tuple[Any, ...]] = {}
        self.steps = 0
        self._connection = connection

    def __enter__(self) -> Watched:
        self._connection.exec_trace = self._seen
        self._connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._ended)
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.exec_trace = None
        self._connection.trace_v2(0)

    def _seen(self, _: object, statement: str, values: Any) -> bool:
        self.statements[statement] = values or ()
        return True

    def _ended(self, event: dict[str, Any]) -> None:
        self.steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]


def is_(key: str, operator: Operator, *values: str | int | bool) -> Condition:
    return Condition(key, operator, values)


RARE = is_("rare", O.EQ, 1)
COMMON = is_("half", O.EQ, True)
SELECTIVE: list[Filter] = [
    RARE,
    is_("rare", O.IN, 1, 2, 3),
    is_("rare", O.GTE, 1),
    is_("rare", O.EXISTS),
    is_("tags", O.EQ, "rare"),
    is_("artifact", O.IN, "name 3", "name 5"),
    All((RARE, COMMON)),
    All((COMMON, RARE, is_("text", O.TEXT_MATCH, "words"), Not(is_("half", O.EQ, False)))),
    All((is_("year", O.GTE, 0), is_("text", O.CONTAINS, "some"), RARE)),
    AnyOf((RARE, is_("artifact", O.EQ, "name 3"))),
    is_("heading", O.EQ, "rare"),
    is_("row.cell", O.LT, 2),
    All((is_("kind", O.EQ, "TEXT"), is_("row.cell", O.EQ, 1))),
    All((RARE, is_("page", O.EQ, 1), is_("heading", O.NE, "common"))),
]
OTHERS: list[Filter] = [
    is_("tags", O.CONTAINS, "rare"),
    Not(RARE),
    is_("text", O.TEXT_MATCH, "words"),
    is_("text", O.CONTAINS_ALL, "some", "words"),
    is_("tags", O.CONTAINS_ALL, "rare", "common"),
    is_("tags", O.IS_EMPTY),
    is_("page", O.EQ, 1),
    AnyOf((is_("heading", O.EQ, "rare"), COMMON)),
    Not(is_("row.cell", O.EQ, 1)),
]


def steps(connection: apsw.Connection, record: CollectionRecord, where: Filter) -> int:
    """Return what a filter costs, its statements known already."""
    matching(connection, record, where)
    with Watched(connection) as watched:
        matching(connection, record, where)
    return watched.steps


@pytest.mark.parametrize("where", SELECTIVE)
def test_a_filter_with_few_matches_costs_the_same_among_1_000_and_20_000(where: Filter) -> None:
    costs = []
    for artifacts in (1_000, 20_000):
        connection = apsw.Connection(":memory:")
        connection.execute(SCHEMA)
        record = fill(connection, artifacts)
        costs.append(steps(connection, record, where))
        connection.close()
    assert costs[1] <= 1.5 * costs[0]


def test_other_collections_and_tenants_cost_nothing(connection: apsw.Connection) -> None:
    record = fill(connection, 200)
    before = [steps(connection, record, where) for where in SELECTIVE + OTHERS]
    assert min(before) > 0
    fill(connection, 1_000, name="other")
    fill(connection, 1_000, tenant=samples.GLOBEX)
    after = [steps(connection, record, where) for where in SELECTIVE + OTHERS]
    assert after == pytest.approx(before, rel=0.01)


@pytest.mark.parametrize("where", SELECTIVE + OTHERS)
def test_no_statement_scans_a_table(connection: apsw.Connection, where: Filter) -> None:
    record = fill(connection, 20)
    with Watched(connection) as watched:
        matching(connection, record, where)
        if not any(key in repr(where) for key in ("page", "heading", "kind", "row.")):
            matching_artifacts(connection, record, where)
    plans = [
        detail
        for statement, values in watched.statements.items()
        for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
    ]
    assert any("SEARCH" in detail for detail in plans)
    scans = {detail for detail in plans if detail.startswith("SCAN")}
    harmless = ("VIRTUAL TABLE", "CONSTANT ROW", "(subquery", "sqlite_sequence")
    assert [scan for scan in scans if not any(word in scan for word in harmless)] == []
    for table in ("attribute", "span"):
        walks = [d for d in plans if d.startswith("SEARCH x") and table in d]
        assert all("collection=? AND key=?" in walk or "artifact=?" in walk for walk in walks)


def test_nothing_of_a_filter_is_in_a_statement(connection: apsw.Connection) -> None:
    record = fill(connection, 20)
    with Watched(connection) as watched:
        for operator in (O.EQ, O.NE, O.GT, O.CONTAINS, O.TEXT_MATCH):
            matching(connection, record, is_("row.Qx7", operator, "Qx7"))
            matching(connection, record, is_("Qx7", operator, "Qx7"))
        for operator in (O.IN, O.CONTAINS_ANY, O.CONTAINS_ALL):
            matching(connection, record, is_("Qx7", operator, "Qx7", "Qx7 too"))
    assert watched.statements
    assert not [statement for statement in watched.statements if "Qx7" in statement]


def test_a_narrow_condition_spares_the_wide_ones_beside_it(connection: apsw.Connection) -> None:
    record = fill(connection, 5_000)
    assert steps(connection, record, All((COMMON, RARE))) < steps(connection, record, COMMON) / 10
