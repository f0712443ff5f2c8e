from __future__ import annotations

import struct
from datetime import UTC, datetime

import pytest
from made_archives import zipped
from made_msg import Storage, container, message

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.mail.msg_rtf import decompressed_rtf
from ingest_svc.readers.source import Unpacked
from treespan.errors import DamagedFile, EmptyFile, TooLarge, UnsupportedEncryption

CLASS, SUBJECT, SENDER, SENDER_ADDRESS, SENT = 0x001A, 0x0037, 0x0C1A, 0x5D01, 0x0039
BODY, RTF, HTML, HEADERS, MESSAGE_ID = 0x1000, 0x1009, 0x1013, 0x007D, 0x1035
NAME, ADDRESS, KIND = 0x3001, 0x39FE, 0x0C15
DATA, FILE_NAME, METHOD, FILE_TYPE, CONTENT_ID, FLAGS = (
    0x3701,
    0x3707,
    0x3705,
    0x370E,
    0x3712,
    0x3714,
)
CODE_PAGE, INTERNET_CODE_PAGE = 0x3FFD, 0x3FDE

# The examples of [MS-OXRTFCP] 4.1: compressed by Microsoft's own programs.
HELLO = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af320"
    "68656c090020627705b06c647d0a800fa0"
)
CROSSING = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")


def read(properties, **parts):
    return read_file(container(message(properties, **parts)), "a.msg")


def drawn(parsed) -> list[tuple[str, str]]:
    return [(block.kind.name, block.text) for block in parsed.blocks]


def test_who_wrote_to_whom_is_metadata_and_the_first_block():
    parsed = read(
        {
            SUBJECT: "计划",
            SENDER: "Ann",
            SENDER_ADDRESS: "ann@example.org",
            SENT: datetime(2024, 10, 1, 12, 34, 56, tzinfo=UTC),
            MESSAGE_ID: "<1@example.org>",
            BODY: "Hello.\r\n> Quoted.\r\n",
        },
        recipients=(
            {NAME: "'Bob'", ADDRESS: "bob@example.org", KIND: 1},
            {NAME: "Eve", ADDRESS: "/O=EXCHANGE/CN=EVE", KIND: 2},
            {NAME: "Secret", ADDRESS: "s@example.org", KIND: 3},
        ),
    )
    assert parsed.title == "计划"
    assert parsed.metadata == {
        "subject": "计划",
        "from": "Ann <ann@example.org>",
        "to": "Bob <bob@example.org>",
        "cc": "Eve",
        "message_id": "1@example.org",
    }
    assert parsed.dates == {"sent": "2024-10-01T12:34:56+00:00"}
    assert parsed.blocks[0].text.startswith(
        "From: Ann <ann@example.org>\nTo: Bob <bob@example.org>"
    )
    assert drawn(parsed)[1:] == [("PARAGRAPH", "Hello."), ("QUOTE", "Quoted.")]


def test_headers_may_hold_any_characters():
    headers = "Subject: x\nList-Id: Größe \ud800 <l.example.org>\nContent-Type: ü/\xff; a=\xff\n\n"
    made = message({SUBJECT: "s", BODY: "x", HEADERS: "x"})
    made.streams["__substg1.0_007D001F"] = headers.encode("utf-16-le", "surrogatepass")
    parsed = read_file(container(made), "a.msg")
    assert parsed.title == "s"


def test_what_only_the_headers_say_is_taken_from_them():
    headers = (
        "From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nList-Id: <l.example.org>\n"
        "Date: Tue, 01 Oct 2024 12:34:56 -0500\nReply-To: r@example.org\n\n"
    )
    parsed = read({SUBJECT: "s", SENDER: "Ann", HEADERS: headers, BODY: "x"})
    assert parsed.metadata["from"] == "Ann <ann@example.org>"
    assert parsed.metadata["to"] == "Bob <bob@example.org>"
    assert parsed.metadata["list_id"] == "l.example.org"
    assert parsed.metadata["reply_to"] == "r@example.org"
    assert parsed.dates["sent"] == "2024-10-01T12:34:56-05:00"


