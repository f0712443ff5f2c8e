"""Outlook's message files as a store of properties: an OLE container with a stream for each.

A number of four hex digits names a property, four more its type; texts are UTF-16 or in the code
page that the message names. Sizes are checked before anything is read, since those in the file lie.
"""

from __future__ import annotations

import io
import struct
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import olefile

from ingest_svc.readers.mail.headers import text_in
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

Path = tuple[str, ...]

_PROPERTIES = "__properties_version1.0"
_STREAM = "__substg1.0_"
_UNICODE, _STRING8, _BINARY, _STORAGE = "001f", "001e", "0102", "000d"
_ENTRY = struct.Struct("<HHI8s")
_HEADER = struct.Struct("<30xHH10xI16xI")
_TIME = 0x40
_MESSAGE_CODE_PAGE, _INTERNET_CODE_PAGE = 0x3FFD, 0x3FDE
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_CODE_PAGES = {
    65001: "utf-8",
    65000: "utf-7",
    1200: "utf-16-le",
    20127: "us-ascii",
    20866: "koi8-r",
    21866: "koi8-u",
    20932: "euc-jp",
    50220: "iso-2022-jp",
    50221: "iso-2022-jp",
    50222: "iso-2022-jp",
    50225: "iso-2022-kr",
    51932: "euc-jp",
    51936: "gb2312",
    51949: "euc-kr",
    52936: "hz-gb-2312",
    54936: "gb18030",
    10000: "macintosh",
    **{28590 + part: f"iso-8859-{part}" for part in range(1, 17)},
}
"""Windows code pages whose label is not "cp" and the number."""
_BROKEN = (
    OSError,
    OverflowError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    struct.error,
    RecursionError,
)
"""What the library raises on damaged containers."""


class MsgStore:
    """The container, opened."""

    def __init__(self, source: Source) -> None:
        """Open the container that a source is.

        Raises:
            DamagedFile: it is none, or cannot be read.
        """
        self._size = len(source.data)
        self._unpacked = source.unpacks()
        _check_header(source.data)
        try:
            self._ole = olefile.OleFileIO(io.BytesIO(source.data))
            paths = self._ole.listdir(streams=True, storages=True)
            ministream_bytes = self._ole.root.size if self._ole.root else 0
        except _BROKEN as error:
            raise _damaged() from error
        if ministream_bytes > self._size:
            raise _damaged()
        self._paths = {tuple(name.lower() for name in path): path for path in paths}

    def storages(self, inside: Path, start: str) -> list[Path]:
        """Return the storages directly inside another whose names start so, in their order."""
        depth = len(inside)
        return sorted(
            path
            for path in self._paths
            if len(path) == depth + 1 and path[:depth] == inside and path[-1].startswith(start)
        )

    def has(self, path: Path) -> bool:
        """Return whether there is a stream or storage at a path, in lower case."""
        return path in self._paths

    def read(self, path: Path) -> bytes:
        """Return the bytes of a stream; nothing where there is none.

        Raises:
            DamagedFile: they cannot be read.
            TooLarge: more has been read than the limits allow.
        """
        if path not in self._paths:
            return b""
        name = self._paths[path]
        try:
            if self._ole.get_size(name) > self._size:  # else a loop in the container is followed
                raise _damaged()
            data = self._ole.openstream(name).read()
        except _BROKEN as error:
            raise _damaged() from error
        self._unpacked.add(len(data))
        return bytes(data)


class Properties:
    """The properties of one thing in a store: a message, a recipient, an attachment."""

    def __init__(self, store: MsgStore, path: Path, *, head_bytes: int, code_page: int = 0) -> None:
        """Take where it is, and what its table of fixed values starts with.

        Args:
            store: The container.
            path: The storage.
            head_bytes: 32 in the outermost message, 24 in one inside, 8 in recipients and files.
            code_page: Of texts, where it does not name one itself.
        """
        self._store = store
        self.path = path
        table = store.read((*path, _PROPERTIES))[head_bytes:]
        whole = len(table) // _ENTRY.size * _ENTRY.size
        self._values: dict[int, tuple[int, bytes]] = {
            number: (kind, value) for kind, number, _, value in _ENTRY.iter_unpack(table[:whole])
        }
        self.code_page = (
            self.number(_MESSAGE_CODE_PAGE) or code_page or self.number(_INTERNET_CODE_PAGE)
        )

    def text(self, *numbers: int) -> str:
        """Return the first of some properties that is a text with words; "" where none is."""
        return next(filter(None, map(self._text, numbers)), "")

    def binary(self, number: int) -> bytes:
        """Return a property as bytes; nothing where there is none."""
        return self._store.read(self._stream(number, _BINARY))

    def number(self, number: int) -> int:
        """Return a property as a number; 0 where there is none."""
        return int.from_bytes(self._values.get(number, (0, b""))[1][:4], "little")

    def moment(self, number: int) -> datetime | None:
        """Return a property as a point in time; None where there is none."""
        kind, value = self._values.get(number, (0, b""))
        ticks = int.from_bytes(value, "little")
        if kind != _TIME or not ticks:
            return None
        try:
            return _EPOCH + timedelta(microseconds=ticks // 10)
        except OverflowError:
            return None

    def storage(self, number: int) -> Path | None:
        """Return where an object is that is the value of a property; None where there is none."""
        path = self._stream(number, _STORAGE)
        return path if self._store.has(path) else None

    def html(self, number: int) -> str:
        """Return a property that is HTML, which may be kept as text or as bytes."""
        data = self.binary(number)
        if not data:
            return self._text(number)
        code_page = self.number(_INTERNET_CODE_PAGE) or self.code_page
        return text_in(data, _label(code_page), markup=True)

    def _text(self, number: int) -> str:
        wide = self._store.read(self._stream(number, _UNICODE))
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\0").strip()
        narrow = self._store.read(self._stream(number, _STRING8)).rstrip(b"\0")
        return text_in(narrow, _label(self.code_page)).strip() if narrow else ""

    def _stream(self, number: int, kind: str) -> Path:
        return (*self.path, f"{_STREAM}{number:04x}{kind}")


def _check_header(data: bytes) -> None:
    """Refuse tables that would be larger than the file; the library would look for all of them."""
    if len(data) < 512:
        raise _damaged()
    shift, mini_shift, fat_sectors, mini_fat_sectors = _HEADER.unpack_from(data)
    if (shift, mini_shift) not in ((9, 6), (12, 6)):
        raise _damaged()
    if max(fat_sectors, mini_fat_sectors) << shift > len(data):
        raise _damaged()


def _damaged() -> DamagedFile:
    return DamagedFile("the OLE container of the message is damaged")


def _label(code_page: int) -> str:
    return _CODE_PAGES.get(code_page, f"cp{code_page}")
