"""Check and repair: each kind of damage is found, named, and mended where it can be."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from store.model import ModelStore, assert_same
from store.processes import python
from store.samples import GLOBEX, collection, content, new_artifact, reserved
from treespan.errors import StoreDamaged, StoreUnavailable
from treespan.store import (
    back_up,
    check_store,
    open_reader,
    open_writer,
    repair,
    store_stats,
)
from treespan.store.checksum import content_checksum
from treespan.store.upkeep.cache_files import Cache

if TYPE_CHECKING:
    from treespan.store.interface import Writer


def fill(store: Writer | ModelStore) -> None:
    store.create_collection(collection())
    store.create_collection(collection("papers", GLOBEX))
    store.commit_artifact(new_artifact("a", content(1, sections=30)))
    store.commit_artifact(new_artifact("b", content(2)))
    store.commit_artifact(new_artifact("c", content(1, sections=30)))
    store.commit_artifact(new_artifact("a", content(1), tenant=GLOBEX))
    store.commit_artifact(new_artifact("b", content(3)))
    store.reserve_artifact(reserved("under way"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    with closing(open_writer(folder)) as writer:
        fill(writer)
    return folder


def sql(folder: Path, statements: str, *values: object) -> list[tuple[object, ...]]:
    with closing(apsw.Connection(str(folder / "store.db"))) as connection:
        return connection.execute(statements, values).fetchall()  # type: ignore[arg-type]


def whats(folder: Path, *, full: bool = False) -> list[str]:
    return [finding.what for finding in check_store(folder, full=full).findings]


def assert_mended(folder: Path) -> None:
    """Repair, then compare everything that can be read with what it was before the damage."""
    report = repair(folder, full=True)
    assert report.findings == ()
    assert report.repaired
    assert check_store(folder, full=True).findings == ()
    model = ModelStore()
    fill(model)
    with closing(open_reader(folder)) as reader:
        assert_same(reader, model)


def derived(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the derived rows, those of full text by the chunks they are of."""
    tables = {
        "chunk": "SELECT content, node, kind, page_start, page_end FROM chunk ORDER BY 1, 2",
        "span": "SELECT * FROM span ORDER BY 1, 2, 3, 4, 5, 6",
        "attribute": "SELECT * FROM attribute ORDER BY 1, 2, 3, 4, 5",
    }
    found = {name: sql(folder, select) for name, select in tables.items()}
    [(table,)] = sql(folder, "SELECT 'text_' || id FROM tenant WHERE name = 'acme'")
    found["text"] = sql(
        folder,
        f"SELECT c.content, c.node FROM {table} JOIN chunk AS c ON c.id = {table}.rowid"
        f" WHERE {table} MATCH 'body: 17' ORDER BY 1, 2",
    )
    return found


@pytest.mark.parametrize("full", [False, True])
def test_sound_store_has_no_findings_while_its_writer_is_open(folder: Path, full: bool) -> None:
    with closing(open_writer(folder)):
        report = check_store(folder, full=full)
    assert report.findings == ()
    assert report.contents == 3
    assert report.snapshot.seq == 7


def test_check_of_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no store"):
        check_store(tmp_path / "data")
    with pytest.raises(StoreUnavailable, match="no store"):
        repair(tmp_path / "data")


DERIVED_DAMAGE = {
    "chunk rows gone": "DELETE FROM chunk WHERE node = 2",
    "chunk row changed": "UPDATE chunk SET kind = 9 WHERE node = 1",
    "chunk of nothing": "INSERT INTO chunk SELECT 999, 999, 1, 3, 0, 0",
    "span rows gone": "DELETE FROM span WHERE artifact = 1",
    "span row changed": "UPDATE span SET last = last + 1 WHERE artifact = 1",
    "span of nothing": "INSERT INTO span SELECT collection, key, type, value, 99, first, last"
    " FROM span LIMIT 1",
    "attribute rows gone": "DELETE FROM attribute WHERE artifact = 2",
    "attribute added": "INSERT INTO attribute VALUES (1, 'metadata.x', 2, 1, 1, 0)",
    "attribute of one under way": "INSERT INTO attribute SELECT 1, 'artifact', 1, name, id, 0"
    " FROM artifact WHERE state = 1",
    "attribute of nothing": "INSERT INTO attribute VALUES (1, 'metadata.x', 2, 1, 99, 0)",
    "text entries gone": "DELETE FROM text_1 WHERE rowid IN (SELECT id FROM chunk WHERE node = 2)",
    "text of nothing": "INSERT INTO text_1 (rowid, heading, body) VALUES (999, 'a', 'b')",
    "text table gone": "DROP TABLE text_1",
    "tenant gone": "DELETE FROM tenant WHERE id = 1",
    "content that nobody holds": "INSERT INTO content SELECT 99, tenant, 'x', sha256, size_bytes,"
    " media_type, title, language, page_count, node_count, vector_count, token_count, warnings,"
    " checksum, file_metadata, summary, counts FROM content WHERE id = 1;"
    " INSERT INTO content_bytes SELECT 99, tree, vector_nodes, vectors, cells FROM content_bytes"
    " WHERE content = 1",
}


