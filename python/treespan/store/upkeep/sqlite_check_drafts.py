"""Check of the versions that wait to be populated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treespan import identity
from treespan.errors import StoreDamaged
from treespan.node import EMBEDDED, Tree
from treespan.store.records import ArtifactState, Content
from treespan.store.sqlite.connection import rows, snapshot
from treespan.store.sqlite.operations import find_draft
from treespan.store.upkeep.problems import Problem
from treespan.store.upkeep.sqlite_check_contents import counts_problem, tree_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from treespan.store.records import NewArtifact


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
        "SELECT a.tenant, a.collection, a.name, a.state, d.doc_id"
        " FROM draft AS d JOIN artifact AS a ON a.id = d.artifact WHERE d.artifact = ?",
        number,
    )
    if not found:
        return None  # populated or deleted meanwhile, or a stray
    [(tenant, collection, name, state, doc_id)] = found
    try:
        artifact = find_draft(connection, tenant, collection, name).artifact
        problems = (_state_problem(state), _name_problem(artifact, doc_id))
        what = next(filter(None, problems), "") or _content_problem(artifact)
    except (StoreDamaged, ValueError) as error:
        what = str(error)
    if not what:
        return None
    where = f"draft of artifact {tenant}/{collection}/{name}"
    return Problem(what, where, advice=f"ingest {collection}/{name} of tenant {tenant} again")


def _state_problem(state: int) -> str:
    if state != ArtifactState.NOT_INITIALIZED:
        return ""
    return f"its artifact is {ArtifactState.NOT_INITIALIZED.name} although a version of it waits"


def _name_problem(artifact: NewArtifact, doc_id: str) -> str:
    assert isinstance(artifact.content, Content)
    right = identity.doc_id(
        artifact.tenant, artifact.collection, artifact.name, artifact.content.content_id
    )
    wrong = next((one for one in (doc_id, artifact.doc_id) if one != right), "")
    return f"{wrong} is not the id of this version" if wrong else ""


def _content_problem(artifact: NewArtifact) -> str:
    content = artifact.content
    assert isinstance(content, Content)
    tree = Tree.unpack(content.tree)
    problem = tree_problem(tree) or counts_problem(content, tree, content.vector_count)
    if problem:
        return problem
    nodes = np.frombuffer(content.vector_nodes, "<u4")
    if not np.array_equal(nodes, np.flatnonzero(tree.flags & EMBEDDED)):
        return "the nodes that are to have a vector are not those that its tree marks"
    if max((cell.node for cell in content.cells), default=0) >= len(tree):
        return f"a cell is of a node that its tree of {len(tree)} nodes does not have"
    return ""
