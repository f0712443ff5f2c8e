"""How a store of an older schema becomes one of the next; parts of one transaction each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from treespan.errors import StoreDamaged
from treespan.store.sqlite.artifact import write_checksum
from treespan.store.sqlite.connection import rows
from treespan.store.sqlite.content import prepared
from treespan.store.sqlite.derived_rows import (
    insert_chunks,
    rewrite_attributes,
    tenant_with_texts,
    write_spans,
)
from treespan.store.sqlite.rows import SELECT_CONTENT, content
from treespan.store.sqlite.tables import TABLES, WORK

if TYPE_CHECKING:
    import apsw

_REBUILT: Final = ("collection", "content", "artifact", "op_log")

_SET_ASIDE: Final = """
CREATE TEMP TABLE old_{table} AS SELECT * FROM main.{table} ORDER BY {order};
DROP TABLE main.{table};
"""

_COPY: Final = """
ALTER TABLE content_bytes ADD COLUMN cells BLOB NOT NULL DEFAULT x'90';

INSERT INTO op_log SELECT seq, change, tenant, collection, artifact, doc_id FROM old_op_log;

WITH deleted AS (
    SELECT tenant, collection AS name, max(seq) AS seq FROM old_op_log WHERE change = 4
    GROUP BY tenant, name
), created AS (
    SELECT l.tenant, l.collection AS name, min(l.seq) AS seq
    FROM old_op_log AS l LEFT JOIN deleted AS d ON d.tenant = l.tenant AND d.name = l.collection
    WHERE l.change = 3 AND l.seq > ifnull(d.seq, 0)
    GROUP BY l.tenant, l.collection
)
INSERT INTO collection (tenant, name, display_name, embedding_model, embedding_fingerprint,
                        dimension, chunk_tokens, created_seq, created_us, updated_us)
SELECT tenant, name, display_name, embedding_model, embedding_fingerprint, dimension, chunk_tokens,
       created.seq, created_us, updated_us
FROM old_collection LEFT JOIN created USING (tenant, name) ORDER BY created.seq;

INSERT INTO content (id, tenant, content_id, sha256, size_bytes, media_type, title, language,
                     page_count, node_count, vector_count, token_count, warnings, checksum)
SELECT id, tenant, content_id, sha256, size_bytes, media_type, title, '', page_count, node_count,
       vector_count, token_count, warnings, ''
FROM old_content;

WITH put AS (
    SELECT tenant, collection, artifact AS name, max(seq) AS seq FROM old_op_log WHERE change = 1
    GROUP BY tenant, collection, name
)
INSERT INTO artifact (tenant, collection, name, state, file_name, metadata, doc_id, content_id,
                      key, revision, ingested_us, created_us, updated_us)
SELECT tenant, collection, name, state, file_name, metadata, doc_id, content_id,
       iif(state = 3, put.seq, NULL), iif(state = 3, put.seq, NULL), updated_us, created_us,
       updated_us
FROM old_artifact LEFT JOIN put USING (tenant, collection, name);
"""
"""A collection was created by the first change of it after its last deletion; the version of an
artifact that is visible came with the newest change that put one. In schema 1 `updated_us` is when
its content came, as nothing else changed an artifact."""


def from_1(connection: apsw.Connection) -> None:
    """Number what is visible, and write the derived tables.

    The bytes of contents, which are nearly all of a store, stay where they are.

    Raises:
        StoreDamaged: a document cannot be read any more.
    """
    for table in _REBUILT:
        order = "tenant, name" if table == "collection" else "rowid"
        connection.execute(_SET_ASIDE.format(table=table, order=order))
    connection.execute(TABLES)
    connection.execute(_COPY)
    for (number,) in rows(connection, "SELECT id FROM content ORDER BY id"):
        _derive(connection, number)
    for table in _REBUILT:
        connection.execute(f"DROP TABLE temp.old_{table}")


_NEW_COLUMNS: Final = {
    "content": (
        "file_metadata BLOB NOT NULL DEFAULT x''",
        "summary TEXT NOT NULL DEFAULT ''",
        "counts TEXT NOT NULL DEFAULT '[]'",
    ),
    "artifact": (
        "summary TEXT NOT NULL DEFAULT ''",
        "source_uri TEXT NOT NULL DEFAULT ''",
    ),
}


def from_2(connection: apsw.Connection) -> None:
    """Make room for what files state of themselves, for drafts and for operations.

    Checksums hold as they are: what is empty does not count in them. Content that is there keeps
    without what its file states until it is ingested again.
    """
    for table, columns in _NEW_COLUMNS.items():
        there = {
            name for (name,) in rows(connection, f"SELECT name FROM pragma_table_info('{table}')")
        }
        for column in columns:
            # A store that came from schema 1 in this run has the present tables already.
            if column.split()[0] not in there:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    connection.execute(WORK)


def _derive(connection: apsw.Connection, number: int) -> None:
    """Write the checksum and the derived rows of a content and of the artifacts that hold it."""
    [row] = rows(connection, SELECT_CONTENT + "WHERE c.id = ?", number)
    try:
        ready = prepared(content(row))
    except ValueError as error:
        raise StoreDamaged(
            f"a document of the store is damaged ({error}); restore its folder from a copy"
        ) from error
    connection.execute("UPDATE content SET checksum = ? WHERE id = ?", (ready.checksum, number))
    [(tenant,)] = rows(connection, "SELECT tenant FROM content WHERE id = ?", number)
    insert_chunks(connection, tenant_with_texts(connection, tenant), number, ready.derived)
    holders = rows(
        connection,
        "SELECT a.id FROM artifact AS a JOIN content AS c USING (tenant, content_id)"
        " WHERE c.id = ? ORDER BY a.id",
        number,
    )
    for (artifact,) in holders:
        write_spans(connection, artifact, ready.derived)
        rewrite_attributes(connection, artifact)
        write_checksum(connection, artifact)
