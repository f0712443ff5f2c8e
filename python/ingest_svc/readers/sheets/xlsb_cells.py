"""Cells of an XLSB sheet, record by record, whatever its dimensions claim."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ingest_svc.readers.sheets.records import error_text, number_at, packed_number, whole_at
from ingest_svc.readers.sheets.sheet import Area
from ingest_svc.readers.sheets.values import truth_text
from ingest_svc.readers.sheets.xlsb_records import records, wide_text

if TYPE_CHECKING:
    from ingest_svc.readers.room import Room
    from ingest_svc.readers.sheets.shared import Shared
    from ingest_svc.readers.sheets.sheet import Sheet

_ROW, _COLUMNS, _MERGED = 0, 60, 176
_PACKED, _ERROR, _TRUTH, _NUMBER, _TEXT, _SHARED_TEXT = 2, 3, 4, 5, 6, 7
_MADE_TEXT, _MADE_NUMBER, _MADE_TRUTH, _MADE_ERROR = 8, 9, 10, 11
_RICH_TEXT = 62
_CELLS = (*range(_PACKED, _MADE_ERROR + 1), _RICH_TEXT)
_VALUE_AT = 8
_HIDDEN_ROW = 0x10


def read_cells(data: bytes, sheet: Sheet, shared: Shared, room: Room) -> None:
    """Put what the part of a sheet holds into the sheet.

    Raises:
        struct.error, IndexError: a record is cut short.
        TooLarge: it has too many cells.
    """
    row = 0
    for kind, body in records(data):
        if kind == _ROW:
            (row,) = struct.unpack_from("<I", body)
            if body[11] & _HIDDEN_ROW:
                sheet.hidden_rows.append((row, row))
        elif kind in _CELLS:
            text = _text(kind, body, shared, room).strip()
            if text:
                room.take(1)
                sheet.put(row, whole_at(body, 0), text)
        elif kind == _COLUMNS:
            first, last, flags = struct.unpack_from("<II8xH", body)
            if flags & 1:
                sheet.hidden_columns.append((first, last))
        elif kind == _MERGED:
            top, bottom, left, right = struct.unpack_from("<4I", body)
            sheet.merged.append(Area(top, left, bottom, right))


def _text(kind: int, body: bytes, shared: Shared, room: Room) -> str:
    style = int.from_bytes(body[4:7], "little")
    if kind == _SHARED_TEXT:
        return shared.text(whole_at(body, _VALUE_AT), room)
    if kind == _PACKED:
        return shared.number(packed_number(whole_at(body, _VALUE_AT)), style)
    if kind in (_NUMBER, _MADE_NUMBER):
        return shared.number(number_at(body, _VALUE_AT), style)
    if kind in (_TRUTH, _MADE_TRUTH):
        return truth_text(value=bool(body[_VALUE_AT]))
    if kind in (_ERROR, _MADE_ERROR):
        return error_text(body[_VALUE_AT])
    return wide_text(body, _VALUE_AT + (kind == _RICH_TEXT))[0]
