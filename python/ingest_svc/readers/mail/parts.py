"""The parts of a MIME message, sorted: what is its text, what is a file in it, what is neither.

A part that is an alternative to another is one text with it, never a second one.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from email.message import Message
from functools import partial
from typing import TYPE_CHECKING

from ingest_svc.readers.charset import unmistakable
from ingest_svc.readers.limits import ReaderLimits, check, too_large
from ingest_svc.readers.mail.headers import BROKEN_HEADER, header, header_text, text_in
from ingest_svc.readers.mail.raw import message_bytes, part_bytes

if TYPE_CHECKING:
    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.source import Source

_DEEPEST = 100
_SIGNATURES = frozenset(
    {
        "application/pgp-signature",
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "application/applefile",
    }
)
"""Parts that say nothing to a person."""
_SMIME = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_REPORTS = frozenset({"delivery-status", "disposition-notification", "feedback-report"})
_PLAIN, _HTML = "text/plain", "text/html"


@dataclass(frozen=True, slots=True)
class MailText:
    """A text of a mail as it was sent."""

    text: str
    is_html: bool = False
    flowed: bool = False
    """Lines that end with a space go on in the next (RFC 3676)."""
    delete_space: bool = False
    """That space is none of the text's."""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file in a mail."""

    name: str
    data: Callable[[], bytes]
    """Returns its bytes."""
    is_picture: bool = False
    in_text: bool = False
    """A picture that the text shows where it stands."""
    is_message: bool = False
    """A mail, whatever its bytes look like."""
    read: Callable[[Source], ParsedFile] | None = None
    """How to read it where it is no file that could stand alone; its bytes are empty then."""


