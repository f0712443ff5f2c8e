"""Filters of requests: what is taken, and how everything else is refused."""

from __future__ import annotations

import math

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from treespan.errors import InvalidField
from treespan.filters import All, Any, Condition, Instant, Not, Operator
from treespan.rpc.filters import filter_of
from treespan.v1.context_filter_pb2 import MetadataCondition, MetadataFilter, MetadataFilterList
from treespan.v1.metadata_pb2 import MetadataList, MetadataValue

FIELD = "context_filter.metadata_filter"
ONE = MetadataValue(int_value=1)


def value(of: str | int | float | bool | Timestamp | list[object]) -> MetadataValue:
    match of:
        case list():
            return MetadataValue(list_value=MetadataList(values=[value(one) for one in of]))
        case bool():
            return MetadataValue(bool_value=of)
        case str():
            return MetadataValue(string_value=of)
        case int():
            return MetadataValue(int_value=of)
        case float():
            return MetadataValue(double_value=of)
    return MetadataValue(time_value=of)


def condition(key: str, operator: int, operand: object = None) -> MetadataFilter:
    given = None if operand is None else value(operand)  # type: ignore[arg-type]
    return MetadataFilter(
        condition=MetadataCondition(key=key, operator=operator, value=given)  # type: ignore[arg-type]
    )


def all_of(*filters: MetadataFilter) -> MetadataFilter:
    return MetadataFilter(all_of=MetadataFilterList(filters=filters))


def any_of(*filters: MetadataFilter) -> MetadataFilter:
    return MetadataFilter(any_of=MetadataFilterList(filters=filters))


def refusal(message: MetadataFilter) -> str:
    with pytest.raises(InvalidField) as caught:
        filter_of(FIELD, message)
    assert caught.value.field.startswith(FIELD)
    return str(caught.value).removeprefix(FIELD)


def test_a_tree_is_taken_as_it_stands() -> None:
    stamp = Timestamp(seconds=-1, nanos=999_999_999)
    message = all_of(
        condition("year", Operator.GTE, 2024),
        any_of(
            condition("tags", Operator.CONTAINS_ANY, ["a", "b"]),
            condition("size", Operator.IN, [1, 2.5]),
        ),
        MetadataFilter(negated=condition("at", Operator.LT, stamp)),
        condition("draft", Operator.IS_EMPTY),
    )
    assert filter_of(FIELD, message) == All(
        (
            Condition("year", Operator.GTE, (2024,)),
            Any(
                (
                    Condition("tags", Operator.CONTAINS_ANY, ("a", "b")),
                    Condition("size", Operator.IN, (1, 2.5)),
                )
            ),
            Not(Condition("at", Operator.LT, (Instant(-1),))),
            Condition("draft", Operator.IS_EMPTY),
        )
    )


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (MetadataFilter(), ": is empty; set condition, all_of, any_of or negated"),
        (all_of(), ".all_of.filters: is empty; give at least one filter"),
        (any_of(), ".any_of.filters: is empty; give at least one filter"),
        (
            all_of(condition("a", 1, 1), MetadataFilter(negated=MetadataFilter())),
            ".all_of.filters[1].negated: is empty; set condition, all_of, any_of or negated",
        ),
    ],
)
def test_a_filter_of_nothing_is_refused(message: MetadataFilter, said: str) -> None:
    assert refusal(message) == said


