"""Outlines bound to rows, hostile ones among them."""

from __future__ import annotations

import time

import pymupdf
from made_pdf import MadePdf, read

from ingest_svc.readers.pdf.lines import Box, Row
from ingest_svc.readers.pdf.outline import Entry, bind


def row(key: int, text: str, page: int = 1, size: float = 12.0, y: float = 0.0) -> Row:
    box = Box(60, y or 20.0 * key, 300, (y or 20.0 * key) + size)
    return Row(box, text, size, False, False, False, True, page, (), box, key=key)


def bound(entries: list[Entry], rows: list[Row]) -> dict[int, int]:
    return bind(entries, rows).entries


def test_a_number_in_only_one_of_both_does_not_matter():
    rows = [row(1, "1 Introduction"), row(2, "Methods")]
    assert bound([Entry(1, "Introduction", 1), Entry(1, "2 Methods", 1)], rows) == {1: 0, 2: 1}


def test_a_title_over_two_rows_is_one():
    rows = [row(1, "A long title that"), row(2, "takes two rows"), row(3, "Text")]
    assert bound([Entry(1, "A long title that takes two rows", 1)], rows) == {1: 0, 2: 0}


def test_the_page_before_or_after_will_do():
    assert bound([Entry(1, "Late", 1)], [row(1, "Late", page=2)]) == {1: 0}
    assert bound([Entry(1, "Far", 1)], [row(1, "Far", page=4)]) == {}


def test_the_larger_of_two_like_rows_is_the_title():
    rows = [row(1, "Summary", size=8), row(2, "Summary", size=16)]
    assert bound([Entry(1, "Summary", 1)], rows) == {2: 0}


def test_where_an_entry_points_on_its_page_decides_between_like_rows():
    rows = [row(1, "Step", y=100.0), row(2, "Step", y=400.0)]
    assert bound([Entry(1, "Step", 1, 400.0)], rows) == {2: 0}


def test_titles_that_differ_in_a_number_alone_are_not_alike():
    assert bound([Entry(1, "Requirements of 2019", 1)], [row(1, "Requirements of 2020")]) == {}


def test_an_entry_that_points_nowhere_is_left_out():
    made = bind([Entry(1, "Lost", 0), Entry(1, "", 1)], [row(1, "Lost")])
    assert (made.entries, made.total) == ({}, 0)


def looped() -> bytes:
    """Return a PDF whose outline's second entry says that the first comes next."""
    made = MadePdf().page().text(60, 90, "Alpha").text(60, 150, "Beta")
    made.document.set_toc([[1, "Alpha", 1], [1, "Beta", 1]])
    document = pymupdf.open(stream=made.data(), filetype="pdf")
    first, second = (item[3]["xref"] for item in document.get_toc(simple=False))
    document.xref_set_key(second, "Next", f"{first} 0 R")
    return document.tobytes()


def test_an_outline_that_runs_in_a_circle_ends():
    started = time.monotonic()
    assert read(looped()).page_count == 1
    assert time.monotonic() - started < 10


def test_thousands_of_entries_are_bound_in_good_time():
    made = MadePdf()
    toc = []
    for page in range(1, 51):
        made.page()
        for line in range(40):
            made.text(60, 60 + 18 * line, f"Item {page} part {line}", 10)
            toc.append([1, f"Item {page} part {line}", page])
    made.document.set_toc(toc)
    started = time.process_time()
    parsed = read(made.data())
    assert time.process_time() - started < 20
    assert parsed.counts["outline"] == 2000
    assert sum(1 for block in parsed.blocks if block.level) == 2000
