"""Encrypted OpenDocument files: each part is opened with the password, then all are read as usual.

password ─> start key (SHA-256 or SHA-1) ─> PBKDF2 with the part's salt ─> AES-CBC or Blowfish
what comes out is deflated; a checksum of its first 1024 bytes tells a wrong password
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from ingest_svc.readers import filetypes
from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.archives.unpacking import BombProof
from ingest_svc.readers.xml_parts import Element, parsed_xml
from treespan.errors import DamagedFile, EncryptedFile, UnsupportedEncryption, WrongPassword

if TYPE_CHECKING:
    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.source import Source

_MANIFEST = "META-INF/manifest.xml"
_MIMETYPE = "mimetype"
_CHECKED_BYTES = 1024
_MOST_ITERATIONS = 20_000_000
"""Of all parts together; programs have 1,024 to 100,000 each."""


@dataclass(frozen=True, slots=True)
class _Lock:
    """How one part is encrypted."""

    part: str
    cipher: str
    vector: bytes
    salt: bytes
    iterations: int
    key_bytes: int
    start_hash: str
    checksum_hash: str
    checksum: bytes


def read_encrypted_odf(source: Source) -> ParsedFile:
    """Return what an encrypted OpenDocument file holds.

    Raises:
        EncryptedFile: no password was given.
        WrongPassword: the one given does not open it.
        UnsupportedEncryption: it is encrypted in a way that is not read.
        DamagedFile: its container is damaged.
        TooLarge: it unpacks to too much.
    """
    from ingest_svc.readers import read_source

    if not source.password:
        name = filetypes.ENCRYPTED_ODF.name
        raise EncryptedFile(f"the file is {name}; it can only be read with its password")
    return read_source(replace(source, data=_opened(source), text=""))


def _opened(source: Source) -> bytes:
    """Return the file without its encryption; parts that are no XML, pictures, are left out."""
    archive = Archive(source)
    locks = _locks(parsed_xml(archive.read(_MANIFEST), _MANIFEST))
    if sum(lock.iterations for lock in locks.values()) > _MOST_ITERATIONS:
        raise UnsupportedEncryption(
            f"the file's keys take more than {_MOST_ITERATIONS} rounds to make"
        )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as plain:
        plain.writestr(_MIMETYPE, archive.read(_MIMETYPE))
        for entry in archive.entries:
            name = entry.filename
            if not name.endswith(".xml") or name == _MANIFEST:
                continue
            data = archive.read(entry)
            if name in locks:
                data = _unlocked(data, locks[name], source)
            plain.writestr(name, data)
    return out.getvalue()


def _unlocked(data: bytes, lock: _Lock, source: Source) -> bytes:
    start = hashlib.new(lock.start_hash, source.password.encode("utf-8", "surrogatepass"))
    key = hashlib.pbkdf2_hmac("sha1", start.digest(), lock.salt, lock.iterations, lock.key_bytes)
    packed = _decrypted(data, lock, key)
    found = hashlib.new(lock.checksum_hash, packed[:_CHECKED_BYTES]).digest()
    if lock.checksum and found != lock.checksum:
        raise WrongPassword("the password does not open the document")
    try:
        return _inflated(packed, BombProof(source.limits, source.unpacks()))
    except zlib.error as error:
        raise WrongPassword("the password does not open the document") from error


def _decrypted(data: bytes, lock: _Lock, key: bytes) -> bytes:
    try:
        if lock.cipher == "blowfish":
            return Cipher(Blowfish(key), CFB(lock.vector)).decryptor().update(data)
        opened = Cipher(AES(key), CBC(lock.vector)).decryptor().update(data)
    except ValueError as error:
        raise DamagedFile(f"part {lock.part[:200]!r} is encrypted wrongly: {error}") from error
    padding = opened[-1] if opened else 0
    return opened[:-padding] if 0 < padding <= AES.block_size // 8 else opened


def _inflated(packed: bytes, counted: BombProof) -> bytes:
    unpack = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    rest = packed
    while rest and not unpack.eof:
        counted.add(unpack.decompress(rest, counted.step_bytes))
        rest = unpack.unconsumed_tail
    return counted.bytes()


def _locks(manifest: Element) -> dict[str, _Lock]:
    """Return how each encrypted part is encrypted."""
    locks = {}
    for entry in manifest.iterfind("{*}file-entry"):
        part = _of(entry, "full-path")
        stated = entry.find("{*}encryption-data")
        if stated is not None:
            locks[part] = _lock(part, stated)
    return locks


def _lock(part: str, stated: Element) -> _Lock:
    algorithm = stated.find("{*}algorithm")
    derivation = stated.find("{*}key-derivation")
    if algorithm is None or derivation is None:
        raise _not_read(part, "no algorithm is stated")
    if "pbkdf2" not in _of(derivation, "key-derivation-name").lower():
        raise _not_read(part, f"keys by {_of(derivation, 'key-derivation-name')[:200]}")
    cipher = _cipher(part, _of(algorithm, "algorithm-name"))
    start = stated.find("{*}start-key-generation")
    start_hash = "sha1" if start is None else _hash(part, _of(start, "start-key-generation-name"))
    checksum_type = _of(stated, "checksum-type")
    return _Lock(
        part,
        cipher,
        _bytes(part, _of(algorithm, "initialisation-vector")),
        _bytes(part, _of(derivation, "salt")),
        _number(_of(derivation, "iteration-count"), 1024),
        _number(_of(derivation, "key-size"), 16),
        start_hash,
        _hash(part, checksum_type) if checksum_type else "sha1",
        _bytes(part, _of(stated, "checksum")) if checksum_type else b"",
    )


def _cipher(part: str, name: str) -> str:
    plain = name.lower().replace(" ", "")
    if "blowfish" in plain:
        return "blowfish"
    if plain.endswith("-cbc") and "aes" in plain:
        return "aes"
    raise _not_read(part, f"by {name[:200]}")


def _hash(part: str, name: str) -> str:
    plain = name.lower().replace("-", "")
    if "sha256" in plain:
        return "sha256"
    if "sha1" in plain:
        return "sha1"
    raise _not_read(part, f"with the hash {name[:200]}")


def _not_read(part: str, how: str) -> UnsupportedEncryption:
    return UnsupportedEncryption(
        f"part {part[:200]!r} is encrypted in a way that is not read ({how}); what is read: AES in "
        "CBC mode and Blowfish, with keys by PBKDF2"
    )


def _of(element: Element, name: str) -> str:
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def _bytes(part: str, coded: str) -> bytes:
    try:
        return base64.b64decode(coded)
    except (binascii.Error, ValueError) as error:
        raise DamagedFile(f"what is said of part {part[:200]!r} is no Base64: {error}") from error


def _number(digits: str, default: int) -> int:
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
    return number or default
