"""XLS: the record stream of Excel 5 to 2003, in an OLE container."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import olefile

from ingest_svc.readers import filetypes
from ingest_svc.readers.room import Room
from ingest_svc.readers.sheets.shared import Shared, format_of
from ingest_svc.readers.sheets.sheet import Book, Sheet
from ingest_svc.readers.sheets.xls_cells import CellReader
from ingest_svc.readers.sheets.xls_records import EOF, Records, Texts, charset_of
from treespan.errors import DamagedFile, UnsupportedEncryption

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_STREAMS = ("Workbook", "Book")
_FILEPASS = 0x2F
_EXCEL_97 = 0x600
_WORKSHEET = 0


def xls_book(source: Source, room: Room) -> Book:
    """Return the sheets of an old Excel workbook.

    Raises:
        DamagedFile: it holds no workbook, or a damaged one.
        EncryptedFile: it can only be read with its password.
    """
    data = source.data
    stream = _stream(data)
    if _is_encrypted(stream):
        from ingest_svc.readers.sheets.xls_password import decrypted

        data = decrypted(data, source.password)
        stream = _stream(data)
        if _is_encrypted(stream):
            raise UnsupportedEncryption("the workbook's encryption is not read")
    try:
        globals_ = _Globals.of(Records(stream))
        globals_.read_sheets(stream, room, hidden_too=source.options.include_hidden)
    except (struct.error, IndexError) as error:
        raise DamagedFile(f"the workbook is damaged ({type(error).__name__})") from error
    return Book(filetypes.XLS.media_type, [sheet for _, sheet in globals_.sheets])


def _stream(data: bytes) -> bytes:
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            for name in _STREAMS:
                if container.exists(name):
                    with container.openstream(name) as stream:
                        return bytes(stream.read())
    except (OSError, ValueError, IndexError, KeyError, TypeError, struct.error) as error:
        raise DamagedFile("the OLE container of the workbook is damaged") from error
    raise DamagedFile("the OLE container holds no workbook")


def _is_encrypted(stream: bytes) -> bool:
    for kind, _ in Records(stream).since(0):
        if kind in (_FILEPASS, EOF):
            return kind == _FILEPASS
    return False


@dataclass(slots=True)
class _Globals:
    """What stands in front of the sheets."""

    shared: Shared = field(default_factory=Shared)
    sheets: list[tuple[int, Sheet]] = field(default_factory=list)
    """Each with the place where it begins."""
    is_97: bool = True
    charset: str = "cp1252"
    """Of texts before Excel 97."""
    _codes: dict[int, str] = field(default_factory=dict)
    _styles: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, records: Records) -> _Globals:
        """Read them."""
        found = cls()
        for kind, pieces in records.since(0):
            if kind == EOF:
                break
            found._take(kind, pieces)
        found.shared.formats = [format_of(number, found._codes) for number in found._styles]
        return found

    def _take(self, kind: int, pieces: list[bytes]) -> None:
        data = pieces[0]
        match kind:
            case 0x809:  # the begin, with the version
                self.is_97 = int.from_bytes(data[:2], "little") >= _EXCEL_97
            case 0x42:  # the charset
                self.charset = charset_of(int.from_bytes(data[:2], "little"))
            case 0x22:  # which first day dates count from
                self.shared.from_1904 = data[:1] == b"\1"
            case 0x85:  # a sheet
                self._sheet(pieces)
            case 0xFC:  # the shared texts
                self.shared.texts = _shared_texts(pieces)
            case 0x41E:  # a number format
                number = int.from_bytes(data[:2], "little")
                self._codes[number] = self._short_text(pieces, 2, length_size=2)
            case 0xE0:  # a style
                self._styles.append(int.from_bytes(data[2:4], "little"))

    def _sheet(self, pieces: list[bytes]) -> None:
        at, visibility, sort = struct.unpack_from("<IBB", pieces[0])
        name = self._short_text(pieces, 6, length_size=1)
        hidden, is_read = bool(visibility & 3), sort == _WORKSHEET
        self.sheets.append((at, Sheet(name, hidden=hidden, is_read=is_read)))

    def _short_text(self, pieces: list[bytes], at: int, *, length_size: int) -> str:
        if self.is_97:
            return Texts(pieces, at).text(length_size)
        length = pieces[0][at]  # before Excel 97 always of one byte
        return pieces[0][at + 1 : at + 1 + length].decode(self.charset, "replace")

    def read_sheets(self, stream: bytes, room: Room, *, hidden_too: bool) -> None:
        """Put the cells into the sheets."""
        records = Records(stream)
        for at, sheet in self.sheets:
            if sheet.is_read and (hidden_too or not sheet.hidden):
                reader = CellReader(sheet, self.shared, room, self.charset, is_97=self.is_97)
                reader.read(records.since(at))


def _shared_texts(pieces: list[bytes]) -> list[str]:
    """Return the shared texts; those behind a damaged one are lost to every reader."""
    reader = Texts(pieces, 4)
    texts = []
    for _ in range(reader.number(4)):
        try:
            texts.append(reader.text())
        except IndexError:
            break
    return texts
