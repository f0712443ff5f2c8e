"""Whether a SQLite store's file is sound: pages, indexes, references, and the op log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from treespan.store.records import Change
from treespan.store.sqlite.connection import FILE_NAME, rows
from treespan.store.sqlite.find import newest_seq
from treespan.store.sqlite.schema import missing_parts
from treespan.store.upkeep.problems import RESTORE, Mend, Problem, Work
from treespan.store.upkeep.sqlite_check_rules import RULED, rule_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

DROPPED: Final = ("attribute", "chunk", "draft", "span")
"""Tables whose rows are dropped where what they refer to is gone: no other way leads to them."""

_MOST = 100
_RULE = re.compile(f"CHECK constraint failed in ({'|'.join(RULED)})")
_INDEX = re.compile(r"(row \d+ missing from|wrong # of entries in|non-unique entry in) index")
_FULL_TEXT = re.compile(r"fts5.*text_(\d+)", re.IGNORECASE)


def structure_problems(connection: apsw.Connection, *, full: bool) -> list[Problem]:
    """Return what is wrong with the file itself, and with the references between its tables."""
    pragma = "integrity_check" if full else "quick_check"
    found = [text for (text,) in rows(connection, f"PRAGMA {pragma}({_MOST})") if text != "ok"]
    problems = [_of_file(text) for text in found if not _RULE.fullmatch(text)]
    missing = missing_parts(connection)
    problems += [Problem(f"{name!r} is missing", FILE_NAME, advice=RESTORE) for name in missing]
    references = rows(connection, "PRAGMA foreign_key_check")
    problems += [_reference(*reference) for reference in references[:_MOST]]
    return problems if missing else [*problems, *rule_problems(connection)]


def log_problems(connection: apsw.Connection) -> list[Problem]:
    """Return what is wrong with the op log, and with the seqs that rows say they are of."""
    return [*_gaps(connection), *_collections(connection), *_versions(connection)]


def _of_file(text: str) -> Problem:
    if table := _FULL_TEXT.search(text):
        return Problem(text, "full text", Mend(Work.TEXTS, int(table[1])))
    if _INDEX.match(text):
        return Problem(text, "index", Mend(Work.INDEXES))
    return Problem(f"the file is damaged: {text}", "store.db", advice=RESTORE)


def _reference(table: str, number: int | None, parent: str, _: int) -> Problem:
    what = f"a row refers to a row of {parent!r} that is not there"
    where = table if number is None else f"{table} {number}"
    if table in DROPPED:
        return Problem(what, where, Mend(Work.STRAY, table))
    return Problem(what, where, advice=RESTORE)


def _gaps(connection: apsw.Connection) -> Iterator[Problem]:
    [(first, last, count)] = rows(connection, "SELECT min(seq), max(seq), count(*) FROM op_log")
    newest = newest_seq(connection)
    if first is None:
        return
    if count != last - first + 1:
        missing = last - first + 1 - count
        yield Problem(
            f"{missing} changes between {first} and {last} are missing", "op_log", advice=RESTORE
        )
    if last > newest:
        yield Problem(
            f"the newest change is {last}, and {newest} was given out last",
            "op_log",
            advice=RESTORE,
        )


def _collections(connection: apsw.Connection) -> Iterator[Problem]:
    wrong = rows(
        connection,
        "SELECT k.tenant, k.name, k.created_seq FROM collection AS k"
        " LEFT JOIN op_log AS o ON o.seq = k.created_seq"
        " WHERE k.created_seq > ?1 OR (o.seq IS NOT NULL AND"
        " (o.change, o.tenant, o.collection) IS NOT (?2, k.tenant, k.name))",
        newest_seq(connection),
        Change.COLLECTION_PUT,
    )
    for tenant, name, seq in wrong:
        yield Problem(
            f"its creation is change {seq}, which is another",
            f"collection {tenant}/{name}",
            advice=RESTORE,
        )


def _versions(connection: apsw.Connection) -> Iterator[Problem]:
    """Compare keys and revisions with the op log, as far back as it goes."""
    wrong = rows(
        connection,
        "SELECT a.tenant, a.collection, a.name, a.key, a.revision FROM artifact AS a"
        " LEFT JOIN op_log AS p ON p.seq = a.key LEFT JOIN op_log AS r ON r.seq = a.revision"
        " WHERE a.key IS NOT NULL AND (a.key > a.revision OR a.revision > ?1"
        " OR (p.seq IS NOT NULL AND (p.change, p.tenant, p.collection, p.artifact, p.doc_id)"
        "     IS NOT (?2, a.tenant, a.collection, a.name, a.doc_id))"
        " OR (r.seq IS NOT NULL AND (r.tenant, r.collection, r.artifact, r.doc_id)"
        "     IS NOT (a.tenant, a.collection, a.name, a.doc_id))"
        " OR (r.seq IS NOT NULL AND r.change <> iif(a.key = a.revision, ?2, ?3)))",
        newest_seq(connection),
        Change.ARTIFACT_PUT,
        Change.ARTIFACT_UPDATED,
    )
    for tenant, collection, name, key, revision in wrong:
        yield Problem(
            f"key {key} and revision {revision} are not its changes in the op log",
            f"artifact {tenant}/{collection}/{name}",
            advice=RESTORE,
        )
