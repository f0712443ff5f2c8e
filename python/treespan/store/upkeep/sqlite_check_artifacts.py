"""Artifacts of a SQLite store: their ids, and the attributes derived from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from treespan import identity
from treespan.store.records import ContentId, Tenant
from treespan.store.sqlite.artifact import checksums
from treespan.store.sqlite.connection import rows, snapshot
from treespan.store.sqlite.derived_rows import expected_attributes
from treespan.store.upkeep.problems import RESTORE, Mend, Problem, Work
from treespan.store.upkeep.sqlite_check_contents import exact

if TYPE_CHECKING:
    import apsw

    from treespan.store.upkeep.reports import Progress

_BATCH = 200


def artifact_problems(connection: apsw.Connection, progress: Progress) -> list[Problem]:
    """Return what is wrong with POPULATED artifacts."""
    problems: list[Problem] = []
    after, done = 0, 0
    [(total,)] = rows(connection, "SELECT count(*) FROM artifact WHERE key IS NOT NULL")
    while True:
        with snapshot(connection):
            found = rows(
                connection,
                "SELECT id, tenant, collection, name, doc_id, content_id FROM artifact"
                " WHERE key IS NOT NULL AND id > ? ORDER BY id LIMIT ?",
                after,
                _BATCH,
            )
            for row in found:
                problems += _problems(connection, *row)
        if not found:
            return problems
        after, done = found[-1][0], done + len(found)
        progress("checking artifacts", done, max(done, total))


def _problems(
    connection: apsw.Connection,
    number: int,
    tenant: str,
    collection: str,
    name: str,
    doc_id: str,
    content_id: str,
) -> list[Problem]:
    where = f"artifact {tenant}/{collection}/{name}"
    problems = []
    if doc_id != identity.doc_id(Tenant(tenant), collection, name, ContentId(content_id)):
        problems.append(Problem(f"{doc_id} is not the id of this version", where, advice=RESTORE))
    computed, noted = checksums(connection, number)
    if computed != noted:
        # What is derived from it may be what it said before: nothing of it is mended.
        what = "its names or metadata are damaged: their checksum differs"
        advice = f"give it its metadata again, or {RESTORE}"
        return [*problems, Problem(what, where, advice=advice)]
    try:
        kept_in, expected = expected_attributes(connection, number)
    except (ValueError, DecodeError) as error:
        advice = f"give it its metadata again, or {RESTORE}"
        return [*problems, Problem(f"its metadata is damaged: {error}", where, advice=advice)]
    held = rows(
        connection,
        "SELECT collection, key, type, value, in_list FROM attribute WHERE artifact = ?",
        number,
    )
    if {exact(row) for row in held} != {exact((kept_in, *row)) for row in expected}:
        what = "its rows in 'attribute' are not those that follow from it"
        problems.append(Problem(what, where, Mend(Work.ATTRIBUTES, number)))
    return problems
