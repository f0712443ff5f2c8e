"""Check and repair of what is under way: drafts and operations."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import pytest

from store.samples import ACME, collection, content, new_artifact, operation, reserved
from treespan.errors import StoreDamaged
from treespan.store import back_up, check_store, open_reader, open_writer, repair, restore, vacuum
from treespan.store.checksum import bytes_checksum
from treespan.store.drafts import pack_draft
from treespan.store.records import Draft, OperationState

if TYPE_CHECKING:
    from pathlib import Path

    from treespan.store.interface import Reader
    from treespan.store.records import Content

WAITING = replace(content(3), vectors=b"")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with a draft and three operations: one succeeded, one failed, one under way."""
    folder = tmp_path / "data"
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
        for number, name in enumerate("abc", 1):
            writer.begin_operation(operation(number, name, request_id=name), reserved(name))
        writer.commit_artifact(new_artifact("a", content(1), operation=operation(1).operation))
        writer.end_operation(ACME, operation(2).operation, OperationState.FAILED, b"why")
        writer.save_draft(Draft(new_artifact("b", WAITING)))
    return folder


def sql(folder: Path, statements: str, *values: object) -> list[tuple[object, ...]]:
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        return connection.execute(statements, values).fetchall()  # type: ignore[arg-type]


def whats(folder: Path) -> list[str]:
    return [finding.what for finding in check_store(folder).findings]


def work(store: Reader) -> tuple[object, ...]:
    """Return all operations with their requests, and the draft."""
    found = store.operations(ACME, "", (), "", 100)
    whole = [store.operation(ACME, record.operation) for record in found]
    return (whole, store.draft(ACME, "papers", "b"))


def test_sound_drafts_and_operations_have_no_findings(folder: Path) -> None:
    assert check_store(folder, full=True).findings == ()
    report = repair(folder, full=True)
    assert (report.findings, report.repaired) == ((), ())


def test_drafts_and_operations_survive_backup_and_restore_and_vacuum(
    folder: Path, tmp_path: Path
) -> None:
    with closing(open_reader(folder)) as reader:
        before = work(reader)
    back_up(folder, tmp_path / "backup")
    restore(tmp_path / "other", tmp_path / "backup")
    for of in (folder, tmp_path / "other"):
        vacuum(of)
        repair(of)
        with closing(open_writer(of)) as writer:
            assert work(writer) == before
            assert [found.artifact for found in writer.unfinished_operations()] == ["c"]
            assert writer.abandon_unfinished() == 0
        assert whats(of) == []


