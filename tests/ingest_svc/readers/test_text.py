from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.source import Source
from ingest_svc.readers.text import joined, read_text

WRAPPED = (
    "A long paragraph that some mail program has wrapped at a width of about\n"
    "seventy columns, so that each of its lines ends where the next word would\n"
    "not have fitted any more, and only the last one is shorter.\n"
)


def drawn(text: str) -> list[str]:
    """Return blocks as lines: kind, level and marker, text."""
    return [
        f"{block.kind.name.lower()}{block.level or ''} {block.marker + ' ' if block.marker else ''}"
        f"{block.text}"
        for block in read_text(Source(b"", text)).blocks
    ]


def test_lines_that_a_machine_wrapped_are_joined():
    assert drawn(WRAPPED + "\n" + WRAPPED) == ["paragraph " + " ".join(WRAPPED.split())] * 2


def test_chinese_lines_are_joined_without_a_space():
    assert joined(["本规范适用于", "所有客户端", "and servers", "以及 x", "y"]) == (
        "本规范适用于所有客户端 and servers 以及 x y"
    )


def test_verse_and_code_keep_their_lines():
    assert drawn("Roses are red\nViolets are blue\n\ndef f(x):\n    return x\n") == [
        "paragraph Roses are red\nViolets are blue",
        "paragraph def f(x):\n    return x",
    ]


def test_lines_that_are_sentences_or_very_long_are_paragraphs():
    long = "word " * 60
    assert drawn(f"One here.\nTwo here!\n\n{long}\n{long}\n") == [
        "paragraph One here.",
        "paragraph Two here!",
        f"paragraph {long.strip()}",
        f"paragraph {long.strip()}",
    ]


def test_chinese_paragraphs_are_told_by_their_indent_alone():
    text = "　　他走进房间，看见一本打开的书\n　　书上写着一行小字，他读了很久\n"
    assert [line[:12] for line in drawn(text)] == ["paragraph 他走", "paragraph 书上"]


def test_every_kind_of_line_end_ends_a_line():
    assert drawn("a\r\nb\rc\x0bd\u2028e\x85f\r\n\r\ng\u2029h") == [
        "paragraph a\nb\nc\nd\ne\nf",
        "paragraph g",
        "paragraph h",
    ]


def test_drawn_rules_part_paragraphs_and_are_no_text():
    assert drawn("Title\n=====\nbody\n- - - -\n* * *\nmore") == [
        "paragraph Title",
        "paragraph body",
        "paragraph more",
    ]


def test_lists_have_levels_and_their_numbers_as_written():
    assert drawn("- one\n  - inner\n    and on\n- two\n\n1) a\n2) b\n\n(a) x\n(b) y\n") == [
        "list_item1 one",
        "list_item2 inner and on",
        "list_item1 two",
        "list_item1 1) a",
        "list_item1 2) b",
        "list_item1 (a) x",
        "list_item1 (b) y",
    ]


def test_a_number_that_does_not_count_up_starts_no_list():
    assert [line.split()[0] for line in drawn("5. They met\n9. They left\n\n1. alone\n")] == [
        "paragraph",
        "paragraph",
    ]


def test_chinese_and_latin_chapter_lines_are_guessed_headings():
    blocks = read_text(
        Source(b"", "第一编 总则\n第一章 目的\n第一条 略。\n\nChapter 2. Scope\n\nx")
    ).blocks
    found = [(block.kind, block.level, block.stated) for block in blocks]
    assert found == [
        (BlockKind.HEADING, 1, False),
        (BlockKind.HEADING, 2, False),
        (BlockKind.PARAGRAPH, 0, True),
        (BlockKind.HEADING, 2, False),
        (BlockKind.PARAGRAPH, 0, True),
    ]


def test_levels_start_with_the_highest_rank_that_occurs():
    assert drawn("第一章 总则\n\na\n\n第一节 范围\n\nb") == [
        "heading1 第一章 总则",
        "paragraph a",
        "heading2 第一节 范围",
        "paragraph b",
    ]


def test_sentences_that_start_like_headings_are_none():
    lines = [
        "第一部电影很好看",
        "第三节课上得很久，大家都累了。",
        "Part of the work is done",
        "Section 5 applies to all of them",
        "第二章 检索 ........ 12",
    ]
    assert {line.split()[0] for line in drawn("\n\n".join(lines))} == {"paragraph"}


def test_a_table_of_contents_is_no_run_of_headings():
    contents = "第一章 总则\n第二章 检索\n第三章 附则\n\n"
    assert [
        line
        for line in drawn(contents + "第一章 总则\n\n正文。\n\n第二章 检索\n\n正文。")
        if "heading" in line
    ] == [
        "heading1 第一章 总则",
        "heading1 第二章 检索",
    ]


def test_comments_of_code_are_no_headings():
    assert drawn("# note\nx = 1  # other\n") == ["paragraph # note\nx = 1  # other"]


@given(st.text(alphabet="ab 1.-)*第一章。，\n\r\u3000\t=", max_size=200))
def test_no_word_is_lost(text):
    blocks = read_text(Source(b"", text)).blocks
    found = "".join(block.marker + block.text for block in blocks)
    kept = [c for c in text if not c.isspace() and c not in "-*="]
    assert sorted(c for c in found if not c.isspace() and c not in "-*=") == sorted(kept)