@pytest.mark.parametrize("damage", DERIVED_DAMAGE)
def test_damage_to_what_is_derived_is_found_and_mended(folder: Path, damage: str) -> None:
    before = derived(folder)
    sql(folder, DERIVED_DAMAGE[damage])
    findings = check_store(folder).findings
    assert findings
    assert all(finding.repairable for finding in findings), findings
    assert_mended(folder)
    assert derived(folder) == before


def test_text_indexed_with_other_words_is_found_by_a_full_check(folder: Path) -> None:
    before = derived(folder)
    [(number,)] = sql(folder, "SELECT min(id) FROM chunk")
    sql(
        folder,
        f"DELETE FROM text_1 WHERE rowid = {number};"
        f"INSERT INTO text_1 (rowid, heading, body) VALUES ({number}, 'title 1',"
        " 'version 1 part 17 天地 地玄 玄黄 黄')",
    )
    assert whats(folder) == []
    assert whats(folder, full=True) == [
        "1 entries have other words than follow from their contents"
    ]
    assert_mended(folder)
    assert derived(folder) == before


def test_damaged_full_text_is_built_anew(folder: Path) -> None:
    sql(folder, "UPDATE text_1_data SET block = zeroblob(length(block)) WHERE id > 10")
    assert all(finding.repairable for finding in check_store(folder).findings)
    assert whats(folder)
    assert_mended(folder)


def test_index_that_lacks_rows_is_built_anew(folder: Path) -> None:
    [index] = sql(folder, "SELECT * FROM sqlite_schema WHERE name = 'artifact_by_content'")
    hide = "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = ?"
    sql(folder, hide, "artifact_by_content")
    sql(folder, "DELETE FROM artifact WHERE state = 1")
    sql(folder, "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES (?,?,?,?,?)", *index)
    with closing(open_writer(folder)) as writer:
        writer.reserve_artifact(reserved("under way"))
    assert "wrong # of entries in index artifact_by_content" in whats(folder)
    assert_mended(folder)


