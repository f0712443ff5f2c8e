"""Filters on what files state of themselves and where they come from, case by case."""

from __future__ import annotations

import pytest

from store import filter_samples, samples
from store.filter_model import Artifact, Document, Node
from treespan.errors import InvalidField
from treespan.filters import All, Condition, Instant, Not, Operator
from treespan.store.interface import Writer

NODES = [Node("DOCUMENT"), Node("TEXT", text="note")]
MAIL = Document(
    NODES,
    stated={
        "author": "Chen",
        "pages": 3,
        "draft": True,
        "created": Instant(1_700_000_000_000_000),
        "to": ["ada@example.org", "bo@example.org"],
        "Reply To": "x",
    },
)
PLAIN = Document(NODES)
O = Operator  # noqa: E741


@pytest.fixture
def filled(writer: Writer) -> Writer:
    """A mail, a note whose caller says the same as the mail's file, and one that says nothing."""
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("mail", MAIL, source_uri="https://example.org/m?id=1"))
    said = Artifact("said", PLAIN, metadata={"author": "Chen", "file.author": "Bo"})
    filter_samples.put(writer, said)
    filter_samples.put(writer, Artifact("nothing", PLAIN, metadata={"source_uri": "mine"}))
    return writer


@pytest.mark.parametrize(
    ("key", "operator", "values", "found"),
    [
        ("file.author", O.EQ, ("Chen",), "mail"),
        ("file.author", O.NE, ("Chen",), "nothing said"),
        ("file.author", O.EXISTS, (), "mail"),
        ("file.author", O.IS_EMPTY, (), "nothing said"),
        ("file.pages", O.GT, (2.5,), "mail"),
        ("file.draft", O.EQ, (True,), "mail"),
        ("file.created", O.LT, (Instant(1_700_000_000_000_001),), "mail"),
        ("file.to", O.CONTAINS, ("bo@example.org",), "mail"),
        ("file.to", O.TEXT_MATCH, ("Example ADA",), "mail"),
        ("file.Reply To", O.EQ, ("x",), "mail"),
        ("author", O.EQ, ("Chen",), "said"),
        ("metadata.author", O.EQ, ("Chen",), "said"),
        ("file.author", O.EQ, ("Bo",), ""),
        ("metadata.file.author", O.EQ, ("Bo",), "said"),
        ("pages", O.EXISTS, (), ""),
        ("source_uri", O.EQ, ("https://example.org/m?id=1",), "mail"),
        ("source_uri", O.CONTAINS, ("example.org/",), "mail"),
        ("source_uri", O.IS_EMPTY, (), "nothing said"),
        ("source_uri", O.EQ, ("mine",), ""),
        ("metadata.source_uri", O.EQ, ("mine",), "nothing"),
    ],
)
def test_what_a_file_states_is_never_what_its_caller_says(
    filled: Writer, key: str, operator: Operator, values: tuple[str, ...], found: str
) -> None:
    assert filter_samples.names(filled, Condition(key, operator, values)) == found.split()


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("file.pages", "3", "a number"),
        ("file.author", 3, "a string"),
        ("source_uri", 3, "a string"),
    ],
)
def test_an_operand_of_another_type_is_an_error(
    filled: Writer, key: str, value: str | int, kind: str
) -> None:
    with pytest.raises(InvalidField, match=f'"{key}" is {kind} in this collection'):
        filled.matching(samples.ACME, "papers", Condition(key, O.EQ, (value,)))


def test_source_uri_is_a_string_where_no_artifact_has_one(writer: Writer) -> None:
    writer.create_collection(samples.collection())
    filter_samples.put(writer, Artifact("a", PLAIN))
    assert filter_samples.names(writer, Condition("source_uri", O.NE, ("x",))) == ["a"]
    with pytest.raises(InvalidField, match='"source_uri" is a string'):
        writer.matching(samples.ACME, "papers", Condition("source_uri", O.EQ, (True,)))


def test_artifacts_of_one_content_share_what_its_file_states(filled: Writer) -> None:
    filter_samples.put(filled, Artifact("copy", MAIL, source_uri="file:///copy"))
    chen = Condition("file.author", O.EQ, ("Chen",))
    assert filter_samples.names(filled, chen) == ["copy", "mail"]
    local = Condition("source_uri", O.CONTAINS, ("file:///",))
    assert filter_samples.names(filled, All((chen, Not(local)))) == ["mail"]
    assert filter_samples.names(filled, All((chen, local))) == ["copy"]


def test_update_leaves_what_the_file_states_and_a_new_version_does_not(filled: Writer) -> None:
    chen = Condition("file.author", O.EQ, ("Chen",))
    at_home = Condition("source_uri", O.EXISTS)
    packed = filter_samples.packed({"author": "me"})
    filled.update_artifact(samples.ACME, "papers", "mail", "m", packed, "summed up")
    assert filter_samples.names(filled, chen) == ["mail"]
    assert filter_samples.names(filled, at_home) == ["mail"]
    filter_samples.put(filled, Artifact("mail", PLAIN))
    assert filter_samples.names(filled, chen) == []
    assert filter_samples.names(filled, at_home) == []


def test_nodes_are_found_by_what_their_file_states(filled: Writer) -> None:
    where = All((Condition("file.pages", O.EQ, (3,)), Condition("kind", O.EQ, ("TEXT",))))
    assert filter_samples.nodes(filled, where) == [("mail", 1)]


def test_artifacts_are_deleted_by_where_they_come_from(filled: Writer) -> None:
    where = Condition("source_uri", O.CONTAINS, ("https://example.org/",))
    assert filled.delete_matching(samples.ACME, "papers", where)[1] == ["mail"]
