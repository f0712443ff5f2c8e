"""Recognised text, over pages drawn for the test: what Tesseract reads must be what was drawn."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest
from made_pdf import MadePdf, drawn

from ingest_svc.readers.ocr import engine_mark, how_to_get, tessdata_folder, tesseract_for
from ingest_svc.readers.pdf.reader import read_pdf
from ingest_svc.readers.source import ReadOptions, Source
from treespan.config import OcrConfig, ReadersConfig
from treespan.errors import NoTextLayer, TooLarge

HERE = tessdata_folder(OcrConfig())
needs_engine = pytest.mark.skipif(HERE is None, reason="no language files of Tesseract are there")

LETTER = [
    "The harbour office moved to the north quay in spring.",
    "Letters sent to the old address are no longer forwarded.",
    "Opening hours stay as they were, from nine until five.",
]
LEFT = [
    "Boats that stay over night",
    "pay at the first counter.",
    "The fee covers water and",
    "the use of both cranes.",
]
RIGHT = [
    "Visitors without a boat",
    "may use the upper deck.",
    "Bicycles are left beside",
    "the gate of the car park.",
]


def scanned(made: MadePdf, dpi: int = 150, rotate: int = 0) -> bytes:
    """Return the pages as pictures, as a scanner makes them of paper that lies turned."""
    result = pymupdf.open()
    for page in made.document:
        turned = pymupdf.open()
        turned.insert_pdf(made.document, from_page=page.number, to_page=page.number)
        turned[0].set_rotation(rotate)
        pixmap = turned[0].get_pixmap(dpi=dpi)
        new = result.new_page(width=turned[0].rect.width, height=turned[0].rect.height)
        new.insert_image(new.rect, pixmap=pixmap)
    return result.tobytes()


def read(data: bytes, ocr: str = "auto", config: OcrConfig | None = None, **rest):
    source = Source(data, options=ReadOptions(ocr=ocr), ocr=config or OcrConfig())
    return read_pdf(replace(source, **rest))


@needs_engine
def test_a_scanned_page_is_read_with_its_paragraphs_and_counted():
    made = MadePdf().page().lines(70, 120, LETTER).lines(70, 220, LEFT)
    parsed = read(scanned(made))
    assert drawn(parsed.blocks) == [
        f"PARAGRAPH {' '.join(LETTER)}",
        f"PARAGRAPH {' '.join(LEFT)}",
    ]
    assert (parsed.counts["pages_by_ocr"], parsed.counts["pages_without_text"]) == (1, 0)
    assert parsed.warnings == []


@needs_engine
def test_columns_of_a_scan_are_read_one_after_the_other():
    made = MadePdf().page().text(180, 100, "Notice to all visitors", size=20)
    made.lines(60, 160, LEFT).lines(320, 160, RIGHT)
    assert drawn(read(scanned(made)).blocks) == [
        "HEADING1? Notice to all visitors",
        f"PARAGRAPH {' '.join(LEFT)}",
        f"PARAGRAPH {' '.join(RIGHT)}",
    ]


@needs_engine
def test_a_ruled_table_of_a_scan_is_a_table():
    rows = [["Harbour", "Berths", "Depth"], ["North", "120", "14"], ["South", "85", "9"]]
    made = MadePdf().page().lines(60, 100, LETTER).grid(60, 200, rows, width=130)
    (table,) = [block.table for block in read(scanned(made)).blocks if block.table]
    assert [table.header, *table.rows] == rows


@needs_engine
@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_a_page_that_was_scanned_turned_is_read_all_the_same(rotate):
    parsed = read(scanned(MadePdf().page().lines(70, 120, LETTER), rotate=rotate))
    assert drawn(parsed.blocks) == [f"PARAGRAPH {' '.join(LETTER)}"]


@needs_engine
def test_pages_with_text_are_left_alone_unless_all_are_asked_for():
    made = MadePdf().page().lines(70, 120, LETTER)
    assert read(made.data()).counts["pages_by_ocr"] == 0
    forced = read(made.data(), ocr="force")
    assert forced.counts["pages_by_ocr"] == 1
    assert drawn(forced.blocks) == [f"PARAGRAPH {' '.join(LETTER)}"]


@needs_engine
def test_of_a_mixed_file_the_scanned_page_alone_is_recognised():
    made = MadePdf().page().lines(70, 120, LETTER)
    made.document.insert_pdf(pymupdf.open(stream=scanned(MadePdf().page().lines(70, 120, LEFT))))
    parsed = read(made.data())
    assert [block.page_start for block in parsed.blocks] == [1, 2]
    assert (parsed.counts["pages_with_text"], parsed.counts["pages_by_ocr"]) == (1, 1)


def test_with_recognition_off_a_scan_is_refused_and_told_how_it_is_switched_on():
    data = scanned(MadePdf().page().lines(70, 120, LETTER))
    with pytest.raises(NoTextLayer, match=r'it is a picture; .* ocr\.mode "auto"'):
        read(data, ocr="off")


def test_with_recognition_off_a_scanned_page_beside_text_counts_as_skipped():
    made = MadePdf().page().lines(70, 120, LETTER)
    made.document.insert_pdf(pymupdf.open(stream=scanned(MadePdf().page().lines(70, 120, LEFT))))
    parsed = read(made.data(), ocr="off")
    (warning,) = parsed.warnings
    assert (warning.kind, warning.pages) == ("NO_TEXT_LAYER", [2])
    assert (parsed.counts["pages_without_text"], parsed.counts["skipped"]) == (1, 1)


def test_a_named_folder_without_language_files_is_said_to_have_none(tmp_path):
    config = OcrConfig(tessdata=str(tmp_path))
    with pytest.raises(NoTextLayer, match="no language file of Tesseract is there"):
        read(scanned(MadePdf().page().lines(70, 120, LETTER)), config=config)


@needs_engine
def test_a_language_that_is_not_there_is_named_beside_those_that_are():
    data = scanned(MadePdf().page().lines(70, 120, LETTER))
    options = ReadOptions(ocr="auto", ocr_languages="eng+xyz")
    parsed = read(data, options=options)
    (warning,) = parsed.warnings
    assert warning.kind == "OCR_FAILED"
    assert "no language file of Tesseract for xyz" in warning.message
    assert "eng" in warning.message.partition("there are:")[2]
    with pytest.raises(NoTextLayer, match=r"for xyz; in .* there are: .*eng"):
        read(data, options=ReadOptions(ocr="auto", ocr_languages="xyz"))


@needs_engine
def test_a_photograph_is_no_text():
    page = MadePdf().page().document
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 200))
    for x in range(0, 200, 10):
        picture.set_rect(pymupdf.IRect(x, 0, x + 10, 200), (x, 255 - x, 128))
    page[0].insert_image(page[0].rect, pixmap=picture)
    with pytest.raises(NoTextLayer, match="text recognition found no text"):
        read(page.tobytes())


@needs_engine
def test_a_page_that_takes_too_long_is_refused_with_the_limit_and_its_number():
    data = scanned(MadePdf().page().lines(70, 120, LETTER))
    with pytest.raises(TooLarge, match=r"readers\.max_page_s is 0\.0\d*; this file has page 1"):
        read(data, limits=ReadersConfig(max_page_s=0.01))


def test_language_files_are_found_where_the_environment_says(tmp_path, monkeypatch):
    (tmp_path / "fra.traineddata").write_bytes(b"x")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    found = tesseract_for(OcrConfig(), "fra+eng+../fra")
    assert found is not None
    assert (found.folder, found.languages, found.missing) == (tmp_path, "fra", ("eng", "../fra"))
    assert engine_mark(OcrConfig(), "fra") == "tesseract:fra"
    assert engine_mark(OcrConfig(), "eng") == ""
    assert "there are: fra" in how_to_get(OcrConfig(), "eng", "auto")


def test_a_vision_service_goes_before_tesseract():
    config = OcrConfig(vision_url="http://127.0.0.1:1/v1", vision_model="seer")
    assert engine_mark(config, "eng") == "vision:http://127.0.0.1:1/v1:seer"
