from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treespan import identity
from treespan.errors import InvalidField, InvalidName
from treespan.store.records import Tenant

if TYPE_CHECKING:
    from collections.abc import Callable

SHA256 = hashlib.sha256(b"the file").hexdigest()
CONTENT = identity.content_id(SHA256, "pipeline")
ACME = Tenant("acme")


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "x" * 255,
        "𝒜" * 255,
        "...",
        ".hidden",
        "..a",
        " ",
        "Report (final) v2.pdf",
        "合同\u3000二",
        "e\u0301",
        "👩\u200d🔬",
        "\u2028",
        "a\\b",
        "%2F",
        "\ue000",
    ],
)
def test_name_of_1_to_255_plain_characters_is_allowed(name: str) -> None:
    identity.check_name("collection", name)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "is empty; a name has 1 to 255 characters"),
        ("x" * 256, "has 256 characters; a name has at most 255"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("a/b", 'holds a "/" (U+002F) at character 2'),
        ("/", 'holds a "/" (U+002F) at character 1'),
        ("a\0", "holds a control character (U+0000) at character 2"),
        ("a\nb", "holds a control character (U+000A) at character 2"),
        ("ab\x7f", "holds a control character (U+007F) at character 3"),
        ("\x85", "holds a control character (U+0085) at character 1"),
        ("a\ud800", "holds a lone surrogate (U+D800) at character 2"),
    ],
)
def test_other_name_is_refused_with_its_problem(name: str, problem: str) -> None:
    with pytest.raises(InvalidName) as refused:
        identity.check_name("collection", name)
    assert problem in str(refused.value)
    assert refused.value.field == "collection"
    assert str(refused.value).startswith("collection: ")


@pytest.mark.parametrize("name", ["x" * 100_000, "秘" * 300, "a\n" * 200, "\ud800" * 9, "\u202e/"])
def test_message_is_short_and_can_be_sent(name: str) -> None:
    with pytest.raises(InvalidName) as refused:
        identity.check_name("artifact", name)
    message = str(refused.value)
    assert len(message) < 400
    assert message.isprintable()
    message.encode()


@given(st.text(st.characters(), max_size=260))
def test_name_is_allowed_exactly_where_the_rule_says(name: str) -> None:
    allowed = (
        1 <= len(name) <= 255
        and name not in (".", "..")
        and "/" not in name
        and not any(unicodedata.category(character) in ("Cc", "Cs") for character in name)
    )
    try:
        identity.check_name("name", name)
    except InvalidName:
        assert not allowed
    else:
        assert allowed


def sha256_of_parts(*parts: str) -> str:
    """Return what an id is by its definition, spelled out once more."""
    encoded = [part.encode() for part in parts]
    return hashlib.sha256(
        b"".join(len(part).to_bytes(8, "little") + part for part in encoded)
    ).hexdigest()


def test_ids_are_hashes_of_all_that_they_identify() -> None:
    assert sha256_of_parts("treespan content 1", SHA256, "pipeline") == CONTENT
    doc_id = identity.doc_id(ACME, "papers", "a", CONTENT)
    assert doc_id == sha256_of_parts("treespan document 1", "acme", "papers", "a", CONTENT)[:16]


def test_ids_are_the_same_for_ever() -> None:
    """These ids are in stores and in callers' hands: a change of the rule would break them."""
    assert CONTENT == "cbf5ae59191484d63638337cf3a8b194abd2aaf48d2aab8bcc19e5f79bc88f16"
    assert identity.doc_id(ACME, "papers", "合同.pdf", CONTENT) == "2a0855c0d8953649"


@pytest.mark.parametrize(
    "other",
    [
        lambda: identity.doc_id(Tenant("globex"), "papers", "a", CONTENT),
        lambda: identity.doc_id(ACME, "laws", "a", CONTENT),
        lambda: identity.doc_id(ACME, "papers", "b", CONTENT),
        lambda: identity.doc_id(ACME, "papersa", "", CONTENT),
        lambda: identity.doc_id(ACME, "paper", "sa", CONTENT),
        lambda: identity.doc_id(Tenant("acmep"), "apers", "a", CONTENT),
        lambda: identity.doc_id(ACME, "papers", "a", identity.content_id(SHA256, "other")),
    ],
)
def test_anything_else_has_another_document_id(other: Callable[[], str]) -> None:
    assert other() != identity.doc_id(ACME, "papers", "a", CONTENT)


def test_content_id_differs_by_bytes_and_by_pipeline() -> None:
    other_bytes = hashlib.sha256(b"another file").hexdigest()
    ids = {
        CONTENT,
        identity.content_id(other_bytes, "pipeline"),
        identity.content_id(SHA256, "pipeline 2"),
    }
    assert len(ids) == 3


@pytest.mark.parametrize("sha256", ["", "abc", SHA256.upper(), SHA256 + "0", SHA256[:-1] + "\n"])
def test_content_id_wants_a_sha256(sha256: str) -> None:
    with pytest.raises(ValueError, match="is no SHA-256"):
        identity.content_id(sha256, "pipeline")


def test_content_id_wants_a_pipeline() -> None:
    with pytest.raises(ValueError, match="fingerprint is empty"):
        identity.content_id(SHA256, "")


@given(st.integers(0, 2**32 - 1))
def test_node_id_is_read_back(position: int) -> None:
    doc_id = identity.doc_id(ACME, "papers", "a", CONTENT)
    node_id = identity.node_id(doc_id, position)
    assert identity.parse_node_id("node_id", node_id) == (doc_id, position)


def test_node_id_is_the_document_and_the_position() -> None:
    assert identity.node_id("0123456789abcdef", 0) == "0123456789abcdef-0"
    assert identity.node_id("0123456789abcdef", 4294967295) == "0123456789abcdef-4294967295"


@pytest.mark.parametrize(
    ("doc_id", "position", "problem"),
    [
        ("0123456789abcdef", -1, "position is -1"),
        ("0123456789abcdef", 2**32, "position is 4294967296"),
        ("0123456789ABCDEF", 1, "is no document id"),
        ("0123", 1, "is no document id"),
    ],
)
def test_node_id_of_nothing_is_refused(doc_id: str, position: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        identity.node_id(doc_id, position)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "-",
        "0123456789abcdef",
        "0123456789abcdef-",
        "0123456789abcdef-x",
        "0123456789abcdef--1",
        "0123456789abcdef-+1",
        "0123456789abcdef-01",
        "0123456789abcdef-1 ",
        "0123456789abcdef-1\n",
        " 0123456789abcdef-1",
        "0123456789abcdef-1_0",
        "0123456789abcdef-٣",
        "0123456789abcdef-4294967296",
        "0123456789abcdef-99999999999",
        "0123456789ABCDEF-1",
        "0123456789abcde-1",
        "0123456789abcdeff-1",
        "0123456789abcdeg-1",
        "x" * 100_000,
        "\ud800",
    ],
)
def test_other_node_id_is_refused_and_shown_short(value: str) -> None:
    with pytest.raises(InvalidField, match="is no node id; one is 16") as refused:
        identity.parse_node_id("node_ids[3]", value)
    assert refused.value.field == "node_ids[3]"
    assert len(str(refused.value)) < 400
    str(refused.value).encode()
