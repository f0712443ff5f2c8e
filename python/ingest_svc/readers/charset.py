"""Bytes to text: the charset of a file, decided over all of it and never on its beginning alone.

Order: byte order mark; where the zero bytes stand (UTF-16 without a mark); the shifts of
ISO-2022-JP, which is ASCII to the eye; strict UTF-8; UTF-8 with
a few damaged places; the charset that the markup names; the charset that the bytes look like.
Labels are read as browsers read them, so that "gb2312" means GB18030 and "iso-8859-1" means
Windows-1252.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from chardetng_py import EncodingDetector

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 before UTF-16: the mark of the one starts with the mark of the other."""

_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big5": "big5hkscs",
}
"""Charsets, by Python's names, and the larger one that files labelled so are really in."""

_LABELS = {
    "windows-31j": "cp932",
    "x-x-big5": "big5hkscs",
    "windows-949": "cp949",
    "ks_c_5601-1989": "cp949",
    "gb_2312-80": "gb18030",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "koi8": "koi8-r",
    "x-user-defined": "cp1252",
}
"""Labels of the web that Python does not know; a leading "x-" is passed over."""

_CHARSETS_WORDS = (
    "utf-8 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be cp866 iso8859-2 "
    "iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 "
    "iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic cp874 cp1250 "
    "cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 gb18030 big5hkscs euc_jp "
    "iso2022_jp cp932 cp949 cp437 cp850 cp852 johab "
)
_CHARSETS = frozenset(_CHARSETS_WORDS.split())
"""Charsets that files are in, by Python's names; Python's other codecs are none."""

_META = re.compile(
    rb"""<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)""", re.IGNORECASE
)
_XML = re.compile(rb"""^\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]+)""")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_JAPANESE_SHIFTS = (b"\x1b$B", b"\x1b$@")
_USUAL = re.compile("[\t\n\r -~\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef\u2010-\u2026]+")
"""Characters that East Asian texts are nearly wholly made of; in the wrong byte order few are."""
_META_BYTES = 256 << 10
_PARITY_BYTES = 4 << 10
_DETECT_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was read."""

    text: str
    encoding: str
    """Python's name of the charset."""
    replaced: int = 0
    """Places that could not be decoded and are U+FFFD now."""


def decode(data: bytes, *, markup: bool = False) -> Decoded:
    """Return the text of a file, without its byte order mark.

    Args:
        data: The whole file.
        markup: The file is HTML or XML and may name its charset.
    """
    encoding, mark_bytes = unmistakable(data)
    if encoding:
        return _replacing(data[mark_bytes:], encoding)
    if any(shift in data for shift in _JAPANESE_SHIFTS):
        decoded = _replacing(data, "iso2022_jp")
        if not decoded.replaced:
            return decoded
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    return (
        _damaged_utf8(data)
        or _sparse_utf16(data)
        or (_as_markup_says(data) if markup else None)
        or _replacing(data, _guessed(data))
    )


def unmistakable(data: bytes) -> tuple[str, int]:
    """Return the charset that a mark or the zero bytes show, or "", and the length of the mark."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    head = data[:_PARITY_BYTES]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    many = even + odd > len(head) // 5
    return (_wide_by_parity(even, odd) if many else ""), 0


def labelled(label: str) -> str:
    """Return Python's name for a charset label, widened to its superset; "" for unknown ones."""
    plain = label.strip().lower()
    plain = _LABELS.get(plain) or plain.removeprefix("x-")
    try:
        name = codecs.lookup(plain).name
    except (LookupError, ValueError):
        return ""
    name = _SUPERSETS.get(name, name)
    return name if name in _CHARSETS else ""


def _wide_by_parity(even: int, odd: int) -> str:
    if odd > 4 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 4 * odd else ""


def _replacing(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
        return Decoded(text, encoding, text.count("\ufffd"))


def _damaged_utf8(data: bytes) -> Decoded | None:
    """Return the text where it is UTF-8 but for a few places, as where the end was cut off."""
    decoded = _replacing(data, "utf-8")
    letters = len(decoded.text) - len(decoded.text.encode("ascii", "ignore")) - decoded.replaced
    return decoded if letters >= 4 * decoded.replaced else None


def _sparse_utf16(data: bytes) -> Decoded | None:
    """Return the text where it is UTF-16 with few zero bytes, as Chinese without a mark is."""
    if len(data) % 2 or data.count(0) < len(data) / 200:
        return None
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if len(_USUAL.sub("", text)) <= len(text) // 20:
            return Decoded(text, encoding)
    return None


def _as_markup_says(data: bytes) -> Decoded | None:
    """Return the text in the charset that the markup names, where the bytes agree."""
    head = data[:_META_BYTES]
    found = _XML.search(head) or _META.search(_COMMENT.sub(b"", head))
    encoding = labelled(found[1].decode("ascii")) if found else ""
    if not encoding or encoding.startswith(("utf-", "utf_")):
        return None  # strict UTF-8 has failed, and the bytes would show UTF-16
    decoded = _replacing(data, encoding)
    high = len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))
    return decoded if decoded.replaced <= high // 20 else None


def _guessed(data: bytes) -> str:
    """Return the charset that the bytes look like; of long files, their head, middle and tail."""
    detector = EncodingDetector()
    if len(data) <= 3 * _DETECT_BYTES:
        detector.feed(data, last=True)
    else:
        middle = len(data) // 2
        detector.feed(data[:_DETECT_BYTES], last=False)
        detector.feed(data[middle : middle + _DETECT_BYTES], last=False)
        detector.feed(data[-_DETECT_BYTES:], last=True)
    return labelled(detector.guess(tld=None, allow_utf8=False)) or "cp1252"
