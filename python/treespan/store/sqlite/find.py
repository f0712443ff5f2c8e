"""What most statements of the SQLite store begin with; all see the connection's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treespan.errors import CollectionNotFound
from treespan.store.sqlite.connection import rows, value
from treespan.store.sqlite.rows import SELECT_COLLECTION, collection_record

if TYPE_CHECKING:
    import apsw

    from treespan.store.records import CollectionRecord, Tenant


def find_collection(connection: apsw.Connection, tenant: Tenant, name: str) -> CollectionRecord:
    """Return a collection; raises `CollectionNotFound`."""
    found = rows(connection, SELECT_COLLECTION + "WHERE tenant = ? AND name = ?", tenant, name)
    if not found:
        raise CollectionNotFound(name)
    return collection_record(found[0])


def collection_number(connection: apsw.Connection, tenant: Tenant, name: str) -> int:
    """Return the `collection.id` of a collection; raises `CollectionNotFound`."""
    found: int | None = value(
        connection, "SELECT id FROM collection WHERE tenant = ? AND name = ?", tenant, name
    )
    if found is None:
        raise CollectionNotFound(name)
    return found


def tenant_number(connection: apsw.Connection, tenant: Tenant) -> int | None:
    """Return the `tenant.id` of a tenant; None for one that has no content."""
    found: int | None = value(connection, "SELECT id FROM tenant WHERE name = ?", tenant)
    return found


def newest_seq(connection: apsw.Connection) -> int:
    """Return the newest sequence number; 0 for none. It outlives the rows of the op log."""
    seq: int | None = value(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'op_log'")
    return seq or 0
