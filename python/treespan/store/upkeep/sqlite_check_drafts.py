"""Check of the versions that wait to be populated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from treespan.node import Tree
from treespan.store.checksum import bytes_checksum
from treespan.store.drafts import unpack_draft
from treespan.store.records import Content
from treespan.store.sqlite.connection import rows, snapshot
from treespan.store.upkeep.problems import Problem
from treespan.store.upkeep.sqlite_check_contents import tree_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw


def draft_problems(connection: apsw.Connection) -> Iterator[Problem]:
    """Yield what is wrong with drafts; only their files could mend them."""
    with snapshot(connection):
        found = rows(connection, "SELECT artifact FROM draft ORDER BY artifact")
    for (number,) in found:
        with snapshot(connection):
            problem = _problem(connection, number)
        if problem is not None:
            yield problem


def _problem(connection: apsw.Connection, number: int) -> Problem | None:
    found = rows(
        connection,
        "SELECT a.tenant, a.collection, a.name, d.packed, d.checksum, d.created_us"
        " FROM draft AS d JOIN artifact AS a ON a.id = d.artifact WHERE d.artifact = ?",
        number,
    )
    if not found:
        return None  # populated or deleted meanwhile, or a stray
    [(tenant, collection, name, packed, checksum, created_us)] = found
    what = ""
    if bytes_checksum(packed) != checksum:
        what = "its bytes are not those that were stored (checksum)"
    else:
        try:
            content = unpack_draft(packed, tenant, collection, name, created_us).artifact.content
            assert isinstance(content, Content)
            what = tree_problem(Tree.unpack(content.tree))
        except (ValueError, msgspec.DecodeError) as error:
            what = str(error)
    if not what:
        return None
    where = f"draft of artifact {tenant}/{collection}/{name}"
    return Problem(what, where, advice=f"ingest {collection}/{name} of tenant {tenant} again")
