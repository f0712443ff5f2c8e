"""ZIP containers, read with every limit counted on what really comes out, since headers lie."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from ingest_svc.readers.archives.unpacking import BombProof, inflated
from ingest_svc.readers.limits import check
from treespan.errors import DamagedFile, EncryptedFile, UnsupportedEncryption, WrongPassword

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_ENCRYPTED = 1
_STRONGLY_ENCRYPTED = 1 << 6
_WINZIP_AES = 99
_LOCAL_MAGIC = b"PK\x03\x04"
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError)


class Archive:
    """A ZIP archive that is read part by part."""

    def __init__(self, source: Source) -> None:
        """Open the archive that a source is.

        Raises:
            DamagedFile: it is none, or its directory is broken.
            TooLarge: it has too many entries.
        """
        self._source = source
        self._unpacked = source.unpacks()
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(source.data))
        except (*_BROKEN, NotImplementedError, OverflowError) as error:
            raise DamagedFile(f"the ZIP container is damaged: {error}") from error
        check(source.limits, "max_archive_entries", len(self._zip.filelist))
        self._names = {entry.filename for entry in self._zip.filelist}

    @property
    def entries(self) -> list[zipfile.ZipInfo]:
        """Return what the directory lists, in its order; sizes are claims."""
        return self._zip.filelist

    def __contains__(self, name: str) -> bool:
        """Return whether there is a part of this name."""
        return name in self._names

    def read(self, part: str | zipfile.ZipInfo) -> bytes:
        """Return the bytes of a part.

        Raises:
            DamagedFile: there is none, or its data is broken.
            EncryptedFile: it is encrypted and there is no password.
            WrongPassword: the password does not open it.
            UnsupportedEncryption: it is encrypted in a way that is not read.
            TooLarge: more has been unpacked than the limits allow.
        """
        name = part if isinstance(part, str) else part.filename
        try:
            entry = self._zip.getinfo(part) if isinstance(part, str) else part
        except KeyError:
            raise DamagedFile(f"the container lacks its part {name[:200]!r}") from None
        password = self._password(entry)
        try:
            return self._bytes(entry, password)
        except _BROKEN as error:
            if password is not None:  # one wrong password in 256 passes its check
                raise _wrong_password(name) from error
            raise DamagedFile(f"part {name[:200]!r} of the container is damaged") from error
        except NotImplementedError as error:
            raise DamagedFile(f"part {name[:200]!r} is compressed in a way not read") from error
        except RuntimeError as error:  # how the library says that a password is wrong
            raise _wrong_password(name) from error

    def _bytes(self, entry: zipfile.ZipInfo, password: bytes | None) -> bytes:
        counted = BombProof(self._source.limits, self._unpacked)
        if entry.compress_type == zipfile.ZIP_BZIP2 and password is None:
            # The library would unpack a bomb in one step: 4 KB of bzip2 can hold gigabytes.
            return self._unzipped(entry, counted)
        step = counted.step_bytes
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # The library takes as much of what is compressed, whatever comes out of it.
            step = zipfile.ZipExtFile.MIN_READ_SIZE
        with self._zip.open(entry, pwd=password) as stream:
            while part := stream.read(step):
                counted.add(part)
        return counted.bytes()

    def _unzipped(self, entry: zipfile.ZipInfo, counted: BombProof) -> bytes:
        """Return a part that is compressed by bzip2."""
        head = self._source.data[entry.header_offset :][: _LOCAL_HEADER.size]
        magic, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(head)
        if magic != _LOCAL_MAGIC:
            raise zipfile.BadZipFile("bad magic number for file header")
        start = entry.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
        packed = memoryview(self._source.data)[start : start + entry.compress_size]
        data = inflated(packed, "bzip2", counted)
        if zlib.crc32(data) != entry.CRC:
            raise zipfile.BadZipFile("bad CRC-32")
        return data

    def _password(self, entry: zipfile.ZipInfo) -> bytes | None:
        if not entry.flag_bits & _ENCRYPTED:
            return None
        if entry.compress_type == _WINZIP_AES or entry.flag_bits & _STRONGLY_ENCRYPTED:
            raise UnsupportedEncryption(
                f"part {entry.filename[:200]!r} is encrypted with AES or the like; "
                "only the older encryption of ZIP is read"
            )
        if not self._source.password:
            raise EncryptedFile(f"part {entry.filename[:200]!r} can only be read with its password")
        return self._source.password.encode("utf-8", "surrogatepass")


def _wrong_password(name: str) -> WrongPassword:
    return WrongPassword(f"the password does not open part {name[:200]!r} of the container")
