"""The schema of the SQLite store, and how an older one becomes the present one.

    collection ─< artifact >─ content ── content_bytes        op_log        meta

A content belongs to a tenant, and an artifact refers to it by tenant and id: no tenant can hold
another's. The bytes of contents lie in a table of their own, so that listing never reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from treespan.errors import StoreUnavailable
from treespan.store.sqlite import rows, transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

APPLICATION_ID: Final = 0x54535054
"""Says that a file is a store of treespan: "TSPT" in the file's header."""

_VERSION_1 = f"""
PRAGMA application_id = {APPLICATION_ID};

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(16))));

CREATE TABLE collection (
    tenant                TEXT    NOT NULL,
    name                  TEXT    NOT NULL,
    display_name          TEXT    NOT NULL,
    embedding_model       TEXT    NOT NULL,
    embedding_fingerprint TEXT    NOT NULL,
    dimension             INTEGER NOT NULL,
    chunk_tokens          INTEGER NOT NULL,
    created_us            INTEGER NOT NULL,
    updated_us            INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE content (
    id           INTEGER PRIMARY KEY,
    tenant       TEXT    NOT NULL,
    content_id   TEXT    NOT NULL,
    sha256       TEXT    NOT NULL,
    size_bytes   INTEGER NOT NULL,
    media_type   TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    page_count   INTEGER NOT NULL,
    node_count   INTEGER NOT NULL,
    vector_count INTEGER NOT NULL,
    token_count  INTEGER NOT NULL,
    warnings     TEXT    NOT NULL,
    UNIQUE (tenant, content_id)
) STRICT;

CREATE TABLE content_bytes (
    content      INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    tree         BLOB NOT NULL,
    vector_nodes BLOB NOT NULL CHECK (length(vector_nodes) % 4 = 0),
    vectors      BLOB NOT NULL
) STRICT;

CREATE TABLE artifact (
    tenant     TEXT    NOT NULL,
    collection TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    state      INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    file_name  TEXT    NOT NULL,
    metadata   BLOB    NOT NULL,
    doc_id     TEXT,
    content_id TEXT,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    UNIQUE (tenant, collection, name),
    UNIQUE (tenant, collection, doc_id),
    FOREIGN KEY (tenant, collection) REFERENCES collection (tenant, name),
    FOREIGN KEY (tenant, content_id) REFERENCES content (tenant, content_id),
    CHECK ((state = 3) = (doc_id IS NOT NULL)),
    CHECK ((state = 3) = (content_id IS NOT NULL))
) STRICT;
CREATE INDEX artifact_by_content ON artifact (tenant, content_id);

CREATE TABLE op_log (
    seq        INTEGER PRIMARY KEY,
    change     INTEGER NOT NULL CHECK (change IN (1, 2, 3, 4)),
    tenant     TEXT    NOT NULL,
    collection TEXT    NOT NULL,
    artifact   TEXT    NOT NULL,
    doc_id     TEXT    NOT NULL
) STRICT;
"""

MIGRATIONS: Final = (_VERSION_1,)
"""MIGRATIONS[n] leads from schema n to n + 1; schema 0 is an empty file."""


def schema_version(connection: apsw.Connection, newest: int = len(MIGRATIONS)) -> int:
    """Return the schema of a file; 0 where nothing was written yet.

    Raises:
        StoreUnavailable: the file is no store of treespan, or one of a later version.
    """
    # One statement, as a writer may be creating the store at this moment.
    [(version, application, tables)] = rows(
        connection,
        "SELECT (SELECT user_version FROM pragma_user_version),"
        " (SELECT application_id FROM pragma_application_id),"
        " (SELECT count(*) FROM sqlite_schema)",
    )
    if application != APPLICATION_ID and (version or tables):
        raise StoreUnavailable("the file is a database of another program, not a treespan store")
    if version > newest:
        raise StoreUnavailable(
            f"the store has schema {version} and was written by a later treespan; this one knows "
            f"schemas up to {newest}: upgrade it"
        )
    return int(version)


def migrate(connection: apsw.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a file to the present schema, one durable step a version; each is whole or undone.

    Raises:
        StoreUnavailable: the file is no store of treespan, or one of a later version.
    """
    found = schema_version(connection, len(migrations))
    for version in range(found, len(migrations)):
        with transaction(connection):
            connection.execute(migrations[version])
            connection.execute(f"PRAGMA user_version = {version + 1}")


def check_readable(connection: apsw.Connection) -> bool:
    """Return whether there is a store in the file yet, of the schema that is read here.

    Raises:
        StoreUnavailable: the file is no store of treespan, or one of another version.
    """
    version = schema_version(connection)
    if 0 < version < len(MIGRATIONS):
        raise StoreUnavailable(
            f"the store has schema {version}; schema {len(MIGRATIONS)} is read here: start the "
            "ingest service of this version, which upgrades it"
        )
    return version > 0
