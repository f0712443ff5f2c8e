"""The SQLite store of an older schema, opened by this version."""

from __future__ import annotations

import gzip
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from store import history
from store.model import ModelStore, assert_same
from store.samples import ACME, GLOBEX, content, new_artifact, operation, reserved
from treespan.errors import StoreDamaged, StoreUnavailable
from treespan.filters import Condition, Operator
from treespan.store import back_up, check_store, open_reader, open_writer, restore
from treespan.store.records import Draft
from treespan.store.sqlite.schema import MIGRATIONS, free_pages_on_demand, migrate
from treespan.words import match_any

if TYPE_CHECKING:
    from treespan.store.interface import Reader
    from treespan.store.sqlite.connection import Row

SCHEMA_1 = (Path(__file__).parent / "schema_1.sql").read_text(encoding="utf-8")

SCHEMA_2 = Path(__file__).parent / "schema_2.db.gz"

DERIVED = {
    "attribute": "SELECT k.tenant, k.name, a.name, d.key, d.type, d.value, d.in_list"
    " FROM attribute AS d JOIN collection AS k ON k.id = d.collection"
    " JOIN artifact AS a ON a.id = d.artifact WHERE d.key <> 'ingested_at'",
    "ingested_at": "SELECT a.name, d.type, d.value - a.ingested_us FROM attribute AS d"
    " JOIN artifact AS a ON a.id = d.artifact WHERE d.key = 'ingested_at'",
    "span": "SELECT k.tenant, k.name, a.name, d.key, d.type, d.value, d.first, d.last"
    " FROM span AS d JOIN collection AS k ON k.id = d.collection"
    " JOIN artifact AS a ON a.id = d.artifact",
    "chunk": "SELECT c.tenant, c.content_id, d.node, d.kind, d.page_start, d.page_end"
    " FROM chunk AS d JOIN content AS c ON c.id = d.content",
    "checksum": "SELECT tenant, content_id, checksum FROM content",
    "cells": "SELECT c.content_id, b.cells FROM content AS c"
    " JOIN content_bytes AS b ON b.content = c.id",
    "tenant": "SELECT name FROM tenant",
    "schema": "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'text\\_%' ESCAPE '\\'",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a store of schema 1."""
    return of_schema(1, tmp_path / "data")


def of_schema(schema: int, folder: Path) -> Path:
    """Return a folder with a store as the version that had a schema wrote the history."""
    folder.mkdir()
    if schema == 2:
        (folder / "store.db").write_bytes(gzip.decompress(SCHEMA_2.read_bytes()))
        return folder
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(SCHEMA_1)
    return folder


def sql(folder: Path, statements: str) -> list[Row]:
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        return connection.execute(statements).fetchall()


def compact(row: Row) -> Row:
    """Return a row without white space in its texts: a column that was added stands on its line."""
    return tuple("".join(held.split()) if isinstance(held, str) else held for held in row)


def records(store: Reader) -> list[Any]:
    """Return every record that can be read, times left out."""
    collections = store.all_collections()
    artifacts = [
        found
        for record in collections
        for found in store.artifacts(record.tenant, record.name, "", 100)
    ]
    timeless = [replace(record, created_us=0, updated_us=0) for record in collections]
    return [
        *timeless,
        *(replace(found, created_us=0, updated_us=0, ingested_us=0) for found in artifacts),
        *store.changes_after(0, 100),
        store.visible(),
        store.last_seq(),
    ]


@pytest.mark.parametrize("schema", [1, 2])
def test_upgraded_store_is_what_this_version_makes_of_the_same_history(
    schema: int, tmp_path: Path
) -> None:
    model = ModelStore()
    history.write(model, schema)
    with closing(open_writer(of_schema(schema, tmp_path / "data"))) as upgraded:
        assert_same(upgraded, model)


@pytest.mark.parametrize("schema", [1, 2])
def test_upgraded_store_equals_one_written_by_this_version(schema: int, tmp_path: Path) -> None:
    folder = of_schema(schema, tmp_path / "data")
    with closing(open_writer(folder)) as old, closing(open_writer(tmp_path / "new")) as new:
        history.write(new, schema)
        assert records(old) == records(new)
        for tenant, collection in ((ACME, "papers"), (ACME, "laws"), (GLOBEX, "papers")):
            query = match_any("version 3 title 天地")
            assert query
            found = [
                [(hit.key, hit.node, pytest.approx(hit.score)) for hit in hits]
                for store in (old, new)
                if (hits := store.text_hits(tenant, collection, query, 100))
            ]
            assert found[0] == found[1]
    for name, statement in DERIVED.items():
        made = [sorted(map(compact, sql(of, statement))) for of in (folder, tmp_path / "new")]
        assert made[0] == made[1], name
        assert made[0], name


def test_upgrade_keeps_times_and_epoch(folder: Path) -> None:
    with closing(open_writer(folder)) as writer:
        assert f"'{writer.epoch()}'" in SCHEMA_1
        found = writer.artifact(ACME, "papers", "a")
        assert f",{found.created_us},{found.updated_us});" in SCHEMA_1
        assert found.ingested_us == found.updated_us
        held = writer.collection(ACME, "laws")
        assert f",{held.created_us},{held.updated_us});" in SCHEMA_1


def test_upgraded_store_is_written_on(folder: Path) -> None:
    with closing(open_writer(folder)) as writer:
        assert writer.delete_artifact(ACME, "papers", "a") == 18
        assert writer.delete_collection(ACME, "laws", force=True) == (19, 2)
    with closing(open_reader(folder)) as reader:
        assert [found.artifact for found in reader.visible()[1]] == ["a", "d"]
    assert sql(folder, "PRAGMA foreign_key_check") == []
    assert sql(folder, "PRAGMA integrity_check") == [("ok",)]


def test_upgraded_file_gives_free_pages_back(folder: Path) -> None:
    assert sql(folder, "PRAGMA auto_vacuum") == [(0,)]
    open_writer(folder).close()
    assert sql(folder, "PRAGMA auto_vacuum") == [(2,)]
    assert sql(folder, "PRAGMA integrity_check") == [("ok",)]


def test_crash_between_upgrade_and_rewriting_is_made_good_by_the_next_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_: apsw.Connection) -> None:
        raise InterruptedError

    with monkeypatch.context() as patched:
        patched.setattr("treespan.store.sqlite.writer.free_pages_on_demand", crash)
        with pytest.raises(InterruptedError):
            open_writer(folder)
    assert sql(folder, "PRAGMA user_version") == [(3,)]
    assert sql(folder, "PRAGMA auto_vacuum") == [(0,)]
    model = ModelStore()
    history.write(model, 1)
    with closing(open_reader(folder)) as reader:
        assert_same(reader, model)
    with closing(open_writer(folder)) as writer:
        assert_same(writer, model)
    assert sql(folder, "PRAGMA auto_vacuum") == [(2,)]


def test_crash_between_two_steps_of_an_upgrade_is_made_good_by_the_next_start(
    folder: Path,
) -> None:
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        migrate(connection, MIGRATIONS[:1])
    assert sql(folder, "PRAGMA user_version") == [(2,)]
    model = ModelStore()
    history.write(model, 1)
    with closing(open_writer(folder)) as writer:
        assert_same(writer, model)
    assert sql(folder, "PRAGMA user_version") == [(3,)]
    assert check_store(folder, full=True).findings == ()


@pytest.mark.parametrize("schema", [1, 2])
def test_upgraded_store_takes_operations_and_drafts(schema: int, tmp_path: Path) -> None:
    folder = of_schema(schema, tmp_path / "data")
    with closing(open_writer(folder)) as writer:
        assert writer.operations(ACME, "", (), "", 10) == []
        writer.begin_operation(operation(1, "a"), reserved("a"))
        draft = new_artifact("a", replace(content(5), vectors=b""), note="next")
        writer.save_draft(Draft(draft))
        assert writer.draft(ACME, "papers", "a").artifact == draft
        whole = new_artifact("a", content(5), note="next", operation=operation(1).operation)
        seq = writer.commit_artifact(whole)
        assert writer.operation(ACME, operation(1).operation).seq == seq
        stated = Condition("file.author", Operator.EQ, ("writer 5",))
        assert [one.name for one in writer.artifacts(ACME, "papers", "", 10, stated)] == ["a"]
    assert check_store(folder, full=True).findings == ()


def test_backup_of_an_older_schema_is_restored_and_upgraded(tmp_path: Path) -> None:
    old = of_schema(2, tmp_path / "old")
    back_up(old, tmp_path / "backup")
    restore(tmp_path / "data", tmp_path / "backup")
    model = ModelStore()
    history.write(model, 2)
    with closing(open_writer(tmp_path / "data")) as writer:
        assert_same(writer, model)


def test_full_disk_postpones_the_rewriting(folder: Path) -> None:
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        migrate(connection)
        connection.execute("VACUUM")
        pages = connection.execute("PRAGMA page_count").get
        connection.execute(f"PRAGMA max_page_count = {pages}")
        free_pages_on_demand(connection)
        assert connection.execute("PRAGMA auto_vacuum").get == 0
        connection.execute("PRAGMA max_page_count = 1000")
        free_pages_on_demand(connection)
        assert connection.execute("PRAGMA auto_vacuum").get == 2
    model = ModelStore()
    history.write(model, 1)
    with closing(open_writer(folder)) as writer:
        assert_same(writer, model)


def test_upgrade_that_fails_is_undone_whole(folder: Path) -> None:
    sql(folder, "UPDATE content_bytes SET tree = x'00' WHERE content = 4")
    before = sql(folder, "SELECT name, sql FROM sqlite_schema ORDER BY name")
    for _ in range(2):
        with pytest.raises(StoreDamaged, match=r"damaged \(a packed tree .*restore"):
            open_writer(folder)
        assert sql(folder, "SELECT name, sql FROM sqlite_schema ORDER BY name") == before
        assert sql(folder, "PRAGMA user_version") == [(1,)]


def test_reader_asks_for_the_upgrade(folder: Path) -> None:
    with (
        closing(open_reader(folder)) as reader,
        pytest.raises(StoreUnavailable, match=r"schema 1; schema 3 .* start the ingest service"),
    ):
        reader.last_seq()
