"""Reads Outlook's message files (MSG): headers, the text once, attachments and messages inside."""

from __future__ import annotations

import mimetypes
from dataclasses import replace
from email.parser import HeaderParser
from functools import partial
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.block import ParsedFile, Warning
from ingest_svc.readers.mail.body import MailBody, mail_body
from ingest_svc.readers.mail.facts import MailFacts, facts_of
from ingest_svc.readers.mail.headers import HeaderPolicy, rfc3339
from ingest_svc.readers.mail.msg_rtf import decompressed_rtf
from ingest_svc.readers.mail.msg_store import MsgStore, Path, Properties
from ingest_svc.readers.mail.parts import AttachedFile, MailText
from ingest_svc.readers.mail.reader import Mail, parsed_mail
from treespan.errors import FileProblem, UnsupportedFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.readers.source import Source

_CLASS, _SUBJECT, _HEADERS = 0x001A, 0x0037, 0x007D
_SENDER_NAMES = (0x0042, 0x0C1A)
_SENDER_ADDRESSES = (0x5D02, 0x5D01, 0x0065, 0x0C1F)
_SENT, _RECEIVED = 0x0039, 0x0E06
_SHOWN_TO, _SHOWN_CC = 0x0E04, 0x0E03
_BODY, _RTF, _HTML = 0x1000, 0x1009, 0x1013
_MESSAGE_ID, _IN_REPLY_TO = 0x1035, 0x1042
_NAME, _KIND, _ADDRESSES = 0x3001, 0x0C15, (0x39FE, 0x3003)
_TO, _CC = 1, 2
_FILE_DATA, _FILE_NAMES, _METHOD = 0x3701, (0x3707, 0x3704, _NAME), 0x3705
_FILE_TYPE, _CONTENT_ID, _FLAGS, _SHOWN_IN_TEXT = 0x370E, 0x3712, 0x3714, 4
_BY_REFERENCE = (2, 3, 4, 7)
_SMIME = "ipm.note.smime"
_SIGNED = "ipm.note.smime.multipartsigned"
_RECIPIENTS, _FILES = "__recip_version1.0_", "__attach_version1.0_"


def read_msg(source: Source) -> ParsedFile:
    """Return what a message file holds.

    Raises:
        DamagedFile: its container is damaged.
        EmptyFile: it has neither text nor attachments nor a subject.
        UnsupportedEncryption: all of it is encrypted.
        TooLarge: it passes a limit.
    """
    store = MsgStore(source)
    return _message(store, Properties(store, (), head_bytes=32), source)


def _message(store: MsgStore, message: Properties, source: Source) -> ParsedFile:
    kind = message.text(_CLASS).lower()
    encrypted = kind.startswith(_SMIME) and not kind.startswith(_SIGNED)
    mail = Mail(
        facts=_facts(store, message),
        body=_body(message, source),
        files=[] if encrypted else _files(store, message, is_signed=kind.startswith(_SIGNED)),
        encrypted=encrypted,
        media_type=filetypes.MSG.media_type,
    )
    return parsed_mail(source, mail)


def _facts(store: MsgStore, message: Properties) -> MailFacts:
    """Return what the properties say, and what only the headers say that it was sent with."""
    headers = HeaderParser(policy=HeaderPolicy()).parsestr(message.text(_HEADERS))
    stated = facts_of(headers)
    to, cc = _recipients(store, message)
    sent = message.moment(_SENT) or message.moment(_RECEIVED)
    return replace(
        stated,
        subject=message.text(_SUBJECT, _NAME) or stated.subject,
        sender=_more_telling(_person(message, _SENDER_NAMES, _SENDER_ADDRESSES), stated.sender),
        to=to or stated.to or _listed(message.text(_SHOWN_TO)),
        cc=cc or stated.cc or _listed(message.text(_SHOWN_CC)),
        sent=rfc3339(sent) if sent else stated.sent,
        message_id=message.text(_MESSAGE_ID).strip("<> ") or stated.message_id,
        in_reply_to=message.text(_IN_REPLY_TO).strip("<> ") or stated.in_reply_to,
    )


