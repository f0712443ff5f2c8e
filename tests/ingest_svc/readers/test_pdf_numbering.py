"""Numbers of headings."""

from __future__ import annotations

import pytest

from ingest_svc.readers.pdf.numbering import levels_of, number_of


@pytest.mark.parametrize(
    ("text", "number", "certain"),
    [
        ("1 Introduction", "1", False),
        ("1.2.3 Details", "1.2.3", True),
        ("1.2. Details", "1.2.", True),
        ("A.1 Appendix part", "A.1", True),
        ("B. Method", "B.", False),
        ("PART II General", "PART II", True),
        ("Chapter 3. Access", "Chapter 3", True),
        ("Article 5", "Article 5", True),
        ("第三章 总则", "第三章", True),
        ("第十二条 附则", "第十二条", True),
        ("一、概述", "一、", True),
        ("（二）范围", "（二）", True),
        ("IV. Results", "IV.", True),
        ("(a) first", "(a)", False),
    ],
)
def test_the_number_of_a_heading_is_found(text, number, certain):
    found = number_of(text)
    assert found is not None
    assert (found.text, found.is_certain) == (number, certain)


@pytest.mark.parametrize(
    "text", ["Introduction", "A good start", "1999", "3.5mm jack", "第一", "x"]
)
def test_words_that_only_look_like_numbers_are_none(text):
    assert number_of(text) is None


def ranks(*texts: str) -> list[int]:
    return [number.rank for text in texts if (number := number_of(text)) is not None]


@pytest.mark.parametrize(
    ("texts", "levels"),
    [
        (("1 A", "1.1 B", "1.1.1 C"), [1, 2, 3]),
        (("Chapter 1", "1.1 B", "1.1.1 C"), [1, 2, 3]),
        (("PART I", "Chapter 1", "Section 1", "1. A"), [1, 2, 3, 4]),
        (("第一章 甲", "第一条 乙"), [1, 2]),
        (("一、甲", "（一）乙"), [1, 2]),
    ],
)
def test_levels_are_the_ranks_in_use_closed_up(texts, levels):
    found = ranks(*texts)
    table = levels_of(set(found))
    assert [table[rank] for rank in found] == levels