@dataclass(slots=True)
class MailParts:
    """What a mail is made of, in its order."""

    texts: list[list[MailText]] = field(default_factory=list)
    """Each with its alternatives, the plainest first, as their maker has put them."""
    files: list[AttachedFile] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What is not read, in words."""
    encrypted: bool = False
    """Something of it is encrypted."""

    def take(self, other: MailParts) -> None:
        """Add what stands behind, but for its texts."""
        self.files += other.files
        self.left_out += other.left_out
        self.encrypted = self.encrypted or other.encrypted


def parts_of(message: Message, limits: ReaderLimits) -> MailParts:
    """Return the parts of a message.

    Raises:
        TooLarge: it has too many parts, or they are nested too deeply.
    """
    return _Sorter(limits).sorted(message, 0)


class _Sorter:
    """Walks the parts; its depth is bounded."""

    def __init__(self, limits: ReaderLimits) -> None:
        self._limits = limits
        self._parts = 0

    def sorted(self, part: Message, depth: int) -> MailParts:
        self._parts += 1
        check(self._limits, "max_archive_entries", self._parts)
        if depth > min(_DEEPEST, self._limits.max_nesting):
            raise too_large(self._limits, "max_nesting", f"{depth} parts inside each other")
        if part.get_content_maintype() == "message":
            return _message(part)
        if not part.is_multipart():
            return _leaf(part)
        return self._multipart(part, part.get_content_subtype(), depth + 1)

    def _multipart(self, part: Message, kind: str, depth: int) -> MailParts:
        whole = MailParts()
        if kind == "encrypted":
            whole.encrypted = True
            return whole
        inner = [(child, self.sorted(child, depth)) for child in _children(part)]
        texts = [parts.texts for _, parts in inner if parts.texts]
        for at, (child, parts) in enumerate(inner):
            if kind == "related" and at > 0:
                parts.files = _shown_with_text(child, parts.files)
            if not (kind == "alternative" and texts and _is_bare_text(child)):
                whole.take(parts)
        if kind == "alternative" and len(texts) > 1:
            whole.texts = [[text for found in texts for text in _one_branch(found)]]
        else:
            whole.texts = [text for found in texts for text in found]
        return whole


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if part.is_multipart() else []


def _shown_with_text(part: Message, files: list[AttachedFile]) -> list[AttachedFile]:
    """Return the files of a part that the text refers to; styles and fonts have no name."""
    if not part.is_multipart() and not file_name(part) and not (files and files[0].is_picture):
        return []
    return [replace(file, in_text=file.is_picture) for file in files]


def _one_branch(texts: list[list[MailText]]) -> list[MailText]:
    """Return one of several alternatives, which may have several texts, as one text of a kind."""
    if len(texts) == 1:
        return texts[0]
    found = [alternatives[-1] for alternatives in texts]
    is_html = any(text.is_html for text in found)
    return [MailText("\n".join(text.text for text in found if text.is_html is is_html), is_html)]


def _is_bare_text(part: Message) -> bool:
    """Tell whether a part is a text of any kind and no file: an invitation as a calendar has it."""
    is_file = part.get_content_disposition() == "attachment"
    return part.get_content_maintype() == "text" and not is_file


def _message(part: Message) -> MailParts:
    kind = part.get_content_subtype()
    if kind in _REPORTS:
        fields = "\n\n".join(str(child).strip() for child in _children(part))
        return MailParts(texts=[[MailText(fields)]])
    if kind == "external-body":
        return MailParts(left_out=["a part that is kept elsewhere (message/external-body)"])
    inner = next(iter(_children(part)), None)
    subject = header(inner, "Subject") if inner is not None else ""
    name = subject or file_name(part) or "message"
    return MailParts(files=[AttachedFile(name, partial(message_bytes, part), is_message=True)])


def _leaf(part: Message) -> MailParts:
    kind, name = part.get_content_type(), file_name(part)
    if kind in _SIGNATURES:
        return MailParts()
    if kind in _SMIME:
        return _smime(part)
    if part.get_content_maintype() == "multipart":  # and yet without parts
        return MailParts(texts=[[_text(part, is_html=False)]])
    if kind in (_PLAIN, _HTML) and not _is_file(part):
        return MailParts(texts=[[_text(part, is_html=kind == _HTML)]])
    if not name and not part_bytes(part).strip():
        return MailParts()
    is_picture = part.get_content_maintype() == "image"
    in_text = is_picture and part.get_content_disposition() != "attachment" and "content-id" in part
    name = name or f"attachment{mimetypes.guess_extension(kind) or ''}"
    data = partial(_text_data if part.get_content_maintype() == "text" else part_bytes, part)
    return MailParts(files=[AttachedFile(name, data, is_picture=is_picture, in_text=in_text)])


def _smime(part: Message) -> MailParts:
    if parameter(part, "smime-type").lower() in ("signed-data", "certs-only"):
        return MailParts(left_out=["a text that is packed together with its signature (S/MIME)"])
    return MailParts(encrypted=True)


def _is_file(part: Message) -> bool:
    """Tell whether a text part is a file; some programs name the mail's own text in its type."""
    return part.get_content_disposition() == "attachment" or bool(
        parameter(part, "filename", "content-disposition")
    )


def _text(part: Message, *, is_html: bool) -> MailText:
    text = text_in(part_bytes(part), parameter(part, "charset"), markup=is_html)
    flowed = parameter(part, "format").lower() == "flowed"
    return MailText(text, is_html, flowed, parameter(part, "delsp").lower() == "yes")


def _text_data(part: Message) -> bytes:
    """Return a file of text in UTF-8 where only the mail says which charset it is in."""
    data, charset = part_bytes(part), parameter(part, "charset")
    if not charset or data.isascii() or unmistakable(data)[0]:
        return data
    return text_in(data, charset).encode("utf-8", "replace")


def file_name(part: Message) -> str:
    """Return the name that a part states; "" where it states none."""
    try:
        return header_text(part.get_filename("") or "")
    except BROKEN_HEADER:
        return ""


def parameter(part: Message, name: str, header_name: str = "content-type") -> str:
    """Return a parameter of a header; "" where there is none."""
    try:
        value = part.get_param(name, "", header_name)
    except BROKEN_HEADER:
        return ""
    return str(value[2] if isinstance(value, tuple) else value).strip()
