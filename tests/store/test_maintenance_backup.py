"""Backup and restore of a store, while others read and write, and when the process is killed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from store.crash_writer import step
from store.model import ModelStore, assert_same
from store.processes import python
from store.samples import ACME, collection, content, new_artifact
from treespan.errors import InvalidField, StoreDamaged, StoreUnavailable
from treespan.store import back_up, check_store, open_reader, open_writer, restore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.store.interface import Writer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def writer(folder: Path) -> Iterator[Writer]:
    with closing(open_writer(folder)) as opened:
        fill(opened)
        yield opened


def fill(store: Writer | ModelStore) -> None:
    """Write a few versions of a few artifacts; the last change is 12."""
    store.create_collection(collection())
    for number in range(10):
        what = content(number, sections=50)
        store.commit_artifact(new_artifact("abc"[number % 3], what))
    store.delete_artifact(ACME, "papers", "b")


def filled() -> ModelStore:
    model = ModelStore()
    fill(model)
    return model


def placed(backup: Path, folder: Path) -> Path:
    """Return the folder of a store that is nothing but a backup under the store's name."""
    folder.mkdir()
    shutil.copy(backup, folder / "store.db")
    return folder


def test_backup_is_one_file_that_holds_the_store(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    report = back_up(folder, tmp_path / "a.treespan")
    assert report.snapshot.seq == 12
    assert report.snapshot.epoch == writer.epoch()
    assert report.size_bytes == (tmp_path / "a.treespan").stat().st_size
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.treespan", "data"]
    with closing(open_reader(placed(tmp_path / "a.treespan", tmp_path / "copy"))) as reader:
        assert_same(reader, filled())


def test_backup_replaces_nothing_but_plain_files(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "elsewhere")
    inside = folder / "spool"
    inside.mkdir()
    for target in (pipe, link, inside / "a"):
        with pytest.raises(InvalidField):
            back_up(folder, target, force=True)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_backup_follows_no_link_where_it_writes(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (tmp_path / ".a.treespan-part").symlink_to(precious)
    with pytest.raises(StoreUnavailable):
        back_up(folder, tmp_path / "a")
    assert precious.read_text() == "kept"


def test_backup_during_writes_of_another_process_is_the_store_at_its_seq(
    folder: Path, tmp_path: Path
) -> None:
    process = python("store.crash_writer", str(folder), "0", stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        with process:
            for line in process.stdout:
                if int(line) == 60:
                    break
            reports = [back_up(folder, tmp_path / f"{number}.treespan") for number in range(3)]
            process.kill()
    finally:
        process.kill()
    seqs = [report.snapshot.seq for report in reports]
    assert seqs == sorted(seqs)
    model, number = ModelStore(), 0
    for place, seq in enumerate(seqs):
        while len(model.log) < seq:
            step(model, number)
            number += 1
        copy = placed(tmp_path / f"{place}.treespan", tmp_path / f"copy {place}")
        with closing(open_reader(copy)) as reader:
            assert_same_but_for_reserved(reader, model, number)
        assert check_store(copy, full=True).findings == ()


def assert_same_but_for_reserved(reader: object, model: ModelStore, number: int) -> None:
    """Compare with the model now, or after a few more steps that changed nothing visible."""
    seq = len(model.log)
    for _ in range(50):
        try:
            assert_same(reader, model)  # type: ignore[arg-type]
        except AssertionError:
            step(model, number)
            number += 1
            assert len(model.log) == seq
        else:
            return
    pytest.fail("the backup is no state of the store")


def test_backup_refuses_what_exists_and_overwrites_when_forced(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "a.treespan"
    target.write_text("precious")
    with pytest.raises(InvalidField, match="exists"):
        back_up(folder, target)
    assert target.read_text() == "precious"
    assert back_up(folder, target, force=True).snapshot.seq == 12
    with pytest.raises(InvalidField, match="is a folder"):
        back_up(folder, tmp_path, force=True)
    with pytest.raises(InvalidField, match="own folder"):
        back_up(folder, folder / "store.db", force=True)
    with pytest.raises(InvalidField, match="no folder"):
        back_up(folder, tmp_path / "nowhere" / "a")


def test_backup_of_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no store in"):
        back_up(tmp_path / "data", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def on_a_full_disk(what: str, folder: Path, file: Path) -> str:
    """Run an operation in a process whose files may not grow; return the error it prints."""
    arguments = (what, str(folder), str(file))
    process = python("store.limited_backup", *arguments, stdout=subprocess.PIPE)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output


def test_backup_to_a_disk_that_is_full_leaves_nothing(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    said = on_a_full_disk("back_up", folder, tmp_path / "a.treespan")
    assert said.startswith("UNAVAILABLE the backup to")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_restore_on_a_disk_that_is_full_changes_nothing(folder: Path, tmp_path: Path) -> None:
    with closing(open_writer(folder)) as writer:
        fill(writer)
        epoch = writer.epoch()
        back_up(folder, tmp_path / "a.treespan")
    said = on_a_full_disk("restore", folder, tmp_path / "a.treespan")
    assert said.startswith("UNAVAILABLE the disk of the store")
    assert not [*folder.glob("*.restoring*"), *folder.glob("*.before-*")]
    with closing(open_reader(folder)) as reader:
        assert reader.epoch() == epoch
        assert_same(reader, filled())


def test_killed_backups_leave_nothing_under_the_name(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "a.treespan"
    writer.commit_artifact(new_artifact("big", content(1, sections=20_000)))
    chance = random.Random(20240607)
    for _ in range(4):
        process = python("store.repeat_backup", str(folder), str(target), stdout=subprocess.PIPE)
        assert process.stdout is not None
        with process:
            steps = [process.stdout.readline() for _ in range(chance.randint(1, 25))]
            process.kill()
        assert steps[-1]
        if target.exists():
            copy = placed(target, tmp_path / "copy")
            assert check_store(copy).findings == ()
            shutil.rmtree(copy)
            target.unlink()
    assert back_up(folder, target).snapshot.seq == 13
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.treespan", "data"]


def test_restored_store_holds_the_backup_in_a_new_epoch(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    back_up(folder, tmp_path / "a.treespan")
    report = restore(tmp_path / "copy", tmp_path / "a.treespan")
    assert report.snapshot.seq == 12
    assert report.kept == ""
    with closing(open_reader(tmp_path / "copy")) as reader:
        assert_same(reader, filled())
        assert reader.epoch() == report.snapshot.epoch
        assert reader.epoch() not in {"", writer.epoch()}
    with closing(open_writer(tmp_path / "copy")) as restored:
        assert restored.commit_artifact(new_artifact("d", content(1))) == 13
    assert check_store(tmp_path / "copy", full=True).findings == ()


def test_restore_refuses_while_an_ingest_runs_and_where_something_is_kept(
    writer: Writer, folder: Path, tmp_path: Path
) -> None:
    back_up(folder, tmp_path / "a.treespan")
    with pytest.raises(StoreUnavailable, match="ingest"):
        restore(folder, tmp_path / "a.treespan", force=True)
    writer.close()
    with pytest.raises(StoreUnavailable, match="not empty"):
        restore(folder, tmp_path / "a.treespan")
    with pytest.raises(InvalidField, match="the store itself"):
        restore(folder, folder, force=True)
    with pytest.raises(InvalidField, match="no file"):
        restore(folder, tmp_path / "nowhere")


def test_forced_restore_keeps_the_former_store_aside(folder: Path, tmp_path: Path) -> None:
    with closing(open_writer(folder)) as writer:
        fill(writer)
        back_up(folder, tmp_path / "a.treespan")
        writer.delete_collection(ACME, "papers", force=True)
    report = restore(folder, tmp_path / "a.treespan", force=True)
    with closing(open_reader(folder)) as reader:
        assert_same(reader, filled())
    with closing(apsw.Connection(report.kept)) as kept:
        assert kept.execute("SELECT count(*), max(seq) FROM artifact, op_log").fetchall() == [
            (0, None)
        ]
        assert kept.execute("SELECT max(seq) FROM op_log").get == 13


def test_empty_store_is_replaced_without_force(folder: Path, tmp_path: Path) -> None:
    with closing(open_writer(tmp_path / "other")) as writer:
        fill(writer)
        back_up(tmp_path / "other", tmp_path / "a.treespan")
    open_writer(folder).close()
    assert restore(folder, tmp_path / "a.treespan").kept == ""
    with closing(open_reader(folder)) as reader:
        assert_same(reader, filled())


def test_reader_at_work_in_another_process_sees_the_restored_store(
    folder: Path, tmp_path: Path
) -> None:
    with closing(open_writer(folder)) as writer:
        fill(writer)
        back_up(folder, tmp_path / "a.treespan")
        writer.delete_artifact(ACME, "papers", "a")
        former = writer.epoch()
        process = python("store.watch_epoch", str(folder), stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == f"{former} 13\n"
    with process:
        try:
            report = restore(folder, tmp_path / "a.treespan", force=True)
            assert process.stdout.readline() == f"{report.snapshot.epoch} 12\n"
            with closing(open_writer(folder)) as writer:
                writer.commit_artifact(new_artifact("d", content(1)))
            assert process.stdout.readline() == f"{report.snapshot.epoch} 13\n"
        finally:
            process.kill()
    assert check_store(folder, full=True).findings == ()


@pytest.mark.parametrize("damage", ["text", "half", "foreign", "flipped"])
def test_what_is_no_sound_backup_is_refused_and_changes_nothing(
    writer: Writer, folder: Path, tmp_path: Path, damage: str
) -> None:
    backup = tmp_path / "a.treespan"
    back_up(folder, backup)
    whole = backup.read_bytes()
    if damage == "text":
        backup.write_text("not a backup, but long enough to be taken for one\n" * 100)
    elif damage == "half":
        backup.write_bytes(whole[: len(whole) // 2])
    elif damage == "foreign":
        backup.unlink()
        with closing(apsw.Connection(str(backup))) as other:
            other.execute("CREATE TABLE notes (text)")
    else:
        backup.write_bytes(whole[:4096] + bytes(4096) + whole[8192:])
    with pytest.raises((StoreDamaged, StoreUnavailable)):
        restore(tmp_path / "copy", backup)
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == [
        "upkeep.lock",
        "writer.lock",
    ]


def test_damaged_store_can_be_replaced_and_is_kept_with_its_log(
    folder: Path, tmp_path: Path
) -> None:
    with closing(open_writer(folder)) as writer:
        fill(writer)
        back_up(folder, tmp_path / "a.treespan")
    (folder / "store.db").write_bytes(b"nothing of a database" * 1000)
    (folder / "store.db-wal").write_bytes(b"nor a log" * 1000)
    with pytest.raises(StoreUnavailable, match="not empty"):
        restore(folder, tmp_path / "a.treespan")
    report = restore(folder, tmp_path / "a.treespan", force=True)
    with closing(open_reader(folder)) as reader:
        assert_same(reader, filled())
    assert Path(report.kept).read_bytes() == b"nothing of a database" * 1000
    assert Path(report.kept + "-wal").read_bytes() == b"nor a log" * 1000
    assert len(list(folder.glob("*.before-*"))) == 2


def test_killed_restores_leave_the_one_store_or_the_other(folder: Path, tmp_path: Path) -> None:
    with closing(open_writer(folder)) as writer:
        fill(writer)
        writer.commit_artifact(new_artifact("big", content(1, sections=5000)))
        back_up(folder, tmp_path / "a.treespan")
        writer.delete_artifact(ACME, "papers", "a")
    chance = random.Random(20240607)
    for _ in range(6):
        process = python(
            "store.repeat_restore",
            str(folder),
            str(tmp_path / "a.treespan"),
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        with process:
            steps = [process.stdout.readline() for _ in range(chance.randint(1, 40))]
            process.kill()
        assert steps[-1]
        assert check_store(folder).findings == ()
        with closing(open_reader(folder)) as reader:
            assert reader.last_seq() in {13, 14}
    report = restore(folder, tmp_path / "a.treespan", force=True)
    assert report.snapshot.seq == 13
    store = folder / "store.db"
    assert store.stat().st_nlink == 1
    assert not list(folder.glob("*.restoring*"))
