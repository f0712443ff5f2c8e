"""How many pixels a picture has, by what its head says, before anything of it is unpacked."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from treespan.errors import DamagedFile

Side = int
_MOST_PAGES = 1_000_000
_WIDTH, _LENGTH = 256, 257
"""Tags of a TIFF's page."""
_SHORT = 3
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers that nothing follows."""


def sizes_of(data: bytes) -> Iterator[tuple[Side, Side]]:
    """Return width and height of each picture in a file, in pixels.

    Raises:
        DamagedFile: the head is cut short or says nothing sensible.
    """
    for start, sizes in _KINDS:
        if data.startswith(start):
            try:
                yield from sizes(data)
            except (struct.error, IndexError) as error:
                raise DamagedFile("the picture's head is cut short") from error
            return
    raise DamagedFile("the picture starts with none of the heads that are read")


def _png(data: bytes) -> Iterator[tuple[Side, Side]]:
    width, height = struct.unpack_from(">II", data, 16)
    yield width, height


def _gif(data: bytes) -> Iterator[tuple[Side, Side]]:
    width, height = struct.unpack_from("<HH", data, 6)
    yield width, height


def _bmp(data: bytes) -> Iterator[tuple[Side, Side]]:
    (head,) = struct.unpack_from("<I", data, 14)
    if head == 12:
        width, height = struct.unpack_from("<HH", data, 18)
    else:
        width, height = struct.unpack_from("<ii", data, 18)
    # A negative height says that the rows go downwards.
    yield abs(width), abs(height)


def _jpeg(data: bytes) -> Iterator[tuple[Side, Side]]:
    at = 2
    while True:
        while data[at] == 0xFF and data[at + 1] == 0xFF:
            at += 1
        marker = data[at + 1]
        if data[at] != 0xFF:
            raise DamagedFile("the picture's head holds what no JPEG has")
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            yield width, height
            return
        (length,) = struct.unpack_from(">H", data, at + 2)
        at += 2 if marker in _JPEG_BARE else 2 + length


def _tiff(data: bytes) -> Iterator[tuple[Side, Side]]:
    order = tiff_order(data)
    (at,) = struct.unpack_from(f"{order}I", data, 4)
    seen: set[int] = set()
    while at and at not in seen and len(seen) < _MOST_PAGES:
        seen.add(at)
        entries = tiff_entries(data, at, order)
        yield entries.get(_WIDTH, 0), entries.get(_LENGTH, 0)
        (count,) = struct.unpack_from(f"{order}H", data, at)
        (at,) = struct.unpack_from(f"{order}I", data, at + 2 + 12 * count)


def tiff_order(data: bytes) -> str:
    """Return the order of bytes of a TIFF, as `struct` writes it."""
    return "<" if data.startswith(b"II") else ">"


def tiff_entries(data: bytes, at: int, order: str) -> dict[int, int]:
    """Return the short and long values of a TIFF's directory, by tag."""
    (count,) = struct.unpack_from(f"{order}H", data, at)
    found: dict[int, int] = {}
    for entry in range(count):
        tag, kind, _ = struct.unpack_from(f"{order}HHI", data, at + 2 + 12 * entry)
        form = "H" if kind == _SHORT else "I"
        (found[tag],) = struct.unpack_from(f"{order}{form}", data, at + 10 + 12 * entry)
    return found


_KINDS: tuple[tuple[bytes, Callable[[bytes], Iterator[tuple[Side, Side]]]], ...] = (
    (b"\x89PNG", _png),
    (b"\xff\xd8", _jpeg),
    (b"GIF8", _gif),
    (b"BM", _bmp),
    (b"II*\0", _tiff),
    (b"MM\0*", _tiff),
)
