"""Compressed bytes, unpacked step by step: no step makes more than is counted right after."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

from ingest_svc.readers.limits import ReaderLimits, check
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Unpacked

Packing = Literal["gzip", "bzip2", "xz"]

_STEP_BYTES = 1 << 18
_PACKED_STEP_BYTES = 1 << 16
_LZMA_MEMORY_BYTES = 128 << 20
"""What the largest dictionary that `xz` makes by itself needs, 64 MiB, and room for more."""


class BombProof:
    """Bytes that come out of a compressed part, counted as they come."""

    step_bytes = _STEP_BYTES
    """As much may be made in one step."""

    def __init__(self, limits: ReaderLimits, unpacked: Unpacked) -> None:
        """Take the limits and the count of all that is unpacked."""
        self._limits = limits
        self._unpacked = unpacked
        self._out = io.BytesIO()

    def add(self, part: bytes) -> None:
        """Take the next bytes.

        Raises:
            TooLarge: more has been unpacked than the limits allow.
        """
        self._unpacked.add(len(part))
        self._out.write(part)
        check(self._limits, "max_file_bytes", self._out.tell())

    def bytes(self) -> bytes:
        """Return all that came out."""
        return self._out.getvalue()


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """zlib's decompressor with the interface of the other two."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._was_full = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not (self._inner.unconsumed_tail or self._was_full)

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        part = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self._was_full = len(part) == max_length
        return part


_DECOMPRESSORS: dict[Packing, Callable[[], _Decompressor]] = {
    "gzip": _Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY_BYTES),
}
_STARTS: dict[Packing, bytes] = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ\0"}


def inflated(packed: bytes | memoryview, packing: Packing, counted: BombProof) -> bytes:
    """Return what is compressed, of all streams that stand one behind the other.

    What is no stream behind the first one, such as the padding of tapes, is passed over.

    Raises:
        DamagedFile: it is damaged or cut short.
        TooLarge: more has been unpacked than the limits allow.
    """
    rest = memoryview(packed)
    start = _STARTS[packing]
    try:
        while rest[: len(start)] == start:
            rest = _stream(rest, _DECOMPRESSORS[packing](), counted)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
        raise DamagedFile(f"the {packing} data is damaged: {error}") from error
    if len(rest) == len(packed):
        raise DamagedFile(f"what should be {packing} data does not start as such does")
    return counted.bytes()


def _stream(packed: memoryview, unpack: _Decompressor, counted: BombProof) -> memoryview:
    """Add what one stream holds; return what stands behind it."""
    at = 0
    while not unpack.eof:
        step = b""
        if unpack.needs_input:
            step = bytes(packed[at : at + _PACKED_STEP_BYTES])
            if not step:
                raise EOFError("it ends too early")
            at += len(step)
        counted.add(unpack.decompress(step, _STEP_BYTES))
    return packed[at - len(unpack.unused_data) :]
