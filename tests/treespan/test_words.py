from __future__ import annotations

import random
import re
import sys
import unicodedata
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treespan.words import (
    FTS5_TOKENIZE,
    UNSPACED,
    WORD_LIMIT,
    Term,
    any_terms,
    match_any,
    match_phrase,
    phrase_terms,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(
        alphabet="ncCx1'’+#_.,\"*: \t\u00a0é\u0301İßσς™²\u00ad\u200d\ufe0f"
        "北京的ーかﾞｶガไทยम\u094d한",
        max_size=30,
    ),
)
SPACED = TEXTS.filter(lambda text: not any(re.match(f"[{UNSPACED}]", word) for word in words(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Quick, brown fox!", ["the", "quick", "brown", "fox"]),
        ("Straße über MÜLLER", ["strasse", "über", "müller"]),
        ("L'été, déjà l’été", ["l", "été", "déjà", "l", "été"]),
        ("İstanbul ısı", ["i\u0307stanbul", "ısı"]),
        ("Съешь ЁЖИКА", ["съешь", "ёжика"]),
        ("ΣΊΣΥΦΟΣ Σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("πρωτεΐνη ΠΡΩΤΕΪ\u0301ΝΗ", ["πρωτε\u0390νη", "πρωτε\u0390νη"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("العَرَبِيَّة 2024", ["العَرَبِيَّة", "2024"]),
        ("한국어는 띄어쓰기가 있다", ["한국어는", "띄어쓰기가", "있다"]),
        ("e\u0301te\u0301 = été", ["été", "été"]),
        ("ＡＢＣ１２３，ｄ", ["abc123", "d"]),
        ("ﬁle №5 5㎏", ["file", "no5", "5kg"]),
        ("Windows™ 10", ["windows", "10"]),
        ("co\u00adoper\u200bate\u200d می\u200cخواهم", ["cooperate", "میخواهم"]),
        ("\u0301abc", ["abc"]),
        ("I 😀 you 👩\u200d🚀 1\ufe0f\u20e3", ["i", "you", "1"]),
        ("1,234.56 3.14 2024-01-01", ["1", "234", "56", "3", "14", "2024", "01", "01"]),
        (
            "https://a.example.com/b_c?q=1#x",
            ["https", "a", "example", "com", "b", "c", "q", "1", "x"],
        ),
        ("foo.bar two-words e-mail", ["foo", "bar", "two", "words", "e", "mail"]),
        ("snake_case HTTP2 camelCase", ["snake", "case", "http2", "camelcase"]),
        ("AT&T R&D", ["at", "t", "r", "d"]),
        ("C++, C# and F#; C++17 Ｃ＋＋", ["c++", "c#", "and", "f#", "c++", "17", "c++"]),
        ("abc++ abc# a + b # c", ["abc", "abc", "a", "b", "c"]),
        ("Don't can’t won＇t", ["don't", "can't", "won't"]),
        ("company's we'll 'quoted' n'tx", ["company", "s", "we", "ll", "quoted", "n", "tx"]),
        ("don'té", ["don", "té"]),
        (" \t\n…?!—「」\ud800\0", []),
        ("", []),
    ],
)
def test_texts_with_spaces_have_the_words_worked_out_by_hand(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京大学", "北京 京大 大学 学"),
        ("北", "北"),
        ("北京。大学", "北京 京 大学 学"),
        ("用Python3写代码", "用 python3 写代 代码 码"),
        ("2024年C++编程", "2024 年 c++ 编程 程"),
        ("人々、𠮷野家", "人々 々 𠮷野 野家 家"),
        ("東京に行く。", "東京 京に に行 行く く"),
        ("ジョン・スミス", "ジョ ョン ン スミ ミス ス"),
        ("ｶﾞｰﾄﾞ", "ガー ード ド"),
        ("㍿", "株式 式会 会社 社"),
        ("大韓民國한국", "大韓 韓民 民國 國 한국"),
        ("ไทย 2", "ไท ทย ย 2"),
        ("ลาว๑๒", "ลา าว ว ๑๒"),
        ("ລາວ", "ລາ າວ ວ"),
        ("ខ្មែរ", "ខ្ ្ម មែ ែរ រ"),
        ("မြန်မာ", "မြ ြန န် ်မ မာ ာ"),
        ("北\u200b京\ufe00", "北京 京"),
    ],
)
def test_scripts_without_spaces_have_pairs_and_the_last_character_of_each_run(text, expected):
    assert words(text) == expected.split()


def test_only_letters_marks_and_letter_numbers_belong_to_the_scripts_without_spaces():
    inside = set(re.findall(f"[{UNSPACED}]", "".join(map(chr, range(sys.maxunicode + 1)))))
    kinds = {unicodedata.category(character) for character in inside}
    assert kinds - {"Cn"} <= {"Lo", "Lm", "Mn", "Mc", "Nl"}
    named = ("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER", "THAI CHARACTER", "LAO LETTER")
    missing = {
        character
        for character in map(chr, range(0xE00, sys.maxunicode + 1))
        if unicodedata.category(character) in {"Lo", "Lm"}
        and unicodedata.name(character, "").startswith((*named, "KHMER LETTER", "MYANMAR LETTER"))
        and character not in inside
    }
    assert missing == set()


def test_a_run_of_any_length_is_cut_at_the_limit():
    assert words("x" * 600) == ["x" * WORD_LIMIT, "x" * WORD_LIMIT, "x" * (600 - 2 * WORD_LIMIT)]
    assert [len(word) for word in words("é" * 300)] == [WORD_LIMIT, 300 - WORD_LIMIT]


@given(TEXTS)
def test_no_word_has_white_space_or_quotes_or_is_empty(text):
    for word in words(text):
        assert word
        assert not re.search(r'[\s"_]', word)


@given(TEXTS, TEXTS)
@example("n", "'t")
@example("c", "++")
@example("北", "京")
@example("a", "\u0301")
def test_words_of_texts_with_a_space_between_are_the_words_of_each(first, second):
    assert words(f"{first} {second}") == words(first) + words(second)


@given(SPACED)
def test_words_of_scripts_with_spaces_stay_what_they_are(text):
    assert words(" ".join(words(text))) == words(text)


@given(TEXTS)
def test_composed_and_decomposed_texts_have_the_same_words(text):
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("text", "phrase", "any_of"),
    [
        ("The cat the", '"the cat the"', '"the" OR "cat"'),
        ("北京大学", '"北京 京大 大学"', '"北京" OR "京大" OR "大学"'),
        ("学", '"学"*', '"学"*'),
        ("北京，用", '"北京 京 用"*', '"北京" OR "用"*'),
        ("用Python3写", '"用 python3 写"*', '"用"* OR "python3" OR "写"*'),
        ("京 京", '"京 京"*', '"京"*'),
        ("北京 京", '"北京 京 京"*', '"北京" OR "京"*'),
        ('NEAR("a" b) AND x* c:^d', '"near a b and x c d"', None),
        ("，。 *\"()'", None, None),
    ],
)
def test_queries_are_the_strings_worked_out_by_hand(text, phrase, any_of):
    assert match_phrase(text) == phrase
    if any_of or phrase is None:
        assert match_any(text) == any_of


