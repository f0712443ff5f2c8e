"""Rows of the derived tables, written and deleted; parts of transactions of the writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treespan.store.derived import BuiltIn, attributes
from treespan.store.messages import stated_metadata, typed_metadata
from treespan.store.sqlite.connection import rows, value
from treespan.store.sqlite.tables import create_text_table, text_table

if TYPE_CHECKING:
    import apsw

    from treespan.store.derived import AttributeRow, Derived
    from treespan.store.records import Tenant


def tenant_with_texts(connection: apsw.Connection, tenant: Tenant) -> int:
    """Return the number of a tenant, which has a full-text table from now on."""
    connection.execute("INSERT INTO tenant (name) VALUES (?) ON CONFLICT DO NOTHING", (tenant,))
    number: int = value(connection, "SELECT id FROM tenant WHERE name = ?", tenant)
    if not rows(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?", text_table(number)):
        connection.execute(create_text_table(number))
    return number


def drop_empty_tenant(connection: apsw.Connection, tenant: Tenant) -> None:
    """Forget a tenant that has no collection any more, and with it every word of its texts."""
    dropped = rows(
        connection,
        "DELETE FROM tenant WHERE name = ?1"
        " AND NOT EXISTS (SELECT 1 FROM collection WHERE tenant = ?1) RETURNING id",
        tenant,
    )
    for (number,) in dropped:
        connection.execute(f"DROP TABLE {text_table(number)}")


def insert_chunks(connection: apsw.Connection, tenant: int, content: int, derived: Derived) -> None:
    """Write the chunks and the words of a content that has none yet.

    Args:
        connection: The connection, inside a transaction.
        tenant: As `tenant_with_texts` returns it.
        content: The `content.id`.
        derived: The rows.
    """
    # The numbers are given here, as the full text needs them; they are never used again.
    newest: int | None = value(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'chunk'")
    first = (newest or 0) + 1
    connection.executemany(
        "INSERT INTO chunk (id, content, node, kind, page_start, page_end)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        ((number, content, *row) for number, row in enumerate(derived.chunks, first)),
    )
    connection.executemany(
        f"INSERT INTO {text_table(tenant)} (rowid, heading, body) VALUES (?, ?, ?)",
        ((number, *row) for number, row in enumerate(derived.texts, first)),
    )


def delete_chunks(connection: apsw.Connection, tenant: int, content: int) -> None:
    """Delete the chunks and the words of a content; the words are found by the chunks."""
    connection.execute(
        f"DELETE FROM {text_table(tenant)} WHERE rowid IN (SELECT id FROM chunk WHERE content = ?)",
        (content,),
    )
    connection.execute("DELETE FROM chunk WHERE content = ?", (content,))


def write_spans(connection: apsw.Connection, artifact: int, derived: Derived) -> None:
    """Write the spans of a POPULATED artifact, in the place of others."""
    collection = _without_spans(connection, artifact)
    connection.executemany(
        "INSERT INTO span (collection, key, type, value, artifact, first, last)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((collection, *row[:3], artifact, *row[3:]) for row in derived.spans),
    )


def copy_spans(connection: apsw.Connection, artifact: int) -> None:
    """Write the spans of a POPULATED artifact as another one of its content has them.

    There is another: a content is kept as long as an artifact holds it.
    """
    collection = _without_spans(connection, artifact)
    connection.execute(
        "INSERT INTO span (collection, key, type, value, artifact, first, last)"
        " SELECT ?1, key, type, value, ?2, first, last FROM span WHERE artifact ="
        " (SELECT other.id FROM artifact AS a JOIN artifact AS other USING (tenant, content_id)"
        " WHERE a.id = ?2 AND other.id <> ?2 LIMIT 1)",
        (collection, artifact),
    )


def _without_spans(connection: apsw.Connection, artifact: int) -> int:
    """Delete the spans of an artifact; return its `collection.id`."""
    connection.execute("DELETE FROM span WHERE artifact = ?", (artifact,))
    collection: int = value(
        connection,
        "SELECT k.id FROM artifact AS a JOIN collection AS k"
        " ON k.tenant = a.tenant AND k.name = a.collection WHERE a.id = ?",
        artifact,
    )
    return collection


def expected_attributes(
    connection: apsw.Connection, artifact: int
) -> tuple[int, list[AttributeRow]]:
    """Return the `collection.id` and the attribute rows of a POPULATED artifact."""
    [(collection, metadata, stated, *built_in)] = rows(
        connection,
        "SELECT k.id, a.metadata, c.file_metadata, a.name, a.file_name, c.media_type, c.title,"
        " c.language, a.ingested_us, a.source_uri"
        " FROM artifact AS a JOIN content AS c USING (tenant, content_id)"
        " JOIN collection AS k ON k.tenant = a.tenant AND k.name = a.collection WHERE a.id = ?",
        artifact,
    )
    return collection, attributes(
        typed_metadata(metadata), stated_metadata(stated), BuiltIn(*built_in)
    )


def rewrite_attributes(connection: apsw.Connection, artifact: int) -> None:
    """Write the attribute rows of a POPULATED artifact, by its number, in the place of others."""
    collection, found = expected_attributes(connection, artifact)
    connection.execute("DELETE FROM attribute WHERE artifact = ?", (artifact,))
    connection.executemany(
        "INSERT INTO attribute (collection, key, type, value, artifact, in_list)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        ((collection, *row[:3], artifact, row[3]) for row in found),
    )
