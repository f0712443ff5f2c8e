from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treespan.segmentation import cut_points, pieces, sentences

MARKED = st.text(
    alphabet="ab A1.!?;,:\"'()“”「」。！？；，、……\n\u3000中文é́👩\u200d🇩🇪", max_size=120
)


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def by_characters(found):
    return [len(text) for text in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dr. Smith met Mr. Jones at 3.14 p.m. on Jan. 5. They discussed e.g. U.S. policy. "
            '"Really?" asked Prof. Lee. Yes!',
            [
                "Dr. Smith met Mr. Jones at 3.14 p.m. on Jan. 5.",
                "They discussed e.g. U.S. policy.",
                '"Really?" asked Prof. Lee.',
                "Yes!",
            ],
        ),
        (
            "第一条 目的。（见附录。）「好的！」他说；然后……走了。3.14是圆周率。",
            [
                "第一条 目的。",
                "（见附录。）",
                "「好的！」",
                "他说；",
                "然后……走了。",
                "3.14是圆周率。",
            ],
        ),
        ("“真的吗？！”“是。”", ["“真的吗？！”", "“是。”"]),
        ("「本当ですか？」と彼は尋ねた。はい。", ["「本当ですか？」", "と彼は尋ねた。", "はい。"]),
        ("He left... and what?! Wait… so. Done", ["He left... and what?!", "Wait… so.", "Done"]),
        (
            "1. First thing. 2. Second thing. (a) Third.",
            ["1. First thing.", "2. Second thing.", "(a) Third."],
        ),
        (
            "See foo.bar v1.2.3 or Node.js. It works.",
            ["See foo.bar v1.2.3 or Node.js.", "It works."],
        ),
        ("line one\nline two. More", ["line one", "line two.", "More"]),
        ("2. Pears\n3. Plums", ["2. Pears", "3. Plums"]),
        ("¿Qué? ¡Sí! Claro.", ["¿Qué?", "¡Sí!", "Claro."]),
        ("Это т.е. так. Вот.", ["Это т.е. так.", "Вот."]),
        ("दूसरा वाक्य। तीसरा।", ["दूसरा वाक्य।", "तीसरा।"]),
        ("", []),
        ("x", ["x"]),
    ],
)
def test_sentences_end_where_a_reader_would_say(text, expected):
    assert texts(text) == expected


@given(st.one_of(st.text(max_size=200), MARKED))
def test_sentences_are_in_order_and_lose_nothing_but_white_space(text):
    text = text.strip()
    found = sentences(text)
    borders = [0, *(place for span in found for place in span), len(text)]
    assert borders == sorted(borders)
    outside = "".join(
        text[end:start] for end, start in zip(borders[::2], borders[1::2], strict=True)
    )
    assert not outside.strip()
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in found)


@given(MARKED, st.integers(1, 30))
def test_pieces_hold_the_target_and_lose_nothing_but_white_space(text, target):
    found = pieces(text, by_characters, target)
    assert all(end - start <= target for start, end in found)
    assert "".join("".join(text[start:end].split()) for start, end in found) == "".join(
        text.split()
    )
    assert all(before[1] <= after[0] for before, after in pairwise(found))


@given(st.text(min_size=2, max_size=80), st.integers(2, 20))
def test_cuts_rise_strictly_within_the_text(text, parts):
    cuts = cut_points(text, parts)
    assert cuts == sorted(set(cuts))
    assert all(0 < cut < len(text) for cut in cuts)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("one two, three four five", "one two,"),
        ("one two three four", "one two "),
        ("1,000,000 is a number", "1,000,000 "),
        ("为了规范接口，制定本规范的条文", "为了规范接口，"),
        ("没有任何标点的长句", "没有任何"),
        ("aaaae\u0301aaaa", "aaaa"),
        ("ab👩\u200d👩\u200d👧cd", "ab"),
        ("a🇩🇪🇫🇷b", "a🇩🇪"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "\u1112\u1161\u11ab"),
    ],
)
def test_the_best_place_for_a_cut_is_a_clause_mark_then_white_space_then_between_letters(text, cut):
    assert text[: cut_points(text, 2)[0]] == cut


@pytest.mark.parametrize("unit", ["word ", "中文字符", '"', "(", "a.b. ", "。", "\u0301"])
def test_a_line_of_a_million_characters_takes_less_than_a_second(unit):
    text = (unit * (1_000_000 // len(unit))).strip()
    started = time.process_time()
    found = sentences(text)
    assert time.process_time() - started < 1
    assert sum(end - start for start, end in found) <= len(text)


def test_a_line_of_a_million_characters_is_cut_in_a_few_rounds_of_counting():
    rounds = []

    def count(found):
        rounds.append(len(found))
        return [max(1, len(text) // 4) for text in found]

    found = pieces("word " * 200_000, count, 100)
    assert len(rounds) <= 4
    assert max(end - start for start, end in found) <= 403


@pytest.mark.parametrize("unit", ["`", "`` ` ", "[", "1. ", "...", "“", "a", "。", "(", "e.g. "])
def test_a_long_line_of_anything_takes_no_more_than_its_length(unit: str) -> None:
    text = (unit * (200_000 // len(unit))).strip()
    start = time.process_time()
    spans = sentences(text)
    assert time.process_time() - start < 10  # the square of its length would be minutes
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)


def test_a_window_cuts_no_sentence() -> None:
    one = "The valve of the tower was tested by two people in the spring of that year."
    text = " ".join([one] * 400)
    assert [text[start:end] for start, end in sentences(text)] == [one] * 400
