"""Header lines of mails: encoded words, raw bytes in any charset, addresses, dates; never an error.

The library's newer policies parse every header strictly and fail on many a real one; here a header
is text first, and whatever cannot be understood in it stays as it is written.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime
from typing import TYPE_CHECKING

from ingest_svc.readers.charset import decode, labelled

if TYPE_CHECKING:
    from collections.abc import Iterable
    from email.message import Message

BROKEN_HEADER = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    HeaderParseError,
    RecursionError,
)
"""What the library raises on headers that are not as they should be."""

_LONGEST = 100_000
_MORE_CHARSETS = {
    "utf-7": "utf_7",
    "unicode-1-1-utf-7": "utf_7",
    "iso-2022-kr": "iso2022_kr",
    "hz-gb-2312": "hz",
    "cp950": "cp950",
    "windows-950": "cp950",
}
"""Charsets that are met in mails only, by their labels."""
_OF_TWO_BYTES = frozenset({"gb18030", "big5hkscs", "cp950", "cp932", "euc_jp", "cp949", "johab"})
_MESSAGE_ID = re.compile(r"<([^<>\s]+)>")


class HeaderPolicy(Compat32):
    """Gives headers as text, with bytes that are no ASCII in the charset that they look like."""

    def __init__(self) -> None:
        """Take no options; lines that start with "From " are left alone."""
        super().__init__(mangle_from_=False)

    def header_fetch_parse(self, name: str, value: str) -> str:  # noqa: ARG002  # its interface
        """Return the text of a header."""
        value = value[:_LONGEST]
        if value.isascii():
            return value
        try:
            return decode(value.encode("ascii", "surrogateescape")).text
        except UnicodeEncodeError:  # it was text, not bytes
            return value.encode("utf-8", "replace").decode()


def charset_of(label: str) -> str:
    """Return Python's name for a charset as mails label it; "" for unknown ones."""
    plain = label.strip().strip("\"'").lower()
    return _MORE_CHARSETS.get(plain) or labelled(plain)


def text_in(data: bytes, label: str, *, markup: bool = False) -> str:
    """Return bytes as text, in the charset that the label says where they can be in that.

    Bytes that are UTF-8 are in that whatever the label says. Only East Asian text looks so by
    chance, and only as characters of two bytes.
    """
    charset = charset_of(label)
    if not charset or (_is_utf8(data) and (charset not in _OF_TWO_BYTES or max(data) >= 0xE0)):
        return decode(data, markup=markup).text
    try:
        return data.decode(charset)
    except (UnicodeDecodeError, ValueError):
        guessed = decode(data, markup=markup)
    as_labelled = data.decode(charset, "replace")
    return as_labelled if as_labelled.count("\ufffd") <= guessed.replaced else guessed.text


def header_text(value: str) -> str:
    """Return a header's text on one line, its encoded words decoded."""
    value = " ".join(value.split())
    if "=?" not in value:
        return value
    try:
        parts = decode_header(value)
        return " ".join("".join(_word(*part) for part in parts).split()) or value
    except BROKEN_HEADER:
        return value


def header(message: Message, name: str) -> str:
    """Return the text of a message's first header of a name; "" where there is none."""
    return header_text(str(message.get(name, "")))


def addresses(values: Iterable[str]) -> list[str]:
    """Return the addresses of some headers: "Name <address>", or what is there of it."""
    found = []
    for value in values:
        try:
            pairs = [(header_text(name), address) for name, address in getaddresses([value])]
        except BROKEN_HEADER:
            pairs = []
        written = [_address(name, address.strip()) for name, address in pairs]
        found += [text for text in written if text] or [header_text(value)]
    return [text for text in found if text]


def point_in_time(value: str) -> str:
    """Return a date header as RFC 3339; "" where it is no date. Without a zone it is UTC."""
    try:
        moment = parsedate_to_datetime(header_text(value))
        return rfc3339(moment)
    except (*BROKEN_HEADER, OverflowError):
        return ""


def rfc3339(moment: datetime) -> str:
    """Return a point in time as RFC 3339; without a zone it is UTC."""
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return zoned.isoformat(timespec="seconds")


def message_ids(value: str) -> list[str]:
    """Return the ids in a header, without their brackets."""
    return _MESSAGE_ID.findall(value) or value.split()[:1]


def _word(part: bytes | str, label: str | None) -> str:
    if isinstance(part, str):
        return part
    if label is None:  # the library's way to pass on text between encoded words
        return part.decode("ascii" if part.isascii() else "raw-unicode-escape")
    return text_in(part, label.partition("*")[0])


def _address(name: str, address: str) -> str:
    if not name or name == address:
        return address
    return f"{name} <{address}>" if address else name


def _is_utf8(data: bytes) -> bool:
    """Tell whether bytes are UTF-8 and not only ASCII."""
    if data.isascii():
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
