"""The types of files that are told apart, read or not, and how their first bytes look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileType:
    """A type of file."""

    media_type: str
    name: str
    """What people call it, with its article where a sentence needs one: "a PNG image"."""


@dataclass(frozen=True, slots=True)
class Magic:
    """Bytes at a fixed place that tell a type."""

    start: bytes
    type: FileType
    offset: int = 0
    sure: bool = True
    """False where a text may start so too; then a zero byte must be near."""


PDF = FileType("application/pdf", "a PDF file")
MARKDOWN = FileType("text/markdown", "a Markdown text")
HTML = FileType("text/html", "an HTML page")
PLAIN = FileType("text/plain", "a plain text")

CSV = FileType("text/csv", "a CSV table")
TSV = FileType("text/tab-separated-values", "a TSV table")
RTF = FileType("application/rtf", "an RTF document")
XML = FileType("application/xml", "an XML document")
SVG = FileType("image/svg+xml", "an SVG image")
ORG = FileType("text/x-org", "an Org text")
CODE = FileType("text/x-source", "program code")
JSON = FileType("application/json", "a JSON file")
JSON_LINES = FileType("application/jsonl", "a JSON Lines file")
NOTEBOOK = FileType("application/x-ipynb+json", "a Jupyter notebook")
EMAIL = FileType("message/rfc822", "an e-mail")
MBOX = FileType("application/mbox", "a mailbox (mbox)")
BINARY = FileType("application/octet-stream", "of no known type, and no text")

_OOXML = "application/vnd.openxmlformats-officedocument."
DOCX = FileType(f"{_OOXML}wordprocessingml.document", "a Word document (DOCX)")
XLSX = FileType(f"{_OOXML}spreadsheetml.sheet", "an Excel workbook (XLSX)")
PPTX = FileType(f"{_OOXML}presentationml.presentation", "a PowerPoint presentation (PPTX)")
XLSB = FileType(
    "application/vnd.ms-excel.sheet.binary.macroEnabled.12", "a binary Excel workbook (XLSB)"
)
PACKAGE = FileType("application/vnd.openxmlformats-package", "an Office Open XML package")
DOC = FileType("application/msword", "an old Word document (DOC)")
XLS = FileType("application/vnd.ms-excel", "an old Excel workbook (XLS)")
PPT = FileType("application/vnd.ms-powerpoint", "an old PowerPoint presentation (PPT)")
MSG = FileType("application/vnd.ms-outlook", "an Outlook message (MSG)")
OLE = FileType("application/x-ole-storage", "an OLE container")
ENCRYPTED_OFFICE = FileType("application/x-ole-encrypted-package", "an encrypted Office document")
EPUB = FileType("application/epub+zip", "an EPUB book")
ODT = FileType("application/vnd.oasis.opendocument.text", "an OpenDocument text (ODT)")
ODS = FileType(
    "application/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet (ODS)"
)
ODP = FileType(
    "application/vnd.oasis.opendocument.presentation", "an OpenDocument presentation (ODP)"
)
ENCRYPTED_ODF = FileType("application/vnd.oasis.opendocument", "an encrypted OpenDocument file")
ZIP = FileType("application/zip", "a ZIP archive")
DAMAGED_ZIP = FileType("application/zip", "a ZIP container that is damaged or cut short")

BMP = FileType("image/bmp", "a BMP image")
PNG = FileType("image/png", "a PNG image")
JPEG = FileType("image/jpeg", "a JPEG image")
GIF = FileType("image/gif", "a GIF image")
TIFF = FileType("image/tiff", "a TIFF image")
GZIP = FileType("application/gzip", "a gzip archive")
BZIP2 = FileType("application/x-bzip2", "a bzip2 archive")
XZ = FileType("application/x-xz", "an xz archive")
TAR = FileType("application/x-tar", "a tar archive")
_RAR = FileType("application/vnd.rar", "a RAR archive")
_MP3 = FileType("audio/mpeg", "an MP3 recording")
_PROGRAM = FileType("application/x-executable", "a program")

BY_MAGIC = (
    Magic(b"\x89PNG\r\n\x1a\n", PNG),
    Magic(b"\x89PNG", PNG),
    Magic(b"\xff\xd8\xff", JPEG),
    Magic(b"GIF87a", GIF, sure=False),
    Magic(b"GIF89a", GIF, sure=False),
    Magic(b"II*\0", TIFF),
    Magic(b"MM\0*", TIFF),
    Magic(b"WEBP", FileType("image/webp", "a WebP image"), offset=8, sure=False),
    Magic(b"BM", BMP, sure=False),
    Magic(b"AT&TFORM", FileType("image/vnd.djvu", "a DjVu document"), sure=False),
    Magic(b"WAVE", FileType("audio/wav", "a WAV recording"), offset=8, sure=False),
    Magic(b"AVI ", FileType("video/x-msvideo", "an AVI video"), offset=8, sure=False),
    Magic(b"ftyp", FileType("video/mp4", "an MP4 video or picture"), offset=4, sure=False),
    Magic(b"OggS", FileType("audio/ogg", "an Ogg recording"), sure=False),
    Magic(b"fLaC", FileType("audio/flac", "a FLAC recording"), sure=False),
    Magic(b"ID3", _MP3, sure=False),
    Magic(b"\x1aE\xdf\xa3", FileType("video/x-matroska", "a Matroska video")),
    Magic(b"\x1f\x8b", GZIP),
    Magic(b"BZh", BZIP2, sure=False),
    Magic(b"\xfd7zXZ\0", XZ),
    Magic(b"(\xb5/\xfd", FileType("application/zstd", "a zstd archive")),
    Magic(b"7z\xbc\xaf\x27\x1c", FileType("application/x-7z-compressed", "a 7z archive")),
    Magic(b"Rar!\x1a\x07", _RAR),
    Magic(b"ustar", TAR, offset=257, sure=False),
    Magic(b"\x7fELF", _PROGRAM),
    Magic(b"MZ", _PROGRAM, sure=False),
    Magic(b"SQLite format 3\0", FileType("application/vnd.sqlite3", "an SQLite database")),
    Magic(b"PAR1", FileType("application/vnd.apache.parquet", "a Parquet file"), sure=False),
    Magic(b"%!PS", FileType("application/postscript", "a PostScript file")),
    Magic(b"\xc5\xd0\xd3\xc6", FileType("application/postscript", "a PostScript file")),
)

NAMED_TEXT = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx"), MARKDOWN),
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".tex", ".adoc"), PLAIN),
    ".org": ORG,
    ".csv": CSV,
    ".tsv": TSV,
    ".json": JSON,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".ipynb": NOTEBOOK,
    ".xml": XML,
    ".svg": SVG,
    ".rtf": RTF,
    **dict.fromkeys((".eml", ".mht", ".mhtml"), EMAIL),
    ".mbox": MBOX,
}
"""Which kind of text a suffix declares."""
