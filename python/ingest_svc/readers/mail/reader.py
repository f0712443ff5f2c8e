"""Reads mails as they are sent: headers, the text once, attachments and mails inside as files.

The subject is the title. Sender, recipients, date and subject are also the first block, so that a
search for a name finds the mails of that person.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from email.parser import BytesParser
from typing import TYPE_CHECKING

from ingest_svc.readers.block import ParsedFile, Warning
from ingest_svc.readers.charset import unmistakable
from ingest_svc.readers.inside import Inside, shown_name
from ingest_svc.readers.limits import too_large
from ingest_svc.readers.mail.body import MailBody, mail_body
from ingest_svc.readers.mail.facts import MailFacts, facts_of
from ingest_svc.readers.mail.headers import HeaderPolicy
from ingest_svc.readers.mail.parts import AttachedFile, parts_of
from treespan.errors import EmptyFile, FileProblem, UnsupportedEncryption, UnsupportedFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message

    from ingest_svc.readers.source import Source

_PICTURE_BYTES = 16 << 10
"""Pictures in the text below this size are logos and the like, with no text to be looked for."""
_MOST_NAMED = 10
_TNEF_NAME = "winmail.dat"
_TNEF_START = b"\x78\x9f\x3e\x22"
_PGP_START = b"-----BEGIN PGP MESSAGE-----"
_ENCRYPTED_TEXT = "an encrypted text (S/MIME or PGP), which only its recipient's own key opens"


@dataclass(slots=True)
class Mail:
    """A mail in whatever format, taken apart."""

    facts: MailFacts
    body: MailBody
    files: Sequence[AttachedFile]
    left_out: Sequence[str] = ()
    """What is not read, in words."""
    encrypted: bool = False
    media_type: str = "message/rfc822"


def read_mail(source: Source) -> ParsedFile:
    """Return what a mail holds.

    Raises:
        EmptyFile: it has neither text nor attachments nor a subject.
        UnsupportedEncryption: all of it is encrypted.
        TooLarge: it passes a limit.
    """
    message = _message(source)
    parts = parts_of(message, source.limits)
    body = mail_body(parts.texts, source)
    encrypted = parts.encrypted or body.encrypted
    return parsed_mail(
        source, Mail(facts_of(message), body, parts.files, parts.left_out, encrypted)
    )


def parsed_mail(source: Source, mail: Mail) -> ParsedFile:
    """Return a mail that was taken apart, its files read; raises as `read_mail` does."""
    inside = Inside(source)
    files = [file for file in mail.files if not file.in_text]
    for file in files:
        _read_file(inside, file)
    left_out = [*mail.left_out, *([_ENCRYPTED_TEXT] if mail.encrypted else [])]
    _refuse_empty(mail, inside, left_out)
    pictures = [file for file in mail.files if file.in_text]
    unread = _unread_pictures(inside, pictures)
    return ParsedFile(
        blocks=[*mail.facts.block(), *mail.body.blocks, *inside.blocks],
        media_type=mail.media_type,
        title=mail.facts.subject,
        warnings=[*mail.body.warnings, *_warnings(left_out, unread), *inside.warnings],
        metadata=mail.facts.metadata(),
        dates=mail.facts.dates(),
        counts={
            "attachments": len(files),
            "images": len(pictures),
            "skipped": inside.skipped + len(left_out) + len(unread),
        },
    )


def _message(source: Source) -> Message:
    data = source.data
    if unmistakable(data)[0].startswith(("utf-16", "utf-32")):
        data = source.text.encode("utf-8", "replace")
    try:
        return BytesParser(policy=HeaderPolicy()).parsebytes(data.removeprefix(codecs.BOM_UTF8))
    except RecursionError as error:
        raise too_large(source.limits, "max_nesting") from error


def _refuse_empty(mail: Mail, inside: Inside, left_out: Sequence[str]) -> None:
    if mail.body.blocks or inside.blocks:
        return
    if mail.encrypted:
        raise UnsupportedEncryption(f"the mail is {_ENCRYPTED_TEXT}")
    if left_out:
        raise UnsupportedFile(f"the mail holds nothing but {left_out[0]}")
    if not mail.facts.subject:
        raise EmptyFile("the mail has neither text nor attachments nor a subject")


def _read_file(inside: Inside, file: AttachedFile) -> None:
    try:
        data = file.data()
    except FileProblem as problem:
        inside.refuse(file.name, problem)
        return
    if data.startswith(_TNEF_START) or file.name.lower() == _TNEF_NAME:
        reason = "it is a package of Outlook's own (TNEF), which is not read"
        inside.refuse(file.name, UnsupportedFile(reason))
    elif data.lstrip().startswith(_PGP_START):
        inside.refuse(file.name, UnsupportedEncryption("it is encrypted with PGP"))
    else:
        inside.add(data, file.name, file.read or (read_mail if file.is_message else None))


def _unread_pictures(inside: Inside, pictures: Sequence[AttachedFile]) -> list[str]:
    """Read the words in pictures that the text shows; return the names of those without any."""
    unread = []
    for picture in pictures:
        data = picture.data()
        if len(data) >= _PICTURE_BYTES and (problem := inside.attempt(data, picture.name)):
            unread.append(f"{shown_name(picture.name)} ({problem.reason})")
    return unread


def _warnings(left_out: Sequence[str], pictures: Sequence[str]) -> list[Warning]:
    warnings = [Warning("SKIPPED_PART", f"the mail holds {what}") for what in left_out]
    if pictures:
        names = ", ".join(pictures[:_MOST_NAMED])
        message = f"{len(pictures)} pictures in the text of the mail were not read: {names}"
        warnings.append(Warning("SKIPPED_PART", message))
    return warnings
