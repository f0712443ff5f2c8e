"""Encrypted Office and OpenDocument files: with the password, without it, with a wrong one."""

from __future__ import annotations

import base64
import hashlib
import io
import random
import zipfile
import zlib

import msoffcrypto
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from made_documents import docx, odt, paragraph

from ingest_svc.readers import filetypes, read_file
from treespan.errors import DamagedFile, EncryptedFile, UnsupportedEncryption, WrongPassword

TEXT = "The vault is on the left."


def locked(password: str) -> bytes:
    """Return a document that is encrypted; the library writes none of less than 4096 bytes."""
    data = docx(paragraph(TEXT), parts={"word/media/x.bin": random.Random(7).randbytes(8_000)})
    out = io.BytesIO()
    msoffcrypto.OfficeFile(io.BytesIO(data)).encrypt(password, out)
    return out.getvalue()


@pytest.fixture(scope="module")
def encrypted() -> bytes:
    return locked("sesame")


def test_an_encrypted_document_is_read_with_its_password(encrypted):
    parsed = read_file(encrypted, "a.docx", password="sesame")
    assert [block.text for block in parsed.blocks] == [TEXT]
    assert parsed.media_type == filetypes.DOCX.media_type


def test_it_is_refused_without_a_password_and_with_a_wrong_one(encrypted):
    with pytest.raises(EncryptedFile, match="password"):
        read_file(encrypted, "a.docx")
    with pytest.raises(WrongPassword):
        read_file(encrypted, "a.docx", password="Sesame")


def test_a_document_only_protected_against_changes_opens_by_itself():
    data = locked("VelvetSweatshop")
    assert read_file(data, "a.docx").blocks[0].text == TEXT


def test_an_encryption_of_tomorrow_is_said_to_be_not_read(encrypted):
    head = b"\x04\x00\x04\x00\x40\x00\x00\x00<?xml"
    assert encrypted.count(head) == 1
    changed = encrypted.replace(head, b"\x09\x00\x09\x00" + head[4:])
    with pytest.raises(UnsupportedEncryption, match="9:9"):
        read_file(changed, "a.docx", password="sesame")


def test_a_cut_container_is_damaged(encrypted):
    with pytest.raises(DamagedFile):
        read_file(encrypted[:2_000], "a.docx", password="sesame")


SALT, VECTOR = bytes(range(16)), bytes(range(16, 32))


def locked_odt(password: str, *, how: str = "aes256-cbc", keys: str = "PBKDF2") -> bytes:
    """Return an encrypted text as ODF 1.2 describes it: deflated, padded, AES in CBC mode."""
    parts = {"content.xml": _content(), "styles.xml": b"<office/>"}
    entries = ""
    made = {}
    for name, plain in parts.items():
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(plain) + packer.flush()
        checksum = hashlib.sha256(packed[:1024]).digest()
        padding = 16 - len(packed) % 16
        start = hashlib.sha256(password.encode()).digest()
        key = hashlib.pbkdf2_hmac("sha1", start, SALT, 1_000, 32)
        cipher = Cipher(AES(key), CBC(VECTOR)).encryptor()
        made[name] = cipher.update(packed + bytes([0] * (padding - 1) + [padding]))
        entries += _entry(name, checksum, how, keys)
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    made["META-INF/manifest.xml"] = f"<manifest:manifest {space}>{entries}</manifest:manifest>"
    return odt("", parts=made)


def _content() -> bytes:
    whole = odt(f"<text:p>{TEXT}</text:p>")
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        return archive.read("content.xml")


def _entry(name: str, checksum: bytes, how: str, keys: str) -> str:
    coded = {key: base64.b64encode(data).decode() for key, data in (("s", SALT), ("v", VECTOR))}
    return (
        f'<manifest:file-entry manifest:full-path="{name}"><manifest:encryption-data'
        ' manifest:checksum-type="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#sha256-1k"'
        f' manifest:checksum="{base64.b64encode(checksum).decode()}">'
        f'<manifest:algorithm manifest:algorithm-name="http://www.w3.org/2001/04/xmlenc#{how}"'
        f' manifest:initialisation-vector="{coded["v"]}"/>'
        f'<manifest:key-derivation manifest:key-derivation-name="{keys}" manifest:key-size="32"'
        f' manifest:iteration-count="1000" manifest:salt="{coded["s"]}"/>'
        '<manifest:start-key-generation manifest:key-size="32"'
        ' manifest:start-key-generation-name="http://www.w3.org/2000/09/xmldsig#sha256"/>'
        "</manifest:encryption-data></manifest:file-entry>"
    )


def test_an_encrypted_opendocument_text_is_read_with_its_password():
    parsed = read_file(locked_odt("sesame"), "a.odt", password="sesame")
    assert [block.text for block in parsed.blocks] == [TEXT]
    assert parsed.media_type == filetypes.ODT.media_type


def test_an_encrypted_opendocument_text_is_refused_without_the_right_password():
    data = locked_odt("sesame")
    with pytest.raises(EncryptedFile, match="password"):
        read_file(data, "a.odt")
    with pytest.raises(WrongPassword):
        read_file(data, "a.odt", password="Sesame")


@pytest.mark.parametrize(("how", "keys"), [("aes256-gcm", "PBKDF2"), ("aes256-cbc", "argon2id")])
def test_an_opendocument_encryption_that_is_not_read_is_named(how, keys):
    with pytest.raises(UnsupportedEncryption, match=r"gcm|argon2id"):
        read_file(locked_odt("sesame", how=how, keys=keys), "a.odt", password="sesame")
