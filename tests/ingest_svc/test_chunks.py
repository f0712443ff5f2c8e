"""Chunks, by a plain tokenizer: a word is a token, and so is a Chinese character."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ingest_svc.chunks import ChunkRules, Text, cut, measured, packed

RULES = ChunkRules(target_tokens=20, limit_tokens=40)
_TOKENS = re.compile(r"[一-鿿]|[^\s一-鿿]+")


def count(texts: Sequence[str]) -> list[int]:
    return [len(_TOKENS.findall(text)) for text in texts]


def one(text: str) -> Text:
    [found] = measured([(text, 3, 4)], count, RULES)
    return found


def words(number: int, start: int = 0) -> str:
    return " ".join(f"w{index}" for index in range(start, start + number))


def test_a_text_of_up_to_a_quarter_more_than_the_target_stays_whole() -> None:
    text = one(f"{words(12)}. {words(13)}.")
    assert [chunk.text for chunk in cut(text, RULES)] == [text.text]


def test_a_longer_text_is_cut_at_sentence_ends_into_parts_of_about_equal_size() -> None:
    sentences = [f"Sentence {words(8, 10 * number)} end{number}." for number in range(5)]
    chunks = cut(one(" ".join(sentences)), RULES)
    assert [chunk.tokens for chunk in chunks] == [20, 10, 20]
    assert " ".join(chunk.text for chunk in chunks) == " ".join(sentences)
    assert {(chunk.page_start, chunk.page_end) for chunk in chunks} == {(3, 4)}


def test_chinese_is_cut_at_its_own_sentence_ends() -> None:
    text = "第三季度营收增长了百分之十五。增长主要来自科技板块。下一季度将继续关注客户留存。"
    chunks = cut(one(text), ChunkRules(target_tokens=10, limit_tokens=40))
    assert [chunk.text for chunk in chunks] == [
        "第三季度营收增长了百分之十五。",
        "增长主要来自科技板块。",
        "下一季度将继续关注客户留存。",
    ]


def test_a_sentence_above_the_limit_is_cut_at_clause_marks() -> None:
    text = ", ".join(words(10, 10 * part) for part in range(6)) + "."
    chunks = cut(one(text), RULES)
    assert all(chunk.tokens <= RULES.limit_tokens for chunk in chunks)
    assert all(chunk.text.endswith((",", ".")) for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks).replace(" ", "") == text.replace(" ", "")


def test_short_texts_join_their_neighbours_and_long_ones_stand_alone() -> None:
    texts = [one(words(size) + ".") for size in (2, 3, 15, 18, 1, 2)]
    sizes = [[text.tokens for text in group] for group in packed(texts, RULES)]
    assert sizes == [[2, 3], [15], [18, 1], [2]]


def test_a_short_line_that_is_no_sentence_goes_with_what_follows() -> None:
    texts = [one(text) for text in (f"{words(12)}.", "3. Term", f"{words(14)}.", "四、防霜")]
    groups = [[text.tokens for text in group] for group in packed(texts, RULES)]
    assert groups == [[12], [2, 14], [4]]


def test_lines_are_the_sentences_of_code() -> None:
    code = "def f():\n    return 1\n\n\ndef g():\n    return 2"
    [text] = measured([(code, 0, 0)], count, RULES, lines=True)
    assert [code[s.start : s.end] for s in text.sentences] == [
        "def f():",
        "    return 1",
        "def g():",
        "    return 2",
    ]


TEXTS = st.lists(
    st.text(alphabet="ab 。！，,.\n中文éß😀", min_size=1, max_size=200).map(str.strip).filter(bool),
    max_size=8,
)


@given(TEXTS)
def test_nothing_but_white_space_is_ever_lost(texts: list[str]) -> None:
    found = measured([(text, 0, 0) for text in texts], count, RULES)
    parts = [
        chunk for group in packed(found, RULES) for text in group for chunk in cut(text, RULES)
    ]
    kept = "".join(part.text for part in parts)
    assert "".join(kept.split()) == "".join("".join(texts).split())


@given(TEXTS)
def test_chunks_keep_their_sentences(texts: list[str]) -> None:
    for text in measured([(text, 0, 0) for text in texts], count, RULES):
        for chunk in cut(text, RULES):
            assert chunk.sentences[0].start == 0
            assert chunk.sentences[-1].end == len(chunk.text)
            gaps = zip(chunk.sentences, chunk.sentences[1:], strict=False)
            assert all(not chunk.text[a.end : b.start].strip() for a, b in gaps)
            assert len(chunk.sentences) == 1 or chunk.tokens <= 2 * RULES.target_tokens + 20
