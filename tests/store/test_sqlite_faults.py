"""The SQLite store where the disk is full, read-only or damaged, or the file is not its own."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from store.model import ModelStore, assert_same
from store.processes import python
from store.samples import ACME, collection, content, new_artifact
from treespan.errors import StoreDamaged, StoreUnavailable, TooLarge
from treespan.store import open_reader, open_writer
from treespan.store.sqlite.schema import MIGRATIONS, migrate, newest_version
from treespan.store.sqlite.tables import APPLICATION_ID
from treespan.store.sqlite.writer import SqliteWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

NEWEST = newest_version(MIGRATIONS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def writer(folder: Path) -> Iterator[SqliteWriter]:
    with closing(SqliteWriter(folder)) as opened:
        opened.create_collection(collection())
        opened.commit_artifact(new_artifact("a", content(1)))
        yield opened


def small_store() -> ModelStore:
    model = ModelStore()
    model.create_collection(collection())
    model.commit_artifact(new_artifact("a", content(1)))
    return model


def sql(folder: Path, statements: str) -> list[tuple[object, ...]]:
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        return connection.execute(statements).fetchall()


def test_full_disk_is_said_and_changes_nothing(writer: SqliteWriter) -> None:
    pages = writer._connection.execute("PRAGMA page_count").get
    writer._connection.execute(f"PRAGMA max_page_count = {pages + 10}")
    with pytest.raises(StoreUnavailable, match="full"):
        writer.commit_artifact(new_artifact("a", content(2, sections=3000)))
    assert_same(writer, small_store())

    writer._connection.execute("PRAGMA max_page_count = 1000000")
    assert writer.commit_artifact(new_artifact("a", content(2, sections=3000))) == 3


def test_disk_that_stops_taking_bytes_is_said_and_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    process = python("store.limited_writer", str(folder), stdout=subprocess.PIPE)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output == "UNAVAILABLE STORE_UNAVAILABLE\nstill readable\n"
    with closing(open_writer(folder)) as writer:
        assert_same(writer, small_store())
        assert writer.commit_artifact(new_artifact("a", content(2, sections=3000))) == 3


def test_folder_without_write_permission_is_said(tmp_path: Path) -> None:
    """Root may write anywhere, so this runs as another user where the tests run as root."""
    with tempfile.TemporaryDirectory(prefix="treespan-") as name:
        folder = Path(name)
        with closing(open_writer(folder)) as writer:
            writer.create_collection(collection())
        for path in (folder / "store.db", folder / "writer.lock"):
            path.chmod(0o444)
        folder.chmod(0o555)
        user = ["65534"] if os.geteuid() == 0 else []
        process = python("store.open_both", name, *user, stdout=subprocess.PIPE)
        output, _ = process.communicate(timeout=60)
        folder.chmod(0o755)
    assert process.returncode == 0
    write_error, read_error = output.splitlines()
    assert "cannot be written: Permission denied" in write_error
    assert "read-only for this process" in read_error


def test_folder_that_cannot_be_created_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreUnavailable, match="cannot be created: Not a directory"):
        open_writer(tmp_path / "file" / "data")
    with closing(open_reader(tmp_path / "file" / "data")) as reader:
        assert reader.last_seq() == 0


def test_document_beyond_the_engines_limit_is_too_large(writer: SqliteWriter) -> None:
    writer._connection.limit(apsw.SQLITE_LIMIT_LENGTH, 10_000)
    with pytest.raises(TooLarge):
        writer.commit_artifact(new_artifact("a", content(2, sections=3000)))
    assert_same(writer, small_store())


def test_row_that_only_a_fault_of_ours_could_write_is_refused(writer: SqliteWriter) -> None:
    """Such an error is no message for a caller: it stays what it is and becomes INTERNAL."""
    same_doc_id = replace(
        new_artifact("b", content(2)), doc_id=new_artifact("a", content(1)).doc_id
    )
    with pytest.raises(apsw.ConstraintError):
        writer.commit_artifact(same_doc_id)
    assert_same(writer, small_store())


@pytest.mark.parametrize("damage", [b"This is no database.", b"\0" * 100])
def test_file_that_is_no_database_is_damaged(folder: Path, damage: bytes) -> None:
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
    file = folder / "store.db"
    file.write_bytes(damage + file.read_bytes()[len(damage) :])
    with pytest.raises(StoreDamaged, match="restore"):
        open_writer(folder)
    with closing(open_reader(folder)) as reader, pytest.raises(StoreDamaged, match="restore"):
        reader.last_seq()


def test_damaged_page_is_said_where_it_is_read(folder: Path) -> None:
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
    file = folder / "store.db"
    root = sql(folder, "SELECT rootpage FROM sqlite_schema WHERE name = 'collection'")[0][0]
    size = sql(folder, "PRAGMA page_size")[0][0]
    assert isinstance(root, int)
    assert isinstance(size, int)
    pages = bytearray(file.read_bytes())
    pages[(root - 1) * size : root * size] = b"\xff" * size
    file.write_bytes(pages)
    with closing(open_reader(folder)) as reader:
        with pytest.raises(StoreDamaged, match="restore"):
            reader.all_collections()
        assert reader.last_seq() == 1


def test_store_of_a_later_version_is_refused_by_both(folder: Path) -> None:
    open_writer(folder).close()
    sql(folder, "PRAGMA user_version = 99")
    with pytest.raises(StoreUnavailable, match=r"schema 99 .* later treespan"):
        open_writer(folder)
    with closing(open_reader(folder)) as reader:
        assert reader.changed()
        with pytest.raises(StoreUnavailable, match=r"schema 99 .* later treespan"):
            reader.last_seq()
    assert sql(folder, "PRAGMA user_version") == [(99,)]


def test_refused_folder_is_not_left_locked(folder: Path) -> None:
    open_writer(folder).close()
    sql(folder, "PRAGMA user_version = 99")
    with pytest.raises(StoreUnavailable):
        open_writer(folder)
    sql(folder, f"PRAGMA user_version = {NEWEST}")
    open_writer(folder).close()


@pytest.mark.parametrize(
    "foreign",
    ["CREATE TABLE notes (text TEXT)", "PRAGMA user_version = 1", "PRAGMA user_version=9"],
)
def test_database_of_another_program_is_refused_and_left_alone(folder: Path, foreign: str) -> None:
    folder.mkdir()
    sql(folder, foreign)
    with pytest.raises(StoreUnavailable, match="another program"):
        open_writer(folder)
    with closing(open_reader(folder)) as reader, pytest.raises(StoreUnavailable):
        reader.last_seq()
    assert sql(folder, "SELECT count(*) FROM sqlite_schema WHERE name = 'op_log'") == [(0,)]


def test_store_replaced_by_a_copy_is_noticed(folder: Path, tmp_path: Path) -> None:
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection("first"))
    with closing(open_writer(tmp_path / "other")) as writer:
        writer.create_collection(collection("second"))
    with closing(open_reader(folder)) as reader:
        epoch = reader.epoch()
        reader.changed()
        # Where the log lies beside the file, it goes with it.
        for left in folder.glob("store.db-*"):
            left.unlink()
        (tmp_path / "other" / "store.db").replace(folder / "store.db")
        assert reader.changed()
        assert not reader.changed()
        assert reader.epoch() != epoch
        assert [found.name for found in reader.collections(ACME, "", 10)] == ["second"]
        with closing(open_writer(folder)) as writer:
            reader.changed()
            writer.create_collection(collection("third"))
            assert reader.changed()


def test_reader_refuses_a_store_that_was_not_upgraded_yet(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_writer(folder).close()
    later = (*MIGRATIONS, "CREATE TABLE more (a TEXT) STRICT")
    monkeypatch.setattr("treespan.store.sqlite.schema.MIGRATIONS", later)
    with (
        closing(open_reader(folder)) as reader,
        pytest.raises(StoreUnavailable, match="start the ingest service"),
    ):
        reader.last_seq()


def test_migration_goes_step_by_step_and_keeps_what_is_there(folder: Path) -> None:
    with closing(open_writer(folder)) as writer:
        writer.create_collection(collection())
    later = (
        *MIGRATIONS,
        "ALTER TABLE collection ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",
        "UPDATE collection SET colour = colour || ' and green'",
    )
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        migrate(connection, later)
        migrate(connection, later)
    assert sql(folder, "SELECT name, colour FROM collection") == [("papers", "red and green")]
    assert sql(folder, "PRAGMA user_version") == [(NEWEST + 2,)]


def test_migration_that_fails_is_undone_whole(folder: Path) -> None:
    open_writer(folder).close()
    later = (*MIGRATIONS, "CREATE TABLE more (a TEXT) STRICT; SELECT * FROM no_such_table")
    with (
        closing(apsw.Connection(str(folder / "store.db"))) as connection,
        pytest.raises(apsw.SQLError, match="no_such_table"),
    ):
        migrate(connection, later)
    assert sql(folder, "SELECT count(*) FROM sqlite_schema WHERE name = 'more'") == [(0,)]
    assert sql(folder, "PRAGMA user_version") == [(NEWEST,)]
    open_writer(folder).close()


def test_file_says_that_it_is_a_store(folder: Path) -> None:
    open_writer(folder).close()
    assert (folder / "store.db").read_bytes()[68:72] == b"TSPT"
    assert APPLICATION_ID.to_bytes(4, "big") == b"TSPT"


def test_numbers_go_on_where_old_changes_are_gone(folder: Path) -> None:
    with closing(SqliteWriter(folder)) as writer:
        for name in "abcde":
            writer.create_collection(collection(name))
        writer._connection.execute("DELETE FROM op_log WHERE seq <= 3")
        assert [change.seq for change in writer.changes_after(0, 10)] == [4, 5]
        writer._connection.execute("DELETE FROM op_log")
        assert writer.changes_after(0, 10) == []
        assert writer.last_seq() == 5
    with closing(SqliteWriter(folder)) as writer:
        assert writer.last_seq() == 5
        assert writer.visible() == (5, [])
        writer.create_collection(collection("f"))
        assert [change.seq for change in writer.changes_after(0, 10)] == [6]
        assert writer.collection(ACME, "f").created_seq == 6