def _recipients(store: MsgStore, message: Properties) -> tuple[list[str], list[str]]:
    """Return the recipients and those of copies."""
    found: dict[int, list[str]] = {_TO: [], _CC: []}
    for path in store.storages(message.path, _RECIPIENTS):
        recipient = Properties(store, path, head_bytes=8, code_page=message.code_page)
        person = _person(recipient, (_NAME,), _ADDRESSES)
        if person and recipient.number(_KIND) in found:
            found[recipient.number(_KIND)].append(person)
    return found[_TO], found[_CC]


def _person(properties: Properties, names: Sequence[int], addresses: Sequence[int]) -> str:
    """Return a name with its address; Exchange's own addresses say nothing to anybody."""
    name = " ".join(properties.text(*names).split()).strip("'")
    found = (properties.text(number) for number in addresses)
    address = next((address for address in found if "@" in address), "")
    if not name or name == address:
        return address
    return f"{name} <{address}>" if address else name


def _more_telling(own: str, stated: str) -> str:
    """Return who it is from: what the properties say, unless only the headers have an address."""
    return stated if "@" in stated and "@" not in own else own or stated


def _listed(shown: str) -> list[str]:
    return [name.strip() for name in shown.split(";") if name.strip()]


def _body(message: Properties, source: Source) -> MailBody:
    plain, html = message.text(_BODY), message.html(_HTML)
    texts = [MailText(plain)] if plain.strip() else []
    texts += [MailText(html, is_html=True)] if html.strip() else []
    if texts:
        return mail_body([texts], source)
    packed = message.binary(_RTF)
    return _rtf_body(packed, source) if packed else MailBody()


def _rtf_body(packed: bytes, source: Source) -> MailBody:
    from ingest_svc.readers import read_source

    try:
        rtf = decompressed_rtf(packed, source.unpacks())
        parsed = read_source(replace(source, data=rtf, name="text.rtf", progress=None))
    except FileProblem as problem:
        message = f"the text of the message, in RTF, is not read: {problem.message}"
        return MailBody(warnings=[Warning("SKIPPED_PART", message)])
    return MailBody(blocks=list(parsed.blocks), warnings=list(parsed.warnings))


def _files(store: MsgStore, message: Properties, *, is_signed: bool) -> list[AttachedFile]:
    return [
        _file(store, Properties(store, path, head_bytes=8, code_page=message.code_page), is_signed)
        for path in store.storages(message.path, _FILES)
    ]


def _file(store: MsgStore, file: Properties, is_signed: bool) -> AttachedFile:
    name = file.text(*_FILE_NAMES)
    inner = file.storage(_FILE_DATA)
    if inner is not None and store.has((*inner, "__properties_version1.0")):
        return _inner_message(store, inner, name, file.code_page)
    kind = file.text(_FILE_TYPE) or mimetypes.guess_type(name)[0] or ""
    is_picture = kind.startswith("image/")
    in_text = (
        is_picture and bool(file.text(_CONTENT_ID)) and bool(file.number(_FLAGS) & _SHOWN_IN_TEXT)
    )
    return AttachedFile(
        name or "attachment",
        partial(_data, file, inner),
        is_picture=is_picture,
        in_text=in_text,
        # A mail that is signed is kept whole, with its text and files, as an attachment.
        is_message=is_signed,
    )


def _inner_message(store: MsgStore, path: Path, name: str, code_page: int) -> AttachedFile:
    message = Properties(store, path, head_bytes=24, code_page=code_page)
    subject = message.text(_SUBJECT)
    return AttachedFile(
        subject or name or "message", bytes, read=lambda source: _message(store, message, source)
    )


def _data(file: Properties, inner: Path | None) -> bytes:
    if inner is not None:
        raise UnsupportedFile("it is an object of another program (OLE), which is not read")
    if file.number(_METHOD) in _BY_REFERENCE:
        raise UnsupportedFile("the message only says where it is kept")
    return file.binary(_FILE_DATA)
