"""What filters let through, case by case; expected values are read off the few artifacts below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from store import filter_samples, samples
from store.filter_model import Artifact, Document, Node
from treespan.errors import CollectionNotFound, InvalidField
from treespan.filters import All, Any, Condition, Instant, Not, Operator

if TYPE_CHECKING:
    from store.filter_model import Values
    from treespan.filters import Filter, Scalar
    from treespan.store.interface import Writer

NOTE = Document([Node("DOCUMENT"), Node("TEXT", text="note")])
NAMES = ["bool", "big", "empty", "float", "int", "list", "long", "missing", "none", "text", "time"]
VALUES: dict[str, Values] = {
    "bool": True,
    "big": 2**53 + 1,
    "empty": "",
    "float": 1.0,
    "int": 1,
    "list": ["red wine", "blue"],
    "long": [1, 2],
    "missing": None,
    "none": [],
    "text": "red wine and more",
    "time": Instant(1_000_000),
}

O = Operator  # noqa: E741


def is_(key: str, operator: Operator, *values: Scalar) -> Condition:
    return Condition(key, operator, values)


@pytest.fixture
def filled(writer: Writer) -> Writer:
    """A collection with an artifact for each type of the value of `key`."""
    writer.create_collection(samples.collection())
    for name, value in VALUES.items():
        filter_samples.put(writer, Artifact(name, NOTE, metadata={"key": value}))
    return writer


def all_but(*names: str) -> str:
    return " ".join(name for name in sorted(NAMES) if name not in names)


@pytest.mark.parametrize(
    ("operator", "values", "found"),
    [
        (O.EQ, (1,), "float int long"),
        (O.EQ, (1.0,), "float int long"),
        (O.EQ, (True,), "bool"),
        (O.EQ, (False,), ""),
        (O.EQ, ("",), "empty"),
        (O.EQ, ("blue",), "list"),
        (O.EQ, (Instant(1_000_000),), "time"),
        (O.EQ, (2**53 + 1,), "big"),
        (O.EQ, (float(2**53),), ""),
        (O.NE, (1,), all_but("float", "int", "long")),
        (O.NE, ("blue",), all_but("list")),
        (O.NE, ("nowhere",), all_but()),
        (O.GT, (1,), "big long"),
        (O.GT, (float(2**53),), "big"),
        (O.GTE, (1,), "big float int long"),
        (O.LT, (2,), "float int long"),
        (O.LTE, (0.5,), ""),
        (O.GT, ("r",), "list text"),
        (O.LT, ("c",), "empty list"),
        (O.GTE, (Instant(1_000_000),), "time"),
        (O.LT, (Instant(1_000_000),), ""),
        (O.IN, (2, 2**53 + 1, 7.5), "big long"),
        (O.IN, ("", "red wine and more"), "empty text"),
        (O.IN, (False, True), "bool"),
        (O.NOT_IN, (1, 2**53 + 1), all_but("big", "float", "int", "long")),
        (O.CONTAINS, ("blue",), "list"),
        (O.CONTAINS, ("wine",), "text"),
        (O.CONTAINS, ("Wine",), ""),
        (O.CONTAINS, ("",), "empty text"),
        (O.CONTAINS, (1,), "long"),
        (O.CONTAINS_ANY, ("blue", "more"), "list text"),
        (O.CONTAINS_ANY, (2, 7), "long"),
        (O.CONTAINS_ALL, ("red wine", "blue"), "list"),
        (O.CONTAINS_ALL, ("red", "more", "red"), "text"),
        (O.CONTAINS_ALL, (2, 1, 2), "long"),
        (O.CONTAINS_ALL, (2, 3), ""),
        (O.TEXT_MATCH, ("Wine RED",), "list text"),
        (O.TEXT_MATCH, ("red blue",), ""),
        (O.TEXT_MATCH, ("win",), ""),
        (O.EXISTS, (), all_but("missing")),
        (O.IS_EMPTY, (), "empty missing none"),
    ],
)
def test_operators_over_values_of_every_type(
    filled: Writer, operator: Operator, values: tuple[Scalar, ...], found: str
) -> None:
    where = Condition("key", operator, values)
    assert filter_samples.names(filled, where) == found.split()
    opposite = filter_samples.names(filled, Not(where))
    assert opposite == all_but(*found.split()).split()


@pytest.mark.parametrize("values", [("2",), (True,), (Instant(0),)])
@pytest.mark.parametrize("operator", [O.EQ, O.NE, O.GT, O.CONTAINS])
def test_an_operand_of_a_type_that_the_key_has_nowhere_is_an_error(
    writer: Writer, operator: Operator, values: tuple[Scalar, ...]
) -> None:
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("a", NOTE, metadata={"year": 2024}))
    with pytest.raises(InvalidField, match='"year" is a number in this collection, and '):
        writer.matching(samples.ACME, "papers", Condition("year", operator, values))


def test_the_error_names_the_key_and_both_types(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("a", NOTE, metadata={"year": 2024}))
    where = All((is_("year", O.GT, 1), Not(is_("year", O.EQ, "2024"))))
    with pytest.raises(InvalidField) as caught:
        writer.matching(samples.ACME, "papers", where)
    assert str(caught.value) == (
        "context_filter.metadata_filter: "
        '"year" is a number in this collection, and "2024" is a string'
    )
    with pytest.raises(InvalidField) as listed:
        writer.artifacts(samples.ACME, "papers", "", 10, where)
    assert str(listed.value).startswith('metadata_filter: "year" is a number')
    with pytest.raises(InvalidField):
        writer.delete_matching(samples.ACME, "papers", where)
    assert len(writer.artifacts(samples.ACME, "papers", "", 10)) == 1


def test_a_type_that_one_artifact_has_is_no_error_for_the_others(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("a", NOTE, metadata={"year": 2024}))
    filter_samples.put(writer, Artifact("b", NOTE, metadata={"year": ["2024"]}))
    assert filter_samples.names(writer, is_("year", O.EQ, "2024")) == ["b"]
    assert filter_samples.names(writer, is_("year", O.GT, "1")) == ["b"]
    assert filter_samples.names(writer, is_("year", O.GT, 1)) == ["a"]


def test_a_key_that_nobody_has_is_missing_everywhere_whatever_the_operand(filled: Writer) -> None:
    for value in (1, "1", True, Instant(1)):
        assert filter_samples.names(filled, is_("nobody", O.EQ, value)) == []
        assert filter_samples.names(filled, is_("nobody", O.NE, value)) == sorted(NAMES)
    assert filter_samples.names(filled, is_("nobody", O.EXISTS)) == []


def test_built_in_keys_that_no_artifact_has_are_strings_all_the_same(filled: Writer) -> None:
    assert filter_samples.names(filled, is_("language", O.EQ, "en")) == []
    with pytest.raises(InvalidField, match='"language" is a string'):
        filled.matching(samples.ACME, "papers", is_("language", O.EQ, 5))


def test_strings_are_ordered_by_code_point(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    for name, value in {"a": "Z", "b": "a", "c": "é", "d": "\uffff", "e": "😀"}.items():
        filter_samples.put(writer, Artifact(name, NOTE, metadata={"key": value}))
    assert filter_samples.names(writer, is_("key", O.GT, "Z")) == ["b", "c", "d", "e"]
    assert filter_samples.names(writer, is_("key", O.GT, "\uffff")) == ["e"]
    assert filter_samples.names(writer, is_("key", O.LT, "b")) == ["a", "b"]


def test_words_are_found_in_scripts_without_spaces(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    for name, value in {"a": "北京大学", "b": "大学在北京", "c": "Straße 5"}.items():
        filter_samples.put(writer, Artifact(name, NOTE, metadata={"key": value}))
    for asked, found in {"北京": "a b", "大学": "a b", "京大": "a", "STRASSE": "c"}.items():
        assert filter_samples.names(writer, is_("key", O.TEXT_MATCH, asked)) == found.split()


def test_only_the_artifact_that_both_conditions_hold_for_comes_back(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    for name, language in {"doc1": "en", "doc2": "en", "doc3": "de"}.items():
        filter_samples.put(writer, Artifact(name, NOTE, metadata={"language": language}))
    english, first = is_("language", O.EQ, "en"), is_("artifact", O.IN, "doc1", "doc3")
    assert filter_samples.names(writer, All((english, first))) == ["doc1"]
    assert filter_samples.names(writer, All((first, Not(english)))) == ["doc3"]
    assert filter_samples.names(writer, Any((first, english))) == ["doc1", "doc2", "doc3"]
    assert filter_samples.names(writer, Not(Any((first, english)))) == []
    assert filter_samples.names(writer, Not(All((first, english)))) == ["doc2", "doc3"]
    nested = Any((All((first, Not(english))), All((english, Not(first)))))
    assert filter_samples.names(writer, nested) == ["doc2", "doc3"]


def test_metadata_takes_the_place_of_what_the_file_says(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    german = Document(NOTE.nodes, title="Titel", language="de")
    filter_samples.put(writer, Artifact("a", german, file_name="a.txt"))
    filter_samples.put(writer, Artifact("b", german, metadata={"language": "fr", "page": 7}))
    assert filter_samples.names(writer, is_("language", O.EQ, "de")) == ["a"]
    assert filter_samples.names(writer, is_("language", O.EQ, "fr")) == ["b"]
    assert filter_samples.names(writer, is_("metadata.language", O.EXISTS)) == ["b"]
    assert filter_samples.names(writer, is_("metadata.page", O.EQ, 7)) == ["b"]
    assert filter_samples.names(writer, is_("title", O.EQ, "Titel")) == ["a", "b"]
    assert filter_samples.names(writer, is_("file_name", O.CONTAINS, ".txt")) == ["a"]
    assert filter_samples.names(writer, is_("media_type", O.EQ, "text/plain")) == ["a", "b"]
    before = Instant(writer.artifact(samples.ACME, "papers", "b").ingested_us)
    assert "b" in filter_samples.names(writer, is_("ingested_at", O.GTE, before))


REPORT = Document(
    [
        Node("DOCUMENT", has_vector=False),
        Node("SECTION", 0, "Results", (1,), has_vector=False),
        Node("TEXT", 1, "text", (1, 2)),
        Node("TABLE", 1, "Prices", (2,)),
        Node("TABLE_ROW", 3, "pen", (2,), {"item": "pen", "Price in \n EUR": 2}),
        Node("TABLE_ROW", 3, "", (2, 3), {"item": "a long row", "Price in EUR": 5.5}, False),
        Node("CHUNK", 5, "a long", (2,)),
        Node("CHUNK", 5, "row", (3,)),
        Node("SECTION", 1, "Details", (3,), has_vector=False),
        Node("TEXT", 8, "more", (3,)),
        Node("SECTION", 0, "Annex", (), has_vector=False),
        Node("TEXT", 10, "end", ()),
    ]
)


@pytest.mark.parametrize(
    ("where", "nodes"),
    [
        (is_("kind", O.EQ, "TABLE_ROW"), [4]),
        (is_("kind", O.NE, "TEXT"), [3, 4, 6, 7]),
        (is_("kind", O.CONTAINS, "TABLE"), [3, 4]),
        (is_("page", O.EQ, 2), [2, 3, 4, 6]),
        (is_("page", O.EQ, 2.5), []),
        (is_("page", O.GT, 1), [2, 3, 4, 6, 7, 9]),
        (is_("page", O.LT, 2), [2]),
        (is_("page", O.CONTAINS_ALL, 1, 2), [2]),
        (is_("page", O.IS_EMPTY), [11]),
        (is_("page", O.NE, 3), [2, 3, 4, 6, 11]),
        (is_("heading", O.EQ, "Results"), [2, 3, 4, 6, 7, 9]),
        (is_("heading", O.EQ, "Details"), [9]),
        (is_("heading", O.CONTAINS_ALL, "Results", "Details"), [9]),
        (is_("heading", O.CONTAINS, "Result"), []),
        (is_("heading", O.TEXT_MATCH, "annex"), [11]),
        (is_("heading", O.NE, "Results"), [11]),
        (is_("row.item", O.EQ, "pen"), [4]),
        (is_("row.item", O.CONTAINS, "long"), [6, 7]),
        (is_("row.Price in EUR", O.GTE, 2), [4, 6, 7]),
        (is_("row.Price  in EUR ", O.EQ, 5.5), [6, 7]),
        (is_("row.item", O.IS_EMPTY), [2, 3, 9, 11]),
        (is_("row.price in eur", O.EXISTS), []),
        (All((is_("page", O.EQ, 3), is_("row.item", O.EXISTS))), [7]),
        (All((is_("year", O.EQ, 2024), is_("kind", O.EQ, "TABLE"))), [3]),
        (All((is_("year", O.EQ, 1999), is_("kind", O.EQ, "TABLE"))), []),
        (Any((is_("year", O.EQ, 1999), is_("kind", O.EQ, "TABLE"))), [3]),
        (Not(Any((is_("heading", O.EQ, "Results"), is_("year", O.EQ, 1999)))), [11]),
    ],
)
def test_conditions_on_nodes(writer: Writer, where: Filter, nodes: list[int]) -> None:
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("report", REPORT, metadata={"year": 2024}))
    assert filter_samples.nodes(writer, where) == [("report", node) for node in nodes]


def test_a_cell_of_another_type_is_an_error(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("report", REPORT))
    with pytest.raises(InvalidField, match=r'"row\.item" is a string in this collection, and 5 is'):
        writer.matching(samples.ACME, "papers", is_("row.item", O.GT, 5))


def test_a_content_answers_for_each_artifact_that_holds_it(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    for name, year in {"a": 1, "b": 2, "c": 3}.items():
        filter_samples.put(writer, Artifact(name, REPORT, metadata={"year": year}))
    where = All((is_("year", O.GTE, 2), is_("row.item", O.EQ, "pen")))
    assert filter_samples.nodes(writer, where) == [("b", 4), ("c", 4)]


def test_answers_follow_replacement_update_and_deletion(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("a", REPORT, metadata={"year": 1}))
    filter_samples.put(writer, Artifact("b", REPORT, metadata={"year": 1}))
    pen, first = is_("row.item", O.EQ, "pen"), is_("year", O.EQ, 1)
    assert filter_samples.nodes(writer, pen) == [("a", 4), ("b", 4)]
    filter_samples.put(writer, Artifact("a", NOTE, metadata={"year": 2}))
    assert filter_samples.nodes(writer, pen) == [("b", 4)]
    assert filter_samples.names(writer, first) == ["b"]
    packed = filter_samples.packed({"year": 3})
    writer.update_artifact(samples.ACME, "papers", "b", "b", packed, "")
    assert filter_samples.names(writer, is_("year", O.EQ, 3)) == ["b"]
    assert filter_samples.nodes(writer, pen) == [("b", 4)]
    seq, gone = writer.delete_matching(samples.ACME, "papers", is_("year", O.GT, 2))
    assert (seq, gone) == (writer.last_seq(), ["b"])
    assert filter_samples.nodes(writer, pen) == []
    assert writer.matching(samples.ACME, "papers", pen).seq == seq


def test_tenants_and_collections_never_mix(writer: Writer) -> None:
    places = [
        (tenant, name) for tenant in (samples.ACME, samples.GLOBEX) for name in ("papers", "other")
    ]
    for number, (tenant, name) in enumerate(places):
        writer.create_collection(samples.collection(name, tenant))
        metadata: dict[str, Values] = {"secret": f"of {number}", "same": 1}
        filter_samples.put(writer, Artifact("doc", REPORT, metadata=metadata), tenant, name)
    for number, (tenant, name) in enumerate(places):
        for other in range(len(places)):
            mine = ["doc"] if other == number else []
            asked = is_("secret", O.EQ, f"of {other}")
            assert filter_samples.names(writer, asked, tenant, name) == mine
        for where in (is_("same", O.EQ, 1), is_("secret", O.NE, "x"), Not(is_("same", O.EQ, 2))):
            assert filter_samples.names(writer, where, tenant, name) == ["doc"]
        for where in (is_("row.item", O.EQ, "pen"), All((is_("kind", O.EQ, "TABLE_ROW"),))):
            assert filter_samples.nodes(writer, where, tenant, name) == [("doc", 4)]
        assert len(filter_samples.nodes(writer, is_("heading", O.NE, "x"), tenant, name)) == 7


def test_a_condition_on_a_collection_is_a_condition_on_metadata(writer: Writer) -> None:
    for tenant, name in ((samples.ACME, "papers"), (samples.GLOBEX, "theirs")):
        writer.create_collection(samples.collection(name, tenant))
        filter_samples.put(writer, Artifact("doc", NOTE), tenant, name)
    for key in ("collection", "tenant", "metadata.tenant"):
        assert filter_samples.names(writer, is_(key, O.EQ, "theirs")) == []
        assert filter_samples.names(writer, is_(key, O.NE, "papers")) == ["doc"]
    with pytest.raises(CollectionNotFound):
        writer.matching(samples.ACME, "theirs", is_("tenant", O.EQ, "globex"))


HOSTILE = [
    "'; DROP TABLE attribute; --",
    '" OR 1=1 --',
    "x' OR 'a'='a",
    "?1",
    ":tenant",
    "%",
    "_",
    "*",
    "a\0b",
    "a",
    "\\",
    "nul\0' OR 1",
    "]]><",
    "1) UNION SELECT key FROM artifact --",
]


def test_no_key_and_no_value_is_ever_a_part_of_a_statement(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    for number, text in enumerate(HOSTILE):
        row = Node("TABLE_ROW", 0, "row", cells={text: text})
        document = Document([Node("DOCUMENT"), row])
        artifact = Artifact(f"{number:02}", document, metadata={text: text, "key": text})
        filter_samples.put(writer, artifact)
    for number, text in enumerate(HOSTILE):
        mine = [f"{number:02}"]
        for where in (is_(text, O.EQ, text), is_("key", O.EQ, text), is_("key", O.IN, text, "no")):
            assert filter_samples.names(writer, where) == mine
        assert filter_samples.names(writer, is_(text, O.EXISTS)) == mine
        within = [f"{place:02}" for place, other in enumerate(HOSTILE) if text in other]
        assert filter_samples.names(writer, is_("key", O.CONTAINS, text)) == within
        assert filter_samples.names(writer, is_("key", O.CONTAINS_ANY, text, "no!")) == within
        assert filter_samples.names(writer, is_("key", O.CONTAINS_ALL, text, "")) == within
        found = filter_samples.nodes(writer, is_(f"row.{text}", O.EQ, text))
        assert found == [(*mine, 1)]


def test_a_filter_of_the_largest_size_is_evaluated(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    for number in range(3):
        filter_samples.put(writer, Artifact(f"{number}", NOTE, metadata={"key": number}))
    numbers = tuple(range(2, 1_026))
    where: Filter = Any(tuple(Condition("key", O.IN, numbers) for _ in range(256)))
    assert filter_samples.names(writer, where) == ["2"]
    assert filter_samples.names(writer, All(where.parts)) == ["2"]
    names = tuple(f"{number}" for number in range(1, 10_001))
    assert filter_samples.names(writer, Condition("artifact", O.IN, names)) == ["1", "2"]
    for _ in range(15):
        where = Not(where)
    assert filter_samples.names(writer, where) == ["0", "1"]


def test_a_store_without_artifacts_lets_nothing_through(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    assert filter_samples.names(writer, is_("key", O.NE, 1)) == []
    assert filter_samples.nodes(writer, is_("page", O.NE, 1)) == []


def test_artifacts_under_way_are_let_through_by_nothing(filled: Writer) -> None:
    filled.reserve_artifact(samples.reserved("under way"))
    assert filter_samples.names(filled, is_("key", O.NE, "x")) == sorted(NAMES)


def test_pages_of_a_listing_hold_what_matches(filled: Writer) -> None:
    where = is_("key", O.NE, "x")
    names: list[str] = []
    while page := filled.artifacts(samples.ACME, "papers", names[-1] if names else "", 3, where):
        names += [record.name for record in page]
        assert len(page) <= 3
    assert names == sorted(NAMES)


def test_keys_are_those_of_the_visible_versions(filled: Writer) -> None:
    found = filled.matching(samples.ACME, "papers", is_("key", O.EQ, True))
    [version] = [one for one in filled.visible()[1] if one.artifact == "bool"]
    assert np.frombuffer(found.keys, "<u8").tolist() == [version.key]
    assert found.seq == filled.last_seq()
