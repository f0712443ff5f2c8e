from __future__ import annotations

import pytest

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind, ParsedFile
from treespan.errors import DamagedFile, TooLarge


def read(text: str, name: str = "a.xml") -> ParsedFile:
    return read_file(text.encode(), name)


def texts(parsed: ParsedFile) -> list[str]:
    return [block.text for block in parsed.blocks]


def test_running_text_keeps_its_words_in_order_whatever_is_marked():
    parsed = read("<doc><p>One <b>two</b> three</p><p>four</p></doc>")
    assert texts(parsed) == ["One two three", "four"]


def test_titles_head_what_stands_beside_them():
    parsed = read(
        "<book><title>B</title><chapter><title>C1</title><para>x y</para></chapter>"
        "<chapter><title>C2</title><section><title>S</title><para>z <i>w</i></para></section>"
        "</chapter></book>"
    )
    headings = [(b.level, b.text) for b in parsed.blocks if b.kind is BlockKind.HEADING]
    assert headings == [(1, "B"), (2, "C1"), (2, "C2"), (3, "S")]
    assert parsed.title == "B"


def test_elements_of_one_name_with_short_fields_are_a_table_in_their_place():
    rows = "<s><a>1</a><b>2</b></s><s><a>3</a><c>4</c></s>"
    parsed = read(f"<r><p>before this</p>{rows}<p>after <i>it</i></p></r>")
    before, table, after = parsed.blocks
    assert (before.text, after.text) == ("before this", "after it")
    assert table.table.header == ["a", "b", "c"]
    assert table.table.rows == [["1", "2", ""], ["3", "", "4"]]


def test_nothing_from_outside_comes_in(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("root:x:0")
    parsed = read(
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}"><!ENTITY y "in the file">]>'
        "<a><p>before &x; after</p><p>a &y; b</p></a>"
    )
    assert texts(parsed) == ["before after", "a b"]
    [warning] = parsed.warnings
    assert warning.message.startswith("2 entities")


def test_entities_of_entities_are_refused():
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30))
    with pytest.raises(DamagedFile, match="amplification"):
        read(f'<!DOCTYPE a [<!ENTITY l0 "ha">{levels}]><a><p>one &l29; two</p></a>')


def test_deep_nesting_is_walked_without_a_stack():
    def nested(depth: int) -> str:
        return "<a>" * depth + "deep" + "</a>" * depth

    assert texts(read(nested(2_000))) == ["deep"]
    with pytest.raises(TooLarge, match="2,048"):
        read(nested(20_000))


def test_a_declared_encoding_counts():
    data = '<?xml version="1.0" encoding="windows-1251"?><a>Аренда</a>'.encode("cp1251")
    assert read_file(data, "a.xml").blocks[0].text == "Аренда"


def test_words_of_a_picture_are_text():
    parsed = read(
        '<svg xmlns="http://www.w3.org/2000/svg"><title>Map</title><text>North</text></svg>',
        "a.svg",
    )
    assert (parsed.title, parsed.media_type) == ("Map", "image/svg+xml")
    assert "North" in texts(parsed)


def test_what_is_not_well_formed_says_where():
    with pytest.raises(DamagedFile, match="line 1"):
        read("<a><b></a>")
