"""Files that take long to read or long to embed."""

from __future__ import annotations

from functools import cache

from faults.versions import document

LONG_TO_EMBED = document("long", 1, 500)


@cache
def long_to_read(pages: int = 2_000, lines: int = 40) -> bytes:
    """A PDF of many pages, each line with numbers of its own."""
    font, first_page = 3, 4
    numbers = [first_page + 2 * page for page in range(pages)]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {pages} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for page, number in enumerate(numbers):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R"
            f" /Resources << /Font << /F1 {font} 0 R >> >> >>".encode()
        )
        words = "".join(
            f"(Valve {page} of line {line} is red and {page * line} years old.) Tj T*\n"
            for line in range(lines)
        )
        stream = f"BT /F1 10 Tf 72 740 Td 16 TL\n{words}ET\n".encode()
        objects.append(b"<< /Length %d >>\nstream\n%sendstream" % (len(stream), stream))
    return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    """Objects, numbered from 1, as a PDF; the first is the catalog."""
    parts, at, offsets = [b"%PDF-1.4\n"], 9, []
    for number, body in enumerate(objects, 1):
        part = b"%d 0 obj\n%s\nendobj\n" % (number, body)
        offsets.append(at)
        at += len(part)
        parts.append(part)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table))
    parts.append(b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1))
    parts.append(b"startxref\n%d\n%%%%EOF\n" % at)
    return b"".join(parts)
