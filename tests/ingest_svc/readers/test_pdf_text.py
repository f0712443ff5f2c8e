"""Characters and the joining of lines."""

from __future__ import annotations

import pytest

from ingest_svc.readers.pdf.text import (
    clean,
    ends_sentence,
    is_right_to_left,
    join,
    squeezed,
    with_plain_bullet,
    without_doubles,
)


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("De\ufb01nition", "Definition"),
        ("\ufb00\ufb02\ufb03", "fffl" + "ffi"),
        ("\ufefb", "\u0644\u0627"),
        ("\u2f08\u2f00", "人一"),
        ("x\u00b2 \u00bd \uff21", "x\u00b2 \u00bd \uff21"),
        ("a\u00a0b\u2009c", "a b c"),
        ("a\u200bb\u0003c", "abc"),
    ],
)
def test_only_forms_of_the_same_letters_are_folded(raw, plain):
    assert clean(raw) == (plain, 0)


def test_characters_that_are_no_text_are_replaced_and_counted():
    assert clean("a\x00b\ud800c") == ("a\ufffdb\ufffdc", 2)


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("\uf0b7 First", "• First"),
        ("\x02 First", "• First"),
        ("r\x01 First", "• First"),
        ("First", "First"),
    ],
)
def test_bullets_of_symbol_fonts_become_plain_ones(raw, plain):
    assert with_plain_bullet(raw) == plain


@pytest.mark.parametrize(
    ("left", "right", "words", "joined"),
    [
        ("a para-", "graph", {"paragraph"}, "a paragraph"),
        ("a para-", "graph", set(), "a paragraph"),
        ("a well-", "known man", {"well-known"}, "a well-known man"),
        ("soft\xad", "ware", set(), "software"),
        ("the Anglo-", "Saxon", set(), "the Anglo-Saxon"),
        ("pages 3-", "5", set(), "pages 3- 5"),
        ("one", "two", set(), "one two"),
        ("中文", "文字", set(), "中文文字"),
        ("中文", "text", set(), "中文 text"),
        ("", "start", set(), "start"),
    ],
)
def test_ends_of_lines_are_joined_as_the_text_was(left, right, words, joined):
    assert join(left, right, words) == joined


@pytest.mark.parametrize(
    ("text", "width", "once"),
    [
        ("BBoolldd", 20.0, "Bold"),
        ("项项目目", 20.0, "项目"),
        ("1100", 20.0, "1100"),
        ("aabb", 22.0, "aabb"),
        ("odd", 5.0, "odd"),
    ],
)
def test_doubled_glyphs_are_told_from_pairs_by_their_width(text, width, once):
    assert without_doubles(text, width, 10.0) == once


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("It ends.", True),
        ("It ends.”", True),
        ("It ends.12", True),
        ("结束。", True),
        ("it goes on", False),
        ("version 1.2", False),
    ],
)
def test_the_end_of_a_sentence_is_seen(text, ends):
    assert ends_sentence(text) is ends


def test_leader_dots_are_made_short():
    assert squeezed("Preface . . . . . . . . . . xi") == "Preface … xi"


def test_most_letters_decide_the_direction():
    assert is_right_to_left("شرکت بورس")
    assert not is_right_to_left("habibi حب")
