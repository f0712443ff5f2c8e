from __future__ import annotations

import io
import random
import zipfile

import pytest

from ingest_svc.readers import filetypes as types
from ingest_svc.readers.sniff import sniff

PNG = b"\x89PNG\r\n\x1a\n"


def archive(**parts: str) -> bytes:
    """Return a ZIP; "__" stands for "/" in names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, text in parts.items():
            file.writestr(name.replace("__", "/"), text)
    return out.getvalue()


def noise(size: int, seed: int = 7) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"# Title\n", "a.md", types.MARKDOWN),
        (b"# Title\n", "a.txt", types.PLAIN),
        (b"# Title\n", "a", types.PLAIN),
        (b"<p>x", "a.htm", types.HTML),
        (b"<!-- c -->\n<!DOCTYPE html><p>x", "a.txt", types.HTML),
        (b"<?xml version='1.0'?><html><p>x", "a", types.HTML),
        (b"<?xml version='1.0'?><feed/>", "a.md", types.XML),
        (b"<svg xmlns='x'/>", "a", types.SVG),
        (b"{\\rtf1 x}", "a.doc", types.RTF),
        (b"%PDF-1.7\n", "a.txt", types.PDF),
        (b"HTTP/1.1 200\r\n\r\n%PDF-1.7\n", "a.pdf", types.PDF),
        (b"The first line is\n%PDF-1.7\nand so on.\n", "a.md", types.MARKDOWN),
        (b'{"a": [1]}', "a", types.JSON),
        (b'{"nbformat": 4}', "a.dat", types.NOTEBOOK),
        (b"[" * 100_000, "a", types.JSON),
        (b"[1] see below\n", "a", types.PLAIN),
        (b"a,b\n1,2\n", "a.xlsx", types.CSV),
        (b'a,b\n"1, with\na break",2\n3,4\n', "a", types.CSV),
        (b"From: a\nSubject: b\n\nx", "a.mhtml", types.EMAIL),
        ('{"a": "x\u2028y"}\n{"a": 2}\n'.encode(), "a", types.JSON_LINES),
        (b"a,b\n1,2\n", "a.txt", types.PLAIN),
        (b"From: a\nTo: b\nMIME-Version: 1.0\n\nx", "a.txt", types.EMAIL),
        (b"From: a\nTo: b\nSubject: c\n\nA memo.", "a.txt", types.PLAIN),
        (PNG + noise(4000), "a.txt", types.BY_MAGIC[0].type),
        (noise(4000), "a.txt", types.BINARY),
        (noise(200), "a.md", types.BINARY),
        (b"\xff\xfe" + noise(4000), "a.txt", types.BINARY),
        (b"BM is a brand of cars.\n", "a.txt", types.PLAIN),
        (b"MZ\x90\0\x03\0", "a.txt", types.BY_MAGIC[25].type),
    ],
)
def test_type_is_told_by_content_and_the_name_only_chooses_among_texts(data, name, kind):
    assert sniff(data, name).type == kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (archive(mimetype="application/epub+zip"), types.EPUB),
        (archive(mimetype="application/vnd.oasis.opendocument.text"), types.ODT),
        (archive(**{"META-INF__container.xml": "<x/>"}), types.EPUB),
        (archive(**{"a.txt": "x"}), types.ZIP),
        (archive(**{"a.txt": "x"})[:30], types.DAMAGED_ZIP),
        (
            archive(**{"[Content_Types].xml": f'ContentType="{types.XLSX.media_type}.main+xml"'}),
            types.XLSX,
        ),
        (
            archive(
                **{
                    "mimetype": "application/vnd.oasis.opendocument.text",
                    "META-INF__manifest.xml": "<manifest:encryption-data>",
                }
            ),
            types.ENCRYPTED_ODF,
        ),
    ],
)
def test_containers_are_told_apart_by_their_parts(data, kind):
    assert sniff(data, "a.bin").type == kind


def test_an_ole_stream_is_found_by_its_whole_name_where_directory_entries_lie():
    def entry(name: str) -> bytes:
        coded = name.encode("utf-16-le")
        return coded.ljust(64, b"\0") + (len(coded) + 2).to_bytes(2, "little") + bytes(62)

    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0")
    assert sniff(ole + entry("WordDocument"), "a").type == types.DOC
    assert sniff(ole + entry("EncryptedPackage"), "a").type == types.ENCRYPTED_OFFICE
    assert sniff(ole + entry("WordDocumentX"), "a").type == types.OLE
    assert sniff(ole + b"\0" * 6 + entry("WordDocument"), "a").type == types.OLE


def test_noise_of_any_size_above_a_line_is_never_text():
    assert {sniff(noise(size, size), "a.txt").type for size in range(150, 400)} == {types.BINARY}
