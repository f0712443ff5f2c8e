"""Cells of an XLS sheet, record by record, whatever its `DIMENSIONS` claim."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest_svc.readers.sheets.records import error_text, number_at, packed_number, whole_at
from ingest_svc.readers.sheets.sheet import Area
from ingest_svc.readers.sheets.values import truth_text
from ingest_svc.readers.sheets.xls_records import EOF, Texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest_svc.readers.room import Room
    from ingest_svc.readers.sheets.shared import Shared
    from ingest_svc.readers.sheets.sheet import Sheet

_BEGIN = 0x809
_ROW, _COLUMNS, _MERGED = 0x208, 0x7D, 0xE5
_NUMBER, _PACKED, _PACKED_ROW = 0x203, 0x27E, 0xBD
_SHARED_TEXT, _TEXT, _RICH_TEXT, _TRUTH_OR_ERROR = 0xFD, 0x204, 0xD6, 0x205
_FORMULAS = (0x06, 0x206, 0x406)
_FORMULA_TEXT = 0x207
_CELLS = (_NUMBER, _PACKED, _SHARED_TEXT, _TEXT, _RICH_TEXT, _TRUTH_OR_ERROR, *_FORMULAS)
_PLACE = struct.Struct("<HHH")
_PACKED_CELL = struct.Struct("<HI")
_AREA = struct.Struct("<HHHH")


@dataclass(slots=True)
class CellReader:
    """Takes the records of one sheet."""

    sheet: Sheet
    shared: Shared
    room: Room
    charset: str
    is_97: bool
    _formula: tuple[int, int] | None = None
    """The cell whose formula made the text that the next record holds."""

    def read(self, records: Iterable[tuple[int, list[bytes]]]) -> None:
        """Take records to the end of the sheet; charts that lie in it are passed over.

        Raises:
            struct.error, IndexError: a record is cut short.
            TooLarge: there are too many cells.
        """
        depth = 0
        for kind, pieces in records:
            if kind == _BEGIN:
                depth += 1
            elif kind == EOF:
                depth -= 1
                if depth <= 0:
                    return
            elif depth == 1:
                self._take(kind, pieces)

    def _take(self, kind: int, pieces: list[bytes]) -> None:
        data = pieces[0]
        if kind in _CELLS:
            self._cell(kind, pieces)
        elif kind == _FORMULA_TEXT and self._formula is not None:
            self._put(*self._formula, self._text(pieces, 0))
            self._formula = None
        elif kind == _PACKED_ROW:
            self._packed_row(data)
        elif kind == _ROW:
            number, flags = struct.unpack_from("<H10xH", data)
            if flags & 0x20:
                self.sheet.hidden_rows.append((number, number))
        elif kind == _COLUMNS:
            first, last, flags = struct.unpack_from("<HH4xH", data)
            if flags & 1:
                self.sheet.hidden_columns.append((first, last))
        elif kind == _MERGED:
            self._merged(data)

    def _cell(self, kind: int, pieces: list[bytes]) -> None:
        data = pieces[0]
        row, column, style = _PLACE.unpack_from(data)
        if kind == _SHARED_TEXT:
            text = self.shared.text(whole_at(data, 6), self.room)
        elif kind == _NUMBER:
            text = self.shared.number(number_at(data, 6), style)
        elif kind == _PACKED:
            text = self.shared.number(packed_number(whole_at(data, 6)), style)
        elif kind == _TRUTH_OR_ERROR:
            text = error_text(data[6]) if data[7] else truth_text(value=bool(data[6]))
        elif kind in _FORMULAS:
            text = self._result(row, column, style, data[6:14])
        else:
            text = self._text(pieces, 6)
        self._put(row, column, text)

    def _result(self, row: int, column: int, style: int, result: bytes) -> str:
        """Return what a formula came to, as it was kept."""
        if result[6:] != b"\xff\xff":
            return self.shared.number(number_at(result, 0), style)
        if result[0] == 0:
            self._formula = (row, column)
        if result[0] == 1:
            return truth_text(value=bool(result[2]))
        return error_text(result[2]) if result[0] == 2 else ""

    def _packed_row(self, data: bytes) -> None:
        row, column = struct.unpack_from("<HH", data)
        for at in range(4, len(data) - _PACKED_CELL.size, _PACKED_CELL.size):
            style, packed = _PACKED_CELL.unpack_from(data, at)
            self._put(row, column, self.shared.number(packed_number(packed), style))
            column += 1

    def _text(self, pieces: list[bytes], at: int) -> str:
        if self.is_97:
            return Texts(pieces, at).text()
        length = int.from_bytes(pieces[0][at : at + 2], "little")
        return pieces[0][at + 2 : at + 2 + length].decode(self.charset, "replace")

    def _put(self, row: int, column: int, text: str) -> None:
        text = text.strip()
        if text:
            self.room.take(1)
            self.sheet.put(row, column, text)

    def _merged(self, data: bytes) -> None:
        for at in range(2, len(data) - _AREA.size + 1, _AREA.size):
            top, bottom, left, right = _AREA.unpack_from(data, at)
            if top <= bottom and left <= right:
                self.sheet.merged.append(Area(top, left, bottom, right))