@pytest.mark.parametrize("column", ["tree", "vector_nodes", "vectors", "cells"])
def test_flipped_bit_in_a_content_is_found_and_its_artifacts_named(
    folder: Path, column: str
) -> None:
    [(number, packed)] = sql(
        folder, f"SELECT content, {column} FROM content_bytes ORDER BY content LIMIT 1"
    )
    assert isinstance(packed, bytes)
    flipped = bytearray(packed)
    flipped[len(flipped) // 2] ^= 4
    sql(folder, f"UPDATE content_bytes SET {column} = ? WHERE content = ?", bytes(flipped), number)
    for found in (check_store(folder).findings, repair(folder).findings):
        [finding] = found
        assert "checksum" in finding.what
        assert not finding.repairable
        assert "papers/a" in finding.advice
        assert "papers/c" in finding.advice
    assert sql(folder, f"SELECT {column} FROM content_bytes ORDER BY content LIMIT 1") == [
        (bytes(flipped),)
    ]


SAID = {
    "file_metadata": "UPDATE content SET file_metadata = x'' WHERE id = 1",
    "summary of the content": "UPDATE content SET summary = 'other' WHERE id = 1",
    "counts": "UPDATE content SET counts = '[[\"sheets\",3]]' WHERE id = 1",
    "summary of the caller": "UPDATE artifact SET summary = 'other' WHERE id = 1",
    "source_uri": "UPDATE artifact SET source_uri = 'https://other' WHERE id = 1",
}


@pytest.mark.parametrize("column", SAID)
def test_what_is_said_of_a_document_is_held_to_its_checksum(folder: Path, column: str) -> None:
    sql(folder, SAID[column])
    for found in (check_store(folder).findings, repair(folder).findings):
        [finding] = found
        assert "checksum" in finding.what
        assert not finding.repairable


def test_bit_flipped_on_the_disk_is_found(folder: Path) -> None:
    store = folder / "store.db"
    vectors = content(1, sections=30).vectors
    flipped = bytes([vectors[0] ^ 1]) + vectors[1:]
    data = store.read_bytes()
    assert vectors in data
    # Every copy: SQLite leaves some of them in pages that hold something else by now.
    store.write_bytes(data.replace(vectors, flipped))
    [finding] = check_store(folder).findings
    assert "checksum" in finding.what


def rewritten(folder: Path, **columns: bytes) -> None:
    """Change columns of the first content and its checksum with them."""
    [parts] = sql(
        folder, "SELECT tree, vector_nodes, vectors, cells FROM content_bytes WHERE content = 1"
    )
    names = ("tree", "vector_nodes", "vectors", "cells")
    held = dict(zip(names, parts, strict=True)) | columns
    for name, packed in columns.items():
        sql(folder, f"UPDATE content_bytes SET {name} = ? WHERE content = 1", packed)
    said = sql(
        folder,
        "SELECT file_metadata, CAST(summary AS BLOB), CAST(counts AS BLOB) FROM content"
        " WHERE id = 1",
    )
    checksum = content_checksum(*(held[name] for name in names), *said[0])  # type: ignore[arg-type]
    sql(folder, "UPDATE content SET checksum = ? WHERE id = 1", checksum)


def test_content_that_makes_no_sense_is_found(folder: Path) -> None:
    what = content(1, sections=30)
    vectors = np.frombuffer(what.vectors, "<f4").reshape(30, -1).copy()
    rewritten(folder, vectors=(2 * vectors).tobytes())
    assert whats(folder) == ["a vector has not the length 1"]
    vectors[3, 3] = np.nan
    rewritten(folder, vectors=vectors.tobytes())
    assert whats(folder) == ["a vector holds a number that is not finite"]
    rewritten(folder, vectors=what.vectors[:-4])
    assert whats(folder) == ["30 vectors of 8 dimensions have 956 bytes"]
    rewritten(folder, vectors=what.vectors, vector_nodes=what.vector_nodes[::-1])
    assert whats(folder) == ["the nodes that have a vector are not those that its tree marks"]
    rewritten(folder, vector_nodes=what.vector_nodes, tree=what.tree[:-1])
    assert "packed tree should have" in whats(folder)[0]
    rewritten(folder, tree=what.tree, cells=b"\xc1")
    assert len(whats(folder)) == 1
    rewritten(folder, cells=b"\x90")
    sql(folder, "UPDATE content SET token_count = 7 WHERE id = 1")
    assert whats(folder) == ["it is said to have 7 tokens and has 210"]


TRUTH_DAMAGE = {
    "bytes gone": ("DELETE FROM content_bytes WHERE content = 1", "its bytes are missing"),
    "another id": ("UPDATE artifact SET doc_id = 'x' WHERE id = 2", "x is not the id"),
    "changes gone": ("DELETE FROM op_log WHERE seq IN (4, 5)", "2 changes between 1 and 7"),
    "another key": ("UPDATE artifact SET key = 1, revision = 1 WHERE id = 2", "key 1 and revision"),
    "key to come": ("UPDATE artifact SET revision = 99 WHERE id = 2", "revision 99"),
    "another creation": ("UPDATE collection SET created_seq = 5 WHERE id = 1", "change 5"),
    "no collection": ("DELETE FROM collection WHERE id = 2", "'collection'"),
}


@pytest.mark.parametrize("damage", TRUTH_DAMAGE)
def test_damage_to_the_truth_is_found_and_left_as_it_is(folder: Path, damage: str) -> None:
    statement, expected = TRUTH_DAMAGE[damage]
    sql(folder, statement)
    before = sql(folder, "SELECT * FROM artifact ORDER BY id")
    findings = [f for f in repair(folder).findings if not f.repairable]
    assert any(expected in finding.what for finding in findings), findings
    assert all("restore a backup" in finding.advice for finding in findings)
    assert sql(folder, "SELECT * FROM artifact ORDER BY id") == before


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("DROP TABLE attribute", "attribute"),
        ("DROP TABLE op_log", "op_log"),
        ("DROP INDEX artifact_by_content", "artifact_by_content"),
        ("DELETE FROM meta", "epoch"),
    ],
)
def test_what_a_store_lacks_is_named_and_no_backup_is_made_of_it(
    folder: Path, tmp_path: Path, statement: str, name: str
) -> None:
    sql(folder, statement)
    assert f"'{name}' is missing" in whats(folder)
    with pytest.raises(StoreDamaged, match=name):
        back_up(folder, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


def test_statistics_of_a_store_without_a_table_say_what_is_wrong(folder: Path) -> None:
    sql(folder, "DROP TABLE attribute")
    with pytest.raises(StoreDamaged, match="attribute"):
        store_stats(folder)


def test_metadata_damaged_by_a_letter_is_named_and_never_made_final(folder: Path) -> None:
    [(before,)] = sql(folder, "SELECT metadata FROM artifact WHERE id = 2")
    assert isinstance(before, bytes)
    attributes = derived(folder)["attribute"]
    sql(folder, "UPDATE artifact SET metadata = ? WHERE id = 2", before[:-1] + b"~")
    assert ["damaged" in what for what in whats(folder)] == [True]
    assert len(repair(folder).findings) == 1
    assert derived(folder)["attribute"] == attributes

    sql(folder, "UPDATE artifact SET metadata = ? WHERE id = 2", before)
    assert whats(folder) == []


def test_damaged_metadata_is_named(folder: Path) -> None:
    sql(folder, "UPDATE artifact SET metadata = x'ff' WHERE id = 2")
    [finding] = check_store(folder).findings
    assert finding.where == "artifact acme/papers/b"
    assert "metadata" in finding.what


def test_damaged_pages_are_found_and_not_touched(folder: Path) -> None:
    [(page, size)] = sql(
        folder,
        "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema"
        " WHERE name = 'content'",
    )
    assert isinstance(page, int)
    assert isinstance(size, int)
    with (folder / "store.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x00" * 64)
    findings = check_store(folder).findings
    assert findings
    assert findings[0].advice == "restore a backup"


def test_repair_is_refused_while_an_ingest_runs(folder: Path) -> None:
    with closing(open_writer(folder)), pytest.raises(StoreUnavailable, match="ingest"):
        repair(folder)


def test_cache_is_compared_with_its_manifest_and_dropped_by_repair(
    folder: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "s1.segment").write_bytes(b"segment")
    segment = {"name": "s1", "size_bytes": 7, "hash": "right"}
    manifest = {
        "format": 1,
        "epoch": "e",
        "seq": 3,
        "collections": [
            {
                "created_seq": 1,
                "dimension": 8,
                "embedding_fingerprint": "f",
                "segments": [segment],
            }
        ],
    }
    (cache / "manifest.json").write_text(json.dumps(manifest))
    sound = Cache(cache, lambda file: "right")
    assert check_store(folder, cache=sound).findings == ()
    assert check_store(folder, cache=sound).cache_files == 1
    [finding] = check_store(folder, cache=Cache(cache, lambda file: "wrong")).findings
    assert finding.what.endswith("its hash is not the manifest's")
    (cache / "s1.segment").write_bytes(b"segmen")
    [finding] = check_store(folder, cache=Cache(cache)).findings
    assert (finding.repairable, finding.where) == (True, str(cache / "s1.segment"))
    assert "has 6 bytes; its manifest says 7" in finding.what
    (cache / "s1.segment").unlink()
    assert len(check_store(folder, cache=Cache(cache)).findings) == 1
    (cache / "manifest.json").write_text("{")
    assert "cannot be read" in check_store(folder, cache=Cache(cache)).findings[0].what
    report = repair(folder, cache=Cache(cache))
    assert (len(report.repaired), report.findings) == (1, ())
    assert not (cache / "manifest.json").exists()


def test_check_beside_a_process_that_writes_finds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "busy"
    process = python("store.crash_writer", str(folder), "0", stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process:
        try:
            for line in process.stdout:
                if int(line) == 40:
                    break
            reports = [check_store(folder, full=full) for full in (False, True, False)]
        finally:
            process.kill()
    assert [report.findings for report in reports] == [(), (), ()]
    assert reports[0].snapshot.seq < reports[2].snapshot.seq
