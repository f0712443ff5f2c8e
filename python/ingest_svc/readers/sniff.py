"""What a file is, told by its bytes; the declared name only chooses among kinds of text.

Order: magic bytes; what is in a ZIP or an OLE container; whether the bytes are text at all; marks
of the text formats; the name. So a PDF named .docx is read as a PDF, and random bytes named .txt
are not read as text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath

from ingest_svc.readers import containers
from ingest_svc.readers.charset import Decoded, decode, unmistakable
from ingest_svc.readers.filetypes import (
    BINARY,
    BY_MAGIC,
    CODE,
    CSV,
    EMAIL,
    HTML,
    JSON,
    JSON_LINES,
    MBOX,
    NAMED_TEXT,
    NOTEBOOK,
    ORG,
    PDF,
    PLAIN,
    RTF,
    SVG,
    XML,
    FileType,
)
from ingest_svc.readers.source_code import language_of_code

_PDF_BYTES = 1024
_HEAD_BYTES = 64 << 10
_HEAD_CHARACTERS = 64 << 10
_SAMPLE_CHARACTERS = 64 << 10
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\r\f\x0b\x1b\x1a\x08")) + b"\x7f"

_PREAMBLE = re.compile(r"(?:\s+|<!--.*?-->|<\?xml[^>]{0,500}\?>)*", re.DOTALL)
_HTML_START = re.compile(r"<!doctype\s+html\b|<(?:html|head|body)[\s>]", re.IGNORECASE)
_XML_START = re.compile(r"\s*<\?xml[\s?]|<!doctype\s+\w|<svg[\s>]", re.IGNORECASE)
_SVG_START = re.compile(r"(?:<!doctype\s+svg[^>]*>\s*)?<svg[\s>]|<!doctype\s+svg", re.IGNORECASE)
_MAIL_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]?.*(?:\n[ \t].*)*\n")
_MAILBOX_START = re.compile(r"From [^\n]{1,200}\d\d:\d\d[^\n]{0,200}\n[A-Za-z][A-Za-z0-9-]*:")
_ORG_START = re.compile(r"\s*#\+(?:title|author|startup|options):", re.IGNORECASE)
_QUOTED_CELL = re.compile(r'(?<![^,;\t\n])"[^"]*"')
_MAIL_NAMES = frozenset({"from", "to", "subject", "date", "cc", "reply-to"})
_MAIL_MARKS = frozenset({"mime-version", "received", "message-id", "return-path", "content-type"})


@dataclass(frozen=True, slots=True)
class Sniffed:
    """A file's type and, for text, its characters."""

    type: FileType
    decoded: Decoded | None = None


def sniff(data: bytes, name: str) -> Sniffed:
    """Return what the bytes are.

    Args:
        data: The whole file, not empty.
        name: Its declared name; only the suffix is looked at, and only for text.
    """
    named = NAMED_TEXT.get(PurePath(name).suffix.lower())
    if named is None and language_of_code(name):
        named = CODE
    if binary := _by_magic(data, named):
        return Sniffed(binary)
    if not _may_be_text(data):
        return Sniffed(_not_text_type(data))
    head = decode(data[:_HEAD_BYTES]).text
    markup = named in (HTML, XML) or bool(_HTML_START.match(head) or _XML_START.match(head))
    decoded = decode(data, markup=markup)
    if _looks_garbled(decoded):
        return Sniffed(_not_text_type(data))
    return Sniffed(_text_type(decoded.text, named), decoded)


def _not_text_type(data: bytes) -> FileType:
    """Return the type of bytes that are no text: a mail may hold files as they are."""
    head = data[:_HEAD_BYTES].decode("latin-1").replace("\r\n", "\n")
    return EMAIL if _is_mail(head, None) else BINARY


def _by_magic(data: bytes, named: FileType | None) -> FileType | None:
    if _is_pdf(data, named):
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return containers.zip_type(data)
    if data.startswith(containers.OLE_MAGIC):
        return containers.ole_type(data)
    for magic in BY_MAGIC:
        if data.startswith(magic.start, magic.offset) and (magic.sure or b"\0" in data[:1024]):
            return magic.type
    return None


