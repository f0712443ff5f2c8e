"""Page tokens: of one list, and of no other."""

from __future__ import annotations

import base64

import pytest

from ingest_svc.page_token import list_mark, next_token, start_of
from treespan.errors import InvalidField

MARK = list_mark("artifacts", "default", "reports", b"")


def test_a_page_begins_behind_the_last_name_of_the_page_before() -> None:
    token = next_token(MARK, ["a", "b", "c"], 2)
    assert start_of(token, MARK) == "b"
    assert start_of("", MARK) == ""


def test_the_last_page_has_no_token() -> None:
    assert next_token(MARK, ["a", "b"], 2) == ""
    assert next_token(MARK, [], 2) == ""


@pytest.mark.parametrize("name", ["é中😀", "a\u200bb", "x" * 255, "a?b>c~"])
def test_any_name_can_be_gone_on_from(name: str) -> None:
    assert start_of(next_token(MARK, [name, "z"], 1), MARK) == name


@pytest.mark.parametrize(
    "parts",
    [
        ("artifacts", "other", "reports", b""),
        ("artifacts", "default", "other", b""),
        ("artifacts", "default", "reports", b"filter"),
        ("collections", "default", "reports", b""),
        ("artifacts", "defaultr", "eports", b""),
        ("artifacts", "default", "reports"),
    ],
)
def test_the_token_of_another_list_is_refused_and_shows_nothing_of_it(
    parts: tuple[str | bytes, ...],
) -> None:
    token = next_token(list_mark(*parts), ["secret name", "z"], 1)
    with pytest.raises(InvalidField, match="none of this list") as told:
        start_of(token, MARK)
    assert told.value.field == "page_token"
    assert "secret" not in str(told.value)
    for part in parts[1:]:
        hidden = part.encode() if isinstance(part, str) else part
        assert not hidden or hidden not in base64.urlsafe_b64decode(token)


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "????",
        "é",
        "a" * 10_000,
        base64.urlsafe_b64encode(MARK).decode(),
        base64.urlsafe_b64encode(MARK + b"\xff\xfe").decode(),
        base64.urlsafe_b64encode(MARK + b"name").decode() + "!",
        base64.urlsafe_b64encode(b"artifacts of reports\nname").decode(),
    ],
)
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidField, match="none of this list"):
        start_of(token, MARK)
