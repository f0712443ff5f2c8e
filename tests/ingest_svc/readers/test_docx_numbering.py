"""Numbers that Word counts and does not write: formats, starts, restarts, shared lists."""

from __future__ import annotations

import pytest
from made_documents import docx, heading_styles, in_list, level, paragraph

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.prose.number_formats import formatted


def items(body: str, numbering: str, styles: str = "") -> list[tuple[int, str, str]]:
    blocks = read_file(docx(body, numbering=numbering, styles=styles), "a.docx").blocks
    return [
        (block.level, block.marker, block.text)
        for block in blocks
        if block.kind is BlockKind.LIST_ITEM
    ]


def abstract(at: int, *levels: str, more: str = "") -> str:
    return f'<w:abstractNum w:abstractNumId="{at}">{more}{"".join(levels)}</w:abstractNum>'


def listed(list_id: int, at: int, override: str = "") -> str:
    return f'<w:num w:numId="{list_id}"><w:abstractNumId w:val="{at}"/>{override}</w:num>'


def item(text: str, list_id: int = 1, at: int = 0) -> str:
    return paragraph(text, "", in_list(list_id, at))


def test_levels_are_counted_and_begin_anew_below_the_next_item():
    numbering = abstract(
        0, level(0, "%1."), level(1, "%2)", "lowerLetter"), level(2, "%1.%2.%3", "lowerRoman")
    ) + listed(1, 0)
    body = (
        item("a")
        + item("b", at=1)
        + item("c", at=2)
        + item("d", at=1)
        + paragraph("Between.")
        + item("e")
        + item("f", at=1)
    )
    assert items(body, numbering) == [
        (1, "1.", "a"),
        (2, "a)", "b"),
        (3, "1.a.i", "c"),
        (2, "b)", "d"),
        (1, "2.", "e"),
        (2, "a)", "f"),
    ]


def test_a_level_that_was_passed_over_counts_as_begun():
    numbering = abstract(0, level(0, "%1."), level(1, "%1.%2."), level(2, "%1.%2.%3.")) + listed(
        1, 0
    )
    body = item("a") + item("deep", at=2) + item("b", at=1)
    assert items(body, numbering) == [(1, "1.", "a"), (3, "1.1.1.", "deep"), (2, "1.1.", "b")]


def test_lists_of_one_kind_go_on_counting_until_one_states_its_start():
    start = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    numbering = abstract(0, level(0, "%1.")) + listed(1, 0) + listed(2, 0) + listed(3, 0, start)
    body = item("a") + item("b", 2) + item("c", 3) + item("d", 3) + item("e", 1)
    assert [marker for _, marker, _ in items(body, numbering)] == ["1.", "2.", "5.", "6.", "7."]


def test_a_list_can_have_a_level_of_its_own():
    own = f'<w:lvlOverride w:ilvl="0">{level(0, "(%1)", "upperRoman", 4)}</w:lvlOverride>'
    numbering = abstract(0, level(0, "%1.")) + listed(1, 0, own)
    assert items(item("a") + item("b"), numbering) == [(1, "(IV)", "a"), (1, "(V)", "b")]


def test_a_level_that_never_restarts_counts_on():
    more = '<w:lvlRestart w:val="0"/>'
    numbering = abstract(0, level(0, "%1."), level(1, "%2)", more=more)) + listed(1, 0)
    body = item("a") + item("b", at=1) + item("c") + item("d", at=1)
    assert [marker for _, marker, _ in items(body, numbering)] == ["1.", "1)", "2.", "2)"]


def test_legal_numbers_are_digits_on_all_levels():
    numbering = abstract(
        0, level(0, "%1.", "upperRoman"), level(1, "%1.%2", more="<w:isLgl/>")
    ) + listed(1, 0)
    assert [marker for _, marker, _ in items(item("a") + item("b", at=1), numbering)] == [
        "I.",
        "1.1",
    ]


def test_bullets_have_no_marker_and_lists_without_a_number_are_text():
    numbering = (
        abstract(0, level(0, "\uf0b7", "bullet"))
        + abstract(1, level(0, "", "none"))
        + listed(1, 0)
        + listed(2, 1)
    )
    blocks = read_file(docx(item("a") + item("b", 2), numbering=numbering), "a.docx").blocks
    assert [(block.kind.name, block.marker) for block in blocks] == [
        ("LIST_ITEM", ""),
        ("PARAGRAPH", ""),
    ]


def test_a_style_puts_its_paragraphs_in_a_list_and_on_the_level_that_names_it():
    numbering = abstract(
        0, level(0, "%1."), level(1, "%1.%2", more='<w:pStyle w:val="B"/>')
    ) + listed(7, 0)
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="mine {name}"/>'
        '<w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr></w:style>'
        for name in "AB"
    )
    out = '<w:numPr><w:numId w:val="0"/></w:numPr>'
    body = paragraph("a", "A") + paragraph("b", "B") + paragraph("out", "A", out)
    assert items(body, numbering, styles) == [(1, "1.", "a"), (2, "1.1", "b")]


def test_the_levels_of_a_list_may_be_those_of_a_list_style():
    numbering = (
        abstract(0, level(0, "§%1"), more='<w:styleLink w:val="S"/>')
        + abstract(1, more='<w:numStyleLink w:val="S"/>')
        + listed(1, 1)
    )
    assert items(item("a"), numbering) == [(1, "§1", "a")]


def test_an_empty_item_is_counted_and_not_shown():
    numbering = abstract(0, level(0, "%1.")) + listed(1, 0)
    assert items(item("a") + item("") + item("c"), numbering) == [(1, "1.", "a"), (1, "3.", "c")]


def test_a_list_that_the_file_lacks_is_text():
    body = paragraph("a", "", in_list(42))
    assert items(body, abstract(0, level(0, "%1."))) == []


def test_numbers_of_headings_and_of_their_lists_are_counted_together():
    numbering = abstract(0, level(0, "%1."), level(1, "%1.%2")) + listed(1, 0)
    styles = heading_styles("heading 1")
    body = paragraph("Head", "H1", in_list(1)) + item("below", at=1)
    assert items(body, numbering, styles) == [(2, "1.1", "below")]


@pytest.mark.parametrize(
    ("number", "style", "text"),
    [
        (4, "upperRoman", "IV"),
        (1994, "lowerRoman", "mcmxciv"),
        (28, "lowerLetter", "bb"),
        (7, "decimalZero", "07"),
        (112, "ordinal", "112th"),
        (23, "ordinal", "23rd"),
        (21, "cardinalText", "Twenty-one"),
        (20, "ordinalText", "Twentieth"),
        (342, "ordinalText", "Three hundred forty-second"),
        (12, "chineseCounting", "十二"),
        (105, "chineseCountingThousand", "一百零五"),
        (20, "japaneseCounting", "二十"),
        (12, "ideographDigital", "一二"),
        (15, "chineseLegalSimplified", "壹拾伍"),
        (3, "ideographTraditional", "丙"),
        (12, "decimalEnclosedCircle", "⑫"),
        (2, "aiueo", "イ"),
        (3, "ganada", "다"),
        (3, "russianUpper", "В"),
        (0, "upperRoman", "0"),
        (-1, "decimal", "-1"),
        (9_999_999, "upperLetter", "9999999"),
        (5, "someFormatOfTomorrow", "5"),
    ],
)
def test_numbers_are_written_as_their_format_says(number, style, text):
    assert formatted(number, style) == text
