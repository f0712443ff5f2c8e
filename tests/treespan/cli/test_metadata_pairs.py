"""Metadata on the command line: what is text, what is JSON, what is a date."""

from __future__ import annotations

from datetime import UTC, datetime

from treespan.cli.metadata_pairs import metadata_of_pairs


def test_values_are_text_json_or_a_date():
    pairs = (
        "year=2024",
        "count:=2024",
        'tags:=["a", "b"]',
        "due:=2019-03-15",
        "at:=2019-03-15T10:00:00+02:00",
    )
    assert metadata_of_pairs("--metadata", pairs) == {
        "year": "2024",
        "count": 2024,
        "tags": ["a", "b"],
        "due": datetime(2019, 3, 15, tzinfo=UTC),
        "at": datetime(2019, 3, 15, 8, tzinfo=UTC),
    }
