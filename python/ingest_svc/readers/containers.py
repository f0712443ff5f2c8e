"""What kind of document is in a ZIP or an OLE container, told by the names of its parts.

Names and the two small parts that say a type are read with a bound on the bytes really inflated,
since headers lie.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from ingest_svc.readers import filetypes as types
from ingest_svc.readers.filetypes import FileType

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_MAIN_PARTS = (
    (b"wordprocessingml.", types.DOCX),
    (b"ms-word.", types.DOCX),
    (b"sheet.binary.", types.XLSB),
    (b"spreadsheetml.", types.XLSX),
    (b"ms-excel.", types.XLSX),
    (b"presentationml.", types.PPTX),
    (b"ms-powerpoint.", types.PPTX),
)
_BY_MIMETYPE = {entry.media_type: entry for entry in (types.EPUB, types.ODT, types.ODS, types.ODP)}
_PART_BYTES = 4 << 20
_ODF_ENCRYPTION = b"manifest:encryption-data"

_OLE_STREAMS = (
    ("EncryptedPackage", types.ENCRYPTED_OFFICE),
    ("WordDocument", types.DOC),
    ("Workbook", types.XLS),
    ("WORKBOOK", types.XLS),
    ("Book", types.XLS),
    ("BOOK", types.XLS),
    ("PowerPoint Document", types.PPT),
    ("__properties_version1.0", types.MSG),
)
_DIRECTORY_ENTRY = 128
_NAME_LENGTH_AT = 64


def zip_type(data: bytes) -> FileType:
    """Return the type of the document that a ZIP archive is; ZIP where it is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _archived_type(archive)
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError):
        return types.DAMAGED_ZIP


def ole_type(data: bytes) -> FileType:
    """Return the type of the document that an OLE container holds, by the names of its streams."""
    for stream, kind in _OLE_STREAMS:
        if _has_stream(data, stream):
            return kind
    return types.OLE


def _archived_type(archive: zipfile.ZipFile) -> FileType:
    names = set(archive.namelist())
    if "mimetype" in names:
        mimetype = _part(archive, "mimetype").strip().decode("latin-1")
        kind = _BY_MIMETYPE.get(mimetype.removesuffix("-template"))
        if kind is not None:
            encrypted = _ODF_ENCRYPTION in _part(archive, "META-INF/manifest.xml")
            return types.ENCRYPTED_ODF if encrypted and kind is not types.EPUB else kind
    if "[Content_Types].xml" in names:
        content_types = _part(archive, "[Content_Types].xml")
        mains = [kind for mark, kind in _MAIN_PARTS if _states_main(content_types, mark)]
        return mains[0] if mains else types.PACKAGE
    return types.EPUB if "META-INF/container.xml" in names else types.ZIP


def _states_main(content_types: bytes, mark: bytes) -> bool:
    """Tell whether a content type of this family, with "main" in it, is stated."""
    at = content_types.find(mark)
    while at >= 0:
        if b"main" in content_types[at : at + 100].split(b'"', 1)[0].lower():
            return True
        at = content_types.find(mark, at + 1)
    return False


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the beginning of a part; empty where it is missing, encrypted or damaged."""
    try:
        with archive.open(name) as part:
            return part.read(_PART_BYTES)
    except (KeyError, RuntimeError, zlib.error, zipfile.BadZipFile, EOFError, NotImplementedError):
        return b""


def _has_stream(data: bytes, name: str) -> bool:
    """Tell whether a directory entry, which lies on 128 bytes, has this name and its length."""
    coded = name.encode("utf-16-le")
    length = (len(coded) + 2).to_bytes(2, "little")
    at = data.find(coded)
    while at >= 0:
        if at % _DIRECTORY_ENTRY == 0 and data[at + _NAME_LENGTH_AT :][:2] == length:
            return True
        at = data.find(coded, at + 1)
    return False
