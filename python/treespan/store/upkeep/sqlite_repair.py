"""Repair of the SQLite store: what is derived is built anew; the truth is never changed."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from treespan.errors import StoreUnavailable
from treespan.store.derived import derive
from treespan.store.records import Tenant
from treespan.store.sqlite.connection import (
    FILE_NAME,
    open_writing,
    plain_errors,
    rows,
    snapshot,
    transaction,
)
from treespan.store.sqlite.derived_rows import (
    delete_chunks,
    insert_chunks,
    rewrite_attributes,
    tenant_with_texts,
    write_spans,
)
from treespan.store.sqlite.rows import SELECT_CONTENT, content
from treespan.store.sqlite.schema import check_readable
from treespan.store.sqlite.tables import create_text_table, text_table
from treespan.store.upkeep.cache_files import drop_cache
from treespan.store.upkeep.problems import Mend, Problem, Work
from treespan.store.upkeep.reports import CheckReport
from treespan.store.upkeep.sqlite_check import found_in_cache, store_problems
from treespan.store.upkeep.sqlite_check_strays import STRAY, texts_without_chunk
from treespan.store.upkeep.sqlite_snapshot import counted
from treespan.store.upkeep.upkeep_lock import UpkeepLock
from treespan.store.writer_lock import WriterLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import apsw

    from treespan.store.derived import Derived
    from treespan.store.upkeep.cache_files import Cache
    from treespan.store.upkeep.reports import Progress

_ORDER = tuple(Work)
_ROUNDS = 3


def repair(folder: Path, *, full: bool, cache: Cache, progress: Progress) -> CheckReport:
    """Check and mend the store in a folder; see `treespan.store.upkeep.repair`."""
    path = folder / FILE_NAME
    if not path.exists():
        raise StoreUnavailable(f"there is no store in {folder} (store.path)")
    with (
        plain_errors(path),
        closing(WriterLock(folder)),
        closing(UpkeepLock(folder)),
        closing(open_writing(path)) as connection,
    ):
        if not check_readable(connection):
            raise StoreUnavailable(f"there is no store in {folder} yet: start ingest once")
        return _repaired(connection, full=full, cache=cache, progress=progress)


def _repaired(
    connection: apsw.Connection, *, full: bool, cache: Cache, progress: Progress
) -> CheckReport:
    def look() -> list[Problem]:
        problems = store_problems(connection, full=full, progress=progress)
        return problems + found_in_cache(cache)[1]

    first = problems = look()
    # What is mended may show what it hid: rows of a content whose tenant was not known.
    for _ in range(_ROUNDS):
        mends = {problem.mend for problem in problems if problem.mend is not None}
        if not mends:
            break
        _mend_all(connection, mends, cache, progress)
        problems = look()
    left = tuple(problem.finding() for problem in problems)
    done = tuple(f for f in (problem.finding() for problem in first) if f not in left)
    with snapshot(connection):
        now = counted(connection)
    files, _ = found_in_cache(cache)
    return CheckReport(now, now.contents, files, left, done)


def _mend_all(
    connection: apsw.Connection, mends: set[Mend], cache: Cache, progress: Progress
) -> None:
    ordered = sorted(mends, key=lambda mend: (_ORDER.index(mend.work), str(mend.of)))
    for done, mend in enumerate(ordered):
        progress("repairing", done, len(ordered))
        if mend.work is Work.CACHE:
            drop_cache(cache.folder)
            continue
        with transaction(connection):
            _WORKS[mend.work](connection, mend.of)


def _indexes(connection: apsw.Connection, _: int | str) -> None:
    connection.execute("REINDEX")


def _stray(connection: apsw.Connection, table: int | str) -> None:
    connection.execute(f"DELETE FROM {table} WHERE {STRAY[str(table)]}")


def _drop_content(connection: apsw.Connection, number: int | str) -> None:
    """Drop a content; its full text goes as what belongs to no chunk."""
    connection.execute("DELETE FROM content WHERE id = ?", (number,))


def _stray_texts(connection: apsw.Connection, tenant: int | str) -> None:
    stray = texts_without_chunk(int(tenant))
    connection.execute(f"DELETE FROM {text_table(int(tenant))} WHERE rowid IN ({stray})")


def _texts(connection: apsw.Connection, tenant: int | str) -> None:
    """Build the full text of a tenant anew, or drop it where there is no such tenant."""
    table = text_table(int(tenant))
    connection.execute(f"DROP TABLE IF EXISTS {table}")
    if not rows(connection, "SELECT 1 FROM tenant WHERE id = ?", tenant):
        return
    connection.execute(create_text_table(int(tenant)))
    contents = rows(
        connection,
        "SELECT c.id FROM content AS c JOIN tenant AS t ON t.name = c.tenant WHERE t.id = ?",
        tenant,
    )
    for (number,) in contents:
        _content(connection, number)


def _content(connection: apsw.Connection, number: int | str) -> None:
    """Build the chunks and the full text of a content anew."""
    found = rows(connection, "SELECT tenant FROM content WHERE id = ?", number)
    if not found:
        return
    derived = _derived(connection, number)
    tenant = tenant_with_texts(connection, Tenant(found[0][0]))
    delete_chunks(connection, tenant, int(number))
    insert_chunks(connection, tenant, int(number), derived)


def _spans(connection: apsw.Connection, artifact: int | str) -> None:
    [(number,)] = rows(
        connection,
        "SELECT c.id FROM content AS c JOIN artifact AS a USING (tenant, content_id)"
        " WHERE a.id = ?",
        artifact,
    )
    write_spans(connection, int(artifact), _derived(connection, number))


def _attributes(connection: apsw.Connection, artifact: int | str) -> None:
    rewrite_attributes(connection, int(artifact))


def _derived(connection: apsw.Connection, number: int | str) -> Derived:
    [row] = rows(connection, SELECT_CONTENT + "WHERE c.id = ?", number)
    return derive(content(row))


_WORKS: dict[Work, Callable[[apsw.Connection, int | str], None]] = {
    Work.INDEXES: _indexes,
    Work.DROP_CONTENT: _drop_content,
    Work.STRAY: _stray,
    Work.TEXTS: _texts,
    Work.CONTENT: _content,
    Work.STRAY_TEXTS: _stray_texts,
    Work.SPANS: _spans,
    Work.ATTRIBUTES: _attributes,
}
