"""Filters, evaluated on the tables `attribute` and `span` of a SQLite store.

A condition is read from the index as sorted ranges of nodes (`ranges`), in which an artifact is a
single one; ranges are united, intersected and complemented outside of SQLite. So what a filter
costs follows from its form and from how many entries its conditions have, not from how a query
planner understands them: only a filter that is a negation as a whole looks at every artifact.

Where all of several filters must hold, those with few matches come first, and the others are asked
of their artifacts alone.
"""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import apsw
import numpy as np

from treespan.errors import InvalidField
from treespan.filters import (
    ARTIFACT_KEYS,
    NODE_KEYS,
    TYPE_NAMES,
    All,
    Condition,
    Not,
    Operator,
    ValueType,
    conditions,
    is_of_nodes,
    shown,
    value_type,
)
from treespan.store.ranges import NODE_BITS, NODE_MASK, complement, intersection, union
from treespan.store.records import Matches
from treespan.store.sqlite.conditions import FEW, Entries, Sql, columns, key_of
from treespan.store.sqlite.find import collection_number, newest_seq

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treespan.filters import Filter
    from treespan.store.ranges import Numbers, Ranges
    from treespan.store.records import CollectionRecord

FIELD: Final = "context_filter.metadata_filter"
"""Path of a filter in the requests of most methods."""

_POSITIVE: Final = {Operator.NE: Operator.EQ, Operator.NOT_IN: Operator.IN}
_OTHER_TYPES: Final = {"ingested_at": ValueType.TIME, "page": ValueType.NUMBER}
"""Types of built-in keys that are no strings."""


def matching_artifacts(
    connection: apsw.Connection, collection: CollectionRecord, where: Filter, field: str = FIELD
) -> tuple[str, tuple[Any, ...]]:
    """Return a query for the `artifact.id` of artifacts that are like this, each once.

    Args:
        connection: The connection, inside the transaction in which the query is run.
        collection: The collection.
        where: A filter of artifacts.
        field: Path of the filter in the request.

    Returns:
        The query, of one column, and what it binds. Joined with CROSS JOIN, it comes first.

    Raises:
        CollectionNotFound: the collection is gone.
        InvalidField: an operand has a type that the key has in no artifact.
    """
    found = _Evaluation(connection, collection, field).matching(where).artifacts()
    if not len(found):
        return "SELECT id FROM artifact WHERE 0", ()
    return "SELECT value AS id FROM carray(?)", (apsw.carray(found),)


def matching(
    connection: apsw.Connection, collection: CollectionRecord, where: Filter, field: str = FIELD
) -> Matches:
    """Return the visible versions, or nodes of them, that a filter lets through.

    Args:
        connection: The connection, inside a transaction.
        collection: The collection.
        where: The filter.
        field: Path of the filter in the request.

    Raises:
        CollectionNotFound: the collection is gone.
        InvalidField: an operand has a type that the key has in no artifact, or in no node.
    """
    found = _Evaluation(connection, collection, field).matching(where)
    seq = newest_seq(connection)
    if is_of_nodes(where):
        keys, nodes = _nodes(connection, collection, found)
        return Matches(seq, keys.astype("<u8").tobytes(), nodes.astype("<u4").tobytes())
    _, keys = _keys(connection, collection, found.artifacts())
    return Matches(seq, np.sort(keys).astype("<u8").tobytes())


