"""The SQLite store in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from treespan.store.sqlite.connection import FILE_NAME, rows, snapshot, value
from treespan.store.sqlite.schema import check_readable
from treespan.store.upkeep.cache_files import cache_stats
from treespan.store.upkeep.reports import CollectionStats, StoreStats
from treespan.store.upkeep.sqlite_snapshot import counted, reading
from treespan.store.upkeep.sqlite_vacuum import full_text_tables

if TYPE_CHECKING:
    from pathlib import Path

_HELD = """
WITH held AS (
    SELECT c.id, count(*) AS artifacts, c.node_count, c.vector_count, c.token_count
    FROM artifact AS a JOIN content AS c USING (tenant, content_id)
    WHERE a.tenant = ?1 AND a.collection = ?2 GROUP BY c.id
)
"""
_COUNTS = (
    _HELD
    + """
SELECT ifnull(sum(artifacts), 0), count(*),
       ifnull(sum(1 < (SELECT count(*) FROM artifact AS other JOIN content AS c
                       USING (tenant, content_id) WHERE c.id = held.id)), 0),
       ifnull(sum(artifacts * node_count), 0), ifnull(sum(artifacts * vector_count), 0),
       ifnull(sum(artifacts * token_count), 0)
FROM held
"""
)
# The length of a blob stands in its row's header: the bytes are not read.
_BYTES = (
    _HELD
    + """
SELECT ifnull(sum(length(b.tree)), 0), ifnull(sum(length(b.vectors)), 0)
FROM held JOIN content_bytes AS b ON b.content = held.id
"""
)
_TEXTS = _HELD + "SELECT count(*) FROM held JOIN chunk ON chunk.content = held.id"
_METADATA_KEYS = """
SELECT count(DISTINCT key) FROM attribute
WHERE collection = (SELECT id FROM collection WHERE tenant = ?1 AND name = ?2)
      AND key >= 'metadata.' AND key < 'metadata/'
"""

_UNFINISHED = "SELECT count(*) FROM operation WHERE state IN (1, 2)"


def stats(folder: Path, cache: Path) -> StoreStats:
    """Return the store in a folder in numbers; see `treespan.store.upkeep.store_stats`."""
    path = folder / FILE_NAME
    with reading(folder) as connection:
        check_readable(connection)
        with snapshot(connection):
            page: int = value(connection, "PRAGMA page_size")
            return StoreStats(
                engine=f"sqlite {apsw.sqlite_lib_version()}",
                store=str(path),
                snapshot=counted(connection),
                changes=value(connection, "SELECT count(*) FROM op_log"),
                operations=value(connection, "SELECT count(*) FROM operation"),
                unfinished_operations=value(connection, _UNFINISHED),
                drafts=value(connection, "SELECT count(*) FROM draft"),
                draft_bytes=value(connection, "SELECT ifnull(sum(length(packed)), 0) FROM draft"),
                file_bytes=path.stat().st_size,
                log_bytes=_log_bytes(path),
                free_bytes=page * value(connection, "PRAGMA freelist_count"),
                text_index_bytes=_text_index_bytes(connection),
                collections=_collections(connection),
                cache=cache_stats(cache),
            )


def _log_bytes(path: Path) -> int:
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0


def _text_index_bytes(connection: apsw.Connection) -> int:
    return sum(
        value(connection, f'SELECT ifnull(sum(length(block)), 0) FROM "{table}_data"')
        for table in full_text_tables(connection)
    )


def _collections(connection: apsw.Connection) -> tuple[CollectionStats, ...]:
    names = rows(connection, "SELECT tenant, name FROM collection ORDER BY tenant, name")
    return tuple(_collection(connection, tenant, name) for tenant, name in names)


def _collection(connection: apsw.Connection, tenant: str, name: str) -> CollectionStats:
    [(artifacts, contents, shared, nodes, vectors, tokens)] = rows(
        connection, _COUNTS, tenant, name
    )
    [(tree_bytes, vector_bytes)] = rows(connection, _BYTES, tenant, name)
    return CollectionStats(
        tenant=tenant,
        collection=name,
        artifacts=artifacts,
        contents=contents,
        shared_contents=shared,
        nodes=nodes,
        vectors=vectors,
        tokens=tokens,
        metadata_keys=value(connection, _METADATA_KEYS, tenant, name),
        tree_bytes=tree_bytes,
        vector_bytes=vector_bytes,
        text_entries=value(connection, _TEXTS, tenant, name),
    )