@pytest.mark.parametrize(
    ("number", "charset", "text"),
    [
        (950, "cp950", "會議通知：明天上午九點"),
        (936, "gbk", "会议通知：明天上午九点"),
        (932, "cp932", "会議のお知らせ"),
        (949, "cp949", "회의 알림입니다"),
        (1251, "cp1251", "Приглашение на встречу"),
        (1252, "cp1252", "Café – déjà vu"),
        (65001, "utf-8", "Café – déjà vu"),
        (28592, "iso-8859-2", "Zażółć gęślą jaźń"),
        (20866, "koi8-r", "Приглашение на встречу"),
        (50220, "iso-2022-jp", "会議のお知らせ"),
    ],
)
def test_texts_are_in_the_code_page_that_the_message_names(number, charset, text):
    parsed = read({SUBJECT: text, BODY: text, CODE_PAGE: number}, code_page=charset)
    assert parsed.title == text
    assert drawn(parsed)[1:] == [("PARAGRAPH", text)]


def test_html_is_read_in_its_own_code_page_where_there_is_no_text():
    html = "<p>Приглашение на встречу</p>".encode("koi8-r")
    parsed = read({SUBJECT: "s", HTML: html, INTERNET_CODE_PAGE: 20866, CODE_PAGE: 1251})
    assert drawn(parsed)[1:] == [("PARAGRAPH", "Приглашение на встречу")]


def test_of_a_text_and_its_html_one_is_read_never_both():
    parsed = read({SUBJECT: "s", BODY: "Hello world.", HTML: b"<p>Hello <b>world</b>.</p>"})
    assert drawn(parsed)[1:] == [("PARAGRAPH", "Hello world.")]


def test_compressed_rtf_is_unpacked():
    unpacked = Unpacked(ReaderLimits(), 1)
    assert decompressed_rtf(HELLO, unpacked) == (
        b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    )
    assert decompressed_rtf(CROSSING, unpacked) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
    plain = struct.pack("<II4sI", 17, 5, b"MELA", 0) + b"{rtf}"
    assert decompressed_rtf(plain, unpacked) == b"{rtf}"


def test_a_text_in_rtf_alone_that_is_broken_is_said_to_be_left_out():
    parsed = read({SUBJECT: "s", RTF: HELLO[:20]})
    assert [(warning.kind, "in RTF" in warning.message) for warning in parsed.warnings] == [
        ("SKIPPED_PART", True)
    ]


@pytest.mark.parametrize("data", [b"", HELLO[:20], HELLO[:8] + b"ABCD" + HELLO[12:]])
def test_rtf_that_cannot_be_unpacked_is_damaged(data):
    with pytest.raises(DamagedFile):
        decompressed_rtf(data, Unpacked(ReaderLimits(), 1))


def test_rtf_that_unpacks_to_too_much_is_refused():
    copies = b"\xff" + struct.pack(">H", 0x00CF) * 8  # two bytes for 17
    head = struct.pack("<II4sI", 0, 1 << 30, b"LZFu", 0)
    with pytest.raises(TooLarge, match="max_unpacked_bytes is 1000"):
        decompressed_rtf(head + copies * 9_000, Unpacked(ReaderLimits(max_unpacked_bytes=1_000), 1))


def test_attachments_are_files_inside_and_one_not_read_never_fails_the_message():
    parsed = read(
        {SUBJECT: "s", BODY: "x"},
        files=(
            {FILE_NAME: "报告.md", DATA: b"# A\n\nalpha", METHOD: 1},
            {FILE_NAME: "a.zip", DATA: zipped({"b.txt": "beta"}), METHOD: 1},
            {FILE_NAME: "data.bin", DATA: bytes(range(256)) * 40, METHOD: 1},
            {FILE_NAME: "sheet", DATA: Storage({"CONTENTS": b"x"}), METHOD: 6},
            {FILE_NAME: "far.txt", METHOD: 2},
        ),
    )
    assert [text for _, text in drawn(parsed)[2:]] == [
        *("报告.md", "A", "alpha", "a.zip", "b.txt", "beta"),
        *("data.bin", "sheet", "far.txt"),
    ]
    assert [warning.message.split(": ")[:2] for warning in parsed.warnings] == [
        ["data.bin", "UNSUPPORTED"],
        ["sheet", "UNSUPPORTED"],
        ["far.txt", "UNSUPPORTED"],
    ]
    assert parsed.counts == {"attachments": 5, "images": 0, "skipped": 3}


