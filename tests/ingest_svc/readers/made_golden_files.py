"""The golden documents that are no plain text: made here, so that it is plain what is in them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime

from made_archives import NCX, book, chapter, contents, tarred, zipped
from made_msg import container, message
from made_office_files import letter, report

NOTES = "# Notes\n\nThe pump on the *second* floor leaks.\n\n- call the plumber\n- tell Eve\n"
PAGE = (
    "<html><head><title>Prices</title></head><body><h1>Prices</h1><table>"
    "<tr><th>part</th><th>price</th></tr><tr><td>valve</td><td>12.50</td></tr></table></body></html>"
)


def made_files() -> Mapping[str, bytes]:
    """Return the documents by their names."""
    return {
        "archive.zip": archive(),
        "archive.tar": tarred({"notes.md": NOTES.encode(), "docs/page.html": PAGE.encode()}),
        "book.epub": novel(),
        "message.msg": outlook_message(),
        "report.docx": report(),
        "letter.odt": letter(),
    }


def archive() -> bytes:
    inner = zipped({"更多/说明.txt": "泵在二楼。请联系水管工。"}, zipfile.ZIP_STORED)
    return zipped(
        {
            "notes.md": NOTES,
            "docs/": "",
            "docs/page.html": PAGE,
            "__MACOSX/docs/._page.html": b"\x00\x05\x16\x07",
            "docs/old.zip": inner,
            "docs/../../setup.exe": b"MZ" + bytes(64),
            "empty.txt": "",
        },
        zipfile.ZIP_STORED,
    )


def novel() -> bytes:
    chapters = {
        "cover.xhtml": chapter('<img src="cover.jpg" alt="A lighthouse at night"/>'),
        "one.xhtml": chapter("<h1>Part One</h1>"),
        "c1.xhtml": chapter(
            '<h1>The Lamp<a id="p3"/></h1><p>It was <i>dark</i>.<a href="notes.xhtml#n1">1</a></p>'
            "<blockquote><p>Keep the light.</p></blockquote>"
        ),
        "c2.xhtml": chapter("<p>Nobody came that winter.</p>"),
        "notes.xhtml": chapter("<h2>Notes</h2><ol><li>Very dark.</li></ol>"),
        "ad.xhtml": chapter("<p>By the same author.</p>"),
    }
    entries = contents(
        (1, "Part One", "one.xhtml"), (2, "The Lamp", "c1.xhtml"), (2, "The Winter", "c2.xhtml")
    )
    references = '<itemref idref="cover.xhtml"/><itemref idref="ad.xhtml" linear="no"/>'
    references += "".join(f'<itemref idref="{name}"/>' for name in list(chapters)[1:5])
    return book(
        chapters,
        metadata="<dc:title>The Light</dc:title><dc:creator>E. Keeper</dc:creator>"
        "<dc:language>en</dc:language><dc:date>1901</dc:date>"
        '<meta property="dcterms:modified">2024-05-06T07:08:09Z</meta>',
        spine=references,
        items=NCX,
        parts={"OPS/toc.ncx": entries},
        compression=zipfile.ZIP_STORED,
    )


def outlook_message() -> bytes:
    inner = message(
        {0x0037: "Offer", 0x0C1A: "Plumber", 0x5D01: "p@example.org", 0x1000: "120 an hour."},
        head_bytes=24,
    )
    return container(
        message(
            {
                0x001A: "IPM.Note",
                0x0037: "水泵",
                0x0C1A: "王",
                0x5D01: "wang@example.org",
                0x0039: datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC),
                0x1000: "請修理水泵。\r\n\r\n> Which one?\r\n",
                0x3FFD: 950,
            },
            recipients=({0x3001: "Eve", 0x39FE: "eve@example.org", 0x0C15: 1},),
            files=(
                {0x3707: "notes.md", 0x3701: NOTES.encode(), 0x3705: 1},
                {0x3701: inner, 0x3705: 5},
            ),
            code_page="cp950",
        )
    )
