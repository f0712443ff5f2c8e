"""Archives and books made for tests; the same bytes at every run."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping

MADE = (2024, 5, 6, 7, 8, 10)
CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>"""


def zipped(parts: Mapping[str, bytes | str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in parts.items():
            entry = zipfile.ZipInfo(name, MADE)
            entry.compress_type = compression
            entry.create_system = 3
            archive.writestr(entry, data)
    return out.getvalue()


def renamed(archive: bytes, names: Mapping[str, bytes]) -> bytes:
    """Return an archive with other bytes for names, of the same length and not marked as UTF-8."""
    for name, raw in names.items():
        assert len(name.encode()) == len(raw)
        archive = archive.replace(name.encode(), raw)
    return archive


def encrypted(archive: bytes) -> bytes:
    """Return an archive of one entry that says that it is encrypted; its data is not."""
    local, central = archive.index(b"PK\x03\x04"), archive.index(b"PK\x01\x02")
    changed = bytearray(archive)
    changed[local + 6] |= 1
    changed[central + 8] |= 1
    return bytes(changed)


def tarred(parts: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def chapter(body: str, title: str = "t") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
        f"<head><title>{title}</title></head><body>{body}</body></html>"
    )


def book(
    chapters: Mapping[str, str],
    *,
    metadata: str = "<dc:title>Book</dc:title>",
    spine: str = "",
    items: str = "",
    parts: Mapping[str, bytes | str] | None = None,
    compression: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """Return a book; chapters by their file names, in reading order unless `spine` says another."""
    manifest = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters
    )
    references = spine or "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"{metadata}</metadata><manifest>{manifest}{items}</manifest>"
        f'<spine toc="ncx">{references}</spine></package>'
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": package,
            **{f"OPS/{name}": text for name, text in chapters.items()},
            **(parts or {}),
        },
        compression,
    )


def contents(*entries: tuple[int, str, str]) -> str:
    """Return a table of contents (NCX) of entries: depth, label, link."""
    body, depth = "", 0
    for level, label, link in entries:
        body += "</navPoint>" * (depth - level + 1)
        body += f'<navPoint><navLabel><text>{label}</text></navLabel><content src="{link}"/>'
        depth = level
    return (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        f"{body}{'</navPoint>' * depth}</navMap></ncx>"
    )


NCX = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