def test_the_path_leads_to_the_condition_within() -> None:
    good = condition("a", Operator.EQ, 1)
    message = all_of(good, any_of(good, MetadataFilter(negated=condition("a", Operator.GT))))
    assert refusal(message) == (
        ".all_of.filters[1].any_of.filters[1].negated.condition.value: "
        "is missing; GT takes one value"
    )


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (condition("", 1, 1), "key: is empty; name what to compare"),
        (condition("k" * 138, 1, 1), "key: has 138 characters; the most is 137"),
        (condition("row. ", 1, 1), "key: is 'row. '; name a column behind 'row.'"),
        (condition("metadata.", 1, 1), "key: is 'metadata.'; name a key behind 'metadata.'"),
        (condition("a", 0, 1), "operator: is missing; say how to compare"),
        (condition("a", 99, 1), "operator: is 99; the operators are 1 to 14"),
        (condition("a", Operator.EQ), "value: is missing; EQ takes one value"),
        (condition("a", Operator.IN), "value: is missing; IN takes a list of values"),
        (condition("a", Operator.EQ, [1]), "value: is a list; EQ takes one value"),
        (condition("a", Operator.IN, 1), "value: is a single value; IN takes a list of values"),
        (condition("a", Operator.EXISTS, 1), "value: is set; EXISTS takes none"),
        (condition("a", Operator.IS_EMPTY, ""), "value: is set; IS_EMPTY takes none"),
        (condition("a", Operator.IN, []), "value.list_value: is empty; give at least one value"),
        (
            condition("a", Operator.IN, [1] * 1025),
            "value.list_value: has 1,025 values; the most is 1,024",
        ),
        (
            condition("a", Operator.IN, [1, "1"]),
            "value.list_value: mixes a string and a number; a list holds values of one type",
        ),
        (
            condition("a", Operator.IN, [1, True]),
            "value.list_value: mixes a number and a truth value; a list holds values of one type",
        ),
        (
            condition("a", Operator.CONTAINS_ALL, [1, [1]]),
            "value.list_value.values[1]: is a list within a list; lists hold plain values",
        ),
        (
            condition("a", Operator.IN, [1, math.inf]),
            "value.list_value.values[1].double_value: is inf; only finite numbers are compared",
        ),
        (
            condition("a", Operator.GT, math.nan),
            "value.double_value: is nan; only finite numbers are compared",
        ),
        (
            condition("a", Operator.EQ, "x" * 8193),
            "value.string_value: has 8,193 characters; the most is 8,192",
        ),
        (
            condition("a", Operator.GT, Timestamp(seconds=253_402_300_800)),
            "value.time_value: is 253402300800 s and 0 ns since 1970; a time lies in the years "
            "1 to 9999, its nanoseconds between 0 and 999,999,999",
        ),
        (
            condition("a", Operator.GT, True),
            "operator: is GT; truth values have no order, use EQ or NE",
        ),
        (
            condition("a", Operator.TEXT_MATCH, 5),
            "value: is a number; TEXT_MATCH looks for words of a string",
        ),
        (
            condition("a", Operator.TEXT_MATCH, "…!"),
            'value: is "…!", which has no word to look for',
        ),
        (
            condition("page", Operator.EQ, "3"),
            "value: is a string (\"3\"), and 'page' is a number",
        ),
        (
            condition("ingested_at", Operator.GT, 2024),
            "value: is a number (2024), and 'ingested_at' is a time",
        ),
        (
            condition("source_uri", Operator.EQ, 5),
            "value: is a number (5), and 'source_uri' is a string",
        ),
        (condition("file. ", Operator.EQ, 1), "key: is 'file. '; name a key behind 'file.'"),
        (condition("heading", Operator.EQ, 1), "value: is a number (1), and 'heading' is a string"),
        (
            condition("artifact", Operator.IN, [1]),
            "value: is a number (1), and 'artifact' is a string",
        ),
        (
            condition("kind", Operator.NE, "NODE_KIND_TABLE"),
            'value: has "NODE_KIND_TABLE"; kinds are DOCUMENT, SECTION, TEXT, CHUNK, LIST, TABLE, '
            "TABLE_ROW, IMAGE, CODE",
        ),
    ],
)
def test_a_condition_is_refused_with_the_path_and_what_would_be_right(
    message: MetadataFilter, said: str
) -> None:
    assert refusal(message) == f".condition.{said}"


def test_an_operand_without_a_value_in_it_is_missing() -> None:
    message = MetadataFilter(
        condition=MetadataCondition(key="a", operator=1, value=MetadataValue())  # type: ignore[arg-type]
    )
    assert refusal(message) == ".condition.value: is missing; EQ takes one value"


@pytest.mark.parametrize("operator", [Operator.EXISTS, Operator.IS_EMPTY])
def test_an_operator_without_operand_refuses_an_empty_one(operator: Operator) -> None:
    message = MetadataFilter(
        condition=MetadataCondition(key="a", operator=operator, value=MetadataValue())  # type: ignore[arg-type]
    )
    assert refusal(message) == f".condition.value: is set; {operator.name} takes none"


def test_256_conditions_are_taken_and_257_are_not() -> None:
    one = condition("a", Operator.EQ, 1)
    taken = filter_of(FIELD, any_of(*[all_of(*[one] * 128)] * 2))
    assert isinstance(taken, Any)
    assert refusal(any_of(*[all_of(*[one] * 128)] * 2, one)) == ": has more than 256 conditions"


def test_16_filters_within_each_other_are_taken_and_17_are_not() -> None:
    nested = condition("a", Operator.EQ, 1)
    for _ in range(15):
        nested = MetadataFilter(negated=nested)
    assert isinstance(filter_of(FIELD, nested), Not)
    assert refusal(MetadataFilter(negated=nested)) == ": is nested more than 16 deep"


def test_a_filter_nested_as_deep_as_protobuf_takes_is_refused_without_a_fall() -> None:
    message = MetadataFilter()
    innermost = message
    for _ in range(900):
        innermost = innermost.negated
    innermost.condition.key = "a"
    assert refusal(message) == ": is nested more than 16 deep"


@pytest.mark.parametrize("key", ["title", "language", "file_name", "media_type", "metadata.page"])
def test_keys_that_metadata_may_take_are_left_to_the_store(key: str) -> None:
    assert filter_of(FIELD, condition(key, Operator.EQ, 5)) == Condition(key, Operator.EQ, (5,))


@pytest.mark.parametrize("kind", ["TABLE_ROW", "SECTION"])
def test_kinds_are_named_without_their_prefix(kind: str) -> None:
    assert filter_of(FIELD, condition("kind", Operator.IN, [kind])) == Condition(
        "kind", Operator.IN, (kind,)
    )


def test_times_are_cut_to_microseconds() -> None:
    stamp = Timestamp(seconds=1, nanos=1_999)
    assert filter_of(FIELD, condition("at", Operator.EQ, stamp)) == Condition(
        "at", Operator.EQ, (Instant(1_000_001),)
    )
