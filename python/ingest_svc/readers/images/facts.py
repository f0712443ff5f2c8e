"""What a picture file states of itself: the fields of Exif and TIFF, the texts of a PNG."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ingest_svc.readers.images.heads import tiff_entries, tiff_order

_MOST_BYTES = 64 << 10
"""A field longer than this is no title or name."""
_MOST_PARTS = 10_000
_EXIF_DIRECTORY = 0x8769
_TITLES, _DESCRIPTIONS = (0x9C9B, 0x010D), (0x010E,)
"""Tags of Exif; those from 0x9C00 on hold text of 16 bits."""
_AUTHORS, _KEYWORDS, _PROGRAMS = (0x9C9D, 0x013B), (0x9C9E,), (0x0131,)
_MADE, _CHANGED = (0x9003,), (0x0132,)
_WIDE = range(0x9C00, 0xA000)
_ASCII = 2
_BYTES = 1
_DATE = re.compile(r"(\d{4})\D(\d\d)\D(\d\d)\D+(\d\d):(\d\d):(\d\d)")


@dataclass(slots=True)
class Facts:
    """What a picture states of itself; empty where it states nothing."""

    title: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)


def facts_of(data: bytes) -> Facts:
    """Return what a picture file states of itself; broken fields are left out."""
    if data.startswith(b"\x89PNG"):
        return _of_png(data)
    if data.startswith(b"\xff\xd8"):
        return _of_jpeg(data)
    if data[:4] in (b"II*\0", b"MM\0*"):
        return _of_exif(data)
    return Facts()


def _of_jpeg(data: bytes) -> Facts:
    at = 2
    for _ in range(_MOST_PARTS):
        head = data[at : at + 4]
        if len(head) < 4 or head[0] != 0xFF or head[1] in (0xD9, 0xDA):
            break
        length = int.from_bytes(head[2:], "big")
        part = data[at + 4 : at + 2 + length]
        if head[1] == 0xE1 and part.startswith(b"Exif\0\0"):
            return _of_exif(part[6:])
        at += 2 + length
    return Facts()


def _of_exif(data: bytes) -> Facts:
    """Return the facts of a directory in the form of TIFF, as Exif has it."""
    texts = dict(_exif_texts(data))

    def first(tags: tuple[int, ...]) -> str:
        return next((texts[tag] for tag in tags if texts.get(tag)), "")

    return _facts(
        first(_TITLES),
        {
            "description": first(_DESCRIPTIONS),
            "author": first(_AUTHORS),
            "keywords": first(_KEYWORDS),
            "generator": first(_PROGRAMS),
        },
        {"created": first(_MADE), "modified": first(_CHANGED)},
    )


def _exif_texts(data: bytes) -> Iterator[tuple[int, str]]:
    """Return the texts of the first directory and of the one for the camera, by tag."""
    try:
        order = tiff_order(data)
        (first,) = struct.unpack_from(f"{order}I", data, 4)
        further = tiff_entries(data, first, order).get(_EXIF_DIRECTORY, 0)
    except struct.error:
        return
    for start in (first, further):
        try:
            yield from _directory_texts(data, start, order) if start else ()
        except struct.error:
            continue


def _directory_texts(data: bytes, start: int, order: str) -> Iterator[tuple[int, str]]:
    (count,) = struct.unpack_from(f"{order}H", data, start)
    for entry in range(count):
        at = start + 2 + 12 * entry
        tag, kind, length = struct.unpack_from(f"{order}HHI", data, at)
        if kind not in (_ASCII, _BYTES) or not 0 < length <= _MOST_BYTES:
            continue
        place = at + 8
        if length > 4:
            (place,) = struct.unpack_from(f"{order}I", data, at + 8)
        raw = data[place : place + length]
        yield tag, raw.decode("utf-16-le" if tag in _WIDE else "utf-8", "replace")


def _of_png(data: bytes) -> Facts:
    texts: dict[str, str] = {}
    exif = Facts()
    at = 8
    for _ in range(_MOST_PARTS):
        head = data[at : at + 8]
        if len(head) < 8:
            break
        length, kind = int.from_bytes(head[:4], "big"), head[4:]
        part = data[at + 8 : at + 8 + length]
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            key, text = _png_text(kind, part)
            texts.setdefault(key.casefold(), text)
        elif kind == b"eXIf":
            exif = _of_exif(part)
        at += 12 + length
    own = _facts(
        texts.get("title", ""),
        {
            "description": texts.get("description", ""),
            "author": texts.get("author", ""),
            "generator": texts.get("software", ""),
        },
        {"created": texts.get("creation time", "")},
    )
    return Facts(own.title or exif.title, exif.metadata | own.metadata, exif.dates | own.dates)


def _png_text(kind: bytes, part: bytes) -> tuple[str, str]:
    """Return the key and the text of a chunk of text."""
    key, _, rest = part.partition(b"\0")
    packed, encoding = kind == b"zTXt", "latin-1"
    if kind == b"zTXt":
        rest = rest[1:]
    elif kind == b"iTXt":
        packed, encoding = rest[:1] == b"\1", "utf-8"
        rest = rest[2:].partition(b"\0")[2].partition(b"\0")[2]
    if packed:
        try:
            rest = zlib.decompressobj().decompress(rest, _MOST_BYTES)
        except zlib.error:
            rest = b""
    return key.decode("latin-1"), rest[:_MOST_BYTES].decode(encoding, "replace")


def _facts(title: str, metadata: dict[str, str], dates: dict[str, str]) -> Facts:
    """Return the facts that say anything, texts on one line."""
    plain = {name: _line(text) for name, text in metadata.items()}
    stated = {name: _date(text) for name, text in dates.items()}
    return Facts(
        _line(title),
        {name: text for name, text in plain.items() if text},
        {name: date for name, date in stated.items() if date},
    )


def _line(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())


def _date(text: str) -> str:
    """Return a point in time; cameras state no zone, so that of their clock is taken for UTC."""
    found = _DATE.match(text)
    if not found:
        return ""
    try:
        year, month, day, hour, minute, second = map(int, found.groups())
        when = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return ""
    return when.isoformat().replace("+00:00", "Z")
