"""Old Excel workbooks behind a password.

Workbooks that are only protected against changes are encrypted, too, with a password that every
spreadsheet program knows and tries first.
"""

from __future__ import annotations

import io
import struct

import msoffcrypto
from msoffcrypto.exceptions import DecryptionError, InvalidKeyError

from treespan.errors import EncryptedFile, UnsupportedEncryption, WrongPassword

_KNOWN_TO_ALL = "VelvetSweatshop"


def decrypted(data: bytes, password: str) -> bytes:
    """Return a workbook without its encryption.

    Args:
        data: The whole file.
        password: Of the request; empty where there is none.

    Raises:
        EncryptedFile: it needs a password and none was given.
        WrongPassword: the one given does not open it.
        UnsupportedEncryption: it is encrypted in a way that is not read.
    """
    for tried in (_KNOWN_TO_ALL, password):
        try:
            return _opened(data, tried)
        except InvalidKeyError:
            continue
    if password:
        raise WrongPassword("the password does not open the workbook")
    raise EncryptedFile(
        "the file is an encrypted Excel workbook; it can only be read with its password"
    )


def _opened(data: bytes, password: str) -> bytes:
    opened = io.BytesIO()
    try:
        office = msoffcrypto.OfficeFile(io.BytesIO(data))
        office.load_key(password=password)
        office.decrypt(opened)
    except InvalidKeyError:
        raise
    except (DecryptionError, NotImplementedError) as error:
        raise UnsupportedEncryption(f"the workbook's encryption is not read: {error}") from error
    except (ValueError, KeyError, IndexError, AttributeError, AssertionError, OSError) as error:
        # The library checks little of what it reads.
        raise UnsupportedEncryption("the workbook's encryption is damaged or not read") from error
    except struct.error as error:
        raise UnsupportedEncryption("the workbook's encryption is damaged or not read") from error
    return opened.getvalue()
