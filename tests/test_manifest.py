from __future__ import annotations

import pytest

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table, Warning
from manifest import FileView, Problem, check, entries, view

FILE = view(
    ParsedFile(
        blocks=[
            Block(BlockKind.HEADING, "One", 1),
            Block(BlockKind.PARAGRAPH, "First ﬁne sen\xadtence. Second."),
            Block(BlockKind.LIST_ITEM, "item", 1, marker="3."),
            Block(BlockKind.TABLE, table=Table(["a", "b"], [["1", "x y"]], caption="Cap")),
            Block(BlockKind.HEADING, "Two", 2),
        ],
        media_type="text/html",
        title="The Title",
        page_count=3,
        counts={"outline": 2},
        warnings=[Warning("DAMAGED", "m")],
        metadata={"author": "me"},
    ),
    seconds=1.5,
    mb=20,
)


@pytest.mark.parametrize(
    "expected",
    [
        {"phrases": ["one", "First FINE sentence", "3.item", "Cap", "a b", "no|xy", "Two"]},
        {"contains": ["Two", "One"]},
        {"absent": ["three"], "absent_in_body": ["Page 7"]},
        {"count": {"item": 1, "o": 3}},
        {"headings": [[1, "One"], [2, "two"]]},
        {"headings_text": ["On"], "headings_count": 2, "headings_min": 1, "headings_max": 2},
        {"tables": 1, "tables_min": 1, "tables_max": 1, "table_shapes": [[2, 2]]},
        {"cells": [[0, 0, "A"], [1, 1, "x y"]], "rows": 2, "cols": 2, "rows_nonempty": 2},
        {"title": "the title", "metadata": {"author": "me"}, "detect": "html"},
        {"pages": 3, "slides": 3, "outline": 2},
        {"sentences_contain": ["Second."]},
        {"error_or_warning": "DAMAGED"},
        {"error_or": "UNSUPPORTED"},
        {"time_s": 2, "mem_mb": 20},
    ],
)
def test_an_expectation_that_holds_is_met(expected):
    outcome = check(expected, FILE)
    assert (outcome.met, outcome.total, outcome.failures) == (len(expected), len(expected), ())


@pytest.mark.parametrize(
    "expected",
    [
        {"phrases": ["Two", "One"]},
        {"contains": ["Three|Four"]},
        {"absent": ["two"]},
        {"absent_in_body": ["FIRST"]},
        {"count": {"first": 2}},
        {"headings": [[1, "One"], [1, "Two"]]},
        {"headings": [[1, "One"]]},
        {"headings_text": ["Three"]},
        {"headings_count": 3},
        {"headings_min": 3},
        {"headings_max": 1},
        {"tables": 2},
        {"tables_min": 2},
        {"tables_max": 0},
        {"table_shapes": [[1, 2]]},
        {"cells": [[5, 0, "a"]]},
        {"cells": [[0, 0, "b"]]},
        {"rows": 1},
        {"cols": 3},
        {"title": "x"},
        {"metadata": {"author": "you"}},
        {"pages": 2},
        {"sheets": 1},
        {"attachments_min": 1},
        {"sentences": ["One"]},
        {"sentences_contain": ["Third."]},
        {"error": "EMPTY"},
        {"error_without_password": "ENCRYPTED"},
        {"error_or_empty": "UNSAFE"},
        {"error_or_warning": "NO_TEXT_LAYER"},
        {"needs_ocr": True},
        {"detect": "pdf"},
        {"time_s": 1},
        {"mem_mb": 10},
    ],
)
def test_an_expectation_that_does_not_hold_is_a_failure(expected):
    outcome = check(expected, FILE)
    assert (outcome.met, outcome.total, len(outcome.failures)) == (0, 1, 1)


@pytest.mark.parametrize(
    ("expected", "problem", "met", "total"),
    [
        ({"error": "EMPTY"}, Problem("EMPTY"), 1, 1),
        ({"error": "EMPTY"}, Problem("DAMAGED"), 0, 1),
        ({"error_or": "UNSUPPORTED", "phrases": ["x"]}, Problem("UNSUPPORTED"), 1, 1),
        ({"error_or": "UNSUPPORTED", "phrases": ["x"]}, Problem("DAMAGED"), 0, 2),
        ({"error_or_empty": "UNSAFE", "time_s": 5}, Problem("TOO_LARGE", "", 1), 2, 2),
        ({"error_or_warning": "DAMAGED", "pages": 1}, Problem("DAMAGED"), 1, 1),
        ({"needs_ocr": True, "ocr_phrases": ["x"]}, Problem("NO_TEXT_LAYER"), 1, 1),
        ({"needs_ocr": True}, Problem("EMPTY"), 0, 1),
        ({"detect": "csv"}, Problem("UNSUPPORTED", "the file is a CSV table"), 1, 1),
        ({"phrases": ["x"], "tables": 1}, Problem("UNSUPPORTED"), 0, 2),
    ],
)
def test_a_refusal_is_right_only_where_it_is_allowed(expected, problem, met, total):
    outcome = check(expected, problem)
    assert (outcome.met, outcome.total) == (met, total)


def test_an_empty_reading_is_as_good_as_a_refusal_of_a_bomb():
    assert check({"error_or_empty": "UNSAFE"}, FileView()).failures == ()


def test_a_file_with_a_password_is_checked_with_and_without_it():
    expected = {"error_without_password": "ENCRYPTED", "password": "p", "contains": ["One"]}
    outcome = check(expected, FILE, Problem("ENCRYPTED"))
    assert (outcome.met, outcome.total) == (2, 2)


def test_notes_are_no_checks_and_what_was_not_measured_is_not_counted():
    assert check({"note": "n", "time_s": 1, "mem_mb": 1}, FileView()).total == 0


def test_a_manifest_is_raw_lines_with_json_in_the_last_column(tmp_path):
    path = tmp_path / "MANIFEST.tsv"
    path.write_text('path\tkind\texpected_json\na "b".md\tx\t{"contains": ["\\"q\\""]}\n', "utf-8")
    found = entries(path)
    assert [(entry.path, entry.expected) for entry in found] == [
        ('a "b".md', {"contains": ['"q"']})
    ]
