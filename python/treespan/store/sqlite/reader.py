"""The SQLite store, read. `treespan.store.interface.Reader` says what each method promises."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from treespan.errors import ArtifactNotFound
from treespan.store.records import CollectionCounts, TextHit
from treespan.store.sqlite.connection import FILE_NAME, plain_errors, rows, snapshot, value
from treespan.store.sqlite.file import StoreFile
from treespan.store.sqlite.filters import matching, matching_artifacts
from treespan.store.sqlite.find import find_collection, newest_seq, tenant_number
from treespan.store.sqlite.operations import (
    find_by_request,
    find_draft,
    find_draft_by_doc_id,
    find_operation,
    list_operations,
)
from treespan.store.sqlite.pool import ChangeWatch, ReadPool
from treespan.store.sqlite.rows import (
    SELECT_ARTIFACT,
    SELECT_CHANGE,
    SELECT_COLLECTION,
    SELECT_CONTENT,
    SELECT_SEARCHABLE,
    SELECT_VERSION,
    artifact_record,
    collection_record,
    content,
    logged_change,
    searchable_document,
    version,
)
from treespan.store.sqlite.tables import text_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from treespan.filters import Filter
    from treespan.store.records import (
        ArtifactRecord,
        CollectionRecord,
        Content,
        ContentId,
        Draft,
        LoggedChange,
        Matches,
        OperationRecord,
        OperationState,
        SearchableDocument,
        Tenant,
        Version,
    )
    from treespan.store.sqlite.connection import SqlValue


HEADING_WEIGHT: Final = 0.5
"""Weight of a word of the title and headings above a node; one of its own text counts 1.

All nodes below a heading share it: it says which part of a document is meant, not which node.
"""

_LIST_FIELD: Final = "metadata_filter"
"""Path of the filter in the request that lists artifacts."""

_TEXT_HITS: Final = f"""
SELECT a.key, h.node, f.score
FROM (SELECT rowid, -bm25({{table}}, {HEADING_WEIGHT}, 1.0) AS score FROM {{table}}
      WHERE {{table}} MATCH ?) AS f
     JOIN chunk AS h ON h.id = f.rowid
     JOIN content AS c ON c.id = h.content
     JOIN artifact AS a ON a.tenant = c.tenant AND a.content_id = c.content_id
