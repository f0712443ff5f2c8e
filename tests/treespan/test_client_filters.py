"""Filters as Python expressions, and the requests of both clients that carry them."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from google.protobuf.json_format import ParseDict

from fake_services import FakeIngest, FakeSearch, serving
from treespan import errors, filters
from treespan.client import AsyncClient, Client, filter_message, key, metadata_of, search_request
from treespan.client.metadata import metadata_values
from treespan.filters import Condition, Instant, Operator
from treespan.rpc.filters import filter_of
from treespan.v1.context_filter_pb2 import MetadataCondition, MetadataFilter
from treespan.v1.ingest_service_pb2 import Artifact, Collection

YEAR = key("year") == 2024


@pytest.fixture
def ingest():
    fake = FakeIngest()
    fake.collections["papers"] = Collection(collection="papers")
    for name in "abcd":
        fake.artifacts[name] = Artifact(artifact=name)
    return fake


@pytest.fixture
def search():
    return FakeSearch()


@pytest.fixture
def address(ingest, search):
    with serving(ingest, search) as address:
        yield address


@pytest.fixture
def client(address):
    with Client(address, address, timeout_s=10) as client:
        yield client


# Expressions


@pytest.mark.parametrize(
    ("where", "operator", "values"),
    [
        (key("k") == "a", Operator.EQ, ("a",)),
        (key("k") != "a", Operator.NE, ("a",)),
        (key("k") > 1, Operator.GT, (1,)),
        (key("k") >= 1.5, Operator.GTE, (1.5,)),
        (key("k") < 1, Operator.LT, (1,)),
        (key("k") <= 1, Operator.LTE, (1,)),
        (3 > key("k"), Operator.LT, (3,)),  # noqa: SIM300 - the turned comparison is the point
        (key("k").is_in(["a", "b"]), Operator.IN, ("a", "b")),
        (key("k").is_in("ab"), Operator.IN, ("ab",)),
        (key("k").not_in({7}), Operator.NOT_IN, (7,)),
        (key("k").contains("a"), Operator.CONTAINS, ("a",)),
        (key("k").contains_any(one for one in (1, 2)), Operator.CONTAINS_ANY, (1, 2)),
        (key("k").contains_all(("a", "b")), Operator.CONTAINS_ALL, ("a", "b")),
        (key("k").matches("sea level"), Operator.TEXT_MATCH, ("sea level",)),
        (key("k").exists(), Operator.EXISTS, ()),
        (key("k").is_empty(), Operator.IS_EMPTY, ()),
        (key("k") == True, Operator.EQ, (True,)),  # noqa: E712 - True is the operand
    ],
)
def test_every_operator_makes_its_condition(where, operator, values):
    assert where.filter == Condition("k", operator, values)
    assert [type(value) for value in where.filter.values] == [type(value) for value in values]


def test_operators_have_the_numbers_of_the_api():
    numbers = {
        name.removeprefix("OPERATOR_"): number
        for name, number in MetadataCondition.Operator.items()
        if number
    }
    assert {operator.name: operator.value for operator in Operator} == numbers


@pytest.mark.parametrize(
    ("moment", "us"),
    [
        (date(1970, 1, 2), 86_400_000_000),
        (datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC), 1_000_005),
        (datetime(1970, 1, 1, 8, tzinfo=timezone(timedelta(hours=8))), 0),
        (datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), -1_000_000),
    ],
)
def test_dates_and_times_are_instants(moment, us):
    assert (key("ingested_at") >= moment).filter.values == (Instant(us),)


def test_conditions_of_one_kind_are_joined_side_by_side():
    a, b, c = (key(name).exists() for name in "abc")
    assert (a & b & c).filter == filters.All((a.filter, b.filter, c.filter))
    assert (a | (b | c)).filter == filters.Any((a.filter, b.filter, c.filter))
    assert (a | b & ~c).filter == filters.Any(
        (a.filter, filters.All((b.filter, filters.Not(c.filter))))
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: (key("a") == 1) and (key("b") == 2),
        lambda: not YEAR,
        lambda: 1 < key("a") < 5,
        lambda: key("a") == 1 & key("b"),
        lambda: YEAR & key("b"),
        lambda: ~key("a"),
        lambda: YEAR | True,
    ],
)
def test_what_python_would_take_otherwise_is_refused_with_the_way_out(wrong):
    with pytest.raises(TypeError, match="put comparisons in parentheses"):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: key("k") == ["a"], r"key\('k'\): one value .* is_in and contains_any"),
        (lambda: key("k") == None, "a NoneType cannot be compared with"),  # noqa: E711
        (lambda: key("k") > datetime(2024, 1, 1), "has no time zone"),  # noqa: DTZ001
        (lambda: key("k").is_in([]), "IN takes 1 to 1,024 values, but has 0"),
        (lambda: key("k").is_in(range(1025)), "but has 1,025"),
        (lambda: key("k").is_in([1, "a"]), "mixes strings and numbers"),
        (lambda: key("k").contains_all([True, 1]), "mixes numbers and truth values"),
        (lambda: key("k").is_in([["a"]]), r"key\('k'\)\[0\]"),
        (lambda: key("k").matches(5), "5 is no text"),
        (lambda: key(""), "it has 0 characters; a key has 1 to 137"),
        (lambda: key("k" * 138), "it has 138 characters"),
    ],
)
def test_operand_that_cannot_be_is_refused_by_key(wrong, said):
    with pytest.raises(errors.InvalidField, match=said):
        wrong()


# Messages


def test_worked_filter_is_the_message_that_the_api_describes():
    where = (
        (key("year") >= 2024)
        & key("tags").contains_any(["climate", "sea"])
        & ~((key("language") == "de") | (key("at") < date(2024, 1, 31)) | key("x").is_empty())
    )
    strings = [{"stringValue": "climate"}, {"stringValue": "sea"}]
    assert filter_message(where) == ParseDict(
        {
            "allOf": {
                "filters": [
                    {
                        "condition": {
                            "key": "year",
                            "operator": "OPERATOR_GTE",
                            "value": {"intValue": 2024},
                        }
                    },
                    {
                        "condition": {
                            "key": "tags",
                            "operator": "OPERATOR_CONTAINS_ANY",
                            "value": {"listValue": {"values": strings}},
                        }
                    },
                    {
                        "negated": {
                            "anyOf": {
                                "filters": [
                                    {
                                        "condition": {
                                            "key": "language",
                                            "operator": "OPERATOR_EQ",
                                            "value": {"stringValue": "de"},
                                        }
                                    },
                                    {
                                        "condition": {
                                            "key": "at",
                                            "operator": "OPERATOR_LT",
                                            "value": {"timeValue": "2024-01-31T00:00:00Z"},
                                        }
                                    },
                                    {"condition": {"key": "x", "operator": "OPERATOR_IS_EMPTY"}},
                                ]
                            }
                        }
                    },
                ]
            }
        },
        MetadataFilter(),
    )


def test_tree_of_the_filters_module_is_taken_too():
    assert filter_message(YEAR.filter) == filter_message(YEAR)


def test_time_before_1970_keeps_its_microseconds():
    at = datetime(1969, 12, 31, 23, 59, 59, 250_000, tzinfo=UTC)
    stamp = filter_message(key("k") == at).condition.value.time_value
    assert (stamp.seconds, stamp.nanos) == (-1, 250_000_000)


@pytest.mark.parametrize(
    "where",
    [
        YEAR,
        key("k").is_in([1, 2.5, 2**62 + 1]) | key("k").contains_all(["a", "b"]),
        ~(key("k").not_in([False]) & key("title").matches("Sea level")),
        key("ingested_at") > datetime(1, 1, 1, tzinfo=UTC),
        key("ingested_at") < datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        key("k").exists() & key("row.Net sales").is_empty() & (key("kind") != "TABLE_ROW"),
    ],
)
def test_server_reads_the_filter_that_was_written(where):
    assert filter_of("where", filter_message(where)) == where.filter


def nested(levels):
    where = YEAR
    for _ in range(levels):
        where = ~where
    return where


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (key("k") == 2**63, "does not fit 64 bits"),
        (key("k") == float("inf"), "not a finite number"),
        (nested(16), "nested more than 16 deep"),
        (nested(100_000), "nested more than 16 deep"),
        (filters.Any((YEAR.filter,) * 257), "it has 257 conditions, at most 256"),
        (filters.All(()), "All has no parts"),
        (Condition("k", Operator.EQ), "EQ takes one value, but has 0"),
        (Condition("k", Operator.EXISTS, ("a",)), "EXISTS takes no value, but has 1"),
        (Condition("", Operator.EXISTS), "it has 0 characters"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_filter_that_no_server_takes_is_not_sent(where, said):
    with pytest.raises(errors.InvalidField, match=said):
        filter_message(where)


def test_largest_filters_are_sent_and_read():
    for where in (nested(15).filter, filters.Any((YEAR.filter,) * 256)):
        assert filter_of("where", filter_message(where)) == where


def test_what_is_no_filter_is_a_type_error():
    with pytest.raises(TypeError, match="a str is no filter"):
        search_request("q", where="year >= 2024")
    with pytest.raises(TypeError, match="a Key is no filter"):
        search_request("q", where=key("year"))


# Requests


def test_search_explain_and_batch_carry_the_filter(client, search):
    client.search("q", "papers", artifacts=["a"], where=YEAR)
    assert search.request.context_filter.metadata_filter == filter_message(YEAR)
    assert list(search.request.context_filter.artifacts) == ["a"]
    client.explain("q", "papers", where=~YEAR)
    assert search.request.context_filter.metadata_filter == filter_message(~YEAR)
    request = search_request("q", "papers", where=YEAR)
    assert request.context_filter.metadata_filter == filter_message(YEAR)
    assert not search_request("q").context_filter.HasField("metadata_filter")


def test_filter_goes_with_every_page_of_a_list(client, ingest):
    ingest.matching = {"a", "c", "d"}
    assert [one.artifact for one in client.list_artifacts("papers", where=YEAR)] == ["a", "c", "d"]
    assert ingest.filters == [filter_message(YEAR)] * 2


def test_update_sets_and_removes_what_is_named_and_keeps_the_rest(client, ingest):
    given = metadata_values({"year": 2017, "draft": True, "venue": "NIPS"})
    ingest.artifacts["a"] = Artifact(artifact="a", file_name="old.pdf", metadata=given)
    answer = client.update_artifact(
        "a", "papers", file_name="new.pdf", metadata={"year": 2018, "a.b c": 1}, remove=["draft"]
    )
    assert answer.seq == 11
    assert answer.artifact.file_name == "new.pdf"
    assert metadata_of(answer.artifact.metadata) == {"year": 2018, "a.b c": 1, "venue": "NIPS"}


def test_update_that_replaces_leaves_only_what_is_given(client, ingest):
    ingest.artifacts["a"] = Artifact(
        artifact="a", file_name="a.pdf", metadata=metadata_values({"x": 1})
    )
    answer = client.update_artifact("a", "papers", metadata={}, replace=True)
    assert metadata_of(answer.artifact.metadata) == {}
    assert answer.artifact.file_name == "a.pdf"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "nothing to change"),
        ({"metadata": {}}, "nothing to change"),
        ({"metadata": {"k": 1}, "remove": ["k"]}, "'k' is to be set as well"),
        ({"metadata": {"k": 1}, "remove": ["x"], "replace": True}, "removes every key"),
        ({"replace": True}, "needs the metadata"),
    ],
)
def test_update_that_says_nothing_or_two_things_is_refused(client, ingest, given, said):
    with pytest.raises(errors.InvalidField, match=said):
        client.update_artifact("a", "papers", **given)
    assert ingest.calls == []


def test_several_are_deleted_by_name(client, ingest):
    answer = client.delete_artifacts("papers", names=["c", "a"])
    assert (list(answer.artifacts), answer.deleted_artifacts, answer.seq) == (["a", "c"], 2, 12)
    assert sorted(ingest.artifacts) == ["b", "d"]


def test_missing_name_deletes_nothing_unless_allowed(client, ingest):
    with pytest.raises(errors.ArtifactNotFound) as caught:
        client.delete_artifacts("papers", names=["a", "x"])
    assert caught.value.name == "x"
    assert len(ingest.artifacts) == 4
    assert client.delete_artifacts("papers", names=["a", "x"], missing_ok=True).seq == 12
    assert client.delete_artifacts("papers", names=["a", "x"], missing_ok=True).seq == 0


def test_several_are_deleted_by_filter_and_first_only_named(client, ingest):
    ingest.matching = {"a", "b"}
    planned = client.delete_artifacts("papers", where=YEAR, validate_only=True)
    assert list(planned.artifacts) == ["a", "b"]
    assert len(ingest.artifacts) == 4
    client.delete_artifacts("papers", names=["b", "c"], where=YEAR)
    assert sorted(ingest.artifacts) == ["a", "c", "d"]
    assert ingest.filters == [filter_message(YEAR)] * 2


@pytest.mark.parametrize("given", [{}, {"names": []}, {"names": [], "where": YEAR}], ids=str)
def test_deletion_that_would_mean_everything_is_refused(client, ingest, given):
    with pytest.raises(errors.InvalidField, match="context_filter"):
        client.delete_artifacts("papers", **given)
    assert ingest.calls == []


def test_deletion_is_tried_once(client, ingest):
    ingest.unavailable_times = 1
    with pytest.raises(errors.NotServing):
        client.delete_artifacts("papers", names=["a"], missing_ok=True)
    assert ingest.calls == ["BatchDeleteArtifacts"]


def test_async_client_filters_updates_and_deletes_too(address, ingest, search):
    ingest.matching = {"a", "b"}

    async def use():
        async with AsyncClient(address, address, timeout_s=10) as client:
            await client.search("q", where=YEAR)
            listed = [one.artifact async for one in client.list_artifacts("papers", where=YEAR)]
            changed = await client.update_artifact("a", "papers", metadata={"year": 2024})
            deleted = await client.delete_artifacts("papers", where=YEAR)
            return listed, changed, deleted

    listed, changed, deleted = asyncio.run(use())
    assert search.request.context_filter.metadata_filter == filter_message(YEAR)
    assert listed == ["a", "b"]
    assert metadata_of(changed.artifact.metadata) == {"year": 2024}
    assert deleted.deleted_artifacts == 2
    assert sorted(ingest.artifacts) == ["c", "d"]


def test_comparisons_without_parentheses_are_refused_in_words():
    with pytest.raises(TypeError, match="put comparisons in parentheses"):
        _ = key("year") >= 2024 & (key("language") == "en")
    with pytest.raises(TypeError, match="put comparisons in parentheses"):
        _ = key("year") >= 2024 | (key("language") == "en")
