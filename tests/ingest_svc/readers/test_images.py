"""Picture files, made by the PDF library or by hand, byte by byte."""

from __future__ import annotations

import struct
import zlib

import pymupdf
import pytest
from made_pdf import MadePdf, drawn
from test_ocr import LEFT, LETTER

from ingest_svc.readers import read_file
from ingest_svc.readers.images.facts import facts_of
from ingest_svc.readers.images.heads import sizes_of
from ingest_svc.readers.ocr import tessdata_folder
from ingest_svc.readers.source import ReadOptions
from treespan.config import OcrConfig, ReadersConfig
from treespan.errors import DamagedFile, NoTextLayer, TooLarge

needs_engine = pytest.mark.skipif(
    tessdata_folder(OcrConfig()) is None, reason="no language files of Tesseract are there"
)
OFF = ReadOptions(ocr="off")


def pixmap(lines: list[str]) -> pymupdf.Pixmap:
    made = MadePdf().page().lines(70, 120, lines)
    return made.document[0].get_pixmap(dpi=120, colorspace="gray", alpha=False)


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(b"\0" * 10)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def tiff(pictures: list[pymupdf.Pixmap], texts: dict[int, bytes] | None = None) -> bytes:
    """Return a TIFF of grey pictures, uncompressed, with texts in its first directory."""
    data = bytearray(b"II*\0\0\0\0\0")
    link = 4
    for number, picture in enumerate(pictures):
        strip = len(data)
        data += bytes(picture.samples)
        entries = {256: (4, picture.width), 257: (4, picture.height), 258: (3, 8), 259: (3, 1)}
        entries |= {262: (3, 1), 273: (4, strip), 277: (3, 1), 278: (4, picture.height)}
        entries |= {279: (4, len(picture.samples))}
        raw = {tag: struct.pack("<HHII", tag, kind, 1, at) for tag, (kind, at) in entries.items()}
        for tag, text in (texts or {}).items() if number == 0 else ():
            raw[tag] = struct.pack("<HHII", tag, 2, len(text), len(data))
            data += text
        data += b"\0" * (len(data) % 2)
        struct.pack_into("<I", data, link, len(data))
        data += struct.pack("<H", len(raw)) + b"".join(raw[tag] for tag in sorted(raw))
        link = len(data)
        data += b"\0\0\0\0"
    return bytes(data)


def bmp(picture: pymupdf.Pixmap) -> bytes:
    stride = -(-picture.width // 4) * 4
    rows = [
        bytes(picture.samples[at : at + picture.width]).ljust(stride, b"\0")
        for at in range(0, picture.stride * picture.height, picture.stride)
    ]
    palette = b"".join(bytes((grey, grey, grey, 0)) for grey in range(256))
    pixels = b"".join(reversed(rows))
    offset = 14 + 40 + len(palette)
    head = struct.pack("<2sIHHI", b"BM", offset + len(pixels), 0, 0, offset)
    info = struct.pack("<IiiHHIIiiII", 40, picture.width, picture.height, 1, 8, 0, 0, 0, 0, 256, 0)
    return head + info + palette + pixels


@needs_engine
@pytest.mark.parametrize(
    ("make", "media_type"),
    [
        (lambda made: made.tobytes("png"), "image/png"),
        (lambda made: made.tobytes("jpg", jpg_quality=95), "image/jpeg"),
        (lambda made: tiff([made]), "image/tiff"),
        (bmp, "image/bmp"),
    ],
)
def test_a_picture_of_text_is_read(make, media_type):
    parsed = read_file(make(pixmap(LETTER)), "scan")
    assert drawn(parsed.blocks) == [f"PARAGRAPH {' '.join(LETTER)}"]
    assert (parsed.media_type, parsed.page_count) == (media_type, 1)
    assert parsed.counts["pages_by_ocr"] == 1


@needs_engine
def test_each_picture_of_a_tiff_is_a_page():
    parsed = read_file(tiff([pixmap(LETTER), pixmap(LEFT)]), "fax.tif")
    assert parsed.page_count == 2
    assert [(block.text, block.page_start) for block in parsed.blocks] == [
        (" ".join(LETTER), 1),
        (" ".join(LEFT), 2),
    ]


def test_without_recognition_a_picture_is_refused_and_told_how_it_is_switched_on():
    with pytest.raises(NoTextLayer, match=r'it is a picture; .* ocr\.mode "auto"'):
        read_file(pixmap(LETTER).tobytes("png"), "scan.png", options=OFF)


@pytest.mark.parametrize("data", [png(60_000, 60_000), b"BM" + b"\0" * 12 + b"\x28\0\0\0" * 3])
def test_a_picture_is_judged_by_its_head_before_it_is_unpacked(data):
    limits = ReadersConfig(max_image_pixels=1_000)
    with pytest.raises(TooLarge, match=r"readers\.max_image_pixels is 1000; this file has \d+"):
        read_file(data, "bomb", limits=limits)


def test_a_tiff_with_more_pages_than_allowed_is_refused():
    with pytest.raises(TooLarge, match=r"readers\.max_pages is 1; this file has 2"):
        read_file(tiff([pixmap(LETTER)] * 2), "fax.tif", limits=ReadersConfig(max_pages=1))


def test_a_tiff_whose_directories_point_at_each_other_ends():
    data = bytearray(tiff([pixmap(LEFT)]))
    data[-4:] = data[4:8]
    assert len(list(sizes_of(bytes(data)))) == 1


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n", b"II*\0\xff\xff\xff\x7f", b"\xff\xd8\xff\xe0"]
)
def test_a_head_that_is_cut_short_is_damage(data):
    with pytest.raises(DamagedFile):
        read_file(data, "cut", options=OFF)


def test_sizes_are_those_of_the_library():
    made = pixmap(LEFT)
    for data in (made.tobytes("png"), made.tobytes("jpg"), tiff([made]), bmp(made)):
        assert list(sizes_of(data)) == [(made.width, made.height)]


def test_texts_of_a_png_are_its_title_and_metadata():
    international = b"Title\0\0\0de\0Titel\0" + "Hafenordnung ü".encode()
    packed = b"Description\0\0" + zlib.compress(b"The  harbour's\nrules")
    facts = facts_of(png(1, 1, (b"iTXt", international), (b"zTXt", packed)))
    assert facts.title == "Hafenordnung ü"
    assert facts.metadata == {"description": "The harbour's rules"}


def test_fields_of_a_tiff_are_its_metadata_and_dates():
    texts = {270: b"A quay\0", 315: b"A. Writer\0", 306: b"2021:05:06 07:08:09\0"}
    facts = facts_of(tiff([pixmap(LEFT)], texts))
    assert facts.metadata == {"description": "A quay", "author": "A. Writer"}
    assert facts.dates == {"modified": "2021-05-06T07:08:09Z"}
