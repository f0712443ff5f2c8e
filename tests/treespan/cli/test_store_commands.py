"""The commands that work on the store itself."""

from __future__ import annotations

import json
from contextlib import closing

import apsw
import pytest
from click.testing import CliRunner

from store.samples import collection, content, new_artifact
from treespan.cli import main
from treespan.store import open_reader, open_writer


@pytest.fixture
def folder(tmp_path):
    """A store with two artifacts; its last change is 3."""
    folder = tmp_path / "data"
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
        writer.commit_artifact(new_artifact("a", content(1)))
        writer.commit_artifact(new_artifact("b", content(2)))
    return folder


@pytest.fixture
def run(tmp_path, folder, monkeypatch):
    """Run a command line whose settings name the store."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(
            main, list(map(str, arguments)), env={"TREESPAN__STORE__PATH": str(folder)}
        )

    return run


def answer(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_backup_says_what_it_holds(run, tmp_path):
    done = run("backup", "a.treespan")
    assert done.exit_code == 0, done.output
    assert "2 artifacts in 1 collection, up to change 3" in done.stdout
    made = answer(run("backup", "b.treespan", "--json"))
    assert made["snapshot"]["seq"] == 3
    assert made["size_bytes"] == (tmp_path / "b.treespan").stat().st_size


def test_backup_that_would_overwrite_ends_with_one_line(run):
    run("backup", "a.treespan")
    done = run("backup", "a.treespan")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: target: a.treespan exists")
    assert done.stderr.count("\n") == 1
    assert run("backup", "a.treespan", "--force").exit_code == 0


def test_backup_is_restored_into_another_store(run, tmp_path):
    run("backup", "a.treespan")
    restored = answer(run("restore", "a.treespan", "--store", "other", "--json"))
    assert restored["snapshot"]["artifacts"] == 2
    assert restored["kept"] == ""
    with closing(open_reader(tmp_path / "other")) as reader:
        assert reader.epoch() == restored["snapshot"]["epoch"]


def test_restore_over_a_store_asks_for_force_and_keeps_it(run, tmp_path):
    run("backup", "a.treespan")
    done = run("restore", "a.treespan")
    assert done.exit_code == 1
    assert "not empty" in done.stderr
    done = run("restore", "a.treespan", "--force")
    assert done.exit_code == 0, done.output
    kept = done.stdout.splitlines()[-1].removeprefix("the former store is kept as ")
    assert (tmp_path / kept).exists()


def test_check_of_a_sound_store_says_so(run):
    done = run("check", "--full")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("all is well: 2 artifacts in 1 collection, up to change 3")
    assert answer(run("check", "--json"))["findings"] == []


def test_check_names_damage_with_exit_code_1_and_repairs_what_can_be(run, folder):
    with closing(apsw.Connection(str(folder / "store.db"))) as store:
        store.execute("DELETE FROM attribute")
    done = run("check")
    assert done.exit_code == 1
    assert "artifact acme/papers/a" in done.stdout
    assert "treespan check --repair" in done.stdout
    found = json.loads(run("check", "--json").stdout)
    assert [finding["repairable"] for finding in found["findings"]] == [True, True]
    done = run("check", "--repair")
    assert done.exit_code == 0, done.output
    assert "repaired" in done.stdout
    assert run("check").exit_code == 0


def test_damage_that_cannot_be_repaired_says_what_to_do(run, folder):
    with closing(apsw.Connection(str(folder / "store.db"))) as store:
        store.execute("UPDATE content_bytes SET cells = x'9090' WHERE content = 1")
    done = run("check", "--repair")
    assert done.exit_code == 1
    assert "delete papers/a and ingest again" in done.stdout


def test_vacuum_says_how_much_there_was_and_is(run):
    done = run("vacuum")
    assert done.exit_code == 0, done.output
    assert " MB before, " in done.stdout
    report = answer(run("vacuum", "--json"))
    assert report["bytes_after"] <= report["bytes_before"]


def test_stats_show_counts_of_each_collection(run, folder):
    done = run("stats")
    assert done.exit_code == 0, done.output
    assert "acme" in done.stdout
    assert "papers" in done.stdout
    found = answer(run("stats", "--json"))
    assert found["collections"][0]["artifacts"] == 2
    assert found["snapshot"]["seq"] == 3
    assert found["file_bytes"] == (folder / "store.db").stat().st_size


@pytest.mark.parametrize("arguments", [("backup", "x"), ("check",), ("vacuum",), ("stats",)])
def test_commands_on_no_store_say_so(run, arguments):
    done = run(*arguments, "--store", "nowhere")
    assert done.exit_code == 1
    assert "there is no store in nowhere" in done.stderr


def test_store_of_an_engine_that_is_not_known_is_said(run):
    done = run("stats", "--store", "oracle://user:secret@host/db")
    assert done.exit_code == 1
    assert "secret" not in done.output
