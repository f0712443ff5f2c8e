"""Reads mailboxes (mbox): mails in a row, each after a line that starts with "From "."""

from __future__ import annotations

import re
from dataclasses import replace
from email.parser import BytesHeaderParser
from typing import TYPE_CHECKING

from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.inside import Inside
from ingest_svc.readers.limits import check
from ingest_svc.readers.mail.headers import HeaderPolicy, header
from ingest_svc.readers.mail.reader import read_mail

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_SEPARATOR = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]{1,200}\d\d:\d\d[^\n]{0,200}\n(?=[!-9;-~]+:)"
)
"""A mail's own text may have a line that starts so, too; a date and a header follow only here."""
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mailbox(source: Source) -> ParsedFile:
    """Return what the mails of a mailbox hold; one mail alone is read as that.

    Raises:
        FileProblem: no mail could be read; of several reasons the most telling one.
        TooLarge: it has too many mails.
    """
    mails = _mails(source.data)
    check(source.limits, "max_archive_entries", len(mails))
    if len(mails) <= 1:
        return read_mail(replace(source, data=mails[0] if mails else source.data))
    inside = Inside(source)
    for done, mail in enumerate(mails, start=1):
        inside.add(mail, _name(mail, done), read_mail)
        if source.progress is not None:
            source.progress(done, len(mails))
    if not inside.read:
        raise inside.most_telling()
    return ParsedFile(
        blocks=inside.blocks,
        media_type="application/mbox",
        warnings=inside.warnings,
        counts={
            "entries": len(mails),
            "entries_read": inside.read,
            "skipped": inside.skipped,
        },
    )


def _mails(data: bytes) -> list[bytes]:
    starts = list(_SEPARATOR.finditer(data))
    ends = [*(start.start() for start in starts[1:]), len(data)][: len(starts)]
    return [
        _ESCAPED.sub(rb"\1", data[start.end() : end])
        for start, end in zip(starts, ends, strict=True)
    ]


def _name(mail: bytes, number: int) -> str:
    head = mail[: 64 << 10]
    message = BytesHeaderParser(policy=HeaderPolicy()).parsebytes(head)
    return header(message, "Subject") or f"mail {number}"
