from __future__ import annotations

import time

import pytest

from ingest_svc.readers.block import ParsedFile, Table
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.sheets.csv_delimiter import delimiter_of
from ingest_svc.readers.sheets.csv_tables import read_csv
from ingest_svc.readers.source import Source
from treespan.errors import TooLarge


def parsed(text: str, name: str = "t.csv", limits: ReaderLimits | None = None) -> ParsedFile:
    return read_csv(Source(b"x", text=text, name=name, limits=limits or ReaderLimits()))


def table(text: str, name: str = "t.csv") -> Table:
    found = parsed(text, name).blocks[0].table
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb, c\n1\t2, 3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('"a;b",c\n"d;e",f\n', ","),
        ('name;note\nx;"one, two, three"\ny;"four, five"\n', ";"),
        ("one\ntwo\n", ","),
        ("", ","),
    ],
)
def test_the_delimiter_is_the_one_that_the_records_agree_on(text, delimiter):
    assert delimiter_of(text) == delimiter


def test_a_name_decides_only_where_nothing_else_does():
    assert delimiter_of("a\tb,c\n1\t2,3\n", usual="\t") == "\t"
    assert delimiter_of("a,b\n1,2\n", usual="\t") == ","
    assert table("a,b\n1,2\n", "t.tsv").header == ["a", "b"]


def test_the_first_record_names_the_columns_unless_it_is_numbers():
    assert table("name,size\nash,7\n").header == ["name", "size"]
    assert table("1,2\n3,4\n").header == ["", ""]
    assert table("a,b,c\n").header == ["a", "b", "c"]
    assert table("a,b,c\n").rows == []


def test_quoted_line_breaks_quotes_and_delimiters_are_kept():
    found = table('id,text\n1,"line one\nline two"\n2,"he said ""hi"", ok"\n')
    assert found.rows == [["1", "line one\nline two"], ["2", 'he said "hi", ok']]


def test_a_line_that_states_the_delimiter_is_no_record():
    found = parsed("sep=;\na;b\n1,5;2\n")
    assert found.metadata == {"delimiter": ";"}
    assert found.blocks[0].table == Table(["a", "b"], [["1,5", "2"]])


def test_a_line_alone_above_the_columns_is_the_caption():
    found = table("Stanley Cups,,\nTeam,Location,Cups\nBlues,STL,1\n")
    assert (found.caption, found.header) == ("Stanley Cups", ["Team", "Location", "Cups"])
    assert found.rows == [["Blues", "STL", "1"]]


def test_records_of_other_widths_are_kept_and_said():
    found = parsed("a,b\n1,2,3\n4\n5,6\n")
    assert found.blocks[0].table == Table(
        ["a", "b", ""], [["1", "2", "3"], ["4", "", ""], ["5", "6", ""]]
    )
    assert [warning.kind for warning in found.warnings] == ["DAMAGED"]
    assert found.warnings[0].message.endswith(": 2, 3")


def test_records_are_counted():
    assert parsed("a,b\n1,2\n3,4\n").counts == {"records": 2}


def test_empty_lines_are_no_records():
    assert table("a,b\n\n1,2\n\n\n3,4\n").rows == [["1", "2"], ["3", "4"]]


def test_a_quote_that_never_closes_takes_no_other_record_with_it():
    found = table('a,b\n"open,2\n3,4\n5,"six"\n')
    assert found.rows == [['"open', "2"], ["3", "4"], ["5", "six"]]
    lost = parsed('a,b\n1,2\n"open,3\n4,5\n')
    assert lost.blocks[0].table == Table(["a", "b"], [["1", "2"], ['"open', "3"], ["4", "5"]])
    assert "never closed" in lost.warnings[0].message


def test_words_behind_a_closing_quote_are_kept():
    assert table('a,b\n"x, y" z,2\n').rows == [["x, y z", "2"]]


def test_many_quotes_that_never_close_take_no_time():
    started = time.process_time()
    assert len(table('x,"open\n' * 20_001).rows) >= 20_000
    assert time.process_time() - started < 5


def test_a_field_of_a_megabyte_is_kept():
    assert table(f"a,b\n1,{'x' * 1_000_000}\n").rows[0][1] == "x" * 1_000_000


def test_old_line_ends_and_form_feeds_are_told_apart():
    assert table("a,b\r1,2\r3,4\r").rows == [["1", "2"], ["3", "4"]]
    assert table("a,b\n1,x\x0by\n").rows == [["1", "x\x0by"]]


def test_too_many_cells_are_refused_never_cut():
    with pytest.raises(TooLarge, match="max_table_cells is 5"):
        parsed("a,b\n1,2\n3,4\n", limits=ReaderLimits(max_table_cells=5))


def test_one_wide_record_does_not_make_the_table_wide_beyond_the_limit():
    text = "a\n" * 1_000 + "," * 1_000 + "\n"
    with pytest.raises(TooLarge, match="this file has 1002001"):
        parsed(text, limits=ReaderLimits(max_table_cells=10_000))


def test_a_large_file_takes_little_time():
    text = "id,name,value\n" + "".join(f"{n},name {n},{n / 2}\n" for n in range(60_000))
    started = time.process_time()
    assert len(table(text).rows) == 60_000
    assert time.process_time() - started < 5
