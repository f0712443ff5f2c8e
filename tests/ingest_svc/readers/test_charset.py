from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest_svc.readers.charset import decode, labelled

CHINESE = "第一条 为了规范检索服务的接口，制定本规范。引号里的句号也算。\n"
JAPANESE = "検索サービスは文書を木構造に変換します。「本当ですか？」と彼は尋ねた。\n"
RUSSIAN = "Аренда и продажа коммерческой недвижимости в Москве и Подмосковье.\n"

DATA = Path(os.environ.get("TREESPAN_DATA", "")) / "nasty"


@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "big5hkscs", "big5hkscs"),
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (JAPANESE, "iso2022_jp", "iso2022_jp"),
        ("검색 서비스는 문서를 나무 구조로 바꿉니다. 앞뒤 문맥을 돌려줍니다!\n", "cp949", "cp949"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        ("Die schöne Frau trank köstlichen Kaffee für 3,50 €.\n", "cp1252", "cp1252"),
    ],
)
def test_a_text_without_a_mark_is_read_in_the_charset_it_was_written_in(text, encoding, found):
    if encoding == "big5hkscs":
        text = "為了規範檢索服務的介面，制定本規範。引號裡的句號也算。\n"
    decoded = decode(text.encode(encoding) * 3)
    assert (decoded.text, decoded.replaced) == (text * 3, 0)
    assert found in (decoded.encoding, "iso2022_jp", "koi8-r")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_no_part_of_the_text(encoding):
    assert decode(CHINESE.encode(encoding)).text == CHINESE


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["Plain words only.\n", CHINESE * 20])
def test_utf16_without_a_mark_is_told_by_its_zero_bytes(encoding, text):
    assert decode(text.encode(encoding)).text == text


def test_late_characters_decide_as_well_as_early_ones():
    assert decode(b"plain\n" * 50_000 + "最后".encode()).text.endswith("最后")


def test_utf8_cut_within_a_character_stays_utf8():
    decoded = decode(CHINESE.encode()[:-2])
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith("第一条")
    assert decoded.replaced == 1


def test_markup_names_its_charset_where_the_bytes_agree():
    page = '<meta charset="windows-1251"><p>Да</p>'.encode("cp1251")
    assert decode(page, markup=True).text.endswith("<p>Да</p>")


def test_a_charset_named_within_a_comment_is_none():
    page = '<!-- <meta charset="koi8-r"> --><meta charset="gbk"><p>第一章</p>'.encode("gbk")
    assert decode(page, markup=True).encoding == "gb18030"


def test_a_wrong_name_is_not_believed_against_the_bytes():
    page = '<meta charset="iso-2022-jp"><p>' + RUSSIAN * 5
    assert decode(page.encode("cp1251"), markup=True).encoding == "cp1251"


def test_valid_utf8_beats_the_name_in_the_markup():
    assert "木" in decode('<meta charset="gbk">木'.encode(), markup=True).text


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("GB2312", "gb18030"),
        ("iso-8859-1", "cp1252"),
        ("Shift_JIS", "cp932"),
        ("euc-kr", "cp949"),
        ("x-cp1251", "cp1251"),
        ("hex", ""),
        ("rot13", ""),
        ("no-such", ""),
        ("a\0b", ""),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label, name):
    assert labelled(label) == name


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_become_a_text(data, markup):
    decoded = decode(data, markup=markup)
    assert decoded.replaced >= 0
    assert isinstance(decoded.text, str)


@pytest.mark.skipif(not DATA.is_dir(), reason="TREESPAN_DATA names no folder with nasty/")
@pytest.mark.parametrize(
    ("path", "encoding", "words"),
    [
        ("txt/ja-eucjp.txt", "euc_jp", "検索サービスは文書を"),
        ("txt/ja-shiftjis.txt", "cp932", "検索サービスは文書を"),
        ("txt/ko-euckr.txt", "cp949", "검색 서비스는 문서를"),
        ("txt/utf16be-bom.txt", "utf-16-be", "第一章 总则"),
        ("txt/utf16le-bom.txt", "utf-16-le", "第一章 总则"),
        ("txt/utf16le-nobom.txt", "utf-16-le", "No BOM here"),
        ("txt/utf32le-bom.txt", "utf-32-le", "UTF-32 with BOM."),
        ("txt/ascii-then-utf8-late.txt", "utf-8", "最后一行是中文。"),
        ("html/big-preamble.html", "cp1251", "Аренда квартир"),
        ("html/cp1252.html", "cp1252", "Der Preis betrug 15,50 €"),
        ("html/gbk-meta.html", "gb18030", "正文段落。"),
        ("html/pgpt-file-no-utf8.html", "cp1252", "Person’s office address"),
        ("html/steel-jis-utf16.html", "utf-16-le", "SteelJIS"),
    ],
)
def test_difficult_files_are_read_in_the_right_charset(path, encoding, words):
    decoded = decode((DATA / path).read_bytes(), markup=path.startswith("html"))
    assert (decoded.encoding, decoded.replaced) == (encoding, 0)
    assert words in decoded.text