WHERE a.tenant = ? AND a.collection = ?
ORDER BY f.score DESC, a.key, h.node LIMIT ?
"""


class SqliteReader:
    """Reads a store in a folder; the folder need not exist yet.

    Args:
        folder: Folder of the store.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._file = StoreFile(self._path)
        self._pool = ReadPool(self._file)
        self._watch = ChangeWatch(self._file)

    def engine(self) -> str:
        """Return the engine's name and version."""
        return f"sqlite {apsw.sqlite_lib_version()}"

    def epoch(self) -> str:
        """Return the id of this line of history; empty for a store that does not exist yet."""
        with self._snapshot() as connection:
            epoch: str | None = value(connection, "SELECT value FROM meta WHERE key = 'epoch'")
            return epoch or ""

    def last_seq(self) -> int:
        """Return the sequence number of the newest change."""
        with self._snapshot() as connection:
            return newest_seq(connection)

    def changes_after(self, seq: int, limit: int) -> list[LoggedChange]:
        """Return the changes after `seq`, in order."""
        with self._snapshot() as connection:
            found = rows(
                connection,
                SELECT_CHANGE + "WHERE seq > ? ORDER BY seq LIMIT ?",
                seq,
                max(limit, 0),
            )
        return [logged_change(row) for row in found]

    def changed(self) -> bool:
        """Return whether there was a commit since the last call."""
        with plain_errors(self._path):
            return self._watch.changed()

    def collection(self, tenant: Tenant, name: str) -> CollectionRecord:
        """Return a collection."""
        with self._snapshot() as connection:
            return find_collection(connection, tenant, name)

    def collections(self, tenant: Tenant, after: str, limit: int) -> list[CollectionRecord]:
        """Return the collections whose names sort after `after`, by name."""
        with self._snapshot() as connection:
            found = rows(
                connection,
                SELECT_COLLECTION + "WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?",
                tenant,
                after,
                max(limit, 0),
            )
        return [collection_record(row) for row in found]

    def collection_counts(self, tenant: Tenant, name: str) -> CollectionCounts:
        """Return the counts of a collection's POPULATED artifacts."""
        with self._snapshot() as connection:
            find_collection(connection, tenant, name)
            [counts] = rows(
                connection,
                "SELECT count(*), ifnull(sum(c.node_count), 0), ifnull(sum(c.vector_count), 0),"
                " ifnull(sum(c.token_count), 0)"
                " FROM artifact AS a JOIN content AS c USING (tenant, content_id)"
                " WHERE a.tenant = ? AND a.collection = ?",
                tenant,
                name,
            )
        return CollectionCounts(*counts)

    def all_collections(self) -> list[CollectionRecord]:
        """Return every collection of every tenant."""
        with self._snapshot() as connection:
            found = rows(connection, SELECT_COLLECTION + "ORDER BY tenant, name")
        return [collection_record(row) for row in found]

    def artifact(self, tenant: Tenant, collection: str, name: str) -> ArtifactRecord:
        """Return an artifact in any state."""
        with self._snapshot() as connection:
            find_collection(connection, tenant, collection)
            found = rows(
                connection,
                SELECT_ARTIFACT + "WHERE a.tenant = ? AND a.collection = ? AND a.name = ?",
                tenant,
                collection,
                name,
            )
        if not found:
            raise ArtifactNotFound(name)
        return artifact_record(found[0])

    def artifacts(
        self,
        tenant: Tenant,
        collection: str,
        after: str,
        limit: int,
        where: Filter | None = None,
    ) -> list[ArtifactRecord]:
        """Return the artifacts whose names sort after `after`, by name."""
        with self._snapshot() as connection:
            record = find_collection(connection, tenant, collection)
            condition = "a.tenant = ? AND a.collection = ? AND a.name > ?"
            values: tuple[SqlValue, ...] = (tenant, collection, after)
            if where is not None:
                wanted, bound = matching_artifacts(connection, record, where, _LIST_FIELD)
                # The plus keeps SQLite from walking all names instead of those that match.
                condition = f"a.id IN ({wanted}) AND +a.tenant = ? AND +a.collection = ?"
                condition += " AND +a.name > ?"
                values = (*bound, *values)
            found = rows(
                connection,
                f"{SELECT_ARTIFACT} WHERE {condition} ORDER BY a.name LIMIT ?",
                *(*values, max(limit, 0)),
            )
        return [artifact_record(row) for row in found]

    def matching(self, tenant: Tenant, collection: str, where: Filter) -> Matches:
        """Return the visible versions, or nodes of them, that a filter lets through."""
        with self._snapshot() as connection:
            return matching(connection, find_collection(connection, tenant, collection), where)

    def text_hits(
        self, tenant: Tenant, collection: str, expression: str, limit: int
    ) -> list[TextHit]:
        """Return the nodes that a full-text expression finds, best first."""
        with self._snapshot() as connection:
            find_collection(connection, tenant, collection)
            number = tenant_number(connection, tenant)
            if number is None:
                return []
            found = rows(
                connection,
                _TEXT_HITS.format(table=text_table(number)),
                *(expression, tenant, collection, max(limit, 0)),
            )
        return [TextHit(*row) for row in found]

    def artifact_by_doc_id(self, tenant: Tenant, collection: str, doc_id: str) -> ArtifactRecord:
        """Return the artifact whose visible version has this id."""
        with self._snapshot() as connection:
            find_collection(connection, tenant, collection)
            found = rows(
                connection,
                SELECT_ARTIFACT + "WHERE a.tenant = ? AND a.collection = ? AND a.doc_id = ?",
                tenant,
                collection,
                doc_id,
            )
        if not found:
            raise ArtifactNotFound(doc_id, f"no artifact has the document id {doc_id!r} now")
        return artifact_record(found[0])

    def content_by_id(self, tenant: Tenant, content_id: ContentId) -> Content:
        """Return a content with its bytes."""
        with self._snapshot() as connection:
            found = rows(
                connection,
                SELECT_CONTENT + "WHERE c.tenant = ? AND c.content_id = ?",
                tenant,
                content_id,
            )
        if not found:
            raise ArtifactNotFound(content_id, f"no artifact has the content {content_id!r} now")
        return content(found[0])

    def has_content(self, tenant: Tenant, content_id: ContentId) -> bool:
        """Return whether an artifact of the tenant holds this content."""
        with self._snapshot() as connection:
            found = rows(
                connection,
                "SELECT 1 FROM content WHERE tenant = ? AND content_id = ?",
                tenant,
                content_id,
            )
        return bool(found)

    def searchable(
        self, tenant: Tenant, collection: str, doc_id: str, *, vectors: bool = True
    ) -> SearchableDocument | None:
        """Return a visible document whole, or None where that version is visible no more."""
        with self._snapshot() as connection:
            found = rows(
                connection,
                SELECT_SEARCHABLE + "WHERE a.tenant = ? AND a.collection = ? AND a.doc_id = ?",
                *(vectors, vectors, tenant, collection, doc_id),
            )
        return searchable_document(found[0]) if found else None

    def draft(self, tenant: Tenant, collection: str, name: str) -> Draft:
        """Return the version of an artifact that waits to be populated."""
        with self._snapshot() as connection:
            find_collection(connection, tenant, collection)
            return find_draft(connection, tenant, collection, name)

    def draft_by_doc_id(self, tenant: Tenant, collection: str, doc_id: str) -> Draft:
        """Return the version that waits to be populated under this id."""
        with self._snapshot() as connection:
            find_collection(connection, tenant, collection)
            return find_draft_by_doc_id(connection, tenant, collection, doc_id)

    def operation(self, tenant: Tenant, operation: str) -> OperationRecord:
        """Return an operation."""
        with self._snapshot() as connection:
            return find_operation(connection, tenant, operation)

    def operation_by_request(self, tenant: Tenant, request_id: str) -> OperationRecord | None:
        """Return the operation of a request id that is not empty, or None."""
        with self._snapshot() as connection:
            return find_by_request(connection, tenant, request_id)

    def operations(
        self,
        tenant: Tenant,
        collection: str,
        states: Sequence[OperationState],
        before: str,
        limit: int,
    ) -> list[OperationRecord]:
        """Return operations, the newest first, without their requests."""
        with self._snapshot() as connection:
            return list_operations(connection, tenant, collection, states, before, limit)

    def visible(self) -> tuple[int, list[Version]]:
        """Return every visible version, and the last change that this state holds."""
        with self._snapshot() as connection:
            found = rows(connection, SELECT_VERSION + "ORDER BY key")
            seq = newest_seq(connection)
        return seq, [version(row) for row in found]

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()
        self._watch.close()

    @contextmanager
    def _snapshot(self) -> Iterator[apsw.Connection]:
        """Lend a connection on which everything read is of one committed state."""
        with (
            plain_errors(self._path),
            self._pool.connection() as connection,
            snapshot(connection),
        ):
            yield connection
