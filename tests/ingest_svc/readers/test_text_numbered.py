"""Numbered lines that stand alone are headings of a plain text, those of a list are not."""

from __future__ import annotations

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind


def headings(text: str) -> list[tuple[int, str]]:
    blocks = read_file(text.encode(), "x.txt").blocks
    return [(block.level, block.text) for block in blocks if block.kind is BlockKind.HEADING]


def test_numbered_lines_with_text_below_them_are_headings_by_the_depth_of_their_number() -> None:
    text = (
        "LEASE\n\n1. Parties\n\nThe parties are named here.\n\n"
        "1.1 Tenant\n\nShe rents the flat.\n\n"
        "2. Term\n\nThe lease runs for two years.\n"
    )
    assert headings(text) == [(1, "1. Parties"), (2, "1.1 Tenant"), (1, "2. Term")]


def test_chinese_numbered_lines_are_headings() -> None:
    text = "果园手册\n\n一、土壤\n\n土壤要疏松。\n\n二、采摘\n\n九月采摘。\n"
    assert headings(text) == [(1, "一、土壤"), (1, "二、采摘")]


def test_items_that_follow_each_other_are_no_headings() -> None:
    assert headings("To buy:\n\n1. Apples\n\n2. Pears\n\n3. Plums\n\nThat is all.\n") == []


def test_a_numbered_sentence_is_no_heading() -> None:
    assert headings("1. The tenant pays the rent.\n\nIt is due in May.\n") == []
