"""Readers: the bytes of a file become blocks in reading order.

A new format is one file with a reader and one line in `_READERS`; if its type is not told apart
yet, one in `filetypes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ingest_svc.readers import filetypes
from ingest_svc.readers.charset import Decoded
from ingest_svc.readers.clean import cleaned, has_content
from ingest_svc.readers.limits import ReaderLimits, check
from ingest_svc.readers.sniff import Sniffed, sniff
from ingest_svc.readers.source import Look, Progress, ReadOptions, Source, Unpacked
from treespan.config import OcrConfig
from treespan.errors import DamagedFile, EmptyFile, UnsupportedFile

if TYPE_CHECKING:
    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.filetypes import FileType

Reader = Callable[[Source], "ParsedFile"]


def _lazy(module: str, function: str) -> Reader:
    """Return a reader that is imported when first needed, since some libraries are heavy."""

    def read(source: Source) -> ParsedFile:
        reader = getattr(import_module(f"ingest_svc.readers.{module}"), function)
        return cast("ParsedFile", reader(source))

    return read


_READERS: dict[FileType, Reader] = {
    filetypes.MARKDOWN: _lazy("markdown", "read_markdown"),
    filetypes.HTML: _lazy("html", "read_html"),
    filetypes.PLAIN: _lazy("text", "read_text"),
    filetypes.PDF: _lazy("pdf.reader", "read_pdf"),
    filetypes.PNG: _lazy("images.reader", "read_image"),
    filetypes.JPEG: _lazy("images.reader", "read_image"),
    filetypes.GIF: _lazy("images.reader", "read_image"),
    filetypes.TIFF: _lazy("images.reader", "read_image"),
    filetypes.BMP: _lazy("images.reader", "read_image"),
    filetypes.DOCX: _lazy("docx.reader", "read_docx"),
    filetypes.ODT: _lazy("odt.reader", "read_odt"),
    filetypes.RTF: _lazy("rtf.reader", "read_rtf"),
    filetypes.ENCRYPTED_OFFICE: _lazy("encrypted_office", "read_encrypted_office"),
    filetypes.ENCRYPTED_ODF: _lazy("encrypted_odf", "read_encrypted_odf"),
    filetypes.XLSX: _lazy("sheets.reader", "read_xlsx"),
    filetypes.XLSB: _lazy("sheets.reader", "read_xlsb"),
    filetypes.XLS: _lazy("sheets.reader", "read_xls"),
    filetypes.ODS: _lazy("sheets.reader", "read_ods"),
    filetypes.PPTX: _lazy("slides.pptx", "read_pptx"),
    filetypes.ODP: _lazy("slides.odp", "read_odp"),
    filetypes.CSV: _lazy("sheets.csv_tables", "read_csv"),
    filetypes.TSV: _lazy("sheets.csv_tables", "read_csv"),
    filetypes.ORG: _lazy("org", "read_org"),
    filetypes.JSON: _lazy("json_text", "read_json"),
    filetypes.JSON_LINES: _lazy("json_text", "read_json_lines"),
    filetypes.NOTEBOOK: _lazy("notebook", "read_notebook"),
    filetypes.XML: _lazy("xml_text", "read_xml"),
    filetypes.SVG: _lazy("xml_text", "read_xml"),
    filetypes.CODE: _lazy("source_code", "read_code"),
    filetypes.EMAIL: _lazy("mail.reader", "read_mail"),
    filetypes.MBOX: _lazy("mail.mailbox", "read_mailbox"),
    filetypes.MSG: _lazy("mail.msg", "read_msg"),
    filetypes.EPUB: _lazy("epub.reader", "read_epub"),
    filetypes.ZIP: _lazy("archives.zip_files", "read_zip"),
    filetypes.TAR: _lazy("archives.tar_files", "read_tar"),
    filetypes.GZIP: _lazy("archives.compressed", "read_gzip"),
    filetypes.BZIP2: _lazy("archives.compressed", "read_bzip2"),
    filetypes.XZ: _lazy("archives.compressed", "read_xz"),
}
TEXT_TYPES = {
    kind.media_type: kind for kind in (filetypes.PLAIN, filetypes.MARKDOWN, filetypes.HTML)
}
"""The types that a text can be said to have, by media type."""


def read_file(
    data: bytes,
    name: str,
    *,
    password: str = "",
    media_type: str = "",
    limits: ReaderLimits | None = None,
    progress: Progress | None = None,
    options: ReadOptions | None = None,
    ocr: OcrConfig | None = None,
    look: Look | None = None,
) -> ParsedFile:
    """Return what a file holds.

    Args:
        data: The whole file.
        name: Its declared name, which only chooses among kinds of text.
        password: Opens the file where it is encrypted.
        media_type: One of `TEXT_TYPES`: the bytes are text in UTF-8, to be read as that; empty to
            find the type out.
        limits: None means the defaults.
        progress: Called with the units done and all units.
        options: How to read it; None means the defaults.
        ocr: Where the engines for pictures of text are; None means the defaults.
        look: Asks the vision service of these settings; None where nothing can.

    Raises:
        FileProblem: the file is empty, damaged, encrypted, too large or of a type that is not read.
    """
    limits = limits or ReaderLimits()
    source = Source(
        data,
        password=password,
        limits=limits,
        progress=progress,
        name=name,
        options=options or ReadOptions(),
        ocr=ocr or OcrConfig(),
        look=look,
        unpacked=Unpacked(limits, len(data)),
    )
    return read_source(source, media_type)


def read_source(source: Source, media_type: str = "") -> ParsedFile:
    """Return what a file holds, the outermost one or one inside it.

    Args:
        source: The file; its `text` is found out here.
        media_type: As in `read_file`.

    Raises:
        FileProblem: as in `read_file`.
    """
    data, limits = source.data, source.limits
    if not data:
        raise EmptyFile("the file has no bytes")
    check(limits, "max_file_bytes", len(data))
    sniffed = _as_told(data, media_type) if media_type else sniff(data, source.name)
    read = _reader(sniffed.type, inside=source.depth > 0)
    text = sniffed.decoded.text if sniffed.decoded else ""
    undecoded = sniffed.decoded.replaced if sniffed.decoded else 0
    parsed = cleaned(read(replace(source, text=text)), undecoded)
    if not has_content(parsed):
        raise EmptyFile(f"the file is {sniffed.type.name} without any text")
    check(limits, "max_nodes", len(parsed.blocks))
    return parsed


def _as_told(data: bytes, media_type: str) -> Sniffed:
    return Sniffed(TEXT_TYPES[media_type], Decoded(data.decode("utf-8", "replace"), "utf-8"))


def _reader(kind: FileType, *, inside: bool) -> Reader:
    if kind is filetypes.DAMAGED_ZIP:
        raise DamagedFile(f"the file is {kind.name}")
    if kind not in _READERS and inside:
        raise UnsupportedFile(f"the file is {kind.name}, which is not read")
    if kind not in _READERS:
        served = ", ".join(readable.name for readable in _READERS)
        raise UnsupportedFile(f"the file is {kind.name}; what is read: {served}")
    return _READERS[kind]
