"""Records of an XLS stream, and texts that go on over several of them."""

from __future__ import annotations

import codecs
import struct
from typing import TYPE_CHECKING

from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

EOF = 0x0A
"""The record at the end of what stands before the sheets, and of every sheet."""

_CONTINUE = 0x3C
_CHARSETS = {10000: "mac_roman", 32768: "mac_roman", 32769: "cp1252", 1200: "utf-16-le"}
_HEAD = struct.Struct("<HH")
_WIDE = 1
_EXTENDED = 4
_RICH = 8


class Records:
    """The records of a stream, read from where sheets begin."""

    def __init__(self, stream: bytes) -> None:
        """Take the stream."""
        self._stream = stream
        self._left = 2 * len(stream) + _HEAD.size

    def since(self, at: int) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the kind of every record from a place on, and its bytes in pieces.

        Raises:
            DamagedFile: sheets lie in each other, so that reading them might never end.
        """
        kind, pieces = -1, [b""]
        while at + _HEAD.size <= len(self._stream):
            found, size = _HEAD.unpack_from(self._stream, at)
            at += _HEAD.size
            piece = self._stream[at : at + size]
            at += size
            self._left -= size + _HEAD.size
            if self._left < 0:
                raise DamagedFile("sheets of the workbook lie in each other")
            if found == _CONTINUE:
                pieces.append(piece)
                continue
            if kind >= 0:
                yield kind, pieces
            kind, pieces = found, [piece]
        if kind >= 0:
            yield kind, pieces


def charset_of(codepage: int) -> str:
    """Return Python's name of a Windows code page; the Western one where it has none."""
    name = _CHARSETS.get(codepage, f"cp{codepage}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


class Texts:
    """Reads numbers and texts from the pieces of one record."""

    def __init__(self, pieces: list[bytes], at: int = 0) -> None:
        """Take the pieces and the place in the first of them."""
        self._pieces = pieces
        self._piece = 0
        self._at = at

    def number(self, size: int) -> int:
        """Return a whole number of so many bytes."""
        return int.from_bytes(self._bytes(size), "little")

    def text(self, length_size: int = 2) -> str:
        """Return a text of Excel 97 and later, its formatting passed over.

        Raises:
            IndexError: the record ends before it.
        """
        length = self.number(length_size)
        flags = self.number(1)
        runs = self.number(2) if flags & _RICH else 0
        extended = self.number(4) if flags & _EXTENDED else 0
        text = self._characters(length, flags & _WIDE)
        self._pass(4 * runs + extended)
        return text

    def _characters(self, count: int, wide: int) -> str:
        parts = []
        while count:
            piece = self._pieces[self._piece]
            fitting = (len(piece) - self._at) // (1 + wide)
            taken = min(count, fitting)
            raw = piece[self._at : self._at + taken * (1 + wide)]
            parts.append(raw.decode("utf-16-le", "replace") if wide else raw.decode("latin-1"))
            self._at += len(raw)
            count -= taken
            if count:
                # Where a text goes on, it says anew how wide its characters are.
                self._next_piece()
                wide = self.number(1) & _WIDE
        return "".join(parts)

    def _bytes(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            piece = self._pieces[self._piece]
            part = piece[self._at : self._at + size - len(found)]
            found += part
            self._at += len(part)
            if len(found) < size:
                self._next_piece()
        return found

    def _pass(self, size: int) -> None:
        while size:
            part = min(size, len(self._pieces[self._piece]) - self._at)
            self._at += part
            size -= part
            if size:
                self._next_piece()

    def _next_piece(self) -> None:
        self._piece += 1
        self._at = 0
        if self._piece >= len(self._pieces):
            raise IndexError("the record ends inside a text")
