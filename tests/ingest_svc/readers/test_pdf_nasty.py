"""The difficult PDFs and pictures, each against what its manifest expects."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from made_pdf import read as read_pdf

from ingest_svc.readers import read_file
from ingest_svc.readers.ocr import tessdata_folder
from manifest import Problem, Result, check, entries, view
from treespan.config import OcrConfig
from treespan.errors import FileProblem

DATA = Path(os.environ.get("TREESPAN_DATA", "")) / "nasty"
ENTRIES = (
    [e for e in entries(DATA / "MANIFEST.tsv") if e.path.startswith("pdf/")]
    if DATA.is_dir()
    else []
)

PICTURES = (
    [e for e in entries(DATA / "MANIFEST.tsv") if "needs_ocr" in e.expected]
    if DATA.is_dir()
    else []
)
OTHER_HEADINGS = ("pdf/latex-outline.pdf", "pdf/nested-outline.pdf")
"""The manifest has titles without their printed numbers, and the first four of nine headings."""


def read(path: str, password: str) -> Result:
    started = time.process_time()
    try:
        parsed = read_pdf((DATA / path).read_bytes(), password=password)
    except FileProblem as problem:
        return Problem(problem.reason, problem.message, time.process_time() - started)
    return view(parsed, time.process_time() - started)


def wanted(expected: dict[str, object], path: str) -> dict[str, object]:
    """Return the keys that can be asked for: of a picture only that it is said to be one."""
    if "needs_ocr" in expected:
        return {"needs_ocr": True}
    left_out = ["headings"] if path in OTHER_HEADINGS else []
    return {key: value for key, value in expected.items() if key not in left_out}


@pytest.mark.skipif(not ENTRIES, reason="TREESPAN_DATA names no folder with nasty/")
@pytest.mark.skipif(tessdata_folder(OcrConfig()) is None, reason="no language files of Tesseract")
@pytest.mark.parametrize("entry", PICTURES or [None], ids=lambda entry: entry and entry.path)
def test_the_words_of_a_difficult_picture_are_recognised(entry):
    parsed = read_file((DATA / entry.path).read_bytes(), entry.path)
    wanted = {"contains": entry.expected.get("ocr_phrases", []), "pages": 1}
    assert check(wanted, view(parsed)).failures == ()
    assert parsed.counts["pages_by_ocr"] == 1


@pytest.mark.skipif(not ENTRIES, reason="TREESPAN_DATA names no folder with nasty/")
@pytest.mark.parametrize("entry", ENTRIES or [None], ids=lambda entry: entry and entry.path)
def test_a_difficult_pdf_is_read_as_its_manifest_expects(entry):
    without = read(entry.path, "") if "password" in entry.expected else None
    result = read(entry.path, str(entry.expected.get("password", "")))
    outcome = check(wanted(dict(entry.expected), entry.path), result, without)
    assert (outcome.failures, outcome.total > 0) == ((), True)


@pytest.mark.skipif(not ENTRIES, reason="TREESPAN_DATA names no folder with nasty/")
def test_three_entries_of_one_title_bind_to_three_headings_on_their_pages():
    parsed = read_pdf((DATA / "pdf/latex-outline.pdf").read_bytes())
    headings = [(block.text, block.page_start) for block in parsed.blocks if block.level]
    assert headings == [
        ("1 Foo", 2),
        ("2 Bar", 2),
        ("3 Baz", 2),
        ("4 Foo", 2),
        ("5 Bar", 3),
        ("6 Baz", 3),
        ("7 Foo", 3),
        ("8 Bar", 4),
        ("9 Baz", 4),
    ]


@pytest.mark.skipif(not ENTRIES, reason="TREESPAN_DATA names no folder with nasty/")
def test_a_table_over_fifteen_pages_is_one_with_all_rows_of_each_page():
    parsed = read_pdf((DATA / "pdf/table-16-pages.pdf").read_bytes())
    first, second = [block.table for block in parsed.blocks if block.table]
    assert first.header[:3] == ["Notice Date", "Effective", "Received"]
    assert {len(row) for row in first.rows} == {7}
    assert sorted(set(first.row_pages)) == list(range(1, 16))
    assert second.header[:2] == ["Summary by Month", "Notices"]


@pytest.mark.skipif(not ENTRIES, reason="TREESPAN_DATA names no folder with nasty/")
def test_a_wide_table_has_a_row_for_each_state_also_on_a_rotated_page():
    tables = []
    for name in ("table-wide.pdf", "table-rotated-page.pdf"):
        parsed = read_pdf((DATA / "pdf" / name).read_bytes())
        tables.append(next(block.table for block in parsed.blocks if block.table))
    upright, rotated = tables
    assert upright == rotated
    assert len(upright.header) == 25
    assert upright.header[7:10] == ["Pre-Pawn Handgun", "Pre-Pawn Long Gun", "Pre-Pawn *Other"]
    assert upright.rows[0][:3] == ["Alabama", "18,870", "23,022"]
    assert [row[0] for row in upright.rows][-2:] == ["Wyoming", "Totals"]
