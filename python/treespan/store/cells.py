"""Values as they are kept in columns, and the typed cells of table rows in one column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from treespan.filters import Instant, ValueType, value_type
from treespan.store.records import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from treespan.filters import Scalar

Plain: TypeAlias = str | int | float
"""A value without its type: a truth value is 0 or 1, an instant its microseconds."""

_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1

_Packed: TypeAlias = tuple[int, str, int, str | int | float]
_decoder = msgspec.msgpack.Decoder(tuple[_Packed, ...])


def plain(value: Scalar) -> tuple[ValueType, Plain]:
    """Return a value as a column has it: text without lone surrogates, whole numbers of 64 bits.

    A whole number beyond that becomes the floating point number next to it.

    Raises:
        ValueError: it is a number that is not finite; those have no order.
    """
    kind = value_type(value)
    match value:
        case str():
            return kind, storable(value)
        case Instant(us):
            return kind, us
        case float() if not math.isfinite(value):
            raise ValueError(f"a value of the store is finite; this is {value}")
        case int() if not _LEAST <= value <= _MOST:
            return kind, float(value)
        case bool():
            return kind, int(value)
        case _:
            return kind, value


def storable(text: str) -> str:
    """Return a text with `?` for each lone surrogate, which UTF-8 does not have."""
    return text.encode("utf-8", "replace").decode()


def pack_cells(cells: Iterable[Cell]) -> bytes:
    """Return cells as they are kept in a column."""
    packed = [(cell.node, storable(cell.column), *plain(cell.value)) for cell in cells]
    return msgspec.msgpack.encode(packed)


def unpack_cells(packed: bytes) -> tuple[Cell, ...]:
    """Return the cells of a column; raises `msgspec.DecodeError` where it is damaged."""
    return tuple(
        Cell(node, column, _typed(ValueType(kind), value))
        for node, column, kind, value in _decoder.decode(packed)
    )


def _typed(kind: ValueType, value: Plain) -> Scalar:
    if kind is ValueType.TIME:
        return Instant(int(value))
    return bool(value) if kind is ValueType.BOOL else value
