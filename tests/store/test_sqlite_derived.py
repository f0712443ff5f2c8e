"""The derived tables of the SQLite store: what is in them, and that it comes and goes whole."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from store.outlines import outlined
from store.samples import ACME, GLOBEX, collection, content, metadata, new_artifact
from treespan.filters import Instant
from treespan.store.records import Cell
from treespan.store.sqlite import content as sqlite_content
from treespan.store.sqlite.writer import SqliteWriter
from treespan.v1.ingest_service_pb2 import Artifact
from treespan.v1.metadata_pb2 import MetadataList, MetadataValue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DERIVED = ("attribute", "span", "chunk")

TABLE = outlined(
    """
section p1 Methods
  table p1-2 Table 1
    table_row p1 one: 1
    table_row p2 two: 2
text p3 End
""",
    title="On Tables",
    language="en",
    cells=(
        Cell(3, "n", 1),
        Cell(3, "n", 1),
        Cell(3, "day", Instant(5)),
        Cell(4, "n", 2**53 + 1),
        Cell(4, "n", 2**64),
        Cell(4, "a \n b", "x\ud800"),
        Cell(4, "yes", True),
    ),
)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SqliteWriter]:
    with closing(SqliteWriter(tmp_path)) as opened:
        opened.create_collection(collection())
        opened.create_collection(collection("other"))
        opened.create_collection(collection(tenant=GLOBEX))
        yield opened


def sql(writer: SqliteWriter, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    return writer._connection.execute(statement, values).fetchall()


def text_tables(writer: SqliteWriter) -> list[str]:
    found = sql(writer, "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'")
    return [name for (name,) in found]


def row_ids(writer: SqliteWriter) -> list[list[tuple[Any, ...]]]:
    """Return what tells whether rows of contents were written again."""
    [texts] = text_tables(writer)
    return [
        sql(writer, "SELECT id, content_id FROM content ORDER BY id"),
        sql(writer, "SELECT id, content, node FROM chunk ORDER BY id"),
        sql(writer, f"SELECT id, hex(sz) FROM {texts}_docsize ORDER BY id"),
        sql(writer, "SELECT * FROM span ORDER BY artifact, key, type, value, first"),
    ]


def test_chunks_are_the_nodes_with_vectors(writer: SqliteWriter) -> None:
    writer.commit_artifact(new_artifact("a", TABLE))
    found = sql(writer, "SELECT node, kind, page_start, page_end FROM chunk ORDER BY node")
    assert found == [(3, 7, 1, 1), (4, 7, 2, 2), (5, 3, 3, 3)]


def test_cells_are_kept_with_their_types_and_read_back(writer: SqliteWriter) -> None:
    writer.commit_artifact(new_artifact("a", TABLE))
    found = sql(
        writer,
        "SELECT key, type, value, typeof(value), first, last FROM span"
        " WHERE key LIKE 'row.%' ORDER BY first, key, value",
    )
    assert found == [
        ("row.day", 4, 5, "integer", 3, 4),
        ("row.n", 2, 1, "integer", 3, 4),
        ("row.a b", 1, "x?", "text", 4, 5),
        ("row.n", 2, 2**53 + 1, "integer", 4, 5),
        ("row.n", 2, 2.0**64, "real", 4, 5),
        ("row.yes", 3, 1, "integer", 4, 5),
    ]
    held = writer.content_by_id(ACME, TABLE.content_id)
    assert held.cells[:4] == TABLE.cells[:4]
    assert [cell.value for cell in held.cells[4:]] == [2.0**64, "x?", True]
    assert held.cells[6].value is True
    assert held.language == "en"


def test_cell_that_is_no_finite_number_is_refused(writer: SqliteWriter) -> None:
    wrong = outlined("text a", cells=(Cell(1, "n", float("nan")),))
    with pytest.raises(ValueError, match="finite"):
        writer.commit_artifact(new_artifact("a", wrong))
    assert sql(writer, "SELECT count(*) FROM content") == [(0,)]


def attributes(writer: SqliteWriter, name: str) -> set[tuple[Any, ...]]:
    found = sql(
        writer,
        "SELECT d.key, d.type, d.value, typeof(d.value), d.in_list FROM attribute AS d"
        " JOIN artifact AS a ON a.id = d.artifact WHERE a.name = ? AND d.key <> 'ingested_at'",
        name,
    )
    assert len(found) == len(set(found))
    return set(found)


def test_attributes_are_the_metadata_and_the_built_in_keys(writer: SqliteWriter) -> None:
    value = MetadataValue
    numbers = MetadataList(values=[value(int_value=number) for number in (2, 1, 2)])
    time = value()
    time.time_value.seconds, time.time_value.nanos = -1, 1999
    given = {
        "n": value(int_value=2**63 - 1),
        "x": value(double_value=1.0),
        "text": value(string_value="2024\0"),
        "flag": value(bool_value=True),
        "when": time,
        "list": value(list_value=numbers),
        "none": value(list_value=MetadataList()),
        "title": value(string_value="theirs"),
        "artifact": value(string_value="not this"),
    }
    packed = Artifact(metadata=given).SerializeToString(deterministic=True)
    writer.commit_artifact(new_artifact("a", TABLE))
    writer.update_artifact(ACME, "papers", "a", "a.txt", packed, "")
    assert attributes(writer, "a") == {
        ("metadata.n", 2, 2**63 - 1, "integer", 0),
        ("metadata.x", 2, 1.0, "real", 0),
        ("metadata.text", 1, "2024\0", "text", 0),
        ("metadata.flag", 3, 1, "integer", 0),
        ("metadata.when", 4, -999_999, "integer", 0),
        ("metadata.list", 2, 1, "integer", 1),
        ("metadata.list", 2, 2, "integer", 1),
        ("metadata.none", 0, "", "text", 1),
        ("metadata.title", 1, "theirs", "text", 0),
        ("metadata.artifact", 1, "not this", "text", 0),
        ("title", 1, "theirs", "text", 0),
        ("artifact", 1, "a", "text", 0),
        ("file_name", 1, "a.txt", "text", 0),
        ("media_type", 1, "text/plain", "text", 0),
        ("language", 1, "en", "text", 0),
    }
    [(ingested,)] = sql(writer, "SELECT value FROM attribute WHERE key = 'ingested_at'")
    assert ingested == writer.artifact(ACME, "papers", "a").ingested_us


def test_built_in_key_without_a_value_has_no_row(writer: SqliteWriter) -> None:
    writer.commit_artifact(new_artifact("a", outlined("text a")))
    writer.update_artifact(ACME, "papers", "a", "", b"", "")
    assert {row[0] for row in attributes(writer, "a")} == {"artifact", "media_type"}


def test_number_beyond_the_precision_of_floats_is_compared_exactly(writer: SqliteWriter) -> None:
    for name, number in (("a", 2**53), ("b", 2**53 + 1)):
        packed = Artifact(metadata={"n": MetadataValue(int_value=number)}).SerializeToString()
        writer.commit_artifact(new_artifact(name, outlined(f"text {name}")))
        writer.update_artifact(ACME, "papers", name, "", packed, "")
    statement = "SELECT count(*) FROM attribute WHERE key = 'metadata.n' AND value > ?"
    assert sql(writer, statement, 2**53) == [(1,)]
    assert sql(writer, statement, 2.0**53) == [(1,)]


def test_update_writes_nothing_of_the_content_again(writer: SqliteWriter) -> None:
    writer.commit_artifact(new_artifact("a", TABLE))
    before = row_ids(writer)
    assert all(before)
    writer.update_artifact(ACME, "papers", "a", "b.md", metadata(colour="red"), "")
    assert row_ids(writer) == before


def test_content_that_the_tenant_has_is_not_derived_again(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.commit_artifact(new_artifact("a", TABLE))
    before = row_ids(writer)

    def derive(_: object) -> None:
        raise AssertionError("derived again")

    monkeypatch.setattr(sqlite_content, "derive", derive)
    writer.commit_artifact(new_artifact("a", TABLE, note=" again"))
    assert row_ids(writer) == before
    writer.commit_artifact(new_artifact("b", TABLE))
    writer.commit_artifact(new_artifact("c", TABLE.content_id, collection="other"))
    assert row_ids(writer)[:3] == before[:3]
    spans = "SELECT s.key, type, value, first, last FROM span AS s JOIN artifact AS a ON"
    made = [
        sorted(sql(writer, f"{spans} a.id = artifact WHERE a.name = ?", name)) for name in "abc"
    ]
    assert made[0] == made[1] == made[2] != []


def test_words_are_cut_before_the_writer_takes_its_turn(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    derive = sqlite_content.derive
    locked: list[bool] = []

    def looked_at(held: Any) -> Any:
        locked.append(writer._connection.in_transaction or writer._turn.locked())
        return derive(held)

    monkeypatch.setattr(sqlite_content, "derive", looked_at)
    writer.commit_artifact(new_artifact("a", TABLE))
    assert locked == [False]


def test_content_that_goes_while_it_is_committed_again_is_derived_all_the_same(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there when the commit began, and not when its transaction did."""
    monkeypatch.setattr(writer, "has_content", lambda *_: True)
    writer.commit_artifact(new_artifact("a", TABLE))
    assert len(sql(writer, "SELECT id FROM chunk")) == 3
    assert [hit.node for hit in writer.text_hits(ACME, "papers", '"end"', 9)] == [5]


