"""Old Excel workbooks made for tests: records in a stream, the stream in an OLE container."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext

_SECTOR = 512
_END, _TABLE = 0xFFFFFFFE, 0xFFFFFFFD
_FREE = 0xFFFFFFFF


def record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def short_text(text: str) -> bytes:
    """Return a text with its length in one byte, its characters in one byte where they fit."""
    return bytes([len(text)]) + _characters(text)


def long_text(text: str) -> bytes:
    return struct.pack("<H", len(text)) + _characters(text)


def _characters(text: str) -> bytes:
    if all(ord(character) < 256 for character in text):
        return b"\0" + text.encode("latin-1")
    return b"\1" + text.encode("utf-16-le")


@dataclass
class Xls:
    """A workbook in the making; cells go to the sheet named last."""

    codes: Sequence[str] = ("General",)
    from_1904: bool = False
    before: bytes = b""
    """Records in front of all others of the workbook, for example of its encryption."""
    texts: list[str] = field(default_factory=list)
    _sheets: list[tuple[str, bool, bytearray]] = field(default_factory=list)

    def sheet(self, name: str, *, hidden: bool = False) -> None:
        self._sheets.append((name, hidden, bytearray(record(0x809, _begin(0x10)))))

    def add(self, kind: int, body: bytes) -> None:
        self._sheets[-1][2].extend(record(kind, body))

    def row(self, row: int, *, hidden: bool = False) -> None:
        self.add(0x208, struct.pack("<HHHHHHI", row, 0, 6, 300, 0, 0, 0x20 if hidden else 0))

    def text(self, row: int, column: int, text: str) -> None:
        self.texts.append(text)
        self.add(0xFD, struct.pack("<HHHI", row, column, 0, len(self.texts) - 1))

    def number(self, row: int, column: int, value: float, style: int = 0) -> None:
        self.add(0x203, struct.pack("<HHHd", row, column, style, value))

    def packed(self, row: int, column: int, value: float, style: int = 0) -> None:
        """Put a number as Excel packs whole ones and the upper bits of others."""
        whole = int(value)
        if value == whole:
            coded = (whole & 0x3FFFFFFF) << 2 | 2
        else:
            coded = struct.unpack("<II", struct.pack("<d", value))[1] & 0xFFFFFFFC
        self.add(0x27E, struct.pack("<HHHI", row, column, style, coded))

    def truth(self, row: int, column: int, *, value: bool) -> None:
        self.add(0x205, struct.pack("<HHHBB", row, column, 0, value, 0))

    def error(self, row: int, column: int, code: int) -> None:
        self.add(0x205, struct.pack("<HHHBB", row, column, 0, code, 1))

    def formula(self, row: int, column: int, kept: str) -> None:
        kind = b"\0" * 6 + b"\xff\xff"
        self.add(0x06, struct.pack("<HHH", row, column, 0) + kind + bytes(8))
        self.add(0x207, long_text(kept))

    def hidden_columns(self, first: int, last: int) -> None:
        self.add(0x7D, struct.pack("<HHHHHH", first, last, 2560, 0, 1, 0))

    def merged(self, top: int, left: int, bottom: int, right: int) -> None:
        self.add(0xE5, struct.pack("<HHHHH", 1, top, bottom, left, right))

    def stream(self) -> bytes:
        """Return the stream of records."""
        sheets = [bytes(body) + record(0x0A) for _, _, body in self._sheets]
        head = self._head([0] * len(sheets))
        places = [len(head) + sum(map(len, sheets[:index])) for index in range(len(sheets))]
        return self._head(places) + b"".join(sheets)

    def _head(self, places: Sequence[int]) -> bytes:
        formats = b"".join(
            record(0x41E, struct.pack("<H", 164 + number) + long_text(code))
            for number, code in enumerate(self.codes)
        )
        styles = b"".join(
            record(0xE0, struct.pack("<HH", 0, 164 + number) + bytes(16))
            for number in range(len(self.codes))
        )
        sheets = b"".join(
            record(0x85, struct.pack("<IBB", place, hidden, 0) + short_text(name))
            for place, (name, hidden, _) in zip(places, self._sheets, strict=True)
        )
        shared = struct.pack("<II", len(self.texts), len(self.texts))
        shared += b"".join(map(long_text, self.texts))
        return (
            record(0x809, _begin(0x05))
            + self.before
            + record(0x42, struct.pack("<H", 1200))
            + record(0x22, struct.pack("<H", self.from_1904))
            + formats
            + styles
            + sheets
            + record(0xFC, shared)
            + record(0x0A)
        )

    def file(self) -> bytes:
        """Return the whole file."""
        return ole_file("Workbook", self.stream())


def _begin(kind: int) -> bytes:
    return struct.pack("<HHHHII", 0x600, kind, 0x0DBB, 0x07CC, 0, 6)


def ole_file(name: str, stream: bytes) -> bytes:
    """Return an OLE container with one stream, padded to the least that is kept in sectors."""
    stream = stream.ljust(4096, b"\0")
    sectors = -(-len(stream) // _SECTOR)
    tables = 1
    while tables * (_SECTOR // 4) < sectors + tables + 1:
        tables += 1
    chain = [*range(1, sectors), _END, _END, *([_TABLE] * tables)]
    chain += [_FREE] * (tables * (_SECTOR // 4) - len(chain))
    first_table = sectors + 1
    head = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        *(0x3E, 3, 0xFFFE, 9, 6, 0, tables, sectors, 0, 4096, _END, 0, _END, 0),
    )
    listed = [first_table + index for index in range(tables)]
    listed += [_FREE] * (109 - tables)
    folder = _entry("Root Entry", 5, 1, _END, 0) + _entry(name, 2, _FREE, 0, len(stream))
    return (
        head
        + struct.pack("<109I", *listed)
        + stream.ljust(sectors * _SECTOR, b"\0")
        + folder.ljust(_SECTOR, b"\0")
        + struct.pack(f"<{len(chain)}I", *chain)
    )


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    coded = (name + "\0").encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16x4x8x8xIQ",
        coded,
        *(len(coded), kind, 1, _FREE, _FREE, child, start, size),
    )


_PLAIN_RECORDS = (0x809, 0x2F)
_BOUND_SHEET = 0x85
_BLOCK = 1024


def encryption(password: str, salt: bytes = b"salt" * 4) -> bytes:
    """Return the record that says how a workbook is encrypted: RC4, with a check of the key."""
    check = b"a check of 16 by"
    key = _cipher(password, salt, 0)
    coded = key.update(check) + key.update(hashlib.md5(check).digest())
    return record(0x2F, struct.pack("<HHH", 1, 1, 1) + salt + coded)


def encrypted(stream: bytes, password: str, salt: bytes = b"salt" * 4) -> bytes:
    """Return a stream with its records encrypted, but for heads and the places of sheets."""
    stream += record(0, bytes(-len(stream) % 4))  # zeros behind it are records, too
    coded = b"".join(
        _cipher(password, salt, at // _BLOCK).update(stream[at : at + _BLOCK])
        for at in range(0, len(stream), _BLOCK)
    )
    out, at = bytearray(coded), 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        plain = 4
        if kind in _PLAIN_RECORDS:
            plain += size
        elif kind == _BOUND_SHEET:
            plain += 4
        out[at : at + plain] = stream[at : at + plain]
        at += 4 + size
    return bytes(out)


def _cipher(password: str, salt: bytes, block: int) -> CipherContext:
    short = hashlib.md5(password.encode("utf-16-le")).digest()[:5]
    mixed = hashlib.md5((short + salt) * 16).digest()[:5]
    key = hashlib.md5(mixed + struct.pack("<I", block)).digest()
    return Cipher(ARC4(key), mode=None).encryptor()
