from __future__ import annotations

import json

import pytest

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind, ParsedFile
from ingest_svc.readers.limits import ReaderLimits
from treespan.errors import DamagedFile, EmptyFile, TooLarge


def read(text: str, name: str = "a.json", **limits: int) -> ParsedFile:
    return read_file(text.encode(), name, limits=ReaderLimits(**limits))


def test_a_list_of_flat_objects_is_a_table_of_all_their_keys():
    parsed = read('[{"a": 1, "b": "x"}, {"b": "y", "c": [1, 2]}, {}]')
    [block] = parsed.blocks
    assert block.table.header == ["a", "b", "c"]
    assert block.table.rows == [["1", "x", ""], ["", "y", "1, 2"], ["", "", ""]]
    assert parsed.counts == {"records": 3}


def test_numbers_stay_as_they_are_written():
    [block] = read('{"a": 1.10, "b": 123456789012345678901234567890, "c": -0, "d": NaN}').blocks
    assert block.text == "a: 1.10\nb: 123456789012345678901234567890\nc: -0\nd: NaN"


def test_nesting_beyond_the_limit_is_refused_before_it_is_parsed():
    with pytest.raises(TooLarge, match=r"readers\.max_nesting is 200"):
        read("[" * 100_000 + "]" * 100_000)
    assert read('{"a": "[[[[[[[["}', max_nesting=2).blocks[0].text == "a: [[[[[[[["
    with pytest.raises(TooLarge):
        read('{"a": [[1]]}', max_nesting=2)


def test_cells_of_all_tables_count_together():
    with pytest.raises(TooLarge, match="max_table_cells is 5"):
        read('{"x": [{"a": 1}, {"a": 2}], "y": [{"a": 1}, {"a": 2}]}', max_table_cells=5)


def test_what_is_no_json_says_where():
    with pytest.raises(DamagedFile, match="line 2 column 1"):
        read('{"a": 1,\n}')


def test_json_without_words_is_empty():
    for text in ("[]", "{}", "null", '""', '{"a": null}', "[[], {}]"):
        with pytest.raises(EmptyFile):
            read(text)


def test_lines_that_are_no_json_are_counted_and_named():
    parsed = read('{"a": 1}\n{bad\n\n{"a": 2}\nworse\n', "a.jsonl")
    assert parsed.blocks[0].table.rows == [["1"], ["2"]]
    [warning] = parsed.warnings
    assert warning.kind == "SKIPPED_PART"
    assert "line 2, 5" in warning.message
    assert parsed.counts == {"records": 2, "skipped": 2}
    with pytest.raises(DamagedFile, match="no line"):
        read("one\ntwo\n", "a.jsonl")


def test_values_behind_each_other_are_read_as_lines_whatever_the_name():
    lines = '{"a": 1}\n{"a": 2}\n'
    assert read(lines).blocks == read(lines, "a.ndjson").blocks
    assert read(lines, "nameless").media_type == "application/jsonl"


def test_long_text_is_a_paragraph_of_its_own():
    long = "word " * 200
    parsed = read(json.dumps({"title": "T", "body": long, "n": 1}))
    assert [block.kind for block in parsed.blocks] == [BlockKind.PARAGRAPH] * 2
    assert parsed.blocks[0].text == "title: T\nn: 1"
    assert parsed.title == "T"


def test_ten_thousand_records_take_no_longer_than_their_size():
    rows = [{"id": number, "text": f"text {number}"} for number in range(10_000)]
    [block] = read(json.dumps(rows)).blocks
    assert block.table.rows[-1] == ["9999", "text 9999"]


def test_a_line_that_is_nested_too_deeply_costs_only_itself():
    deep = "[" * 1_000 + "]" * 1_000
    parsed = read(f'{{"a": 1}}\n{deep}\n{{"a": 2}}\n', "a.jsonl")
    assert parsed.blocks[0].table.rows == [["1"], ["2"]]
    assert "line 2" in parsed.warnings[0].message
    with pytest.raises(TooLarge):
        read(f"{deep}\n{deep}\n", "a.jsonl")
