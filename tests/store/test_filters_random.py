"""Random filters over random stores, held against the words of the API."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import filter_samples, samples
from store.filter_model import Artifact, Document, Node, lets_through, type_of, types_at
from treespan.errors import InvalidField
from treespan.filters import (
    ARTIFACT_KEYS,
    NODE_KEYS,
    All,
    Any,
    Condition,
    Instant,
    Not,
    Operator,
    conditions,
    is_of_nodes,
)
from treespan.store import open_writer
from treespan.store.sqlite import conditions as sqlite_conditions
from treespan.store.sqlite import filters as sqlite_filters

if TYPE_CHECKING:
    from store.filter_model import Values
    from treespan.filters import Scalar

BIG = 2**53

STRINGS = st.sampled_from(["", "x", "y", "xy", "x y", "Y x.", "Ähre", "\0", "'; DROP TABLE span"])
NUMBERS = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2, BIG, BIG + 1, float(BIG), -(2**63), 2**63 - 1])
INSTANTS = st.sampled_from([Instant(-1), Instant(0), Instant(1), Instant(1_700_000_000_000_001)])
PAGES = st.sampled_from([0, 1, 1.5, 2, 3, 4])
NUMBERS_OF_KEYS = {"b", "metadata.b", "metadata.page", "row.c", "metadata.row.c"}
OTHERS_OF_KEYS = {"x.y": st.one_of(st.booleans(), INSTANTS), "ingested_at": INSTANTS, "page": PAGES}
ANY_TYPE = st.sampled_from([STRINGS, NUMBERS, st.booleans(), INSTANTS]).flatmap(lambda one: one)


def scalars(key: str) -> st.SearchStrategy[Scalar]:
    """Values of the type that a key mostly has, so that not all operands are of a wrong one."""
    mostly = OTHERS_OF_KEYS.get(key, NUMBERS if key in NUMBERS_OF_KEYS else STRINGS)
    return st.integers(0, 11).flatmap(lambda chance: mostly if chance else ANY_TYPE)


def values_of(key: str) -> st.SearchStrategy[Values]:
    """Values of a key of metadata: one in three is a list, of one kind of values."""
    listed = scalars(key).flatmap(
        lambda first: st.lists(scalars(key), max_size=2).map(
            lambda more: [first, *(one for one in more if type(one) is type(first))]
        )
    )
    return st.one_of(scalars(key), scalars(key), st.one_of(st.just([]), listed, listed))


KINDS = st.sampled_from(["SECTION", "SECTION", "TEXT", "TABLE", "TABLE_ROW", "TABLE_ROW", "CHUNK"])
OWN_KEYS = ["a", "b", "language", "title", "page", "x.y", "row.c", "metadata.a"]
OWN_KEYS += ["file.a", "source_uri"]
STATED_KEYS = ["a", "title", "x y"]
KEYS = st.sampled_from(
    (
        *("a", "a", "b", "b", "metadata.a", "metadata.page", "metadata.metadata.a"),
        *("metadata.row.c", "x.y", "nobody"),
        *("artifact", "file_name", "title", "language", "media_type", "ingested_at"),
        *("file.a", "file.a", "file.title", "file.x y", "file.nobody", "metadata.file.a"),
        *("source_uri", "metadata.source_uri"),
        *("page", "page", "heading", "heading", "kind"),
        *("row.c", "row.c", "row.d  e", "row.nobody"),
    )
)
LISTED = {Operator.IN, Operator.NOT_IN, Operator.CONTAINS_ANY, Operator.CONTAINS_ALL}


def _asked(own_key: str) -> str:
    """Return how a filter asks for a key of metadata."""
    return own_key if own_key in {"a", "b", "x.y"} else f"metadata.{own_key}"


@st.composite
def documents(draw: st.DrawFn) -> Document:
    nodes = [Node("DOCUMENT", has_vector=draw(st.booleans()))]
    path = [0]
    for place in range(1, draw(st.integers(4, 10))):
        del path[draw(st.integers(1, len(path))) :]
        kind = draw(KINDS)
        first = draw(st.integers(0, 3))
        is_row = kind == "TABLE_ROW" and all(nodes[up].kind != "TABLE_ROW" for up in path)
        nodes.append(
            Node(
                kind=kind,
                parent=path[-1],
                text=draw(st.sampled_from(["", "x", "y", "x y"])),
                pages=tuple(range(first, first + draw(st.integers(1, 3)))) if first else (),
                cells={
                    column: draw(scalars(f"row.{column}"))
                    for column in draw(st.sampled_from([["c"], ["c", "d e"], [" d \n e"], []]))
                    if is_row
                },
                has_vector=draw(st.integers(0, 3)) > 0,
            )
        )
        path.append(place)
    return Document(
        nodes=nodes,
        title=draw(STRINGS),
        language=draw(st.sampled_from(["", "de", "en"])),
        media_type=draw(STRINGS) or "t/x",
        stated={
            key: draw(values_of(f"file.{key}"))
            for key in draw(st.lists(st.sampled_from(STATED_KEYS), unique=True))
        },
    )


@st.composite
def collections(draw: st.DrawFn) -> list[Artifact]:
    contents = draw(st.lists(documents(), min_size=1, max_size=3))
    return [
        Artifact(
            name=name,
            document=draw(st.sampled_from(contents)),
            file_name=draw(STRINGS),
            metadata={
                key: draw(values_of(_asked(key)))
                for key in draw(st.lists(st.sampled_from(OWN_KEYS), unique=True))
            },
            source_uri=draw(STRINGS),
        )
        for name in draw(st.lists(st.sampled_from("xyzuvw"), unique=True, min_size=2))
    ]


@st.composite
def single_conditions(draw: st.DrawFn) -> Condition:
    operator = draw(st.sampled_from(Operator))
    key = draw(KEYS)
    kind = scalars(key)
    if operator in {Operator.EXISTS, Operator.IS_EMPTY}:
        return Condition(key, operator)
    if operator is Operator.TEXT_MATCH:
        return Condition(key, operator, (draw(st.sampled_from(["x", "Y", "x, y", "z"])),))
    if operator in LISTED:
        values = draw(st.lists(kind, min_size=1, max_size=3))
        alike = tuple(one for one in values if type_of(one) == type_of(values[0]))
        return Condition(key, operator, alike)
    return Condition(key, operator, (draw(kind),))


def filters() -> st.SearchStrategy[All | Any | Condition | Not]:
    return st.recursive(
        single_conditions(),
        lambda part: st.one_of(
            st.builds(Not, part),
            st.lists(part, min_size=1, max_size=3).map(lambda parts: All(tuple(parts))),
            st.lists(part, min_size=1, max_size=3).map(lambda parts: Any(tuple(parts))),
        ),
        max_leaves=6,
    )


@settings(max_examples=30, deadline=None, derandomize=True)
@given(collections(), collections(), st.lists(filters(), min_size=1, max_size=25))
def test_a_filter_lets_through_what_its_words_say(
    artifacts: list[Artifact], others: list[Artifact], asked: list[All | Any | Condition | Not]
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_writer(f"{folder}/data")) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        for tenant, collection, inside in (
            (samples.GLOBEX, "papers", others),
            (samples.ACME, "other", others),
            (samples.ACME, "papers", artifacts),
        ):
            store.create_collection(samples.collection(collection, tenant))
            for artifact in inside:
                filter_samples.put(store, artifact, tenant, collection)
        artifacts = [
            replace(one, ingested_us=store.artifact(samples.ACME, "papers", one.name).ingested_us)
            for one in artifacts
        ]
        for where, few in zip(asked, cycle([sqlite_conditions.FEW, 2, 1]), strict=False):
            patch.setattr(sqlite_conditions, "FEW", few)
            patch.setattr(sqlite_filters, "FEW", few)
            if _has_another_type(where, artifacts):
                with pytest.raises(InvalidField):
                    store.matching(samples.ACME, "papers", where)
            elif is_of_nodes(where):
                assert filter_samples.nodes(store, where) == _nodes(where, artifacts), where
            else:
                expected = sorted(one.name for one in artifacts if lets_through(where, one, 0))
                assert filter_samples.names(store, where) == expected, where


def _nodes(where: All | Any | Condition | Not, artifacts: list[Artifact]) -> list[tuple[str, int]]:
    return sorted(
        (one.name, place)
        for one in artifacts
        for place, node in enumerate(one.document.nodes)
        if node.has_vector and lets_through(where, one, place)
    )


def _has_another_type(where: All | Any | Condition | Not, artifacts: list[Artifact]) -> bool:
    for condition in conditions(where):
        there = types_at(artifacts, condition.key)
        if not there and condition.key in ARTIFACT_KEYS + NODE_KEYS:
            there = {{"ingested_at": "Instant", "page": "number"}.get(condition.key, "str")}
        if condition.values and there and type_of(condition.values[0]) not in there:
            return True
    return False
