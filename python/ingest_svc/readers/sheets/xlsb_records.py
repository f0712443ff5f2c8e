"""Records of the binary parts of an XLSB workbook."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MORE = 0x80
_LENGTH = struct.Struct("<I")


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind of every record and its bytes, which may be cut short at the end."""
    at, end = 0, len(data)
    while at < end:
        kind = data[at]
        at += 1
        if kind & _MORE and at < end:
            kind = (kind & ~_MORE) | (data[at] & ~_MORE) << 7
            at += 1
        size = shift = 0
        while at < end and shift < 28:
            byte = data[at]
            at += 1
            size |= (byte & ~_MORE) << shift
            shift += 7
            if not byte & _MORE:
                break
        yield kind, data[at : at + size]
        at += size


def wide_text(data: bytes, at: int) -> tuple[str, int]:
    """Return a text and the place behind it.

    Raises:
        struct.error: the record is cut short in front of it.
    """
    (length,) = _LENGTH.unpack_from(data, at)
    if length == 0xFFFF_FFFF:  # how a text is said to be missing
        return "", at + 4
    end = at + 4 + 2 * length
    return data[at + 4 : end].decode("utf-16-le", "replace"), end
