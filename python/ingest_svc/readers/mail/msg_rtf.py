"""Compressed RTF, as Outlook keeps the text of messages (LZFu)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Unpacked

_HEADER = struct.Struct("<II4sI")
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_WINDOW = 4096
_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""What the window holds before the first byte, by definition of the format."""
_STEP_BYTES = 1 << 16


def decompressed_rtf(data: bytes, unpacked: Unpacked) -> bytes:
    """Return the RTF.

    Raises:
        DamagedFile: it is no compressed RTF, or ends too early.
        TooLarge: more has been unpacked than the limits allow.
    """
    if len(data) < _HEADER.size:
        raise DamagedFile("the text of the message is cut short")
    _, size, kind, _ = _HEADER.unpack_from(data)
    packed = data[_HEADER.size :]
    if kind == _PLAIN:
        return packed[:size]
    if kind != _COMPRESSED:
        raise DamagedFile(f"the text of the message is packed in a way not known, {kind!r}")
    try:
        return _expanded(packed, size, unpacked)
    except IndexError:
        raise DamagedFile("the packed text of the message ends too early") from None


def _expanded(packed: bytes, size: int, unpacked: Unpacked) -> bytes:
    # The window is the end of what is there so far, in a ring that starts behind the first text.
    out = bytearray(_START)
    most = len(_START) + size
    at, counted, ended = 0, len(out), False
    while not ended and len(out) < most:
        at, ended = _group(packed, at, out)
        if ended or len(out) >= most or len(out) - counted >= _STEP_BYTES:
            unpacked.add(len(out) - counted)
            counted = len(out)
    return bytes(out[len(_START) : most])


def _group(packed: bytes, at: int, out: bytearray) -> tuple[int, bool]:
    """Append what a byte of flags and the eight items behind it say.

    Returns:
        Where the next group is, and whether this one says that it was the last.
    """
    flags = packed[at]
    at += 1
    for bit in range(8):
        if not flags >> bit & 1:
            out.append(packed[at])
            at += 1
            continue
        place, length = packed[at] << 4 | packed[at + 1] >> 4, (packed[at + 1] & 15) + 2
        at += 2
        back = (len(out) - place) % _WINDOW
        if not back:  # it points to where the next byte would go
            return at, True
        _repeat(out, back, length)
    return at, False


def _repeat(out: bytearray, back: int, length: int) -> None:
    """Append what stands some bytes back, which may run into what is being appended."""
    start = len(out) - back
    if start < 0:  # a part of the window that nothing has been written to
        raise IndexError
    for index in range(start, start + length):
        out.append(out[index])
