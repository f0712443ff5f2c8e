"""Whether rows of a SQLite store follow the rules of their tables, and operations stand as can be.

`PRAGMA quick_check` looks at CHECK constraints only on a connection that may write, and names the
table alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from treespan.store.records import ArtifactState, Change, OperationKind, OperationState
from treespan.store.sqlite.connection import rows
from treespan.store.sqlite.find import newest_seq
from treespan.store.upkeep.problems import RESTORE, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import apsw

RULED: Final = ("artifact", "op_log", "operation")
"""Tables whose CHECK constraints are looked at here."""

_MOST: Final = 100


def rule_problems(connection: apsw.Connection) -> Iterator[Problem]:
    """Yield the artifacts and changes that no write could have left so."""
    populated = f"(state = {ArtifactState.POPULATED:d})"
    marked = ("doc_id", "content_id", "key", "revision")
    has_all = " OR ".join(f"{populated} <> ({column} IS NOT NULL)" for column in marked)
    found = rows(
        connection,
        "SELECT tenant, collection, name, state FROM artifact"
        f" WHERE state NOT IN ({_numbers(ArtifactState)}) OR {has_all} ORDER BY id LIMIT {_MOST}",
    )
    for *names, state in found:
        what = f"it has state {state}, and not what an artifact of this state has"
        yield Problem(what, f"artifact {'/'.join(names)}", advice=RESTORE)
    found = rows(
        connection,
        f"SELECT seq, change FROM op_log WHERE change NOT IN ({_numbers(Change)}) LIMIT {_MOST}",
    )
    for seq, change in found:
        yield Problem(f"change {seq} is of kind {change}", "op_log", advice=RESTORE)


def operation_problems(connection: apsw.Connection) -> Iterator[Problem]:
    """Yield the operations in a state that cannot be, or with a change they cannot have made."""
    newest = newest_seq(connection)
    under_way = f"({OperationState.QUEUED:d}, {OperationState.RUNNING:d})"
    rules = {
        "kind {kind} is none": f"kind NOT IN ({_numbers(OperationKind)})",
        "state {state} is none": f"state NOT IN ({_numbers(OperationState)})",
        "state {state} and an end at {ended_us} do not go together": (
            f"(state IN {under_way}) <> (ended_us = 0)"
        ),
        "state {state} and change {seq} do not go together": (
            f"seq <> 0 AND state <> {OperationState.SUCCEEDED:d}"
        ),
        f"change {{seq}} is none; the newest is {newest}": f"NOT seq BETWEEN 0 AND {newest}",
    }
    seen: set[str] = set()
    for what, wrong in rules.items():
        found = rows(
            connection,
            "SELECT tenant, id, kind, state, seq, ended_us FROM operation"
            f" WHERE {wrong} ORDER BY id LIMIT {_MOST}",
        )
        for tenant, number, kind, state, seq, ended_us in found:
            if number not in seen:
                seen.add(number)
                said = what.format(kind=kind, state=state, seq=seq, ended_us=ended_us)
                advice = f"what it put in is looked at by itself; for its history, {RESTORE}"
                yield Problem(f"its {said}", f"operation {tenant}/{number}", advice=advice)


def _numbers(known: Iterable[int]) -> str:
    return ", ".join(str(int(number)) for number in known)