def test_nothing_derived_outlives_what_it_is_derived_from(writer: SqliteWriter) -> None:
    for tenant in (ACME, GLOBEX):
        for version in range(3):
            writer.commit_artifact(new_artifact("a", content(version), tenant=tenant))
            writer.commit_artifact(new_artifact(f"b{version}", content(version), tenant=tenant))
    writer.delete_collection(GLOBEX, "papers", force=True)
    assert len(text_tables(writer)) == 1
    writer.delete_artifacts(ACME, "papers", [found.artifact for found in writer.visible()[1]])
    [texts] = text_tables(writer)
    assert sql(writer, f"SELECT count(*) FROM {texts}_docsize") == [(0,)]
    for table in (*DERIVED, "content", "content_bytes"):
        assert sql(writer, f"SELECT count(*) FROM {table}") == [(0,)], table
    writer.delete_collection(ACME, "papers", force=False)
    assert text_tables(writer) == [texts]
    writer.delete_collection(ACME, "other", force=False)
    assert text_tables(writer) == []
    assert sql(writer, "SELECT count(*) FROM tenant") == [(0,)]


def test_number_of_a_deleted_row_never_comes_again(writer: SqliteWriter) -> None:
    """A bitmap or a hit that is still on its way must not name another row."""
    seen: list[tuple[Any, ...]] = []
    for version in range(4):
        writer.commit_artifact(new_artifact("a", content(version)))
        seen += sql(
            writer, "SELECT 'chunk', id FROM chunk UNION ALL SELECT 'content', id FROM content"
        )
        seen += sql(writer, "SELECT 'artifact', id FROM artifact")
        writer.delete_artifact(ACME, "papers", "a")
    assert len(seen) == len(set(seen)) == 4 * (3 + 1 + 1)


def test_fresh_file_gives_free_pages_back(writer: SqliteWriter) -> None:
    assert sql(writer, "PRAGMA auto_vacuum") == [(2,)]
    writer.commit_artifact(new_artifact("a", content(1, sections=3000)))
    writer.delete_artifact(ACME, "papers", "a")
    [(before,)] = sql(writer, "PRAGMA page_count")
    sql(writer, "PRAGMA incremental_vacuum")
    assert sql(writer, "PRAGMA page_count")[0][0] < before / 2


def test_full_text_index_is_sound(writer: SqliteWriter) -> None:
    for version in range(8):
        writer.commit_artifact(new_artifact(f"a{version % 3}", content(version)))
    [texts] = text_tables(writer)
    sql(writer, f"INSERT INTO {texts} ({texts}) VALUES ('integrity-check')")
    assert sql(writer, "PRAGMA integrity_check") == [("ok",)]
    with pytest.raises(apsw.ConstraintError):
        sql(
            writer,
            "INSERT INTO chunk (content, node, kind, page_start, page_end) VALUES (1,1,1,1,1)",
        )
