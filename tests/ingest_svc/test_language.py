"""The language of a file."""

from __future__ import annotations

import pytest

from ingest_svc.language import language_of, language_of_text, primary_subtag
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table

ENGLISH = "The reactor was inspected in May. Every valve passed its test."
GERMAN = "Der Reaktor wurde im Mai geprüft. Jedes Ventil hat seine Prüfung bestanden."


def parsed(*texts: str, kind: BlockKind = BlockKind.PARAGRAPH, **metadata: str) -> ParsedFile:
    return ParsedFile([Block(kind, text) for text in texts], "text/plain", metadata=metadata)


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en", "en"),
        ("EN", "en"),
        ("en-US", "en"),
        ("en_US", "en"),
        ("zh-Hant-TW", "zh"),
        (" de \n", "de"),
        ("eng", "en"),
        ("ger", "de"),
        ("tlh", "tlh"),
        ("und", ""),
        ("zxx", ""),
        ("english", ""),
        ("C", ""),
        ("", ""),
        ("x-default", ""),
        ("en;q=0.8", ""),
        ("../../etc", ""),
    ],
)
def test_a_language_tag_is_its_first_part_in_lower_case(tag: str, language: str) -> None:
    assert primary_subtag(tag) == language


def test_what_the_file_states_goes_before_what_its_words_say() -> None:
    assert language_of(parsed(ENGLISH, language="fr-CA")) == "fr"
    assert language_of(parsed(ENGLISH, lang="fr")) == "fr"


def test_a_statement_that_is_none_is_passed_over() -> None:
    assert language_of(parsed(ENGLISH, language="none given", lang="")) == "en"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("反应堆于五月接受检查。", "zh"),
        ("反应堆于五月接受检查，使用 Python 和 gRPC 编写。", "zh"),
        ("卡尔·马克思", "zh"),
        ("原子炉は五月に検査された。", "ja"),
        ("원자로는 오월에 검사를 받았다.", "ko"),
        ("เครื่องปฏิกรณ์ได้รับการตรวจสอบ", "th"),
        ("Ο αντιδραστήρας ελέγχθηκε", "el"),
        ("ռեակտորը ստուգվել է", "hy"),
        ("რეაქტორი შემოწმდა", "ka"),
        ("அணு உலை ஆய்வு செய்யப்பட்டது", "ta"),
    ],
)
def test_a_script_of_one_language_decides(text: str, language: str) -> None:
    assert language_of_text(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (ENGLISH + " The word 反应堆 means reactor.", "en"),
        (GERMAN, "de"),
        ("Le réacteur a été inspecté en mai et toutes les vannes ont passé le test.", "fr"),
        ("El reactor fue inspeccionado en mayo y todas las válvulas pasaron la prueba.", "es"),
        ("Il reattore è stato ispezionato a maggio e tutte le valvole funzionano.", "it"),
        ("De reactor werd in mei geïnspecteerd en alle kleppen werkten goed.", "nl"),
        ("Реактор был проверен в мае, и все клапаны прошли испытание.", "ru"),
        ("Реактор перевірили у травні, і всі клапани пройшли випробування.", "uk"),
    ],
)
def test_else_the_words_decide(text: str, language: str) -> None:
    assert language_of_text(text) == language


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "1 2 3", "A1 B2 X-9000 Part 123", "hello", "SELECT a FROM t;", "Müller GmbH"],
)
def test_too_few_words_are_in_no_language(text: str) -> None:
    assert language_of_text(text) == ""


def test_program_code_is_not_listened_to() -> None:
    code = Block(BlockKind.CODE, "# Das ist ein deutscher Kommentar, und zwar ein langer.\n" * 50)
    words = Block(BlockKind.PARAGRAPH, ENGLISH)
    assert language_of(ParsedFile([code, words], "text/plain")) == "en"
    assert language_of(ParsedFile([code], "text/plain")) == ""


def test_the_words_of_tables_count() -> None:
    table = Table(["Question"], [[ENGLISH], ["What was found when it was opened again?"]])
    assert language_of(ParsedFile([Block(BlockKind.TABLE, table=table)], "text/html")) == "en"


def test_the_most_of_a_long_file_decides_not_its_first_page() -> None:
    assert language_of(parsed(*[GERMAN] * 3, *[ENGLISH] * 600)) == "en"
