"""Check of the SQLite store: everything in it against what it must be.

Reads only, in many short transactions, so that it may run beside both services for as long as it
takes: each transaction sees one state, and what is deleted meanwhile is passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from treespan.store.sqlite.connection import FILE_NAME, snapshot
from treespan.store.sqlite.schema import check_readable
from treespan.store.upkeep.cache_files import cache_problems
from treespan.store.upkeep.problems import RESTORE, Mend, Problem, Work
from treespan.store.upkeep.reports import CheckReport
from treespan.store.upkeep.sqlite_check_artifacts import artifact_problems
from treespan.store.upkeep.sqlite_check_contents import check_content, content_numbers
from treespan.store.upkeep.sqlite_check_drafts import draft_problems
from treespan.store.upkeep.sqlite_check_rules import operation_problems
from treespan.store.upkeep.sqlite_check_strays import stray_problems
from treespan.store.upkeep.sqlite_check_structure import log_problems, structure_problems
from treespan.store.upkeep.sqlite_check_texts import held_marks
from treespan.store.upkeep.sqlite_snapshot import counted, reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from treespan.store.upkeep.cache_files import Cache
    from treespan.store.upkeep.reports import Progress
    from treespan.store.upkeep.sqlite_check_texts import Marks


def check(folder: Path, *, full: bool, cache: Cache, progress: Progress) -> CheckReport:
    """Check the store in a folder; see `treespan.store.upkeep.check_store`."""
    with reading(folder) as connection:
        check_readable(connection)
        with snapshot(connection):
            before = counted(connection)
        problems = store_problems(connection, full=full, progress=progress)
    files, found = found_in_cache(cache)
    findings = tuple(problem.finding() for problem in [*problems, *found])
    return CheckReport(before, before.contents, files, findings)


def store_problems(connection: apsw.Connection, *, full: bool, progress: Progress) -> list[Problem]:
    """Return what is wrong in the database."""
    progress("checking the file", 0, 1)
    problems: list[Problem] = []
    try:
        problems += structure_problems(connection, full=full)
        # What a damaged file says of its contents would only hide what is wrong with it.
        if all(problem.mend is not None for problem in problems):
            for part in _parts(connection, full=full, progress=progress):
                problems += part
    except apsw.CorruptError as error:
        problems.append(Problem(f"the file is damaged: {error}", FILE_NAME, advice=RESTORE))
    return problems


def _parts(
    connection: apsw.Connection, *, full: bool, progress: Progress
) -> Iterator[Iterable[Problem]]:
    with snapshot(connection):
        yield log_problems(connection)
        yield stray_problems(connection)
        yield operation_problems(connection)
    damaged: set[int] = set()
    yield _contents(connection, damaged, full=full, progress=progress)
    yield artifact_problems(connection, damaged, progress)
    yield draft_problems(connection)


def _contents(
    connection: apsw.Connection, damaged: set[int], *, full: bool, progress: Progress
) -> Iterator[Problem]:
    """Yield what is wrong with contents; gather the numbers of those that are damaged."""
    expected: dict[int, Marks] = {}
    numbers = content_numbers(connection)
    for done, number in enumerate(numbers):
        progress("checking contents", done, len(numbers))
        with snapshot(connection):
            found = check_content(connection, number, full=full)
        yield from found.problems
        if found.damaged:
            damaged.add(number)
        if found.tenant is not None:
            expected.setdefault(found.tenant, {}).update(found.marks)
    for tenant, marks in expected.items() if full else ():
        progress(f"checking words of tenant {tenant}", 0, 1)
        if what := _other_words(connection, tenant, marks):
            yield Problem(what, f"full text of tenant {tenant}", Mend(Work.TEXTS, tenant))


def _other_words(connection: apsw.Connection, tenant: int, marks: Marks) -> str:
    try:
        held = held_marks(connection, tenant)
    except apsw.CorruptError as error:
        return f"the full text is damaged: {error}"
    # What is deleted meanwhile is not among them, and numbers are never used again.
    wrong = sum(held.get(number, mark) != mark for number, mark in marks.items())
    return f"{wrong} entries have other words than follow from their contents" if wrong else ""


def found_in_cache(cache: Cache) -> tuple[int, list[Problem]]:
    """Return the number of files in the cache, and what is wrong with them."""
    files, found = cache_problems(cache)
    return files, [Problem(what, where, Mend(Work.CACHE)) for what, where in found]
