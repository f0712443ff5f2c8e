"""The SQLite store when its writer is killed in the middle of commits.

The writer's steps are known beforehand, so after each kill the store must hold exactly what the
acknowledged steps lead to, or that and the one step that was under way. This is death of a process,
not loss of power. TREESPAN_KILLS sets the number of kills, 5 unless set.
"""

from __future__ import annotations

import copy
import os
import random
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from store.crash_writer import step
from store.model import ModelStore, assert_same
from store.processes import python
from treespan.store import open_reader, open_writer

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("TREESPAN_KILLS", "5"))


def acknowledged_until_killed(address: str, first: int, steps: int) -> int:
    """Run the writer from a step on, kill it behind `steps` answers; return how many it gave."""
    process = python("store.crash_writer", address, str(first), stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process:
        answers = [int(process.stdout.readline()) for _ in range(steps)]
        process.kill()
        # Answers on their way count: the writer gave them.
        answers += [int(line) for line in process.stdout if line.endswith("\n")]
    assert answers == list(range(first, first + len(answers)))
    return len(answers)


def holds(store: Path, model: ModelStore) -> bool:
    with closing(open_reader(store)) as reader:
        try:
            assert_same(reader, model)
        except AssertionError:
            return False
    return True


def assert_sound(file: Path) -> None:
    """Check the file's structure, and that there is no half of a content and no unheld one."""
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    with closing(connection):
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        halves = connection.execute(
            "SELECT count(*) FROM content LEFT JOIN content_bytes ON content = id"
            " WHERE content IS NULL OR length(vectors) <> 4 * 8 * vector_count"
            " OR length(vector_nodes) <> 4 * vector_count"
        ).fetchall()
        assert halves == [(0,)]
        unheld = connection.execute(
            "SELECT count(*) FROM content AS c WHERE NOT EXISTS (SELECT 1 FROM artifact AS a"
            " WHERE a.tenant = c.tenant AND a.content_id = c.content_id)"
        ).fetchall()
        assert unheld == [(0,)]


@pytest.mark.timeout(60 + 10 * KILLS)
def test_killed_writer_loses_nothing_acknowledged_and_leaves_no_halves(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    chance = random.Random(20240607)
    model, done = ModelStore(), 0
    for _ in range(KILLS):
        answered = acknowledged_until_killed(str(folder), done, chance.randint(5, 60))
        for number in range(done, done + answered):
            step(model, number)
        done += answered
        under_way = copy.deepcopy(model)
        step(under_way, done)
        if not holds(folder, model):
            with closing(open_reader(folder)) as reader:
                assert_same(reader, under_way)
            model, done = under_way, done + 1
        assert_sound(folder / "store.db")
    # The lock went with its process: the next one writes on.
    with closing(open_writer(folder)) as writer:
        assert writer.abandon_unfinished() == model.abandon_unfinished()
        assert_same(writer, model)
