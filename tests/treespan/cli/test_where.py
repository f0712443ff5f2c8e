"""The language of --where."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treespan.cli.where import parse
from treespan.cli.where_text import text_of
from treespan.cli.where_words import RESERVED, WhereError
from treespan.client import key
from treespan.filters import All, Any, Condition, Instant, Not, Operator

A, B, C = (Condition(name, Operator.EXISTS) for name in "abc")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("year = 2024", key("year") == 2024),
        ("year == 2024", key("year") == 2024),
        ("year!=-7", key("year") != -7),
        ("year<+7", key("year") < 7),
        ("ratio <= 1e-3", key("ratio") <= 0.001),
        ("ratio > .5", key("ratio") > 0.5),
        ("ratio >= 3.", key("ratio") >= 3.0),
        ("draft = TRUE", key("draft") == True),  # noqa: E712 - True is the operand
        ("draft = 'true'", key("draft") == "true"),
        ("kind = TABLE_ROW", key("kind") == "TABLE_ROW"),
        ("media_type = application/pdf", key("media_type") == "application/pdf"),
        ("城市 = 北京", key("城市") == "北京"),
        ('version = "1.10"', key("version") == "1.10"),
        (r'said = "a \"b\" \\ \n"', key("said") == 'a "b" \\ \n'),
        ("said = 'it''", None),
        (r"said = 'it\'s'", key("said") == "it's"),
        ("`net sales` > 5", key("net sales") > 5),
        ('"row.Net sales" > 5', key("row.Net sales") > 5),
        ("`in` exists", key("in").exists()),
        ("`a\\`b` exists", key("a`b").exists()),
        ("metadata.title = x", key("metadata.title") == "x"),
        ("k in (1, 2.5)", key("k").is_in([1, 2.5])),
        ("k NOT IN (a,b)", key("k").not_in(["a", "b"])),
        ("tags contains climate", key("tags").contains("climate")),
        ("tags contains any (a, 'any')", key("tags").contains_any(["a", "any"])),
        ("tags contains all (a)", key("tags").contains_all(["a"])),
        ('title matches "Sea level"', key("title").matches("Sea level")),
        ("title matches sea", key("title").matches("sea")),
        ("k exists", key("k").exists()),
        ("k is empty", key("k").is_empty()),
    ],
)
def test_condition_is_read(text, where):
    if where is None:
        with pytest.raises(WhereError):
            parse(text)
    else:
        assert parse(text) == where.filter
        assert [type(value) for value in parse(text).values] == [
            type(value) for value in where.filter.values
        ]


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("1970-01-02", 86_400_000_000),
        ("1970-01-01T00:01", 60_000_000),
        ("1970-01-01T00:00:01.5Z", 1_500_000),
        ("1970-01-01T08:00:00+08:00", 0),
        ("1969-12-31T23:59:59", -1_000_000),
    ],
)
def test_dates_are_instants_in_utc_unless_they_say_otherwise(text, us):
    assert parse(f"at < {text}") == Condition("at", Operator.LT, (Instant(us),))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a exists and b exists and c exists", All((A, B, C))),
        ("a exists or b exists and c exists", Any((A, All((B, C))))),
        ("(a exists or b exists) and c exists", All((Any((A, B)), C))),
        ("not a exists and b exists", All((Not(A), B))),
        ("not (a exists and b exists)", Not(All((A, B)))),
        ("NOT not a exists", Not(Not(A))),
        ("((a exists))", A),
        ("a exists and (b exists and c exists)", All((A, All((B, C))))),
    ],
)
def test_not_binds_tighter_than_and_and_and_tighter_than_or(text, where):
    assert parse(text) == where


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("", 0, "expected a condition (such as year >= 2024), not or (, found the end"),
        ("year >=", 7, "expected a value (a number, true, false, a date, or a string), found the"),
        ("year > = 1", 7, "found '='"),
        ("year", 4, "expected an operator"),
        ("year 2024", 5, "expected an operator"),
        ("2024 = year", 0, "expected a key, found '2024'"),
        ("(a exists", 9, "expected and, or, or ), found the end"),
        ("a exists) ", 8, "expected and, or, or the end, found ')'"),
        ("a exists b exists", 9, "expected and, or, or the end"),
        ("a exists and", 12, "expected a condition"),
        ("a in 5", 5, "expected ( and a list of values"),
        ("a in (5", 7, "expected , or )"),
        ("a in (5,)", 8, "expected a value"),
        ("a in (1, x)", 9, "the values of a list are of one type"),
        ("a not contains 5", 6, "expected in, found 'contains'"),
        ("a contains any", 14, "expected ( and a list of values"),
        ("a is 5", 5, "expected empty"),
        ("a matches 5", 10, "expected words in quotes"),
        ("a = in", 4, "found the word 'in'; a string like this stands in quotes"),
        ("a = `b`", 4, "backticks are for keys"),
        ("a = 3M", 4, "'3M' is no number and no date"),
        ("a = 2024-1-5", 4, "no date such as 2024-01-31"),
        ("a = 2024-02-30", 4, "2024-02-30 is no date: day is out of range"),
        ("a = 9223372036854775808", 4, "does not fit 64 bits"),
        ("a = " + "9" * 5000, 4, "does not fit 64 bits"),
        ('a = "b', 4, 'the quotation mark " is never closed'),
        ("a ! b", 2, "not equal is written !="),
        ("a <> b", 3, "expected a value"),
        ("not " * 17 + "a exists", 64, "nested more than 16 deep"),
        ("(" * 100_000, 16, "nested more than 16 deep"),
    ],
    ids=lambda one: str(one)[:20],
)
def test_error_says_what_was_expected_and_where(text, at, said):
    with pytest.raises(WhereError) as caught:
        parse(text)
    assert caught.value.at == at
    assert said in caught.value.message


def test_caret_stands_below_the_place_also_behind_wide_characters():
    with pytest.raises(WhereError) as caught:
        parse("城市 =\n北京 AND 5 = 5")
    assert caught.value.message.splitlines()[1:] == [
        "  城市 = 北京 AND 5 = 5",
        "                  ^",
    ]


def test_of_a_long_text_the_part_around_the_place_is_shown():
    with pytest.raises(WhereError) as caught:
        parse(" and ".join(["year = 2024"] * 20) + " and year = " + " or a = b" * 20)
    shown, caret = caught.value.message.splitlines()[1:]
    assert len(shown) < 130
    assert shown.startswith("  …")
    assert shown.endswith("…")
    assert shown[caret.index("^") :].startswith("or a = b")


# Text and back

keys = st.one_of(
    st.text(min_size=1, max_size=20),
    st.sampled_from([*sorted(RESERVED), "year", "row.Net sales", "5", "a-b", "`", "\\"]),
)
scalars = {
    "strings": st.one_of(
        st.text(max_size=20), st.text(alphabet="\"'`\\\n\t ab(),=", max_size=8), st.just("true")
    ),
    "numbers": st.one_of(
        st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
    ),
    "truth values": st.booleans(),
    # Years 1 to 9999.
    "times": st.builds(Instant, st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)),
}
lists = st.one_of([st.lists(one, min_size=1, max_size=4).map(tuple) for one in scalars.values()])
one_value = st.one_of(list(scalars.values())).map(lambda value: (value,))
ONE = (1, 2, 3, 4, 5, 6, 9)
SEVERAL = (7, 8, 10, 11)
conditions = st.one_of(
    st.builds(Condition, keys, st.sampled_from([Operator(one) for one in ONE]), one_value),
    st.builds(Condition, keys, st.sampled_from([Operator(one) for one in SEVERAL]), lists),
    st.builds(Condition, keys, st.just(Operator.TEXT_MATCH), st.tuples(scalars["strings"])),
    st.builds(Condition, keys, st.sampled_from([Operator.EXISTS, Operator.IS_EMPTY])),
)


def above(part, levels):
    """Return trees of at most this many levels above their conditions."""
    if not levels:
        return part
    below = above(part, levels - 1)
    parts = st.lists(below, min_size=2, max_size=3).map(tuple)
    return st.one_of(below, st.builds(All, parts), st.builds(Any, parts), st.builds(Not, below))


@given(above(conditions, 4))
def test_text_of_a_filter_says_the_same_filter(where):
    back = parse(text_of(where))
    assert back == where
    # 1, 1.0 and True are equal in Python.
    assert repr(back) == repr(where)


def test_deepest_filter_has_a_text_that_is_read():
    where = All((A, B))
    for level in range(15):
        where = Not(where) if level % 2 else Any((C, where))
    assert parse(text_of(where)) == where


def test_text_of_a_filter_reads_like_one():
    text = (
        'year >= 2024 and tags contains any ("a", "b") and '
        "not (`net sales` < 1.5 or at > 2024-01-31 or at = 2024-01-31T12:30:00Z) and x is empty"
    )
    assert text_of(parse(text)) == text


def read(text):
    """Return the filter or the error of a text."""
    try:
        return parse(text)
    except WhereError as error:
        return error


def is_read_or_refused_within(text):
    found = read(text)
    if isinstance(found, WhereError):
        return 0 <= found.at <= len(text)
    return parse(text_of(found)) == found


@given(st.text(alphabet=string.printable + "城é", max_size=60))
def test_any_text_is_a_filter_or_an_error_within_it(text):
    assert is_read_or_refused_within(text)


WORDS = "a = 1 and or not ( ) , in contains any 'x' is empty"


@given(st.lists(st.sampled_from(WORDS.split())))
def test_any_row_of_words_is_a_filter_or_an_error_within_it(words):
    assert is_read_or_refused_within(" ".join(words))
