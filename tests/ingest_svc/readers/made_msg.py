"""Outlook messages made for tests: an OLE container with the properties that a test asks for.

Written after [MS-CFB] and [MS-OXMSG], so that what is read does not come from the code that reads.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

Value = str | bytes | int | datetime

SECTOR, MINI, CUTOFF = 512, 64, 4096
END, FREE, FAT, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
STORAGE, STREAM, ROOT = 1, 2, 5


@dataclass
class Storage:
    """A folder of a container."""

    streams: dict[str, bytes] = field(default_factory=dict)
    storages: dict[str, Storage] = field(default_factory=dict)


def message(
    properties: Mapping[int, Value],
    *,
    recipients: tuple[Mapping[int, Value], ...] = (),
    files: tuple[Mapping[int, Value | Storage], ...] = (),
    code_page: str = "",
    head_bytes: int = 32,
) -> Storage:
    """Return a message; texts are UTF-16, or in the code page by Python's name."""
    made = _with_properties(properties, head_bytes, code_page)
    for number, recipient in enumerate(recipients):
        name = f"__recip_version1.0_#{number:08X}"
        made.storages[name] = _with_properties(recipient, 8, code_page)
    for number, file in enumerate(files):
        made.storages[f"__attach_version1.0_#{number:08X}"] = _with_properties(file, 8, code_page)
    return made


def _with_properties(
    properties: Mapping[int, Value | Storage], head_bytes: int, code_page: str
) -> Storage:
    made = Storage()
    table = bytearray(head_bytes)
    for number, value in properties.items():
        kind, fixed = 0x0003, b""
        match value:
            case Storage():
                kind = 0x000D
                made.storages[f"__substg1.0_{number:04X}000D"] = value
            case int():
                fixed = value.to_bytes(8, "little")
            case datetime():
                kind, fixed = 0x0040, _file_time(value)
            case bytes():
                kind = 0x0102
                made.streams[f"__substg1.0_{number:04X}0102"] = value
            case str() if code_page:
                kind = 0x001E
                made.streams[f"__substg1.0_{number:04X}001E"] = value.encode(code_page)
            case str():
                kind = 0x001F
                made.streams[f"__substg1.0_{number:04X}001F"] = value.encode("utf-16-le")
        table += struct.pack("<HHI8s", kind, number, 6, fixed.ljust(8, b"\0"))
    made.streams["__properties_version1.0"] = bytes(table)
    return made


def _file_time(moment: datetime) -> bytes:
    since = moment - datetime(1601, 1, 1, tzinfo=UTC)
    ticks = (since.days * 86_400 + since.seconds) * 10_000_000 + since.microseconds * 10
    return ticks.to_bytes(8, "little")


def container(root: Storage) -> bytes:
    """Return the bytes of a container (version 3, sectors of 512 bytes)."""
    return _Writer(root).bytes()


class _Writer:
    """Lays a container out: header, streams, small streams, directory, allocation tables."""

    def __init__(self, root: Storage) -> None:
        self.sectors: list[bytes] = []
        self.fat: list[int] = []
        self.mini = bytearray()
        self.mini_fat: list[int] = []
        self.entries: list[list] = []
        self._storage("Root Entry", ROOT, root)
        start = self._chain(bytes(self.mini)) if self.mini else END
        self.entries[0][6:8] = [start, len(self.mini)]

    def bytes(self) -> bytes:
        directory = b"".join(_entry(*entry) for entry in self.entries)
        directory_start = self._chain(directory.ljust(-(-len(directory) // SECTOR) * SECTOR, b"\0"))
        mini_fat = b"".join(struct.pack("<I", entry) for entry in self.mini_fat)
        mini_start = self._chain(mini_fat, fill=b"\xff") if mini_fat else END
        fat_sectors = 1
        while (len(self.fat) + fat_sectors) > fat_sectors * (SECTOR // 4):
            fat_sectors += 1
        fat_at = range(len(self.fat), len(self.fat) + fat_sectors)
        self.fat += [FAT] * fat_sectors
        table = struct.pack(f"<{len(self.fat)}I", *self.fat).ljust(fat_sectors * SECTOR, b"\xff")
        header = struct.pack(
            "<8s16xHHHHH6xIIIIIIIIII",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            *(0x3E, 3, 0xFFFE, 9, 6),
            *(0, fat_sectors, directory_start, 0, CUTOFF),
            *(mini_start, -(-len(mini_fat) // SECTOR), END, 0),
            fat_at[0],
        )
        header += struct.pack(f"<{fat_sectors - 1}I", *fat_at[1:])
        return header.ljust(SECTOR, b"\xff") + b"".join(self.sectors) + table

    def _storage(self, name: str, kind: int, storage: Storage) -> int:
        position = len(self.entries)
        self.entries.append([name, kind, NONE, NONE, NONE, 1, END, 0])
        children = [self._stream(child, data) for child, data in storage.streams.items()] + [
            self._storage(child, STORAGE, inner) for child, inner in storage.storages.items()
        ]
        # Siblings form a search tree; a chain to the right is one, if it is in order.
        children.sort(
            key=lambda child: (len(self.entries[child][0]), self.entries[child][0].upper())
        )
        for child, following in zip(children, [*children[1:], NONE], strict=True):
            self.entries[child][3] = following
        if children:
            self.entries[position][4] = children[0]
        if kind == STORAGE:
            self.entries[position][6] = 0
        return position

    def _stream(self, name: str, data: bytes) -> int:
        if not data:
            start = END
        elif len(data) < CUTOFF:
            start = len(self.mini_fat)
            count = -(-len(data) // MINI)
            self.mini_fat += [*range(start + 1, start + count), END]
            self.mini += data.ljust(count * MINI, b"\0")
        else:
            start = self._chain(data)
        self.entries.append([name, STREAM, NONE, NONE, NONE, 1, start, len(data)])
        return len(self.entries) - 1

    def _chain(self, data: bytes, fill: bytes = b"\0") -> int:
        start = len(self.sectors)
        parts = [data[at : at + SECTOR].ljust(SECTOR, fill) for at in range(0, len(data), SECTOR)]
        self.sectors += parts
        self.fat += [*range(start + 1, start + len(parts)), END]
        return start


def _entry(
    name: str, kind: int, left: int, right: int, child: int, color: int, start: int, size: int
) -> bytes:
    coded = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16xI16xIQ", coded, len(coded), kind, color, left, right, child, 0, start, size
    )
