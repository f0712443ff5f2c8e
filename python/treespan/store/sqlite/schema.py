"""The schema of the SQLite store: which one a file has, and how it gets the present one."""

from __future__ import annotations

from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeAlias

import apsw

from treespan.errors import StoreDamaged, StoreUnavailable
from treespan.store.sqlite.connection import INCREMENTAL, rows, transaction, value
from treespan.store.sqlite.tables import APPLICATION_ID, SCHEMA
from treespan.store.sqlite.upgrade import from_1, from_2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Migration: TypeAlias = str | Callable[[apsw.Connection], None]

MIGRATIONS: Final[Sequence[Migration]] = (from_1, from_2)
"""MIGRATIONS[n] leads from schema n + 1 to n + 2; an empty file gets the present schema at once."""


def newest_version(migrations: Sequence[Migration]) -> int:
    """Return the number of the schema that migrations lead to."""
    return 1 + len(migrations)


def schema_version(connection: apsw.Connection, newest: int | None = None) -> int:
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
    known = newest or newest_version(MIGRATIONS)
    if version > known:
        raise StoreUnavailable(
            f"the store has schema {version} and was written by a later treespan; this one knows "
            f"schemas up to {known}: upgrade it"
        )
    return int(version)


def migrate(connection: apsw.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a file to the present schema, one durable step a version; each is whole or undone.

    Raises:
        StoreUnavailable: the file is no store of treespan, or one of a later version.
        StoreDamaged: what it holds does not fit together.
    """
    found = schema_version(connection, newest_version(migrations))
    if not found:
        with transaction(connection):
            connection.execute(SCHEMA)
            _set_version(connection, newest_version(migrations))
        return
    with _references_unchecked(connection):
        for version in range(found, newest_version(migrations)):
            with transaction(connection):
                _run(connection, migrations[version - 1])
                _set_version(connection, version + 1)


def free_pages_on_demand(connection: apsw.Connection) -> None:
    """Let a file that an older version created give free pages back; it is rewritten once.

    Where there is no room for that now, it is done when the store is opened again.
    """
    if value(connection, "PRAGMA auto_vacuum") == INCREMENTAL:
        return
    connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
    with suppress(apsw.FullError, apsw.IOError):
        connection.execute("VACUUM")


def check_readable(connection: apsw.Connection) -> bool:
    """Return whether there is a store in the file yet, of the schema that is read here.

    Raises:
        StoreUnavailable: the file is no store of treespan, or one of another version.
    """
    version = schema_version(connection)
    newest = newest_version(MIGRATIONS)
    if 0 < version < newest:
        raise StoreUnavailable(
            f"the store has schema {version}; schema {newest} is read here: start the "
            "ingest service of this version, which upgrades it"
        )
    return version > 0


def missing_parts(connection: apsw.Connection) -> list[str]:
    """Return the tables and indexes of the present schema, and the epoch, that a store lacks."""
    named = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'"
    with closing(apsw.Connection(":memory:")) as whole:
        migrate(whole)
        wanted = {name for (name,) in rows(whole, named)}
    missing = sorted(wanted - {name for (name,) in rows(connection, named)})
    if "meta" not in missing and not rows(connection, "SELECT 1 FROM meta WHERE key = 'epoch'"):
        missing.append("epoch")
    return missing


def _run(connection: apsw.Connection, migration: Migration) -> None:
    if isinstance(migration, str):
        connection.execute(migration)
    else:
        migration(connection)
    if rows(connection, "PRAGMA foreign_key_check"):
        raise StoreDamaged("rows of the store refer to rows that it lacks; restore it from a copy")


def _set_version(connection: apsw.Connection, version: int) -> None:
    connection.execute(f"PRAGMA user_version = {version}")


@contextmanager
def _references_unchecked(connection: apsw.Connection) -> Iterator[None]:
    """Let tables be made anew that others refer to; only possible outside a transaction."""
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        connection.execute("PRAGMA foreign_keys = ON")
