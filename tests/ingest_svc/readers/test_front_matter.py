from __future__ import annotations

import pytest

from ingest_svc.readers.front_matter import split_front_matter


def test_yaml_fields_are_words_and_lists_of_words():
    text = (
        "---\ntitle: \"A \\\"b\\\"\"\nAuthor: 'It''s me'\ntags: [x, 'y']\nkeys:\n  - one\n  - two\n"
        "summary: >\n  on two\n  lines\nnested:\n  inner: 1\n# comment\n"
        "date: 2024-01-02 # day\n---\n# Body\n"
    )
    assert split_front_matter(text) == (
        {
            "title": 'A "b"',
            "author": "It's me",
            "tags": "x, y",
            "keys": "one, two",
            "summary": "on two lines",
            "date": "2024-01-02",
        },
        "# Body\n",
    )


def test_toml_fields_are_read_too():
    text = '+++\ntitle = "T"\ntags = ["a", "b"]\nday = 2024-01-02\n[x]\ny = 1\n+++\nbody'
    fields = {"title": "T", "tags": "a, b", "day": "2024-01-02"}
    assert split_front_matter(text) == (fields, "body")


@pytest.mark.parametrize(
    "text",
    [
        "---\nA heading by underline\n---\n\nbody",
        "---\n\nprose with a colon: here, and more.\nAnd a line\n---\n",
        "+++\nnot toml\n+++\n",
        "---\ntitle: never closed\n",
        "text\n---\na: b\n---\n",
    ],
)
def test_text_between_lines_is_no_front_matter(text):
    assert split_front_matter(text) == ({}, text)
