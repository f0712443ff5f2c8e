"""Vacuum of a store beside a process that writes and one that reads."""

from __future__ import annotations

import random
import subprocess
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import pytest

from store.crash_writer import step
from store.model import ModelStore, assert_same
from store.processes import python
from store.samples import ACME, collection, content, new_artifact, operation, reserved
from treespan.errors import StoreUnavailable
from treespan.store import check_store, open_reader, open_writer, store_stats, vacuum
from treespan.store.records import Draft, OperationState
from treespan.store.upkeep import sqlite_vacuum
from treespan.store.upkeep.upkeep_lock import UpkeepLock

if TYPE_CHECKING:
    from pathlib import Path

SECTIONS = 2000
"""About 400 kB a version."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def replaced(folder: Path, versions: int) -> None:
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
        for version in range(versions):
            writer.commit_artifact(new_artifact("a", content(version, SECTIONS)))


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("store.db*") if "-shm" not in path.name)


def test_space_of_replaced_versions_comes_back_while_others_read_and_write(
    folder: Path, tmp_path: Path
) -> None:
    replaced(tmp_path / "one", 1)
    vacuum(tmp_path / "one")
    replaced(folder, 200)
    small = python("store.small_writer", str(folder), stdout=subprocess.PIPE)
    reader = python("store.watch_epoch", str(folder), stdout=subprocess.PIPE)
    assert small.stdout is not None
    assert reader.stdout is not None
    with small, reader:
        try:
            assert small.stdout.readline()
            assert reader.stdout.readline()
            report = vacuum(folder)
            small.terminate()
            waits = [float(line) for line in small.stdout]
        finally:
            small.kill()
            reader.kill()
    assert report.longest_step_s < 0.1
    assert len(waits) > 1
    assert report.bytes_after < report.bytes_before
    assert size(folder) < 2 * size(tmp_path / "one")
    assert check_store(folder, full=True).findings == ()


def test_vacuum_changes_nothing_that_can_be_read(folder: Path) -> None:
    model = ModelStore()
    with closing(open_writer(folder)) as writer:
        for number in range(150):
            step(writer, number)
            step(model, number)
        vacuum(folder)
        assert_same(writer, model)
        step(writer, 150)
        step(model, 150)
        assert_same(writer, model)


def test_vacuum_keeps_the_newest_changes_and_the_last_seq(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_vacuum, "KEPT_CHANGES", 7)
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
        for version in range(30):
            writer.commit_artifact(new_artifact("a", content(version % 2)))
        assert vacuum(folder).pruned_changes == 24
        assert [change.seq for change in writer.changes_after(0, 100)] == list(range(25, 32))
        assert writer.last_seq() == 31
        assert vacuum(folder).pruned_changes == 0
        assert writer.commit_artifact(new_artifact("a", content(9))) == 32
    assert check_store(folder, full=True).findings == ()


def test_vacuum_waits_for_nobody_who_reads(folder: Path) -> None:
    replaced(folder, 3)
    with closing(apsw.Connection(str(folder / "store.db"))) as reader:
        reader.execute("BEGIN")
        before = reader.execute("SELECT count(*) FROM chunk").get
        report = vacuum(folder)
        assert report.log_bytes_after > 0
        assert reader.execute("SELECT count(*) FROM chunk").get == before
    assert vacuum(folder).log_bytes_after == 0


def test_store_of_an_early_version_is_rewritten_once(folder: Path) -> None:
    replaced(folder, 3)
    with closing(apsw.Connection(str(folder / "store.db"))) as store:
        store.execute("PRAGMA journal_mode = DELETE")
        store.execute("PRAGMA auto_vacuum = NONE")
        store.execute("VACUUM")
        store.execute("PRAGMA journal_mode = WAL")
    vacuum(folder)
    with closing(apsw.Connection(str(folder / "store.db"))) as store:
        assert store.execute("PRAGMA auto_vacuum").get == 2
    assert check_store(folder, full=True).findings == ()


def test_killed_vacuums_leave_a_sound_store(folder: Path) -> None:
    replaced(folder, 40)
    chance = random.Random(20240607)
    for _ in range(5):
        process = python("store.repeat_vacuum", str(folder), stdout=subprocess.PIPE)
        assert process.stdout is not None
        with process:
            for _ in range(chance.randint(1, 60)):
                assert process.stdout.readline()
            process.kill()
        assert check_store(folder, full=True).findings == ()
    with closing(open_reader(folder)) as reader:
        assert reader.last_seq() == 41
        assert reader.artifact(ACME, "papers", "a").title == "Title 39"


def test_vacuum_of_nothing_and_beside_a_restore_is_refused(folder: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no store"):
        vacuum(folder)
    assert not folder.exists()
    replaced(folder, 1)
    with closing(UpkeepLock(folder)), pytest.raises(StoreUnavailable, match="under way"):
        vacuum(folder)


def test_stats_count_what_is_held(folder: Path) -> None:
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
        writer.create_collection(collection("laws"))
        shared = content(1)
        writer.commit_artifact(new_artifact("a", shared))
        writer.commit_artifact(new_artifact("b", content(2, sections=5)))
        writer.commit_artifact(new_artifact("a", shared, collection="laws"))
        found = store_stats(folder)
    laws, papers = found.collections
    assert (laws.tenant, laws.collection, laws.artifacts, laws.contents) == ("acme", "laws", 1, 1)
    assert (laws.shared_contents, laws.vectors, laws.nodes, laws.tokens) == (1, 3, 4, 21)
    assert (papers.artifacts, papers.contents, papers.shared_contents) == (2, 2, 1)
    assert (papers.vectors, papers.nodes, papers.tokens) == (8, 10, 56)
    assert (papers.text_entries, papers.vector_bytes) == (8, 8 * 8 * 4)
    assert papers.tree_bytes == len(shared.tree) + len(content(2, sections=5).tree)
    assert (found.snapshot.seq, found.changes, found.snapshot.contents) == (5, 5, 2)
    assert found.text_index_bytes > 0
    assert found.engine.startswith("sqlite 3.")
    assert (found.cache.segments, found.cache.size_bytes) == (0, 0)
    assert (found.operations, found.unfinished_operations) == (0, 0)
    assert (found.drafts, found.draft_bytes) == (0, 0)


def test_stats_count_operations_and_drafts(folder: Path) -> None:
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
        for number in (1, 2, 3):
            writer.begin_operation(operation(number, "a"), reserved("a"))
        writer.end_operation(ACME, operation(1).operation, OperationState.FAILED, b"")
        waiting = replace(content(1, sections=100), vectors=b"")
        writer.save_draft(Draft(new_artifact("a", waiting)))
    found = store_stats(folder)
    assert (found.operations, found.unfinished_operations, found.drafts) == (3, 2, 1)
    # Little more than its tree: the vectors would be 3,200 bytes.
    assert len(waiting.tree) < found.draft_bytes < len(waiting.tree) + 1_500
