"""Set q3-report-en.md as a printed report: title across, two columns, running head, page numbers.

Writes q3-report-en.pdf. The same text and the same version of PyMuPDF give the same bytes: dates
are fixed and no identifier is drawn by chance.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pymupdf
from markdown_it import MarkdownIt

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "q3-report-en.md"
TARGET = HERE / "q3-report-en.pdf"

PAGE = pymupdf.paper_rect("a4")
MARGIN = 56.0
GUTTER = 22.0
TITLE_HEIGHT = 72.0
RUNNING_HEAD = "Northgate Cold Storage plc · Third quarter 2025"
DATE = "D:20251021090000Z"
STYLE = """
body { font-family: serif; font-size: 10pt; line-height: 1.3; }
h1 { font-family: sans-serif; font-size: 15pt; margin: 0; }
h2 { font-family: sans-serif; font-size: 13pt; margin: 10pt 0 3pt 0; }
h3 { font-family: sans-serif; font-size: 10.5pt; margin: 7pt 0 2pt 0; }
p { margin: 0 0 5pt 0; text-align: justify; }
table { font-family: sans-serif; font-size: 8pt; margin: 4pt 0 8pt 0; width: 100%; }
th { border-bottom: 1px solid black; text-align: left; padding: 1pt 5pt; }
td { border-bottom: 0.5px solid gray; padding: 1pt 5pt; }
"""


def main() -> None:
    """Write the PDF beside its source and say where its headings went."""
    title, _, body = SOURCE.read_text(encoding="utf-8").partition("\n")
    laid_out, headings = lay_out(title.removeprefix("# "), body)
    TARGET.write_bytes(finished(laid_out, title.removeprefix("# "), headings))
    sys.stdout.write(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, {len(headings)} headings\n")


def lay_out(title: str, body: str) -> tuple[bytes, list[list[Any]]]:
    """Return a PDF of title and columns, and its outline as (level, heading, page from 1)."""
    sink = io.BytesIO()
    writer = pymupdf.DocumentWriter(sink)
    headings: list[list[Any]] = []

    def note(at: Any) -> None:
        if at.heading and at.open_close & 1:
            headings.append([at.heading - 1, re.sub(r"\s+", " ", at.text), at.page])

    heading = story(f"<h1>{title}</h1>")
    text = story(MarkdownIt("commonmark").enable("table").render(body))
    page_number, more = 0, True
    while more:
        page_number += 1
        device = writer.begin_page(PAGE)
        if page_number == 1:
            heading.place(title_box())
            heading.draw(device)
        for column in columns(first_page=page_number == 1):
            if more:
                more = bool(text.place(column)[0])
                text.element_positions(note, {"page": page_number})
                text.draw(device)
        writer.end_page()
    writer.close()
    return sink.getvalue(), headings


def story(html: str) -> pymupdf.Story:
    """Return text ready to be placed."""
    return pymupdf.Story(html=html, user_css=STYLE)


def title_box() -> pymupdf.Rect:
    """Return the box of the title, across both columns."""
    return pymupdf.Rect(MARGIN, MARGIN, PAGE.width - MARGIN, MARGIN + TITLE_HEIGHT)


def columns(*, first_page: bool) -> list[pymupdf.Rect]:
    """Return the two columns of a page, left one first."""
    top = MARGIN + (TITLE_HEIGHT if first_page else 12.0)
    width = (PAGE.width - 2 * MARGIN - GUTTER) / 2
    return [
        pymupdf.Rect(left, top, left + width, PAGE.height - MARGIN)
        for left in (MARGIN, MARGIN + width + GUTTER)
    ]


def finished(pdf: bytes, title: str, headings: list[list[Any]]) -> bytes:
    """Return the PDF with running heads, page numbers, outline and fixed metadata."""
    document = pymupdf.open("pdf", pdf)
    for page in document:
        head = pymupdf.Point(MARGIN, MARGIN - 22)
        foot = pymupdf.Point(PAGE.width / 2 - 22, PAGE.height - MARGIN + 28)
        page.insert_text(head, RUNNING_HEAD, fontname="helv", fontsize=8)
        number = f"Page {page.number + 1} of {document.page_count}"
        page.insert_text(foot, number, fontname="helv", fontsize=8)
    document.set_toc(headings)
    document.set_metadata(
        {
            "title": title,
            "author": "Northgate Cold Storage plc",
            "creationDate": DATE,
            "modDate": DATE,
        }
    )
    return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


if __name__ == "__main__":
    main()
