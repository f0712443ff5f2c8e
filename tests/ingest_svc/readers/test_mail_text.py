from __future__ import annotations

import pytest

from ingest_svc.readers.mail.headers import addresses, header_text, point_in_time
from ingest_svc.readers.mail.parts import MailText
from ingest_svc.readers.mail.raw import part_bytes
from ingest_svc.readers.mail.text import text_blocks
from ingest_svc.readers.source import Source


def drawn(text: str, **flowed) -> list[tuple[str, str]]:
    blocks, _ = text_blocks(MailText(text, **flowed), Source(b""))
    return [(block.kind.name, block.text) for block in blocks]


def test_a_quoted_reply_is_a_quote_without_its_marks():
    text = "Yes.\n\nBob wrote:\n> Shall we?\n> > At nine?\n>\n> * tea\n> * cake\n\nFine."
    assert drawn(text) == [
        ("PARAGRAPH", "Yes."),
        ("PARAGRAPH", "Bob wrote:"),
        ("QUOTE", "Shall we?"),
        ("QUOTE", "At nine?"),
        ("QUOTE", "tea"),
        ("QUOTE", "cake"),
        ("PARAGRAPH", "Fine."),
    ]


def test_a_line_that_a_mailbox_has_marked_is_no_quote():
    assert drawn("Hello.\n\n>From here on it rains.") == [
        ("PARAGRAPH", "Hello."),
        ("PARAGRAPH", "From here on it rains."),
    ]


def test_flowed_lines_are_joined_in_text_and_quotes():
    text = "This is \none \nparagraph.\n\n> A quoted \n> line.\n> Another.\n From here.\n-- \nAnn"
    assert drawn(text, flowed=True) == [
        ("PARAGRAPH", "This is one paragraph."),
        ("QUOTE", "A quoted line."),
        ("QUOTE", "Another."),
        ("PARAGRAPH", "From here."),
        ("PARAGRAPH", "Ann"),
    ]


def test_flowed_lines_of_a_script_without_spaces_lose_the_space_where_that_is_said():
    assert drawn("明天上午 \n开会。", flowed=True, delete_space=True) == [
        ("PARAGRAPH", "明天上午开会。")
    ]


def test_a_text_signed_with_pgp_is_the_text_alone():
    text = (
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nHello.\n- -- dashed\n"
        "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
    )
    assert drawn(text) == [("PARAGRAPH", "Hello.\n-- dashed")]


def test_a_text_encrypted_with_pgp_is_left_out():
    text = "Hi.\n\n-----BEGIN PGP MESSAGE-----\nhQ==\n-----END PGP MESSAGE-----\n"
    blocks, encrypted = text_blocks(MailText(text), Source(b""))
    assert encrypted
    assert [block.text for block in blocks] == ["Hi."]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?B?5byg5LiJ?=", "张三"),
        ("=?utf-8?B?5byg5Lg=?= =?utf-8?B?iQ==?=", "张三"),  # a character in two words
        ("=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=", "a b"),
        ("=?utf-8*en?Q?caf=C3=A9?= au lait", "café au lait"),
        ("=?gb2312?B?u+HS6c2o1qo=?=", "会议通知"),
        ("=?iso-8859-1?Q?=E5=BC=A0=E4=B8=89?=", "张三"),  # UTF-8 that says that it is Latin-1
        ("=?gb2312?Q?=CB=AE=CC=AC?=", "水态"),  # which would be UTF-8, too
        ("=?gb2312?Q?=E5=BC=A0=E4=B8=89?=", "张三"),  # which is
        ("=?unknown?Q?abc?=", "abc"),
        ("=?utf-8?B?#####?=", "=?utf-8?B?#####?="),
        ("two\r\n\tlines", "two lines"),
    ],
)
def test_encoded_words_are_read_as_far_as_they_can(value, text):
    assert header_text(value) == text


@pytest.mark.parametrize(
    ("value", "people"),
    [
        ("a@x.org, B <b@x.org>", ["a@x.org", "B <b@x.org>"]),
        ('"Doe, Jane" <j@x.org>', ["Doe, Jane <j@x.org>"]),
        ("=?utf-8?Q?Doe=2C_Jane?= <j@x.org>", ["Doe, Jane <j@x.org>"]),
        ("", []),
        ("undisclosed-recipients:;", ["undisclosed-recipients:;"]),
    ],
)
def test_addresses_are_told_apart(value, people):
    assert addresses([value]) == people


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("Tue, 01 Oct 2024 12:34:56 -0500", "2024-10-01T12:34:56-05:00"),
        ("1 Oct 24 12:34 GMT", "2024-10-01T12:34:00+00:00"),
        ("Tue, 01 Oct 2024 12:34:56 -0000", "2024-10-01T12:34:56+00:00"),
        ("Tue, 01 Oct 2024 12:34:56 +0800 (CST)", "2024-10-01T12:34:56+08:00"),
        ("yesterday", ""),
        ("Tue, 99 Oct 2024 12:34:56 -0500", ""),
        ("Tue, 01 Oct 2024 12:34:56 +99999", ""),
        ("", ""),
    ],
)
def test_dates_are_points_in_time_and_broken_ones_are_none(value, moment):
    assert point_in_time(value) == moment


@pytest.mark.parametrize(
    ("encoding", "raw", "data"),
    [
        ("base64", "aGVs\nbG8=\n", b"hello"),
        ("BASE64 ", "aGVsbG8\n", b"hello"),
        ("base64", "aGVsbG8=aGVsbG8=\n", b"hellohello"),
        ("base64", "aGVsbG8=\n_____\nlist footer here\n", b"hello"),
        ("quoted-printable", "caf=C3=A9 =\nau lait", b"caf\xc3\xa9 au lait"),
        ("quoted-printable", "broken =ZZ", b"broken =ZZ"),
        ("x-uuencode", "begin 644 a\n%:&5L;&\\\n`\nend\n", b"hello"),
        ("8bit", "plain", b"plain"),
    ],
)
def test_a_part_is_unpacked_however_it_was_sent(encoding, raw, data):
    from email import message_from_string

    part = message_from_string(f"Content-Transfer-Encoding: {encoding}\n\n{raw}")
    assert part_bytes(part) == data
