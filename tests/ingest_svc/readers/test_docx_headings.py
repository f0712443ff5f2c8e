"""Headings and titles of Word documents: stated by levels, styles and names, or guessed."""

from __future__ import annotations

import pytest
from made_documents import docx, heading_styles, in_list, level, paragraph, run

from ingest_svc.readers import read_file
from ingest_svc.readers.block import Block, BlockKind, ParsedFile

OUTLINE = '<w:outlineLvl w:val="{}"/>'
TEXT = paragraph("A sentence of the text that follows.")


def headings(parsed: ParsedFile) -> list[tuple[int, str, bool]]:
    found = [block for block in parsed.blocks if block.kind is BlockKind.HEADING]
    return [(block.level, block.text, block.stated) for block in found]


def read(body: str, **parts: str) -> ParsedFile:
    return read_file(docx(body, **parts), "a.docx")


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("heading 1", 1),
        ("Heading 9", 9),
        ("标题 2", 2),
        ("Überschrift 3", 3),
        ("Titre 4", 4),
        ("Título 2", 2),
        ("Заголовок 1", 1),
        ("見出し 2", 2),
        ("Nagłówek 3", 3),
    ],
)
def test_a_style_is_a_heading_by_its_name_in_many_languages(name, depth):
    parsed = read(paragraph("Words", "H1"), styles=heading_styles(name))
    assert headings(parsed) == [(depth, "Words", True)]


@pytest.mark.parametrize("name", ["toc 1", "header", "List Number 2", "Heading", "Body Text 2"])
def test_other_styles_with_numbers_are_no_headings(name):
    assert headings(read(paragraph("Words", "H1"), styles=heading_styles(name))) == []


def test_a_style_that_is_not_in_the_file_is_told_by_its_id():
    assert headings(read(paragraph("Words", "Heading2"))) == [(2, "Words", True)]


def test_the_level_of_a_paragraph_comes_before_that_of_its_style():
    styles = heading_styles("heading 1")
    body = paragraph("Two", "H1", OUTLINE.format(1)) + paragraph("None", "H1", OUTLINE.format(9))
    assert headings(read(body, styles=styles)) == [(2, "Two", True)]


def test_a_style_has_the_level_of_what_it_is_based_on_unless_it_states_its_own():
    styles = heading_styles("heading 3") + "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="mine {name}"/>'
        f'<w:basedOn w:val="{base}"/><w:pPr>{stated}</w:pPr></w:style>'
        for name, base, stated in (
            ("A", "H1", ""),
            ("B", "A", OUTLINE.format(0)),
            ("C", "H1", OUTLINE.format(9)),
            ("D", "E", ""),
            ("E", "D", ""),
        )
    )
    body = "".join(paragraph(name, name) for name in "ABCDE")
    assert headings(read(body, styles=styles)) == [(3, "A", True), (1, "B", True)]


def test_the_title_is_a_heading_beside_those_of_level_one_and_so_are_later_ones():
    styles = heading_styles("Title", "heading 1")
    body = (
        paragraph("The whole", "H1")
        + paragraph("of it", "H1")
        + paragraph("One", "H2")
        + TEXT
        + paragraph("Second part", "H1")
        + paragraph("Two", "H2")
        + TEXT
    )
    parsed = read(body, styles=styles, core="<dc:title>template</dc:title>")
    assert parsed.title == "The whole of it"
    assert headings(parsed) == [
        (1, "The whole of it", True),
        (1, "One", True),
        (1, "Second part", True),
        (1, "Two", True),
    ]


def test_headings_are_guessed_below_a_stated_title():
    styles = heading_styles("Title")
    body = paragraph("The whole", "H1") + (bold("Scope") + TEXT * 2) * 2
    assert headings(read(body, styles=styles)) == [
        (1, "The whole", True),
        (1, "Scope", False),
        (1, "Scope", False),
    ]


def test_the_number_of_a_heading_is_its_marker_and_not_its_text():
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "%1.")}{level(1, "%1.%2")}</w:abstractNum>'
        '<w:num w:numId="4"><w:abstractNumId w:val="0"/></w:num>'
    )
    styles = heading_styles("heading 1", "heading 2")
    body = (
        paragraph("First", "H1", in_list(4))
        + paragraph("Below", "H2", in_list(4, 1))
        + paragraph("Second", "H1", in_list(4))
    )
    blocks = read(body, styles=styles, numbering=numbering).blocks
    assert [(block.level, block.marker, block.text) for block in blocks] == [
        (1, "1.", "First"),
        (2, "1.1", "Below"),
        (1, "2.", "Second"),
    ]


def bold(text: str, half_points: int = 0) -> str:
    size = f'<w:sz w:val="{half_points}"/>' if half_points else ""
    return paragraph(run(text, f"<w:b/>{size}"))


def test_larger_bold_lines_are_guessed_to_be_headings_by_size_and_number():
    body = (
        bold("总则与范围", 48)
        + bold("第一章 总则", 36)
        + TEXT
        + bold("第一条 目的", 36)
        + TEXT
        + bold("第二章 检索", 36)
        + TEXT * 4
    )
    assert headings(read(body)) == [
        (1, "总则与范围", False),
        (2, "第一章 总则", False),
        (3, "第一条 目的", False),
        (2, "第二章 检索", False),
    ]


def test_bold_lines_over_text_are_guessed_to_be_headings():
    body = (bold("Scope") + TEXT * 2 + bold("Terms") + TEXT * 2) + bold("The end of it")
    assert headings(read(body)) == [(1, "Scope", False), (1, "Terms", False)]


@pytest.mark.parametrize(
    "body",
    [
        bold("All of it is bold") * 6,
        bold("It ends like a sentence.") + TEXT * 3,
        paragraph(run("Only a part", "<w:b/>") + run(" is bold")) + TEXT * 3,
        paragraph("<w:r><w:rPr><w:b/></w:rPr><w:t>Name</w:t><w:tab/><w:t>x</w:t></w:r>") + TEXT * 3,
        bold("x" * 200) + TEXT * 3,
        bold("12.5") + TEXT * 3,
    ],
)
def test_other_bold_lines_stay_text(body):
    assert headings(read(body)) == []


def test_nothing_is_guessed_where_a_heading_is_stated():
    styles = heading_styles("heading 1")
    body = paragraph("Stated", "H1") + bold("Not guessed", 48) + TEXT
    assert headings(read(body, styles=styles)) == [(1, "Stated", True)]


def test_a_guessed_heading_keeps_the_number_that_the_file_counts():
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "%1.")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = (paragraph(run("Term", "<w:b/>"), "", in_list(1)) + TEXT * 2) * 2
    blocks = read(body, numbering=numbering).blocks
    assert [block for block in blocks if block.kind is BlockKind.HEADING] == [
        Block(BlockKind.HEADING, "Term", 1, stated=False, marker="1."),
        Block(BlockKind.HEADING, "Term", 1, stated=False, marker="2."),
    ]