def test_terms_say_which_words_are_beginnings():
    assert phrase_terms("C++ 学") == [Term("c++"), Term("学", prefix=True)]
    assert any_terms("学 c++ 学 大学") == [Term("学", prefix=True), Term("c++"), Term("大学")]
    assert phrase_terms("?") == any_terms("?") == []


class Index:
    """Texts in a full-text table as a store keeps them: without their content."""

    def __init__(self, database: apsw.Connection) -> None:
        self.database = database
        database.execute(
            "CREATE VIRTUAL TABLE t USING fts5(words, content='', contentless_delete=1,"
            f' tokenize="{FTS5_TOKENIZE}");'
            "CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')"
        )

    def add(self, *texts: str) -> None:
        rows = [(number, " ".join(words(text))) for number, text in enumerate(texts)]
        self.database.executemany("REPLACE INTO t (rowid, words) VALUES (?, ?)", rows)

    def kept(self) -> list[str]:
        return [word for (word,) in self.database.execute('SELECT term FROM v ORDER BY "offset"')]

    def found(self, query: str | None) -> set[int]:
        if query is None:
            return set()
        rows = self.database.execute("SELECT rowid FROM t WHERE t MATCH ?", (query,))
        return {number for (number,) in rows}


@pytest.fixture(scope="module")
def database() -> Iterator[apsw.Connection]:
    with apsw.Connection(":memory:") as connection:
        yield connection
    connection.close()


