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
    from collections.abc import Set

    import apsw

    from treespan.store.upkeep.reports import Progress

_BATCH = 200


def artifact_problems(
    connection: apsw.Connection, damaged: Set[int], progress: Progress
) -> list[Problem]:
    """Return what is wrong with POPULATED artifacts.

    Args:
        connection: The connection.
        damaged: Numbers of contents that are not what was stored: what follows from them may be
            what they said before, and stays.
        progress: Told how many are done.
    """
    problems: list[Problem] = []
    after, done = 0, 0
    [(total,)] = rows(connection, "SELECT count(*) FROM artifact WHERE key IS NOT NULL")
    while True:
        with snapshot(connection):
            found = rows(
                connection,
                "SELECT a.id, c.id, a.tenant, a.collection, a.name, a.doc_id, a.content_id"
                " FROM artifact AS a LEFT JOIN content AS c USING (tenant, content_id)"
                " WHERE a.key IS NOT NULL AND a.id > ? ORDER BY a.id LIMIT ?",
                after,
                _BATCH,
            )
            for number, content, *names in found:
                truth = _truth_problems(connection, number, *names)
                problems += truth
                if not truth and content not in damaged:
                    problems += _attribute_problems(connection, number, *names[:3])
        if not found:
            return problems
        after, done = found[-1][0], done + len(found)
        progress("checking artifacts", done, max(done, total))


def _truth_problems(
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
        what = "its names, metadata, summary or source are damaged: their checksum differs"
        advice = f"give it its metadata again, or {RESTORE}"
        problems.append(Problem(what, where, advice=advice))
    return problems


def _attribute_problems(
    connection: apsw.Connection, number: int, tenant: str, collection: str, name: str
) -> list[Problem]:
    where = f"artifact {tenant}/{collection}/{name}"
    try:
        kept_in, expected = expected_attributes(connection, number)
    except (ValueError, DecodeError) as error:
        advice = f"give it its metadata again, or {RESTORE}"
        return [Problem(f"its metadata is damaged: {error}", where, advice=advice)]
    held = rows(
        connection,
        "SELECT collection, key, type, value, in_list FROM attribute WHERE artifact = ?",
        number,
    )
    if {exact(row) for row in held} == {exact((kept_in, *row)) for row in expected}:
        return []
    what = "its rows in 'attribute' are not those that follow from it"
    return [Problem(what, where, Mend(Work.ATTRIBUTES, number))]
