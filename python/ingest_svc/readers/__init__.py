"""Readers: the bytes of a file become blocks in reading order.

A new format is one file with a reader and one line in `_READERS`; if its type is not told apart
yet, one in `filetypes`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ingest_svc.readers import filetypes
from ingest_svc.readers.charset import Decoded
from ingest_svc.readers.clean import cleaned, has_content
from ingest_svc.readers.limits import ReaderLimits, check
from ingest_svc.readers.sniff import Sniffed, sniff
from ingest_svc.readers.source import Progress, Source
from treespan.errors import DamagedFile, EmptyFile, EncryptedFile, UnsupportedFile

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


def _read_pdf(source: Source) -> ParsedFile:
    from ingest_svc.readers.pdf.reader import PdfLimits, read_pdf

    return read_pdf(
        source.data,
        password=source.password,
        limits=PdfLimits(max_pages=source.limits.max_pages, seconds=source.limits.wall_s),
        progress=source.progress,
    )


_READERS: dict[FileType, Reader] = {
    filetypes.MARKDOWN: _lazy("markdown", "read_markdown"),
    filetypes.HTML: _lazy("html", "read_html"),
    filetypes.PLAIN: _lazy("text", "read_text"),
    filetypes.PDF: _read_pdf,
}
TEXT_TYPES = {
    kind.media_type: kind for kind in (filetypes.PLAIN, filetypes.MARKDOWN, filetypes.HTML)
}
"""The types that a text can be said to have, by media type."""
_ENCRYPTED = (filetypes.ENCRYPTED_OFFICE, filetypes.ENCRYPTED_ODF)


def read_file(
    data: bytes,
    name: str,
    *,
    password: str = "",
    media_type: str = "",
    limits: ReaderLimits | None = None,
    progress: Progress | None = None,
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

    Raises:
        FileProblem: the file is empty, damaged, encrypted, too large or of a type that is not read.
    """
    limits = limits or ReaderLimits()
    if not data:
        raise EmptyFile("the file has no bytes")
    check(limits, "max_file_bytes", len(data))
    sniffed = _as_told(data, media_type) if media_type else sniff(data, name)
    read = _reader(sniffed.type, password)
    text = sniffed.decoded.text if sniffed.decoded else ""
    undecoded = sniffed.decoded.replaced if sniffed.decoded else 0
    parsed = cleaned(read(Source(data, text, password, limits, progress)), undecoded)
    if not has_content(parsed):
        raise EmptyFile(f"the file is {sniffed.type.name} without any text")
    check(limits, "max_nodes", len(parsed.blocks))
    return parsed


def _as_told(data: bytes, media_type: str) -> Sniffed:
    return Sniffed(TEXT_TYPES[media_type], Decoded(data.decode("utf-8", "replace"), "utf-8"))


def _reader(kind: FileType, password: str) -> Reader:
    if kind in _ENCRYPTED and not password:
        raise EncryptedFile(f"the file is {kind.name}; it can only be read with its password")
    if kind is filetypes.DAMAGED_ZIP:
        raise DamagedFile(f"the file is {kind.name}")
    if kind not in _READERS:
        served = ", ".join(readable.name for readable in _READERS)
        raise UnsupportedFile(f"the file is {kind.name}; what is read: {served}")
    return _READERS[kind]
