from __future__ import annotations

import time

import pytest

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.markdown import read_markdown
from ingest_svc.readers.source import Source
from treespan.errors import TooLarge


def blocks(text: str, **limits: int) -> list[Block]:
    return read_markdown(Source(b"", text, limits=ReaderLimits(**limits))).blocks


def drawn(text: str) -> list[str]:
    """Return blocks as lines: kind, level and marker, text."""
    return [
        f"{block.kind.name.lower()}{block.level or ''} {block.marker + ' ' if block.marker else ''}"
        f"{block.text}"
        for block in blocks(text)
    ]


def test_headings_have_the_level_that_is_written():
    assert drawn("# A #\n\n### C `x` [l](u)\n\nB\n===\n\n####### no\n") == [
        "heading1 A",
        "heading3 C x l",
        "heading1 B",
        "paragraph ####### no",
    ]


def test_hashes_in_code_and_comments_are_no_headings():
    found = blocks("```py title\n# a\n```\n\n    # b\n\n<!-- # c -->\n\n~~~\n# never closed")
    assert [(block.kind, block.text, block.language) for block in found] == [
        (BlockKind.CODE, "# a", "py"),
        (BlockKind.CODE, "# b", ""),
        (BlockKind.CODE, "# never closed", ""),
    ]


def test_list_items_have_depth_number_and_all_their_paragraphs():
    assert drawn("3) a\n\n   more\n\n   - b\n4) c\n\n   ```\n   x\n   ```\n\n   tail\n") == [
        "list_item1 3) a\nmore",
        "list_item2 b",
        "list_item1 4) c",
        "code x",
        "paragraph tail",
    ]


def test_headings_in_quotes_and_items_are_words_there():
    assert drawn("> # A\n> b\n\n- # C\n") == ["quote A", "quote b", "list_item1 C"]


def test_a_table_has_its_first_row_as_header_and_even_rows():
    table = blocks("| a | b \\| c |\n|--|:-:|\n| `x \\| y` |\n| 1 | **2** | 3 |\n")[0].table
    assert table is not None
    assert (table.header, table.rows) == (["a", "b | c"], [["x | y", ""], ["1", "2"]])


def test_a_footnote_follows_the_block_that_refers_to_it_first():
    text = (
        "A[^x] and B[^x].\n\n# H\n\nC ^[in *line*].\n\n"
        "[^x]: Note[^y].\n\n    More.\n\n[^y]: Inner.\n[^z]: Never used.\n"
    )
    assert drawn(text) == [
        "paragraph A[x] and B[x].",
        "paragraph [x] Note[y].",
        "paragraph More.",
        "paragraph [y] Inner.",
        "heading1 H",
        "paragraph C (in line).",
        "paragraph [z] Never used.",
    ]


def test_footnotes_that_refer_to_each_other_end():
    assert drawn("a[^1]\n\n[^1]: b[^2]\n\n[^2]: c[^1]\n") == [
        "paragraph a[1]",
        "paragraph [1] b[2]",
        "paragraph [2] c[1]",
    ]


def test_images_are_their_alternative_text():
    assert drawn("![pic](a)\n\n[![badge](b)](c) ![](d)\n\nsee ![this](e) now\n") == [
        "image pic",
        "image badge",
        "paragraph see this now",
    ]


def test_math_stays_as_written():
    assert drawn("$a_1 * b_2$ for $5 or $6\n\n$$\n\\int_0^1 x\n$$\n") == [
        "paragraph $a_1 * b_2$ for $5 or $6",
        "paragraph $$ \\int_0^1 x $$",
    ]


def test_lines_are_joined_with_a_space_but_not_between_chinese_characters():
    assert drawn("one\ntwo\\\nthree<br>four\n\n第一\n行\n") == [
        "paragraph one two\nthree\nfour",
        "paragraph 第一行",
    ]


def test_html_inside_is_read_as_html():
    assert drawn(
        '<h1 align="center">Name</h1>\n\n<script>x()</script>\n\n<kbd>Ctrl</kbd> key\n'
    ) == [
        "heading1 Name",
        "paragraph Ctrl key",
    ]


def test_front_matter_gives_title_and_metadata():
    parsed = read_markdown(Source(b"", "---\ntitle: T\nauthor: Me\n---\n\nbody"))
    assert (parsed.title, parsed.metadata) == ("T", {"author": "Me"})
    assert [block.text for block in parsed.blocks] == ["body"]


def test_deep_quotes_and_brackets_lose_no_word():
    assert drawn(">" * 5000 + " deep") == ["quote deep"]
    assert "deep" in drawn("[" * 3000 + "deep")[0]


def test_lists_deeper_than_any_author_writes_are_refused_and_not_cut():
    text = "\n".join("  " * depth + "- x" for depth in range(60))
    assert len(blocks(text)) == 60
    assert blocks(text, max_nesting=40)[-1].level == 40
    with pytest.raises(TooLarge, match="max_nesting is 5"):
        blocks(text, max_nesting=5)


def test_a_large_text_is_read_fast():
    text = "# H\n\nSome *words* in a [link](u) and `code`, nothing more.\n\n- a\n- b\n\n" * 3000
    started = time.process_time()
    assert len(blocks(text)) == 12_000
    assert time.process_time() - started < 10


@pytest.mark.parametrize("text", ["[" * 300_000, "![" * 100_000, "^[" * 100_000])
def test_brackets_without_an_end_are_plain_characters_and_cost_little(text):
    started = time.process_time()
    [block] = blocks(f"{text} [link](u)")
    assert block.text.startswith(text)
    assert "link" in block.text
    assert time.process_time() - started < 15


def test_dates_of_front_matter_are_points_in_time():
    text = "---\ndate: 2024-01-02\nlastmod: 2024-05-06T07:08:09+02:00\nupdated: soon\n---\nx"
    assert read_markdown(Source(b"", text)).dates == {
        "created": "2024-01-02T00:00:00Z",
        "modified": "2024-05-06T07:08:09+02:00",
    }
