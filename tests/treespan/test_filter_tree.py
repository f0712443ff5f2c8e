"""The tree of conditions itself."""

from __future__ import annotations

import pytest

from treespan.errors import InvalidField
from treespan.filters import (
    All,
    Any,
    Condition,
    Instant,
    Not,
    Operator,
    Scalar,
    ValueType,
    checked_artifact_filter,
    conditions,
    is_of_nodes,
    value_type,
)
from treespan.v1.context_filter_pb2 import MetadataCondition

YEAR = Condition("year", Operator.GTE, (2024,))
PAGE = Condition("page", Operator.EQ, (3,))
CELL = Condition("row.price", Operator.LT, (5.5,))


def test_operators_have_the_numbers_of_the_api() -> None:
    api = {
        name.removeprefix("OPERATOR_"): number
        for name, number in MetadataCondition.Operator.items()
        if number
    }
    assert {operator.name: int(operator) for operator in Operator} == api


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1", ValueType.STRING),
        (1, ValueType.NUMBER),
        (1.0, ValueType.NUMBER),
        (True, ValueType.BOOL),
        (Instant(1), ValueType.TIME),
    ],
)
def test_a_truth_value_is_no_number_and_a_float_is_one(value: Scalar, kind: ValueType) -> None:
    assert value_type(value) is kind


def test_conditions_come_from_left_to_right() -> None:
    where = All((YEAR, Not(Any((PAGE, CELL))), YEAR))
    assert list(conditions(where)) == [YEAR, PAGE, CELL, YEAR]


@pytest.mark.parametrize(
    ("where", "of_nodes"),
    [
        (YEAR, False),
        (Not(PAGE), True),
        (All((YEAR, Any((YEAR, CELL)))), True),
        (Condition("metadata.page", Operator.EXISTS), False),
        (Condition("rows", Operator.EXISTS), False),
    ],
)
def test_a_filter_is_of_nodes_where_one_condition_is(where: Condition, of_nodes: bool) -> None:
    assert is_of_nodes(where) is of_nodes


def test_a_filter_of_artifacts_is_taken() -> None:
    where = Any((YEAR, Not(YEAR)))
    assert checked_artifact_filter("metadata_filter", where) is where


def test_a_condition_on_nodes_is_named_where_artifacts_are_asked_for() -> None:
    with pytest.raises(InvalidField, match=r"^metadata_filter: has the key 'row\.price', which"):
        checked_artifact_filter("metadata_filter", All((YEAR, Not(CELL))))
