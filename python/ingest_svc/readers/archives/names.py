"""Names of an archive's entries: what characters they are in, and which no person gave."""

from __future__ import annotations

import struct
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ingest_svc.readers.charset import decode

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Sequence

_UTF8_FLAG = 1 << 11
_UNICODE_PATH = 0x7075
_FIELD = struct.Struct("<HH")
_WITHOUT_LATIN = frozenset(
    {"gb18030", "cp932", "cp949", "big5hkscs", "euc_jp", "cp866", "cp1251", "koi8-r"}
)
"""Charsets of names that are seldom guessed where it is another; Latin ones are guessed badly."""
_SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini", "icon\r"})
_SYSTEM_FOLDERS = frozenset({"__macosx", "$recycle.bin", "system volume information"})


def entry_names(entries: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Return the names of the entries of a ZIP archive.

    The format knows two charsets, UTF-8 and that of the first PCs; programs write whatever their
    system has. The names of one archive are of one charset, so they are looked at together.
    """
    raw = [_raw(entry) for entry in entries]
    charset = _charset(b"\n".join(filter(None, raw)))
    return [
        entry.filename if name is None else name.decode(charset, "replace")
        for entry, name in zip(entries, raw, strict=True)
    ]


def is_system_file(name: str) -> bool:
    """Tell whether a file is none that a person has put there: hidden, or made by the system."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if any(part.lower() in _SYSTEM_FOLDERS for part in parts):
        return True
    if any(part.startswith(".") and part.strip(".") for part in parts):
        return True
    return parts[-1].lower() in _SYSTEM_FILES or parts[-1].startswith("~$") if parts else True


def _raw(entry: zipfile.ZipInfo) -> bytes | None:
    """Return the bytes of a name; None where its charset is certain."""
    if entry.flag_bits & _UTF8_FLAG or entry.orig_filename.isascii():
        return None
    try:
        raw = entry.orig_filename.encode("cp437")
    except UnicodeEncodeError:
        return None
    return _unicode_path(entry.extra, raw) or raw


def _unicode_path(extra: bytes, raw: bytes) -> bytes | None:
    """Return the name in UTF-8 that stands beside the plain one, if it belongs to it."""
    at = 0
    while at + _FIELD.size <= len(extra):
        kind, size = _FIELD.unpack_from(extra, at)
        value = extra[at + _FIELD.size :][:size]
        if kind == _UNICODE_PATH and value[1:5] == zlib.crc32(raw).to_bytes(4, "little"):
            return value[5:]
        at += _FIELD.size + size
    return None


def _charset(names: bytes) -> str:
    decoded = decode(names)
    if decoded.encoding == "utf-8" and not decoded.replaced:
        return "utf-8"
    if decoded.encoding not in _WITHOUT_LATIN or decoded.replaced:
        return "cp437"
    strange = (character for character in decoded.text if not character.isascii())
    return decoded.encoding if all(map(str.isalpha, strange)) else "cp437"