class _Evaluation:
    """One filter on one state of a collection."""

    def __init__(
        self, connection: apsw.Connection, collection: CollectionRecord, field: str
    ) -> None:
        self._connection = connection
        self._collection = collection_number(connection, collection.tenant, collection.name)
        self._field = field

    def matching(self, where: Filter) -> Ranges:
        """Return where a filter holds; a bounded set."""
        for condition in conditions(where):
            if condition.values:
                self._check_type(condition)
        found = self._filter(where, negated=False, within=None)
        return found if found.bounded else intersection(found, self._everything())

    def _filter(self, where: Filter, *, negated: bool, within: Numbers | None) -> Ranges:
        """Return where a filter holds, or does not; what is of artifacts not `within` is open."""
        match where:
            case Condition():
                return self._condition(where, negated=negated, within=within)
            case Not(part):
                return self._filter(part, negated=not negated, within=within)
        if isinstance(where, All) is not negated:
            return self._every(where.parts, negated=negated, within=within)
        return union([self._filter(part, negated=negated, within=within) for part in where.parts])

    def _every(self, parts: Sequence[Filter], *, negated: bool, within: Numbers | None) -> Ranges:
        """Return where all parts hold, or none does."""
        known: list[Ranges | None] = [None] * len(parts)
        for most in (FEW // 16, FEW):
            if all(part is None for part in known):
                known = [self._if_few(part, most, negated=negated) for part in parts]
        found = sorted((part for part in known if part is not None), key=len)
        for part, ready in zip(parts, known, strict=True):
            if ready is None:
                if found:
                    found = [reduce(intersection, found)]
                    if not len(found[0]):
                        return found[0]
                    within = _few_artifacts(found[0], within)
                found.append(self._filter(part, negated=negated, within=within))
        return reduce(intersection, found)

    def _if_few(self, where: Filter, most: int, *, negated: bool) -> Ranges | None:
        """Return where a condition of equality holds, if it has at most so many entries."""
        if not isinstance(where, Condition) or where.operator not in _SOON[negated]:
            return None
        return self._entries(where).equal_if_few(where.values, most)

    def _condition(self, where: Condition, *, negated: bool, within: Numbers | None) -> Ranges:
        entries = self._entries(where, within)
        match where.operator:
            case Operator.IS_EMPTY:
                found, negated = entries.not_empty(), not negated
            case Operator.NE | Operator.NOT_IN:
                found = entries.matching(_POSITIVE[where.operator], where.values)
                negated = not negated
            case _:
                found = entries.matching(where.operator, where.values)
        return complement(found) if negated else found

    def _entries(self, where: Condition, within: Numbers | None = None) -> Entries:
        return Entries(self._connection, self._collection, key_of(where.key), within)

    def _everything(self) -> Ranges:
        """Return all artifacts: each has a name."""
        return self._entries(Condition("artifact", Operator.EXISTS)).matching(Operator.EXISTS, ())

    def _check_type(self, where: Condition) -> None:
        """Raise `InvalidField` where no artifact has a value of the operand's type."""
        given = value_type(where.values[0])
        there = self._entries(where).types()
        if not there and where.key in ARTIFACT_KEYS + NODE_KEYS:
            there = [_OTHER_TYPES.get(where.key, ValueType.STRING)]
        if there and given not in there:
            names = " or ".join(TYPE_NAMES[kind] for kind in there)
            raise InvalidField(
                self._field,
                f"{shown(where.key)} is {names} in this collection, and "
                f"{shown(where.values[0])} is {TYPE_NAMES[given]}",
            )


_SOON: Final = {False: (Operator.EQ, Operator.IN), True: (Operator.NE, Operator.NOT_IN)}
"""Operators that ask for equal values, by whether they are negated."""


def _few_artifacts(found: Ranges, otherwise: Numbers | None) -> Numbers | None:
    """Return the artifacts of a set where they are known and few."""
    if not found.bounded:
        return otherwise
    artifacts = found.artifacts()
    return artifacts if len(artifacts) <= FEW else otherwise


def _keys(
    connection: apsw.Connection, collection: CollectionRecord, artifacts: Numbers
) -> tuple[Numbers, Numbers]:
    """Return those of the artifacts that are the collection's, and the key of each."""
    if not len(artifacts):
        return artifacts, artifacts
    query = Sql(
        "SELECT a.id AS id, a.key AS key FROM carray(?) AS w"
        " CROSS JOIN artifact AS a ON a.id = w.value WHERE a.tenant = ? AND a.collection = ?",
        (apsw.carray(artifacts), collection.tenant, collection.name),
    )
    ids, keys = columns(connection, ("id", "key"), query)
    return ids, keys


def _nodes(
    connection: apsw.Connection, collection: CollectionRecord, found: Ranges
) -> tuple[Numbers, Numbers]:
    """Return the keys and positions of the nodes of a set that have a vector, both ascending."""
    ids, keys = _keys(connection, collection, found.artifacts())
    query = Sql(
        f"SELECT (a.id << {NODE_BITS}) + c.node AS place FROM json_each(?) AS b"
        " CROSS JOIN artifact AS a ON a.id = b.value ->> 0"
        " CROSS JOIN content AS t ON t.tenant = a.tenant AND t.content_id = a.content_id"
        " CROSS JOIN chunk AS c"
        " ON c.content = t.id AND c.node >= b.value ->> 1 AND c.node < b.value ->> 2",
        (json.dumps(found.bounds(most=FEW)),),
    )
    [there] = columns(connection, ("place",), query)
    there = np.sort(there[found.has(there)])
    of_each = keys[np.searchsorted(ids, there >> NODE_BITS)]
    order = np.argsort(of_each, kind="stable")
    return of_each[order], (there & NODE_MASK)[order]