def test_a_message_in_a_message_is_a_file_with_its_subject_for_a_name():
    innermost = message(
        {SUBJECT: "Innermost", BODY: "gamma"},
        head_bytes=24,
        files=({FILE_NAME: "c.txt", DATA: b"c"},),
    )
    inner = message(
        {SUBJECT: "Inner", BODY: "beta"}, head_bytes=24, files=({DATA: innermost, METHOD: 5},)
    )
    parsed = read({SUBJECT: "Outer", BODY: "alpha"}, files=({DATA: inner, METHOD: 5, NAME: "n"},))
    assert [(b.level, b.text) for b in parsed.blocks if b.kind is BlockKind.FILE] == [
        (1, "Inner"),
        (2, "Innermost"),
        (3, "c.txt"),
    ]
    assert "gamma" in [block.text for block in parsed.blocks]


def test_pictures_that_the_text_shows_are_no_files():
    picture = {
        FILE_NAME: "image001.png",
        DATA: b"\x89PNG\r\n\x1a\n" + bytes(100),
        FILE_TYPE: "image/png",
        CONTENT_ID: "image001.png@1",
        FLAGS: 4,
    }
    parsed = read({SUBJECT: "s", BODY: "x"}, files=(picture,))
    assert parsed.counts == {"attachments": 0, "images": 1, "skipped": 0}


def test_a_message_that_is_encrypted_is_refused_with_that_reason():
    file = {FILE_NAME: "smime.p7m", DATA: b"0\x80"}
    with pytest.raises(UnsupportedEncryption):
        read({SUBJECT: "s", CLASS: "IPM.Note.SMIME"}, files=(file,))


def test_a_message_that_is_signed_holds_its_text_in_an_attachment():
    signed = (
        b'Content-Type: multipart/signed; boundary="b"\n\n--b\nContent-Type: text/plain\n\n'
        b"The signed text.\n--b\nContent-Type: application/pkcs7-signature\n\nMIA=\n--b--\n"
    )
    parsed = read(
        {SUBJECT: "s", CLASS: "IPM.Note.SMIME.MultipartSigned"},
        files=({FILE_NAME: "smime.p7m", DATA: signed},),
    )
    assert drawn(parsed)[-1] == ("PARAGRAPH", "The signed text.")
    assert parsed.warnings == []


def test_a_message_with_nothing_is_empty():
    with pytest.raises(EmptyFile):
        read({SENDER: "Ann"})


def test_a_container_that_is_cut_is_damaged():
    whole = container(message({SUBJECT: "s", BODY: "x" * 9_000}))
    for cut in (1, 512, 513):
        with pytest.raises(DamagedFile):
            read_file(whole[:-cut], "a.msg")


def test_sizes_in_the_container_that_lie_are_found_before_they_are_believed():
    whole = bytearray(container(message({SUBJECT: "s", BODY: "x" * 9_000})))
    body = whole.index("__substg1.0_1000001F".encode("utf-16-le"))
    whole[body + 120 : body + 128] = (1 << 31).to_bytes(8, "little")
    with pytest.raises(DamagedFile):
        read_file(bytes(whole), "a.msg")
    whole[44:48] = b"\xff\xff\xff\x7f"
    with pytest.raises(DamagedFile):
        read_file(bytes(whole), "a.msg")


def test_a_chain_of_sectors_that_is_a_loop_ends():
    whole = bytearray(container(message({SUBJECT: "s", BODY: "x" * 9_000})))
    for sector in range(4):  # the last sector's table of sectors: each leads to itself
        at = len(whole) - 512 + 4 * sector
        whole[at : at + 4] = sector.to_bytes(4, "little")
    read_file(bytes(whole), "a.msg")


def test_what_all_streams_hold_counts_together():
    file = {FILE_NAME: "a.txt", DATA: b"x" * 9_000}
    data = container(message({SUBJECT: "s", BODY: "x"}, files=(file, file, file)))
    parsed = read_file(data, "a.msg", limits=ReaderLimits(max_unpacked_bytes=20_000))
    assert ["TOO_LARGE" in warning.message for warning in parsed.warnings] == [True]
    assert [block.text for block in parsed.blocks].count("x" * 9_000) == 2