def _is_pdf(data: bytes, named: FileType | None) -> bool:
    """Tell a PDF, also one behind other bytes; a text that quotes a PDF's first line is none."""
    at = data.find(b"%PDF-", 0, _PDF_BYTES + 5)
    return at == 0 or (at > 0 and (named is None or _control_bytes(data) > 0 or not _is_utf8(data)))


def _may_be_text(data: bytes) -> bool:
    """Tell whether control bytes are few; text has next to none, other files about a tenth."""
    if unmistakable(data)[0]:
        return True  # judged once decoded
    controls = _control_bytes(data)
    if _is_utf8(data):
        return controls <= max(2, len(data) // 50)
    return controls <= len(data) // 500


def _control_bytes(data: bytes) -> int:
    return len(data) - len(data.translate(None, _CONTROLS))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _looks_garbled(decoded: Decoded) -> bool:
    """Tell whether a twentieth of the characters, by samples, are none that a text has."""
    text, size = decoded.text, _SAMPLE_CHARACTERS
    middle = max(0, len(text) // 2 - size // 2)
    sample = text if len(text) <= 3 * size else text[:size] + text[middle:][:size] + text[-size:]
    strange = sum(count for character, count in Counter(sample).items() if _is_strange(character))
    return strange > max(2, len(sample) // 20)


def _is_strange(character: str) -> bool:
    if character.isascii():
        return character < " " and character not in "\t\n\r\f\x0b\x1b\x1a\x08"
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs")


def _text_type(text: str, named: FileType | None) -> FileType:
    head = text[:_HEAD_CHARACTERS]
    if head.startswith("{\\rtf"):
        return RTF
    content = head[_PREAMBLE.match(head).end() :]  # type: ignore[union-attr]  # matches the empty string too
    if _HTML_START.match(content):
        return HTML
    if _SVG_START.match(content):
        return SVG
    if _XML_START.match(head):
        return XML
    if _is_mail(head, named):
        return EMAIL
    if _MAILBOX_START.match(head):
        return MBOX
    if named is not None:
        return named
    return _unnamed_text_type(text)


def _unnamed_text_type(text: str) -> FileType:
    """Return the kind of a text whose name says nothing about it."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except RecursionError:
            return JSON
        except ValueError:
            if _is_json_lines(text):
                return JSON_LINES
        else:
            return NOTEBOOK if isinstance(value, dict) and "nbformat" in value else JSON
    head = text[:_HEAD_CHARACTERS]
    if _ORG_START.match(head):
        return ORG
    if language_of_code("", head):
        return CODE
    return CSV if _is_table(head) else PLAIN


def _is_json_lines(text: str) -> bool:
    """Tell whether the first two lines that are not blank are JSON objects or lists."""
    lines = [line for line in text[:_HEAD_CHARACTERS].split("\n") if line.strip()][:2]
    try:
        return len(lines) == 2 and all(isinstance(json.loads(line), dict | list) for line in lines)
    except (ValueError, RecursionError):
        return False


def _is_mail(head: str, named: FileType | None) -> bool:
    names, at = set(), 0
    while found := _MAIL_HEADER.match(head, at):
        names.add(found[1].lower())
        at = found.end()
    if named is EMAIL:
        return True
    return len(names & _MAIL_NAMES) >= 2 and bool(names & _MAIL_MARKS)


def _is_table(head: str) -> bool:
    """Tell whether all lines have the same number of commas, semicolons or tabs outside quotes."""
    plain = _QUOTED_CELL.sub("", head)
    lines = [line for line in plain.splitlines()[:200] if line.strip()]
    if len(lines) < 2:
        return False
    return any(
        len({line.count(mark) for line in lines} | {0}) == 2 and mark in lines[0] for mark in ",;\t"
    )
