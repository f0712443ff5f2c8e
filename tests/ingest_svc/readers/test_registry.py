from __future__ import annotations

import pytest

from ingest_svc.readers import read_file
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table
from ingest_svc.readers.clean import cleaned, has_content
from ingest_svc.readers.limits import ReaderLimits
from treespan.errors import (
    DamagedFile,
    EmptyFile,
    EncryptedFile,
    TooLarge,
    UnsupportedFile,
)

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0")
ENCRYPTED = OLE + "EncryptedPackage".encode("utf-16-le").ljust(64, b"\0") + b"\x22\0" + bytes(62)


def test_a_text_is_read_by_its_kind():
    parsed = read_file(b"# A\n\nb", "a.md")
    assert [block.kind for block in parsed.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH]


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", "\ufeff\u3000".encode(), b"<!-- x -->"])
def test_a_file_without_words_is_empty(data):
    with pytest.raises(EmptyFile):
        read_file(data, "a.html" if data.startswith(b"<") else "a.txt")


def test_an_unread_type_is_named_with_those_that_are_read():
    with pytest.raises(UnsupportedFile, match=r"a program.*Markdown.*HTML.*plain text.*PDF"):
        read_file(b"\x7fELF" + bytes(range(256)), "a.txt")


def test_an_encrypted_document_asks_for_its_password_before_it_is_looked_at():
    with pytest.raises(EncryptedFile):
        read_file(ENCRYPTED, "a.docx")
    with pytest.raises(DamagedFile, match="container"):
        read_file(ENCRYPTED, "a.docx", password="x")


def test_a_cut_container_is_damaged():
    with pytest.raises(DamagedFile):
        read_file(b"PK\x03\x04" + bytes(100), "a.docx")


def test_a_refusal_names_the_limit_and_its_value():
    with pytest.raises(TooLarge, match=r"readers\.max_file_bytes is 3; this file has 4"):
        read_file(b"abcd", "a.txt", limits=ReaderLimits(max_file_bytes=3))
    with pytest.raises(TooLarge, match=r"readers\.max_nodes is 2; this file has 3"):
        read_file(b"a\n\nb\n\nc", "a.txt", limits=ReaderLimits(max_nodes=2))


def test_lost_characters_are_counted_in_a_warning():
    parsed = read_file(("第一条 规定。" * 100).encode()[:-1] + b"\n\nx\0y", "a.txt")
    assert [warning.kind for warning in parsed.warnings] == ["REPLACED_CHARACTERS"]
    assert parsed.warnings[0].message.startswith("2 characters")
    assert parsed.blocks[-1].text == "x\ufffdy"


def test_every_text_of_a_file_is_cleaned():
    table = Table(["a\0"], [["\ud800b"]], caption="c\x1b")
    parsed = cleaned(
        ParsedFile(
            [Block(BlockKind.TABLE, table=table), Block(BlockKind.CODE, "ok", language="\0")],
            "text/html",
            title="t\udfff",
            metadata={"k\0": "v\x07"},
        ),
        0,
    )
    found = parsed.blocks[0].table
    assert found == Table(["a\ufffd"], [["\ufffdb"]], caption="c ")
    assert (parsed.title, parsed.metadata) == ("t\ufffd", {"k\ufffd": "v "})
    assert parsed.warnings[0].message.startswith("5 characters")


def test_a_file_is_empty_when_only_its_table_frames_are_there():
    blank = ParsedFile([Block(BlockKind.TABLE, table=Table([""], [[" "]]))], "text/html")
    assert not has_content(blank)
