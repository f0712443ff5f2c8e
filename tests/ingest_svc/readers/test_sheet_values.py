from __future__ import annotations

import pytest

from ingest_svc.readers.sheets.values import (
    PLAIN,
    Format,
    Meaning,
    date_text,
    number_format,
    number_text,
)


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("General", Meaning.NUMBER),
        ("Standard", Meaning.NUMBER),
        ("@", Meaning.NUMBER),
        ("0.00", Meaning.NUMBER),
        ("0.00E+00", Meaning.NUMBER),
        ('#,##0.00\\ "days"', Meaning.NUMBER),
        ("[Red]#,##0;[Blue]-#,##0", Meaning.NUMBER),
        ('_-* #,##0.00\\ "€"_-', Meaning.NUMBER),
        ("0.0%", Meaning.PERCENT),
        ("yyyy\\-mm\\-dd", Meaning.DATE),
        ("[$-409]d\\-mmm\\-yy;@", Meaning.DATE),
        ('yyyy"年"m"月"d"日"', Meaning.DATE),
        ("mmm", Meaning.DATE),
        ("d.m.yy h:mm", Meaning.DATE_TIME),
        ("h:mm AM/PM", Meaning.TIME),
        ("mm:ss.0", Meaning.TIME),
        ("[h]:mm:ss", Meaning.DURATION),
    ],
)
def test_a_format_code_says_what_a_number_means(code, meaning):
    assert number_format(code).meaning is meaning


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (-0.5, "-0.5"),
        (0.1 + 0.2, "0.3"),
        (1234567890123456.0, "1234567890123456"),
        (1e20, "1e+20"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_have_the_digits_that_spreadsheets_keep(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("0%", 0.125, "12.5%"),
        ("0.0%", 0.652027207, "65.2%"),
        ("0.0000%", 0.652027207, "65.2027%"),
        ("00000", 42.0, "00042"),
        ("yyyy-mm-dd", 45296.0, "2024-01-05"),
        ("yyyy-mm-dd hh:mm", 45296.5, "2024-01-05T12:00:00"),
        ("yyyy-mm-dd hh:mm", 45296.0, "2024-01-05"),
        ("h:mm", 0.75, "18:00:00"),
        ("[h]:mm", 1.5, "36:00:00"),
        ("yyyy-mm-dd", -5.0, "-5"),
        ("yyyy-mm-dd", 1e9, "1000000000"),
    ],
)
def test_a_number_is_written_as_its_format_means_it(code, value, text):
    assert number_text(value, number_format(code)) == text


@pytest.mark.parametrize(
    ("day", "text"),
    [(1, "1900-01-01"), (59, "1900-02-28"), (60, "1900-02-29"), (61, "1900-03-01")],
)
def test_days_before_march_1900_are_counted_as_spreadsheets_count_them(day, text):
    assert number_text(day, Format(Meaning.DATE)) == text


def test_days_count_from_1904_where_the_workbook_says_so():
    assert number_text(0.0, Format(Meaning.DATE), from_1904=True) == "1904-01-01"
    assert number_text(43834.0, Format(Meaning.DATE), from_1904=True) == "2024-01-05"


def test_a_stated_date_loses_only_its_midnight():
    assert date_text("2024-01-05T00:00:00") == "2024-01-05"
    assert date_text("2024-01-05T06:30:00") == "2024-01-05T06:30:00"
    assert date_text("2024-01-05") == "2024-01-05"


def test_the_plain_format_is_the_one_of_numbers():
    assert PLAIN.meaning is Meaning.NUMBER
