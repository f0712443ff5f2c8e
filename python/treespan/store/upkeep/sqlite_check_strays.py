"""Rows of a SQLite store that belong to nothing any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from treespan.store.sqlite.connection import rows, value
from treespan.store.sqlite.tables import text_table
from treespan.store.upkeep.problems import Mend, Problem, Work
from treespan.store.upkeep.sqlite_vacuum import full_text_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

STRAY: Final = {
    "attribute": "artifact NOT IN (SELECT id FROM artifact WHERE key IS NOT NULL)",
    "chunk": "content NOT IN (SELECT id FROM content)",
    "draft": "artifact NOT IN (SELECT id FROM artifact)",
    "span": "artifact NOT IN (SELECT id FROM artifact WHERE key IS NOT NULL)",
}
"""Which rows belong to nothing: nobody can ask for them any more."""

UNHELD: Final = """
SELECT id, tenant, content_id FROM content AS c WHERE NOT EXISTS
    (SELECT 1 FROM artifact AS a WHERE a.tenant = c.tenant AND a.content_id = c.content_id)
"""


def stray_problems(connection: apsw.Connection) -> list[Problem]:
    """Return what belongs to nothing any more, and tenants without a full-text table."""
    return [*_contents(connection), *_rows(connection), *_texts(connection)]


def texts_without_chunk(tenant: int) -> str:
    """Return the SELECT of the numbers of a tenant's full-text entries that have no chunk."""
    return (
        f"SELECT id FROM {text_table(tenant)}_docsize"
        " WHERE id NOT IN (SELECT chunk.id FROM chunk JOIN content AS c ON c.id = chunk.content"
        f" JOIN tenant AS t ON t.name = c.tenant WHERE t.id = {tenant})"
    )


def _contents(connection: apsw.Connection) -> Iterator[Problem]:
    for number, tenant, content_id in rows(connection, UNHELD):
        yield Problem(
            "no artifact holds this content",
            f"content {tenant}/{content_id}",
            Mend(Work.DROP_CONTENT, number),
        )


def _rows(connection: apsw.Connection) -> Iterator[Problem]:
    for table, stray in STRAY.items():
        count = value(connection, f"SELECT count(*) FROM {table} WHERE {stray}")
        if count:
            yield Problem(f"{count} rows belong to nothing", table, Mend(Work.STRAY, table))


def _texts(connection: apsw.Connection) -> Iterator[Problem]:
    present = set(full_text_tables(connection))
    for number, tenant in rows(connection, "SELECT id, name FROM tenant"):
        where = f"full text of tenant {tenant}"
        if text_table(number) not in present:
            yield Problem("the table is missing", where, Mend(Work.TEXTS, number))
            continue
        present.discard(text_table(number))
        stray = texts_without_chunk(number)
        if count := value(connection, f"SELECT count(*) FROM ({stray})"):
            yield Problem(
                f"{count} entries belong to no chunk", where, Mend(Work.STRAY_TEXTS, number)
            )
    for table in sorted(present):
        number = int(table.partition("_")[2])
        yield Problem("the table belongs to no tenant", table, Mend(Work.TEXTS, number))
