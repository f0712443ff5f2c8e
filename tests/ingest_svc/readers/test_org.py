from __future__ import annotations

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind


def blocks(text: str):
    return read_file(text.encode(), "a.org").blocks


def test_stars_in_a_block_and_bold_words_are_no_headings():
    found = blocks("* One\n*bold* words\n#+BEGIN_SRC org\n* no\n#+end_src\n**** Four\n")
    headings = [(b.level, b.text) for b in found if b.kind is BlockKind.HEADING]
    assert headings == [(1, "One"), (4, "Four")]
    assert found[1].text == "*bold* words"
    assert found[2].text == "* no"


def test_a_block_that_never_ends_loses_nothing():
    assert blocks("#+begin_example\nkept\nto the end")[0].text == "kept\nto the end"


def test_a_table_without_a_rule_has_no_header_and_ragged_rows_are_filled():
    [block] = blocks("| a | b |\n| c |\n")
    assert block.table.header == ["", ""]
    assert block.table.rows == [["a", "b"], ["c", ""]]


def test_keywords_tags_and_drawers_are_no_text():
    found = blocks(
        "* TODO [#B] Name :tag:other:\nCLOSED: [2024-01-01]\n:LOGBOOK:\n- note\n:END:\nWords.\n"
    )
    assert [block.text for block in found] == ["Name", "Words."]


def test_a_drawer_that_is_never_closed_hides_nothing():
    found = blocks("* One\n:note:\nkept\n* Two\n:PROPERTIES:\n:ID: 1\n:END:\nwords\n")
    assert [block.text for block in found] == ["One", ":note: kept", "Two", "words"]


def test_a_caption_stays_with_what_it_stands_before():
    found = blocks(
        "#+CAPTION: A map\n[[file:map.png]]\n\n#+CAPTION: Listing\n#+begin_src sh\nls\n#+end_src\n"
        "#+CAPTION: Dues\n| a |\n"
    )
    assert [(block.kind, block.text) for block in found] == [
        (BlockKind.IMAGE, "A map"),
        (BlockKind.PARAGRAPH, "Listing"),
        (BlockKind.CODE, "ls"),
        (BlockKind.TABLE, ""),
    ]
    assert found[-1].table.caption == "Dues"
