from __future__ import annotations

import base64

import pytest
from made_archives import zipped

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import ReadOptions
from treespan.errors import EmptyFile, TooLarge, UnsupportedEncryption, UnsupportedFile

HEAD = "From: Ann <ann@example.org>\nSubject: Plans\n"
MIXED = HEAD + 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'


def mail(text: str | bytes, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return read_file(data, "a.eml", **options)


def drawn(parsed) -> list[tuple[str, str]]:
    """Return the blocks behind the one of the headers."""
    return [(block.kind.name, block.text) for block in parsed.blocks[1:]]


def mixed(*parts: str) -> str:
    return MIXED + "".join(f"--b\n{part}\n" for part in parts) + "--b--\n"


def attached(data: bytes, name: str, kind: str = "application/octet-stream") -> str:
    return (
        f'Content-Type: {kind}\nContent-Disposition: attachment; filename="{name}"\n'
        f"Content-Transfer-Encoding: base64\n\n{base64.encodebytes(data).decode()}"
    )


def alternative(*parts: str) -> str:
    body = "".join(f"--i\n{part}\n" for part in parts)
    return f'Content-Type: multipart/alternative; boundary="i"\n\n{body}--i--\n'


PLAIN = "Content-Type: text/plain\n\nHello world, this is the plain text of the mail."
HTML = "Content-Type: text/html\n\n<p>Hello <b>world</b>, this is the HTML of the mail.</p>"


def test_who_wrote_to_whom_is_metadata_and_the_first_block():
    parsed = mail(
        'From: "Smith, Ann" <ann@example.org>\n'
        "To: =?utf-8?B?5byg5LiJ?= <zhang@example.org>, bob@example.org\n"
        "Cc: Eve <eve@example.org>\nReply-To: office@example.org\n"
        "Date: Tue, 01 Oct 2024 12:34:56 -0500\nSubject: =?utf-8?Q?Caf=C3=A9?=\n"
        " plans\nMessage-ID: <1@example.org>\nIn-Reply-To: <0@example.org>\n"
        "List-Id: Friends <friends.example.org>\n\nHello.\n"
    )
    assert parsed.title == "Café plans"
    assert parsed.metadata == {
        "subject": "Café plans",
        "from": "Smith, Ann <ann@example.org>",
        "to": ["张三 <zhang@example.org>", "bob@example.org"],
        "cc": "Eve <eve@example.org>",
        "reply_to": "office@example.org",
        "message_id": "1@example.org",
        "in_reply_to": "0@example.org",
        "list_id": "friends.example.org",
    }
    assert parsed.dates == {"sent": "2024-10-01T12:34:56-05:00"}
    assert parsed.blocks[0].text == (
        "From: Smith, Ann <ann@example.org>\n"
        "To: 张三 <zhang@example.org>, bob@example.org\n"
        "Cc: Eve <eve@example.org>\n"
        "Date: 2024-10-01 12:34:56-05:00\n"
        "Subject: Café plans"
    )
    assert drawn(parsed) == [("PARAGRAPH", "Hello.")]


def test_of_a_text_and_its_html_one_is_read_never_both():
    parsed = mail(mixed(alternative(PLAIN, HTML)))
    assert drawn(parsed) == [("PARAGRAPH", "Hello world, this is the plain text of the mail.")]


@pytest.mark.parametrize("plain", ["", "  \n", "See HTML."])
def test_html_is_read_where_the_plain_text_says_nothing(plain):
    parsed = mail(mixed(alternative(f"Content-Type: text/plain\n\n{plain}", HTML)))
    assert drawn(parsed) == [("PARAGRAPH", "Hello world, this is the HTML of the mail.")]


def test_an_alternative_may_have_parts_of_its_own_and_keeps_its_files():
    related = (
        'Content-Type: multipart/related; boundary="r"\n\n'
        f"--r\n{HTML}\n--r\n{attached(b'a;b', 'notes.txt')}\n--r--\n"
    )
    parsed = mail(mixed(alternative(PLAIN, related)))
    assert [text for _, text in drawn(parsed)] == [
        "Hello world, this is the plain text of the mail.",
        "notes.txt",
        "a;b",
    ]


def test_an_invitation_beside_its_text_is_not_told_twice():
    calendar = "Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nEND:VCALENDAR"
    parsed = mail(mixed(alternative(PLAIN, HTML, calendar)))
    assert len(drawn(parsed)) == 1


def test_a_text_and_the_same_in_html_behind_it_are_one_even_if_not_sent_as_such():
    html = "Content-Type: text/html\n\n<p>Hello world, this is the plain text of the mail.</p>"
    assert len(drawn(mail(mixed(PLAIN, html)))) == 1
    other = "Content-Type: text/html\n\n<p>Something else stands here.</p>"
    assert len(drawn(mail(mixed(PLAIN, other)))) == 2


def test_attachments_are_files_inside_and_one_not_read_never_fails_the_mail():
    parsed = mail(
        mixed(
            PLAIN,
            attached(b"# A\n\nalpha", "=?utf-8?B?5oql5ZGKLm1k?="),
            attached(bytes(range(256)) * 4, "data.bin"),
        )
    )
    assert drawn(parsed)[1:] == [
        ("FILE", "报告.md"),
        ("HEADING", "A"),
        ("PARAGRAPH", "alpha"),
        ("FILE", "data.bin"),
    ]
    assert [warning.kind for warning in parsed.warnings] == ["SKIPPED_FILE"]
    assert parsed.counts == {"attachments": 2, "images": 0, "skipped": 1}


def test_names_of_attachments_in_pieces_and_charsets_are_put_together():
    part = (
        "Content-Type: text/plain\nContent-Disposition: attachment;\n"
        " filename*0*=gb2312''%B1%A8;\n filename*1*=%B8%E6.txt\n\nalpha\n"
    )
    assert drawn(mail(mixed(part))) == [("FILE", "报告.txt"), ("PARAGRAPH", "alpha")]


def test_a_text_attachment_is_in_the_charset_that_the_mail_says():
    part = attached("café déjà vu".encode("cp850"), "a.txt", "text/plain; charset=cp850")
    assert drawn(mail(mixed(PLAIN, part)))[-1] == ("PARAGRAPH", "café déjà vu")


def test_a_mail_in_a_mail_is_a_file_with_its_subject_for_a_name():
    inner = "From: bob@example.org\nSubject: =?utf-8?Q?Caf=C3=A9?=\n\nInner text.\n"
    parsed = mail(mixed(PLAIN, f"Content-Type: message/rfc822\n\n{inner}"))
    assert drawn(parsed)[1:] == [
        ("FILE", "Café"),
        ("PARAGRAPH", "From: bob@example.org\nSubject: Café"),
        ("PARAGRAPH", "Inner text."),
    ]


def test_a_mail_in_a_mail_may_be_packed_and_have_files():
    inner = mixed(PLAIN, attached(b"alpha", "a.txt"))
    packed = base64.encodebytes(inner.replace('"b"', '"c"').replace("--b", "--c").encode()).decode()
    part = f"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{packed}"
    parsed = mail(mixed(PLAIN, part))
    files = [(b.level, b.text) for b in parsed.blocks if b.kind is BlockKind.FILE]
    assert files == [(1, "message"), (2, "a.txt")]


def test_the_parts_of_a_report_are_read():
    report = (
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.org\n\n"
        "Final-Recipient: rfc822; bob@example.org\nAction: failed\n"
    )
    parsed = mail(mixed(PLAIN, report))
    assert "Action: failed" in drawn(parsed)[-1][1]


def test_an_archive_that_is_attached_is_read_with_its_files():
    parsed = mail(mixed(PLAIN, attached(zipped({"a.txt": "alpha"}), "a.zip")))
    assert [text for _, text in drawn(parsed)[1:]] == ["a.zip", "a.txt", "alpha"]


def test_bombs_that_are_attached_count_for_the_mail():
    bomb = zipped({"zeros": bytes(80 << 20)})
    parsed = mail(mixed(PLAIN, attached(bomb, "a.zip"), attached(bomb, "b.zip")))
    assert ["TOO_LARGE" in warning.message for warning in parsed.warnings] == [True, True]


def test_pictures_in_the_text_are_counted_and_told_together_not_one_by_one():
    def picture(size: int) -> str:
        part = attached(b"\x89PNG\r\n\x1a\n" + bytes(size), "image.png", "image/png")
        return "Content-Id: <1>\n" + part.replace("attachment;", "inline;")

    options = ReadOptions(ocr="off")
    parsed = mail(mixed(HTML, picture(100), picture(40_000), picture(40_000)), options=options)
    assert [block.kind for block in parsed.blocks].count(BlockKind.FILE) == 0
    assert [warning.kind for warning in parsed.warnings] == ["SKIPPED_PART"]
    assert "2 pictures in the text of the mail were not read" in parsed.warnings[0].message
    assert parsed.counts == {"attachments": 0, "images": 3, "skipped": 2}


def test_a_page_saved_with_all_that_it_needs_is_its_text():
    page = (
        "From: <Saved by a browser>\nSubject: A page\nMIME-Version: 1.0\n"
        'Content-Type: multipart/related; type="text/html"; boundary="b"\n\n'
        f"--b\n{HTML}\n--b\nContent-Type: text/css\nContent-Location: a.css\n\np {{}}\n"
        "--b\nContent-Type: image/gif\nContent-Location: a.gif\n\nGIF89a\n--b--\n"
    )
    parsed = read_file(page.encode(), "a.mht")
    assert drawn(parsed) == [("PARAGRAPH", "Hello world, this is the HTML of the mail.")]
    assert parsed.counts == {"attachments": 0, "images": 1, "skipped": 0}


def test_a_package_of_outlooks_own_is_named_with_the_reason():
    parsed = mail(mixed(PLAIN, attached(b"\x78\x9f\x3e\x22abc", "winmail.dat")))
    assert "winmail.dat: UNSUPPORTED: " in parsed.warnings[0].message
    assert "TNEF" in parsed.warnings[0].message


def test_a_signature_says_nothing_and_is_no_file():
    signature = attached(b"0\x80", "smime.p7s", "application/pkcs7-signature")
    parsed = mail(mixed(PLAIN, signature))
    assert len(drawn(parsed)) == 1
    assert parsed.warnings == []


def test_a_mail_that_is_wholly_encrypted_is_refused_with_that_reason():
    smime = attached(b"0\x80", "smime.p7m", "application/pkcs7-mime; smime-type=enveloped-data")
    pgp = (
        'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary="e"\n\n'
        "--e\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n"
        "--e\nContent-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----\n--e--\n"
    )
    inline = (
        "Content-Type: text/plain\n\n-----BEGIN PGP MESSAGE-----\nhQ==\n-----END PGP MESSAGE-----"
    )
    for part in (smime, pgp, inline):
        with pytest.raises(UnsupportedEncryption, match="S/MIME or PGP"):
            mail(mixed(part))


def test_what_is_encrypted_beside_a_text_is_left_out_and_said():
    smime = attached(b"0\x80", "smime.p7m", "application/pkcs7-mime")
    parsed = mail(mixed(PLAIN, smime))
    assert len(drawn(parsed)) == 1
    assert [warning.kind for warning in parsed.warnings] == ["SKIPPED_PART"]
    assert parsed.counts["skipped"] == 1


def test_a_text_packed_with_its_signature_is_not_read_and_said():
    part = attached(b"0\x80", "smime.p7m", "application/pkcs7-mime; smime-type=signed-data")
    with pytest.raises(UnsupportedFile, match="packed together with its signature"):
        mail(mixed(part))


def test_a_mail_with_a_subject_alone_is_one_and_with_nothing_is_empty():
    parsed = mail("From: ann@example.org\nSubject: Call me\n\n")
    assert parsed.title == "Call me"
    assert drawn(parsed) == []
    with pytest.raises(EmptyFile, match="neither text nor attachments nor a subject"):
        mail("From: ann@example.org\nTo: bob@example.org\nMessage-Id: <1@x>\n\n\n")


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_a_mail_saved_in_other_units_is_read(charset):
    parsed = mail((HEAD + "\nGrüße aus Köln. 你好\n").encode(charset))
    assert parsed.title == "Plans"
    assert drawn(parsed) == [("PARAGRAPH", "Grüße aus Köln. 你好")]


@pytest.mark.parametrize(
    ("label", "charset"),
    [
        ("gb2312", "gb18030"),
        ("big5", "big5"),
        ("iso-2022-jp", "iso-2022-jp"),
        ("utf-7", "utf-7"),
        ("iso-8859-1", "utf-8"),
        ("us-ascii", "utf-8"),
        ("utf-8", "gb18030"),
        ("no-such-charset", "utf-8"),
        ('"UTF-8"', "utf-8"),
    ],
)
def test_a_text_is_read_in_the_charset_it_is_in_whatever_the_label_says(label, charset):
    text = (
        "明日の会議は九時に始まる。"
        if charset.startswith("iso-2022")
        else "明天上午九點開會，請準時參加。"
    )
    head = f"{HEAD}Content-Type: text/plain; charset={label}\n\n".encode()
    assert drawn(mail(head + text.encode(charset))) == [("PARAGRAPH", text)]


def test_headers_in_raw_bytes_are_read():
    raw = "Subject: 会议通知：明天上午九点开会\n".encode("gb18030")
    assert mail(b"From: a@example.org\n" + raw + b"\nx\n").title == "会议通知：明天上午九点开会"


def test_bytes_that_are_no_ascii_in_packed_parts_are_passed_over():
    head = f'{HEAD}Content-Type: text/plain; charset="a\0b"\nContent-Transfer-Encoding: base64\n\n'
    body = base64.b64encode(b"Hello world.")
    assert drawn(mail(head.encode() + b"\xff\xfe\n" + body)) == [("PARAGRAPH", "Hello world.")]
    head = f"{HEAD}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: "
    raw = f"{head}quoted-printable\n\ncaf=C3=A9 déjà vu".encode()
    assert drawn(mail(raw)) == [("PARAGRAPH", "café déjà vu")]


def test_headers_that_are_broken_never_stop_a_mail():
    parsed = mail(
        "From: =?utf-8?B?!!!?= <<>,,;@\nTo: " + "(" * 5_000 + "\nCc: \n"
        "Date: Tue, 99 Foo 20240 25:99:99 +9999\nSubject: =?nope?X?abc?= =?utf-8?B?5byg?=\n"
        'Content-Type: text/plain; charset="; format=*0*=x\nMessage-Id: <<>\n'
        "Content-Transfer-Encoding: none at all\nMIME-Version: x\n\nHello.\n"
    )
    assert parsed.dates == {}
    assert drawn(parsed)[-1] == ("PARAGRAPH", "Hello.")


def test_parts_without_an_end_or_a_border_are_read():
    assert drawn(mail(MIXED + f"--b\n{PLAIN}")) == [
        ("PARAGRAPH", "Hello world, this is the plain text of the mail.")
    ]
    parsed = mail(HEAD + "Content-Type: multipart/mixed\n\nNo border here.\n")
    assert drawn(parsed) == [("PARAGRAPH", "No border here.")]


def test_parts_nested_too_deeply_are_refused():
    nested = "".join(
        f'Content-Type: multipart/mixed; boundary="n{depth}"\n\n--n{depth}\n'
        for depth in range(400)
    )
    with pytest.raises(TooLarge, match="max_nesting"):
        mail(HEAD + "MIME-Version: 1.0\n" + nested)


def test_too_many_parts_are_refused():
    with pytest.raises(TooLarge, match="max_archive_entries is 5"):
        mail(mixed(*[PLAIN] * 6), limits=ReaderLimits(max_archive_entries=5))
