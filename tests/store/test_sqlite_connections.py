"""How the SQLite store uses its connections."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from store.processes import python
from store.samples import ACME, collection, content, new_artifact
from treespan.store import open_reader
from treespan.store.sqlite.connection import open_reading, transaction
from treespan.store.sqlite.reader import SqliteReader, find_collection
from treespan.store.sqlite.writer import SqliteWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from treespan.store.records import CollectionRecord


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SqliteWriter]:
    with closing(SqliteWriter(tmp_path)) as opened:
        opened.create_collection(collection())
        yield opened


def pragma(connection: apsw.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").get


def test_sqlite_is_one_without_the_known_faults_of_wal() -> None:
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= (3, 51, 3)


def test_writer_is_durable_and_checks_references(writer: SqliteWriter) -> None:
    connection = writer._connection
    assert pragma(connection, "journal_mode") == "wal"
    assert pragma(connection, "synchronous") == 2  # FULL
    assert pragma(connection, "foreign_keys") == 1
    assert pragma(connection, "busy_timeout") == 10_000


def test_reading_connection_can_not_write(writer: SqliteWriter, tmp_path: Path) -> None:
    with closing(open_reading(tmp_path / "store.db")) as connection:
        assert pragma(connection, "query_only") == 1
        assert connection.readonly("main")
        assert pragma(connection, "wal_autocheckpoint") == 0
        assert connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1) == 1
        with pytest.raises(apsw.ReadOnlyError):
            connection.execute("DELETE FROM op_log")


def test_readers_never_checkpoint(writer: SqliteWriter, tmp_path: Path) -> None:
    file, log = tmp_path / "store.db", tmp_path / "store.db-wal"
    writer._connection.wal_autocheckpoint(0)
    for version in range(4):
        writer.commit_artifact(new_artifact("a", content(version, sections=3000)))
    before = file.stat().st_mtime_ns, file.stat().st_size, log.stat().st_size
    reader = open_reader(tmp_path)
    for _ in range(20):
        document = reader.searchable(ACME, "papers", new_artifact("a", content(3, 3000)).doc_id)
        assert document is not None
    reader.close()
    assert before == (file.stat().st_mtime_ns, file.stat().st_size, log.stat().st_size)


def test_reader_that_is_the_last_to_close_leaves_a_crashed_writers_log(tmp_path: Path) -> None:
    process = python("store.crash_writer", str(tmp_path), "0", stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process:
        assert [process.stdout.readline() for _ in range(20)][-1] == "19\n"
        process.kill()
    file, log = tmp_path / "store.db", tmp_path / "store.db-wal"
    before = file.read_bytes(), log.read_bytes()
    with closing(open_reader(tmp_path)) as reader:
        assert reader.last_seq() > 0
    assert before == (file.read_bytes(), log.read_bytes())


def test_transaction_has_the_right_to_write_from_its_start(
    writer: SqliteWriter, tmp_path: Path
) -> None:
    other = apsw.Connection(str(tmp_path / "store.db"))
    with closing(other):
        with transaction(writer._connection), pytest.raises(apsw.BusyError):
            other.execute("BEGIN IMMEDIATE")
        other.execute("BEGIN IMMEDIATE; ROLLBACK")


def test_statements_of_one_reading_see_one_state(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deletion between the two statements of `artifacts` is not seen by the second."""
    writer.commit_artifact(new_artifact("a", content(1)))

    def found_then_deleted(*where: Any) -> CollectionRecord:
        found = find_collection(*where)
        writer.delete_collection(ACME, "papers", force=True)
        return found

    monkeypatch.setattr("treespan.store.sqlite.reader.find_collection", found_then_deleted)
    assert [found.name for found in writer.artifacts(ACME, "papers", "", 10)] == ["a"]
    monkeypatch.undo()
    assert writer.all_collections() == []


def test_writer_checkpoints_so_that_the_log_stays_small(
    writer: SqliteWriter, tmp_path: Path
) -> None:
    for version in range(60):
        writer.commit_artifact(new_artifact("a", content(version, sections=3000)))
    written = 60 * len(content(1, 3000).tree)
    assert written > 10_000_000
    assert (tmp_path / "store.db-wal").stat().st_size < 6_000_000


def test_closed_store_is_one_file(tmp_path: Path) -> None:
    with closing(SqliteWriter(tmp_path)) as writer:
        writer.create_collection(collection())
        writer.collection(ACME, "papers")
        writer.changed()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.db", "writer.lock"]


def test_listing_artifacts_does_not_read_their_bytes(writer: SqliteWriter, tmp_path: Path) -> None:
    for number in range(30):
        writer.commit_artifact(new_artifact(f"a{number}", content(number, sections=3000)))
    reader = SqliteReader(tmp_path)
    with closing(reader):
        with reader._pool.connection() as connection:
            connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS, True)
        assert len(reader.artifacts(ACME, "papers", "", 100)) == 30
        with reader._pool.connection() as connection:
            pages, _ = connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)
    assert pages < 30


def test_connections_are_as_many_as_readings_at_once(writer: SqliteWriter, tmp_path: Path) -> None:
    reader = SqliteReader(tmp_path)
    with closing(reader):
        for _ in range(10):
            reader.last_seq()
        assert len(reader._pool._idle) == 1
        with ThreadPoolExecutor(max_workers=4) as pool:
            assert set(pool.map(lambda _: reader.last_seq(), range(200))) == {1}
        assert 1 <= len(reader._pool._idle) <= 4


def test_connection_on_which_something_failed_is_not_lent_again(tmp_path: Path) -> None:
    with closing(SqliteWriter(tmp_path)) as writer:
        writer.last_seq()
        with pytest.raises(apsw.SQLError), writer._pool.connection() as connection:
            connection.execute("SELECT * FROM no_such_table")
        assert writer._pool._idle == []
        assert writer.last_seq() == 0
