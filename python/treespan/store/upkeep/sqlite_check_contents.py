"""Contents of a SQLite store: their bytes, and what is derived from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from treespan.node import EMBEDDED, NodeKind, Tree
from treespan.store.checksum import content_checksum
from treespan.store.derived import derive
from treespan.store.sqlite.connection import rows, value
from treespan.store.sqlite.content import said
from treespan.store.sqlite.rows import SELECT_CONTENT, content
from treespan.store.upkeep.problems import RESTORE, Mend, Problem, Work
from treespan.store.upkeep.sqlite_check_texts import expected_marks, sizes_differ

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from treespan.store.derived import Derived
    from treespan.store.records import Content
    from treespan.store.sqlite.connection import Row
    from treespan.store.upkeep.sqlite_check_texts import Marks

_UNIT_WITHIN = 1e-3
_SHOWN_ARTIFACTS = 3


@dataclass(frozen=True, slots=True)
class ContentCheck:
    """What was found of a content."""

    problems: list[Problem]
    tenant: int | None = None
    """Number of its tenant, where its full text is sound as far as it was compared."""
    marks: Marks = field(default_factory=dict)
    """Marks that its full text must have, see `sqlite_check_texts`."""
    damaged: bool = False
    """Whether what it says itself is not what was stored."""


def content_numbers(connection: apsw.Connection) -> list[int]:
    """Return the numbers of all contents."""
    return [number for (number,) in rows(connection, "SELECT id FROM content ORDER BY id")]


def check_content(connection: apsw.Connection, number: int, *, full: bool) -> ContentCheck:
    """Return what is found of a content, as the transaction sees it; nothing where it is gone."""
    found = rows(
        connection, "SELECT tenant, content_id, checksum FROM content WHERE id = ?", number
    )
    if not found:
        return ContentCheck([])
    [(tenant, content_id, checksum)] = found
    where = f"content {tenant}/{content_id}"
    truth = _truth(connection, number, checksum)
    if isinstance(truth, str):
        advice = _advice(connection, tenant, content_id)
        return ContentCheck([Problem(truth, where, advice=advice)], damaged=True)
    return _check_derived(connection, number, derive(truth), where, full=full)


def _truth(connection: apsw.Connection, number: int, checksum: str) -> Content | str:
    """Return a content, or what is wrong with it."""
    parts = rows(
        connection,
        "SELECT tree, vector_nodes, vectors, cells FROM content_bytes WHERE content = ?",
        number,
    )
    if not parts:
        return "its bytes are missing"
    try:
        [row] = rows(connection, SELECT_CONTENT + "WHERE c.id = ?", number)
        found = content(row)
        if content_checksum(*parts[0], *said(found)) != checksum:
            return "its bytes are not those that were stored (checksum)"
        tree = Tree.unpack(found.tree)
    except (ValueError, msgspec.DecodeError) as error:
        return str(error)
    [(vector_count,)] = rows(connection, "SELECT vector_count FROM content WHERE id = ?", number)
    problems = (
        tree_problem(tree),
        counts_problem(found, tree, vector_count),
        *(_vectors_problem(found, tree, one) for one in _dimensions(connection, number)),
    )
    return next((problem for problem in problems if problem), found)


def tree_problem(tree: Tree) -> str:
    """Return what makes no sense in a tree; empty where nothing."""
    nodes = np.arange(len(tree))
    ends = [tree.text_start, tree.text_end]
    places = np.stack(ends, axis=1).reshape(-1).astype(np.int64)
    try:
        tree.text.decode()
    except UnicodeDecodeError as error:
        return f"its text is no UTF-8: {error}"
    rules = {
        "it has no nodes": len(tree) > 0,
        "a node comes before its parent": bool((tree.parent[1:] < nodes[1:]).all()),
        "the root has a parent": not len(tree) or tree.parent[0] == 0,
        "a node has an unknown kind": bool(np.isin(tree.kind, list(NodeKind)).all()),
        "own texts overlap or lie outside of the text": bool((np.diff(places) >= 0).all())
        and int(places.max(initial=0)) <= len(tree.text),
    }
    return next((problem for problem, holds in rules.items() if not holds), "")


def counts_problem(found: Content, tree: Tree, vector_count: int) -> str:
    """Return which stated count of a content is not that of its tree; empty where none."""
    tokens = int(tree.own_tokens.sum(dtype=np.uint64))
    rules = (
        ("nodes", found.node_count, len(tree)),
        ("tokens", found.token_count, tokens),
        ("vectors", vector_count, found.vector_count),
    )
    for what, stated, is_so in rules:
        if stated != is_so:
            return f"it is said to have {stated} {what} and has {is_so}"
    return ""


def _vectors_problem(found: Content, tree: Tree, dimension: int) -> str:
    nodes = np.frombuffer(found.vector_nodes, "<u4")
    embedded = np.flatnonzero(tree.flags & EMBEDDED)
    if len(found.vectors) != len(nodes) * dimension * 4:
        return f"{len(nodes)} vectors of {dimension} dimensions have {len(found.vectors)} bytes"
    if not np.array_equal(nodes, embedded):
        return "the nodes that have a vector are not those that its tree marks"
    vectors = np.frombuffer(found.vectors, "<f4").reshape(-1, dimension)
    if not np.isfinite(vectors).all():
        return "a vector holds a number that is not finite"
    if (abs(np.linalg.norm(vectors, axis=1) - 1) > _UNIT_WITHIN).any():
        return "a vector has not the length 1"
    return ""


def _dimensions(connection: apsw.Connection, number: int) -> list[int]:
    found = rows(
        connection,
        "SELECT DISTINCT k.dimension FROM content AS c"
        " JOIN artifact AS a USING (tenant, content_id)"
        " JOIN collection AS k ON k.tenant = a.tenant AND k.name = a.collection WHERE c.id = ?",
        number,
    )
    return [dimension for (dimension,) in found]


def _check_derived(
    connection: apsw.Connection, number: int, derived: Derived, where: str, *, full: bool
) -> ContentCheck:
    spans = list(_span_problems(connection, number, derived))
    held = rows(
        connection,
        "SELECT id, node, kind, page_start, page_end FROM chunk WHERE content = ? ORDER BY node",
        number,
    )
    numbers: list[int] = [chunk for chunk, *_ in held]
    tenant: int | None = value(
        connection,
        "SELECT t.id FROM content AS c JOIN tenant AS t ON t.name = c.tenant"
        " JOIN sqlite_schema AS s ON s.name = 'text_' || t.id WHERE c.id = ?",
        number,
    )
    if tuple(tuple(row) for _, *row in held) != derived.chunks:
        problem = "its rows in 'chunk' are not those that follow from it"
    elif tenant is None:
        problem = "its tenant has no full text"
    elif sizes_differ(connection, tenant, numbers, derived):
        problem = "its full text is not what follows from it"
    else:
        return ContentCheck(spans, tenant, expected_marks(numbers, derived) if full else {})
    return ContentCheck([*spans, Problem(problem, where, Mend(Work.CONTENT, number))])


def _span_problems(connection: apsw.Connection, number: int, derived: Derived) -> Iterator[Problem]:
    """Yield the holders of a content whose spans are others than follow from it."""
    holders = rows(
        connection,
        "SELECT a.id, k.id, a.tenant, a.collection, a.name"
        " FROM content AS c JOIN artifact AS a USING (tenant, content_id)"
        " JOIN collection AS k ON k.tenant = a.tenant AND k.name = a.collection WHERE c.id = ?",
        number,
    )
    for artifact, collection, *names in holders:
        expected = {exact((collection, *row)) for row in derived.spans}
        held = rows(
            connection,
            "SELECT collection, key, type, value, first, last FROM span WHERE artifact = ?",
            artifact,
        )
        if {exact(row) for row in held} != expected:
            yield Problem(
                "its rows in 'span' are not those that follow from its content",
                f"artifact {'/'.join(names)}",
                Mend(Work.SPANS, artifact),
            )


def exact(row: Row) -> Row:
    """Return a row that equals only rows of the same types: 1 and 1.0 are kept apart."""
    return tuple((part, isinstance(part, float)) for part in row)


def _advice(connection: apsw.Connection, tenant: str, content_id: str) -> str:
    holders = rows(
        connection,
        "SELECT collection, name FROM artifact WHERE tenant = ? AND content_id = ? ORDER BY 1, 2",
        tenant,
        content_id,
    )
    names = [f"{collection}/{name}" for collection, name in holders[:_SHOWN_ARTIFACTS]]
    if more := len(holders) - len(names):
        names.append(f"{more} more")
    return f"delete {', '.join(names)} and ingest again (the bytes are kept once), or {RESTORE}"
