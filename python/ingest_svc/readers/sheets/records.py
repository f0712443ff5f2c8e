"""Values as both binary formats of Excel write them."""

from __future__ import annotations

import struct

_WHOLE, _NUMBER = struct.Struct("<I"), struct.Struct("<d")

ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
"""Errors that a cell can hold, by their code."""


def whole_at(data: bytes, at: int) -> int:
    """Return the unsigned number of four bytes at a place.

    Raises:
        struct.error: the record is cut short.
    """
    return int(_WHOLE.unpack_from(data, at)[0])


def number_at(data: bytes, at: int) -> float:
    """Return the floating point number at a place; errors as those of `whole_at`."""
    return float(_NUMBER.unpack_from(data, at)[0])


def error_text(code: int) -> str:
    """Return an error as a sheet shows it."""
    return ERRORS.get(code, "#ERROR!")


def packed_number(packed: int) -> float:
    """Return a number of 30 bits: the upper ones of a float, or a whole one, perhaps hundredths."""
    value: float
    if packed & 2:
        whole = packed >> 2
        value = whole - (1 << 30) if whole >= 1 << 29 else whole
    else:
        (value,) = struct.unpack("<d", b"\0\0\0\0" + (packed & ~3).to_bytes(4, "little"))
    return value / 100 if packed & 1 else value
