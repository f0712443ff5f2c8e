from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from treespan.cli.screen import one_line, printable, wrapped


def test_spaces_and_indentation_within_a_line_are_kept():
    assert wrapped("def f():\n    return  1", 40) == ["def f():", "    return  1"]


def test_empty_lines_stay():
    assert wrapped("a\n\nb", 10) == ["a", "", "b"]


def test_word_longer_than_a_line_is_cut():
    assert wrapped("abcdefghij kl", 4) == ["abcd", "efgh", "ij", "kl"]


def test_wide_characters_count_two_cells():
    assert wrapped("中文abc中文", 6) == ["中文", "abc中", "文"]


def test_opening_mark_goes_with_what_it_opens():
    assert wrapped("他说：（好的）吗", 8) == ["他说：", "（好的）", "吗"]


def test_number_and_word_are_not_broken_at_their_marks():
    assert wrapped("it rose to £5.5 million, don’t ask", 14) == [
        "it rose to",
        "£5.5 million,",
        "don’t ask",
    ]


def test_quotation_marks_stay_with_wide_characters():
    assert wrapped("把“水账本”与平台", 8) == ["把“水账", "本”与平", "台"]


def test_terminal_cannot_be_steered():
    assert printable("a\x1b]0;title\x07b\x9bc\r\nd\u202e\te") == "a]0;titlebc\nd   e"


def test_one_line_has_no_runs_of_blanks():
    assert one_line(" a\n\tb  c ") == "a b c"


@given(st.text(max_size=200), st.integers(min_value=4, max_value=40))
def test_no_line_is_too_wide_and_nothing_but_blanks_is_lost(text, width):
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(printable(text).split())


@pytest.mark.parametrize("width", [2, 3])
def test_narrowest_screens_still_hold_a_wide_character(width):
    assert wrapped("中中", width) == ["中", "中"]