@pytest.fixture
def index(database: apsw.Connection) -> Iterator[Index]:
    yield Index(database)
    database.execute("DROP TABLE v; DROP TABLE t")


def test_fts5_keeps_every_word_of_every_character_unchanged(index):
    characters = (chr(code) for code in range(sys.maxunicode + 1))
    assigned = (one for one in characters if unicodedata.category(one)[0] != "C")
    everything = " ".join(f"{one}x{one}" for one in assigned)
    text = f"{everything} C++ c# f# don't can’t 北京大学 été {'ü' * 300}"
    index.add(text)
    assert index.kept() == words(text)
    assert {"c++", "c#", "don't", "北京", "été"} <= set(index.kept())


def test_fts5_finds_the_rows_worked_out_by_hand(index):
    index.add(
        "北京大学生", "东北", "北 京", "用Python3写代码", "C and C++", "I don't", "don t", "C#"
    )
    expected = {
        "北": {0, 1, 2},
        "京": {0, 2},
        "生": {0},
        "北京": {0},
        "北京大学": {0},
        "京大": {0},
        "学生": {0},
        "东北 北": set(),
        "北 京": {2},
        "用python3写": {3},
        "python3": {3},
        "c++": {4},
        "C": {4},
        "c#": {7},
        "DON’T": {5},
        "don t": {6},
    }
    assert {phrase: index.found(match_phrase(phrase)) for phrase in expected} == expected


@given(TEXTS, TEXTS)
def test_no_text_is_syntax_and_each_is_found_by_itself(database, text, other):
    index = Index(database)
    try:
        index.add(text, other)
        for query in (match_phrase(text), match_any(text)):
            assert (0 in index.found(query)) == bool(words(text))
    finally:
        database.execute("DROP TABLE v; DROP TABLE t")


def test_a_query_of_thousands_of_words_is_answered(index):
    index.add("only w77 here")
    assert index.found(match_any(" ".join(f"w{number}" for number in range(5000)))) == {0}


def flat(text: str) -> str:
    """The text in small letters, one space at every border of words and scripts."""
    plain = re.sub("[^a-z0-9一-鿿]+", " ", text.lower())
    return re.sub("(?<=[a-z0-9])(?=[一-鿿])|(?<=[一-鿿])(?=[a-z0-9])", " ", plain).strip()


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether the text has the phrase: a substring in Chinese, whole words elsewhere."""
    wanted = flat(phrase)
    whole = f"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])"
    return bool(wanted) and re.search(whole, flat(text)) is not None


def holds_any(text: str, query: str) -> bool:
    """Whether the text has one word of the query, or one pair or lone character in Chinese."""
    parts = flat(query).split()
    latin = {part for part in parts if part.isascii()}
    han = [part for part in parts if not part.isascii()]
    pieces = {run[at : at + 2] for run in han for at in range(max(1, len(run) - 1))}
    have = flat(text)
    return bool(latin & set(have.split())) or any(piece in have for piece in pieces)


@pytest.mark.parametrize(
    "alphabet",
    ["北京大学", "北京大学，。 ", "北京大ab1, ", "aAb ,.", "北a "],
    ids=["han", "han with borders", "mixed", "english", "two words"],
)
def test_fts5_finds_what_a_plain_search_in_the_text_finds(index, alphabet):
    draw = random.Random(7)
    texts = ["".join(draw.choices(alphabet, k=draw.randint(0, 14))) for _ in range(150)]
    queries = ["".join(draw.choices(alphabet, k=draw.randint(1, 5))) for _ in range(300)]
    index.add(*texts)
    sizes = set()
    for query in queries:
        phrase = {number for number, text in enumerate(texts) if holds_phrase(text, query)}
        either = {number for number, text in enumerate(texts) if holds_any(text, query)}
        assert index.found(match_phrase(query)) == phrase, query
        assert index.found(match_any(query)) == either, query
        sizes.add(len(phrase))
    assert len(sizes) > 10


def test_a_changed_text_is_found_by_its_present_words_alone(index):
    index.add("北京 first")
    index.add("上海 second")
    assert index.found(match_any("北京 first")) == set()
    assert index.found(match_phrase("上海 second")) == {0}
