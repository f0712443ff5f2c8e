"""The tables of the SQLite store.

    collection ─< artifact >─ content ── content_bytes        op_log        operation        meta
                  ^  ^           ^
               draft attribute   chunk ── text_<tenant>
                     span

A content belongs to a tenant, and an artifact refers to it by tenant and id: no tenant can hold
another's. The bytes of contents lie in a table of their own, so that listing never reads them.

The tables of the lower row are derived (`derived`): they say nothing that artifacts and contents do
not say, in the order in which filters and words ask for it. What filters look up begins with the
collection, so that the rows of another one are never walked; a chunk and its words, which are most
of what is derived, are kept once for a content. Values have the type ANY: text stays text, and
whole numbers compare exactly.
"""

from __future__ import annotations

from typing import Final

from treespan.words import FTS5_TOKENIZE

APPLICATION_ID: Final = 0x54535054
"""Says that a file is a store of treespan: "TSPT" in the file's header."""

META: Final = f"""
PRAGMA application_id = {APPLICATION_ID};

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(16))));
"""

CONTENT_BYTES: Final = """
CREATE TABLE content_bytes (
    content      INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    tree         BLOB NOT NULL,
    vector_nodes BLOB NOT NULL CHECK (length(vector_nodes) % 4 = 0),
    vectors      BLOB NOT NULL,
    cells        BLOB NOT NULL DEFAULT x'90'
) STRICT;
"""
"""The default is an empty array in msgpack."""

TABLES: Final = """
CREATE TABLE tenant (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE collection (
    id                    INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant                TEXT    NOT NULL,
    name                  TEXT    NOT NULL,
    display_name          TEXT    NOT NULL,
    embedding_model       TEXT    NOT NULL,
    embedding_fingerprint TEXT    NOT NULL,
    dimension             INTEGER NOT NULL,
    chunk_tokens          INTEGER NOT NULL,
    created_seq           INTEGER NOT NULL,
    created_us            INTEGER NOT NULL,
    updated_us            INTEGER NOT NULL,
    UNIQUE (tenant, name)
) STRICT;

CREATE TABLE content (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant       TEXT    NOT NULL,
    content_id   TEXT    NOT NULL,
    sha256       TEXT    NOT NULL,
    size_bytes   INTEGER NOT NULL,
    media_type   TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    language     TEXT    NOT NULL,
    page_count   INTEGER NOT NULL,
    node_count   INTEGER NOT NULL,
    vector_count INTEGER NOT NULL,
    token_count  INTEGER NOT NULL,
    warnings     TEXT    NOT NULL,
    checksum     TEXT    NOT NULL,
    file_metadata BLOB   NOT NULL DEFAULT x'',
    summary      TEXT    NOT NULL DEFAULT '',
    counts       TEXT    NOT NULL DEFAULT '[]',
    UNIQUE (tenant, content_id)
) STRICT;

CREATE TABLE artifact (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant      TEXT    NOT NULL,
    collection  TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    state       INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    file_name   TEXT    NOT NULL,
    metadata    BLOB    NOT NULL,
    doc_id      TEXT,
    content_id  TEXT,
    key         INTEGER UNIQUE,
    revision    INTEGER,
    ingested_us INTEGER NOT NULL,
    created_us  INTEGER NOT NULL,
    updated_us  INTEGER NOT NULL,
    checksum    TEXT    NOT NULL DEFAULT '',
    summary     TEXT    NOT NULL DEFAULT '',
    source_uri  TEXT    NOT NULL DEFAULT '',
    UNIQUE (tenant, collection, name),
    UNIQUE (tenant, collection, doc_id),
    FOREIGN KEY (tenant, collection) REFERENCES collection (tenant, name),
    FOREIGN KEY (tenant, content_id) REFERENCES content (tenant, content_id),
    CHECK ((state = 3) = (doc_id IS NOT NULL)),
    CHECK ((state = 3) = (content_id IS NOT NULL)),
    CHECK ((state = 3) = (key IS NOT NULL)),
    CHECK ((state = 3) = (revision IS NOT NULL))
) STRICT;
CREATE INDEX artifact_by_content ON artifact (tenant, content_id);

CREATE TABLE op_log (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    change     INTEGER NOT NULL CHECK (change IN (1, 2, 3, 4, 5)),
    tenant     TEXT    NOT NULL,
    collection TEXT    NOT NULL,
    artifact   TEXT    NOT NULL,
    doc_id     TEXT    NOT NULL
) STRICT;

CREATE TABLE attribute (
    collection INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    type       INTEGER NOT NULL,
    value      ANY     NOT NULL,
    artifact   INTEGER NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
    in_list    INTEGER NOT NULL,
    PRIMARY KEY (collection, key, type, value, artifact)
) STRICT, WITHOUT ROWID;
CREATE INDEX attribute_by_artifact ON attribute (artifact);

CREATE TABLE span (
    collection INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    type       INTEGER NOT NULL,
    value      ANY     NOT NULL,
    artifact   INTEGER NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    PRIMARY KEY (collection, key, type, value, artifact, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX span_by_artifact ON span (artifact, key, first);

CREATE TABLE chunk (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    content    INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    node       INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    page_start INTEGER NOT NULL,
    page_end   INTEGER NOT NULL,
    UNIQUE (content, node)
) STRICT;
"""

WORK: Final = """
CREATE TABLE draft (
    artifact   INTEGER PRIMARY KEY REFERENCES artifact (id) ON DELETE CASCADE,
    doc_id     TEXT    NOT NULL,
    created_us INTEGER NOT NULL,
    packed     BLOB    NOT NULL,
    checksum   TEXT    NOT NULL
) STRICT;

CREATE INDEX draft_by_doc_id ON draft (doc_id);

CREATE TABLE operation (
    id             TEXT    NOT NULL UNIQUE,
    tenant         TEXT    NOT NULL,
    kind           INTEGER NOT NULL CHECK (kind IN (1, 2, 3, 4)),
    collection     TEXT    NOT NULL,
    artifact       TEXT    NOT NULL,
    state          INTEGER NOT NULL CHECK (state IN (1, 2, 3, 4, 5)),
    request_id     TEXT,
    request_digest TEXT    NOT NULL,
    request        BLOB    NOT NULL,
    outcome        BLOB    NOT NULL,
    seq            INTEGER NOT NULL,
    created_us     INTEGER NOT NULL,
    ended_us       INTEGER NOT NULL,
    UNIQUE (tenant, request_id),
    CHECK ((state IN (1, 2)) = (ended_us = 0))
) STRICT;
CREATE INDEX operation_by_tenant ON operation (tenant, id);
CREATE INDEX operation_unfinished ON operation (id) WHERE state IN (1, 2);
CREATE INDEX operation_by_end ON operation (ended_us) WHERE state IN (3, 4, 5);
"""
"""What is under way, and what came of it."""

SCHEMA: Final = META + CONTENT_BYTES + TABLES + WORK
"""Makes an empty file a store."""


def text_table(tenant: int) -> str:
    """Return the name of a tenant's full-text table.

    Each tenant has its own: how rare a word is among the texts of others tells about them.
    """
    return f"text_{tenant}"


def create_text_table(tenant: int) -> str:
    """Return the statement that creates a tenant's full-text table.

    Its rowid is that of the chunk; the texts themselves are only in the tree.
    """
    return (
        f"CREATE VIRTUAL TABLE {text_table(tenant)} USING fts5(heading, body, content='',"
        f' contentless_delete=1, tokenize="{FTS5_TOKENIZE}")'
    )