def test_flipped_bit_in_a_draft_is_found_and_its_artifact_named(folder: Path) -> None:
    [(packed,)] = sql(folder, "SELECT packed FROM draft")
    assert isinstance(packed, bytes)
    flipped = bytearray(packed)
    flipped[len(flipped) // 2] ^= 4
    sql(folder, "UPDATE draft SET packed = ?", bytes(flipped))
    for found in (check_store(folder).findings, repair(folder).findings):
        [finding] = found
        assert "checksum" in finding.what
        assert finding.where == "draft of artifact acme/papers/b"
        assert not finding.repairable
        assert finding.advice == "ingest papers/b of tenant acme again"
    with (
        closing(open_reader(folder)) as reader,
        pytest.raises(StoreDamaged, match=r"'b' that waits is damaged: .*checksum"),
    ):
        reader.draft(ACME, "papers", "b")


def stored(folder: Path, packed: bytes) -> None:
    """Put other bytes in the place of the draft's, with the checksum that is theirs."""
    sql(folder, "UPDATE draft SET packed = ?, checksum = ?", packed, bytes_checksum(packed))


def test_draft_of_bytes_that_are_none_is_damaged_and_no_fault_of_ours(folder: Path) -> None:
    stored(folder, b"\xc1")
    assert "packed draft is damaged" in whats(folder)[0]
    with closing(open_reader(folder)) as reader, pytest.raises(StoreDamaged, match="packed draft"):
        reader.draft(ACME, "papers", "b")


NONSENSE: dict[str, tuple[Content, str]] = {
    "half a tree": (replace(WAITING, tree=WAITING.tree[:-1]), "packed tree should have"),
    "nodes": (replace(WAITING, node_count=9), "it is said to have 9 nodes and has 4"),
    "tokens": (replace(WAITING, token_count=9), "it is said to have 9 tokens and has 21"),
    "chunks": (replace(WAITING, vector_nodes=WAITING.vector_nodes[:-4]), "are to have a vector"),
    "cells": (
        replace(WAITING, cells=(replace(WAITING.cells[0], node=4),)),
        "its tree of 4 nodes does not have",
    ),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_draft_that_makes_no_sense_is_found(folder: Path, case: str) -> None:
    content, expected = NONSENSE[case]
    stored(folder, pack_draft(Draft(new_artifact("b", content))))
    [what] = whats(folder)
    assert expected in what


def test_draft_of_another_version_than_its_id_says_is_found(folder: Path) -> None:
    sql(folder, "UPDATE draft SET doc_id = 'x'")
    assert whats(folder) == ["x is not the id of this version"]


def test_draft_of_an_artifact_that_is_not_initialized_is_found(folder: Path) -> None:
    sql(folder, "UPDATE artifact SET state = 1 WHERE name = 'b'")
    assert whats(folder) == ["its artifact is NOT_INITIALIZED although a version of it waits"]


def test_draft_whose_artifact_is_gone_is_found_and_dropped(folder: Path) -> None:
    with closing(open_reader(folder)) as reader:
        operations = reader.operations(ACME, "", (), "", 100)
    sql(folder, "DELETE FROM artifact WHERE name = 'b'")  # without looking at references
    found = check_store(folder).findings
    assert "1 rows belong to nothing" in [finding.what for finding in found]
    assert all(finding.repairable for finding in found)
    assert repair(folder).findings == ()
    assert sql(folder, "SELECT count(*) FROM draft") == [(0,)]
    with closing(open_reader(folder)) as reader:
        assert reader.operations(ACME, "", (), "", 100) == operations


IMPOSSIBLE = {
    "UPDATE operation SET seq = 99 WHERE state = 3": "its change 99 is none; the newest is 2",
    "UPDATE operation SET seq = -1 WHERE state = 3": "its change -1 is none; the newest is 2",
    "UPDATE operation SET seq = 1 WHERE state = 4": "its state 4 and change 1 do not go together",
    "UPDATE operation SET seq = 1 WHERE state = 1": "its state 1 and change 1 do not go together",
    "UPDATE operation SET state = 9 WHERE state = 1": "its state 9 is none",
    "UPDATE operation SET kind = 0 WHERE state = 1": "its kind 0 is none",
    "UPDATE operation SET ended_us = 0 WHERE state = 4": "its state 4 and an end at 0 do not go "
    "together",
    "UPDATE operation SET ended_us = 7 WHERE state = 1": "its state 1 and an end at 7 do not go "
    "together",
}


@pytest.mark.parametrize("damage", IMPOSSIBLE)
def test_operation_that_stands_as_none_can_is_found_and_left_as_it_is(
    folder: Path, damage: str
) -> None:
    sql(folder, f"PRAGMA ignore_check_constraints = ON; {damage}")
    before = sql(folder, "SELECT * FROM operation ORDER BY id")
    for found in (check_store(folder).findings, repair(folder).findings):
        [finding] = found
        assert finding.what == IMPOSSIBLE[damage]
        assert finding.where.startswith("operation acme/operation 0000000")
        assert not finding.repairable
    assert sql(folder, "SELECT * FROM operation ORDER BY id") == before


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ("UPDATE artifact SET state = 7 WHERE name = 'c'", "artifact acme/papers/c"),
        ("UPDATE artifact SET state = 3 WHERE name = 'c'", "artifact acme/papers/c"),
        ("UPDATE artifact SET key = NULL WHERE name = 'a'", "artifact acme/papers/a"),
        ("UPDATE op_log SET change = 8 WHERE seq = 2", "op_log"),
    ],
)
def test_row_that_breaks_a_rule_of_its_table_is_named(
    folder: Path, damage: str, where: str
) -> None:
    sql(folder, f"PRAGMA ignore_check_constraints = ON; {damage}")
    for found in (check_store(folder).findings, repair(folder).findings):
        [finding] = found
        assert (finding.where, finding.repairable) == (where, False)


@pytest.mark.parametrize("table", ["draft", "operation", "operation_by_tenant"])
def test_table_of_work_that_a_store_lacks_is_named(folder: Path, table: str) -> None:
    sql(folder, f"DROP {'INDEX' if '_by_' in table else 'TABLE'} {table}")
    assert f"'{table}' is missing" in whats(folder)
