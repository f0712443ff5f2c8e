"""Encrypted DOCX, XLSX and PPTX: opened with the password, then read as what is inside.

Workbooks that are only protected against changes are encrypted, too, with a password that every
office program knows and tries first.
"""

from __future__ import annotations

import io
import logging
import struct
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

import msoffcrypto
from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError

from ingest_svc.readers import containers, filetypes
from ingest_svc.readers.limits import check
from treespan.errors import (
    DamagedFile,
    EncryptedFile,
    FileProblem,
    UnsupportedEncryption,
    WrongPassword,
)

if TYPE_CHECKING:
    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.source import Source

_KNOWN_TO_ALL = "VelvetSweatshop"
_DAMAGED = (ValueError, LookupError, AttributeError, AssertionError, TypeError, OSError)
"""What the library raises where its input is not what it should be; it checks little of it."""


def read_encrypted_office(source: Source) -> ParsedFile:
    """Return what an encrypted document holds.

    Raises:
        EncryptedFile: it needs a password and none was given.
        WrongPassword: the one given does not open it.
        UnsupportedEncryption: it is encrypted in a way that is not read.
        DamagedFile: its container is damaged.
    """
    from ingest_svc.readers import read_source

    data = _opened_by_any(source)
    check(source.limits, "max_file_bytes", len(data))
    if data.startswith(containers.OLE_MAGIC):
        raise UnsupportedEncryption("what the encrypted document holds is encrypted again")
    return read_source(replace(source, data=data, text=""))


def _opened_by_any(source: Source) -> bytes:
    if source.password:
        return decrypted(source.data, source.password)
    try:
        return decrypted(source.data, _KNOWN_TO_ALL)
    except FileProblem as problem:
        name = filetypes.ENCRYPTED_OFFICE.name
        raise EncryptedFile(
            f"the file is {name}; it can only be read with its password"
        ) from problem


def decrypted(data: bytes, password: str) -> bytes:
    """Return the document that an encrypted one holds.

    Args:
        data: The container.
        password: What to open it with.

    Raises:
        WrongPassword: the password does not open it.
        UnsupportedEncryption: it is encrypted in a way that is not read.
        DamagedFile: its container is damaged.
    """
    logging.getLogger("olefile").setLevel(logging.CRITICAL)
    opened = io.BytesIO()
    try:
        office = msoffcrypto.OfficeFile(io.BytesIO(data))
        office.load_key(password=password, verify_password=True)
        office.decrypt(opened)
    except InvalidKeyError as error:
        raise WrongPassword("the password does not open the document") from error
    except (DecryptionError, NotImplementedError) as error:
        raise UnsupportedEncryption(f"the document's encryption is not read: {error}") from error
    except (FileFormatError, ParseError, ExpatError, struct.error, *_DAMAGED) as error:
        raise DamagedFile(
            f"the container of the encrypted document is damaged ({type(error).__name__})"
        ) from error
    return opened.getvalue()
