"""The bytes that a part of a mail transports, whatever is wrong with how they are written."""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from collections.abc import Callable
from email.generator import BytesGenerator
from email.message import Message
from io import BytesIO

from ingest_svc.readers.mail.headers import BROKEN_HEADER, HeaderPolicy
from treespan.errors import DamagedFile

_ENCODING = "content-transfer-encoding"
_SPACE = b" \t\r\n"
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE64_LINE = re.compile(rb"[A-Za-z0-9+/=]+")
_UU_BEGIN = re.compile(rb"^begin [0-7]{3,4} [^\r\n]*\r?\n", re.MULTILINE)
_POLICY = HeaderPolicy()


def part_bytes(part: Message) -> bytes:
    """Return the bytes of a part that has no parts of its own."""
    stated = part.get(_ENCODING)
    # As if nothing were stated the library gives the bytes as they stand in the mail; else it
    # decodes only what is stated in the very words that it knows, and some of it as text.
    del part[_ENCODING]
    raw = part.get_payload(decode=True)
    if stated is not None:
        part[_ENCODING] = stated
    return _unpacked(raw, str(stated or "")) if isinstance(raw, bytes) else b""


def message_bytes(part: Message) -> bytes:
    """Return the bytes of the message that a part of type message/rfc822 holds.

    Raises:
        DamagedFile: it cannot be written down again.
    """
    payload = part.get_payload()
    inner = payload[0] if isinstance(payload, list) and payload else None
    if not isinstance(inner, Message):
        return part_bytes(part)
    out = BytesIO()
    try:
        BytesGenerator(out, mangle_from_=False, policy=_POLICY).flatten(inner)
    except BROKEN_HEADER as error:
        raise DamagedFile("the message inside the mail is damaged") from error
    return _unpacked(out.getvalue(), str(part.get(_ENCODING, "")))


def _unpacked(raw: bytes, stated: str) -> bytes:
    words = stated.lower().split()  # some programs write more behind it
    unpack = _UNPACK.get(words[0].strip(";\"'")) if words else None
    return unpack(raw) if unpack else raw


def _from_base64(raw: bytes) -> bytes:
    """Return what lines of base64 say.

    Lines of anything else, such as what a mailing list puts below, are none of it; padding may
    stand in the middle, where two texts were joined.
    """
    packed = raw.rstrip(_SPACE + b"=")
    if not packed.translate(None, _BASE64 + _SPACE):  # as nearly all is, without a fault
        return _run(packed.translate(None, _SPACE))
    lines = (line.strip() for line in raw.splitlines())
    packed = b"".join(line for line in lines if _BASE64_LINE.fullmatch(line))
    runs = re.split(rb"=+", packed)
    return b"".join(_run(run) for run in runs)


def _run(run: bytes) -> bytes:
    whole = run[:-1] if len(run) % 4 == 1 else run
    try:
        return base64.b64decode(whole + b"=" * (-len(whole) % 4))
    except binascii.Error:
        return b""


def _from_uuencode(raw: bytes) -> bytes:
    begin = _UU_BEGIN.search(raw)
    parts = []
    for line in raw[begin.end() :].splitlines() if begin else ():
        if line.strip() in (b"end", b"`"):
            break
        try:
            parts.append(binascii.a2b_uu(line))
        except binascii.Error:  # as some programs write it: too many characters
            size = (((line[0] - 32) & 63) * 4 + 5) // 3
            parts.append(_or_nothing(line[:size]))
    return b"".join(parts)


def _or_nothing(line: bytes) -> bytes:
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        return b""


_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "base64": _from_base64,
    "quoted-printable": quopri.decodestring,
    **dict.fromkeys(("uuencode", "x-uuencode", "uue", "x-uue"), _from_uuencode),
}
