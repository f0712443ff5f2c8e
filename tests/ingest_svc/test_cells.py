"""Cells of table rows, typed."""

from __future__ import annotations

from datetime import datetime

import pytest

from ingest_svc.cells import LONGEST_COLUMN, LONGEST_VALUE, column_names, row_cells, typed
from treespan.filters import Instant
from treespan.store.records import Cell


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("7", 7),
        ("-7", -7),
        ("−7", -7),
        ("1,234", 1_234),
        ("-1,234,567", -1_234_567),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775807", -(2**63 - 1)),
    ],
)
def test_whole_numbers_stay_whole(text: str, number: int) -> None:
    assert typed(text) == number
    assert type(typed(text)) is int


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3.14", 3.14),
        ("0.5", 0.5),
        ("1,234.5", 1234.5),
        ("-2e3", -2000.0),
        ("6.02E+23", 6.02e23),
        ("1.0", 1.0),
        ("9223372036854775808.0", 9223372036854775808.0),
    ],
)
def test_what_has_a_point_or_an_exponent_is_a_floating_point_number(
    text: str, number: float
) -> None:
    assert typed(text) == number
    assert type(typed(text)) is float


@pytest.mark.parametrize(
    "text",
    [
        "007",
        "-01",
        "00.5",
        "0,123",
        "1,2",
        "1,23,456",
        "12,3456",
        ",123",
        "1.",
        ".5",
        "+5",
        "1 234",
        "12 %",
        "$5",
        "5 kg",
        "1_000",
        "1e999",
        "nan",
        "inf",
        "0x1f",
        "١٢٣",
        "9223372036854775808",
        "-9223372036854775808",
        "1" * 5000,
        "e5",
        "--5",
        "192.168.0.1",
    ],
)
def test_what_only_looks_like_a_number_is_kept_as_written(text: str) -> None:
    assert typed(text) == text


@pytest.mark.parametrize("text", ["true", "True", "TRUE"])
def test_truth_is_told_in_any_case(text: str) -> None:
    assert typed(text) is True


def test_only_the_two_words_are_truth_values() -> None:
    assert typed("False") is False
    assert [typed(text) for text in ("yes", "no", "t", "untrue")] == ["yes", "no", "t", "untrue"]


@pytest.mark.parametrize(
    ("text", "as_iso"),
    [
        ("2024-01-31", "2024-01-31T00:00:00+00:00"),
        ("2024-01-31T10:00", "2024-01-31T10:00:00+00:00"),
        ("2024-01-31T10:00:30", "2024-01-31T10:00:30+00:00"),
        ("2024-01-31 10:00:30", "2024-01-31T10:00:30+00:00"),
        ("2024-01-31T10:00Z", "2024-01-31T10:00:00+00:00"),
        ("2024-01-31T10:00:00+02:00", "2024-01-31T08:00:00+00:00"),
        ("2024-01-31T23:30-05:30", "2024-02-01T05:00:00+00:00"),
        ("2024-01-31T10:00:00.25Z", "2024-01-31T10:00:00.250000+00:00"),
        ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59+00:00"),
        ("2024-02-29", "2024-02-29T00:00:00+00:00"),
    ],
)
def test_iso_dates_and_times_are_instants_in_utc(text: str, as_iso: str) -> None:
    expected = datetime.fromisoformat(as_iso)
    value = typed(text)
    assert isinstance(value, Instant)
    assert value.us == round(expected.timestamp() * 1_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29",
        "2024-13-01",
        "2024-1-31",
        "24-01-31",
        "31.01.2024",
        "2024-01-31T24:00",
        "2024-01-31T10:60",
        "2024-01-31T10",
        "2024-01-31T10:00+99:00",
        "20240131T1000",
        "2024-W05-3",
        "0000-01-01",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59-14:00",
    ],
)
def test_days_that_are_not_in_the_calendar_are_texts(text: str) -> None:
    assert typed(text) == text


def test_the_earliest_and_the_latest_instant_are_kept() -> None:
    assert typed("0001-01-01") == Instant(-62_135_596_800_000_000)
    assert typed("9999-12-31T23:59:59.999999Z") == Instant(253_402_300_799_999_999)


def test_long_texts_are_cut() -> None:
    assert typed("x" * 10_000) == "x" * LONGEST_VALUE


def test_a_row_has_its_cells_from_left_to_right_and_white_space_does_not_count() -> None:
    columns = column_names(["Net\n price", "", " In stock ", "Since", "Note"])
    row = [" 9.50\n", "unnamed", "TRUE", "2024-01-31", "  two \t words\n"]
    assert row_cells(5, columns, row) == [
        Cell(5, "Net price", 9.5),
        Cell(5, "In stock", True),
        Cell(5, "Since", Instant(1_706_659_200_000_000)),
        Cell(5, "Note", "two words"),
    ]


def test_a_column_has_the_types_that_its_cells_have() -> None:
    columns = column_names(["n"])
    values = [row_cells(1, columns, [text])[0].value for text in ("5", "n/a", "2024-01-31")]
    assert values == [5, "n/a", Instant(1_706_659_200_000_000)]


def test_empty_cells_and_columns_that_no_filter_can_name_are_left_out() -> None:
    columns = column_names(["a", "b", "c" * LONGEST_COLUMN, "d" * (LONGEST_COLUMN + 1), " "])
    found = row_cells(1, columns, ["", " \n", "1", "2", "3"])
    assert found == [Cell(1, "c" * LONGEST_COLUMN, 1)]


def test_equal_cells_in_columns_of_one_name_are_one_and_true_is_not_1() -> None:
    columns = column_names(["n", "n", "n", "n"])
    cells = row_cells(1, columns, ["1", "1.0", "true", "2"])
    assert [(type(cell.value), cell.value) for cell in cells] == [(int, 1), (bool, True), (int, 2)]


def test_a_row_that_is_longer_or_shorter_than_its_header_does_no_harm() -> None:
    assert row_cells(1, ["a"], ["1", "2"]) == [Cell(1, "a", 1)]
    assert row_cells(1, ["a", "b"], ["1"]) == [Cell(1, "a", 1)]
