from __future__ import annotations

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table
from ingest_svc.summary import MOST_CHARACTERS, summary_of


def parsed(*blocks: Block, title: str = "") -> ParsedFile:
    return ParsedFile(list(blocks), "text/plain", title=title)


def heading(text: str, level: int = 1) -> Block:
    return Block(BlockKind.HEADING, text, level)


def paragraph(text: str) -> Block:
    return Block(BlockKind.PARAGRAPH, text)


def test_title_headings_and_first_text_are_a_line_each() -> None:
    summary = summary_of(
        parsed(
            heading("Annual report"),
            heading("Revenue", 2),
            paragraph("Revenue\nrose by 15 %."),
            heading("Outlook", 2),
            paragraph("It will rise on."),
            title="Annual report",
        )
    )
    assert summary == "Annual report\nRevenue; Outlook\nRevenue rose by 15 %. It will rise on."


def test_outer_headings_go_before_inner_ones_where_there_are_many() -> None:
    blocks = [heading(f"Part {part}", 1 + (part % 2)) for part in range(40)]
    assert summary_of(parsed(*blocks)).split("; ")[:3] == ["Part 0", "Part 1", "Part 2"]
    named = summary_of(parsed(*blocks)).split("; ")
    assert {f"Part {part}" for part in range(0, 40, 2)} <= set(named)
    assert len(named) == 24


def test_a_table_gives_its_caption_columns_and_first_rows() -> None:
    table = Table(["year", "film"], [["1994", "Leon"], ["1995", "Heat"], ["1996", "Fargo"]])
    summary = summary_of(parsed(heading("Films"), Block(BlockKind.TABLE, table=table)))
    assert summary == "Films\nyear | film | 1994 | Leon | 1995 | Heat"


def test_files_inside_are_named() -> None:
    summary = summary_of(parsed(paragraph("See attached."), Block(BlockKind.FILE, "a.pdf", 1)))
    assert summary == "a.pdf\nSee attached."


def test_a_summary_has_a_bound_whatever_the_file_says() -> None:
    long = "word " * 100_000
    assert len(summary_of(parsed(heading(long), paragraph(long), title=long))) <= MOST_CHARACTERS
    assert summary_of(parsed(Block(BlockKind.IMAGE))) == ""
