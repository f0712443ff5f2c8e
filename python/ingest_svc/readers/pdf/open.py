"""Opening: bytes to an open document and its outline, or the error that says why not."""

from __future__ import annotations

import re
from typing import Any

import pymupdf

from ingest_svc.readers.pdf.outline import Entry
from treespan.errors import (
    DamagedFile,
    EmptyFile,
    EncryptedFile,
    UnsupportedEncryption,
    WrongPassword,
)

# The library prints what it finds wrong in a file; a worker says it by errors and warnings alone.
_TOOLS: Any = pymupdf.TOOLS
_TOOLS.mupdf_display_errors(False)
_TOOLS.mupdf_display_warnings(False)
_open: Any = pymupdf.open

# The library, once imported, has its finder of tables ask the layout model as well, in the whole
# process: slower, and other tables. The model is asked here only where a request wants it.
_library: Any = pymupdf
layout_model: Any = _library._get_layout
_library._get_layout = None

_HEAD_BYTES = 1024
_ENCRYPTION = re.compile(rb"/Encrypt\s*(?:<<|(\d{1,10})\s+\d+\s+R)")
_HANDLER = re.compile(rb"/Filter\s*/([\w.]{1,60})")
_DICTIONARY_BYTES = 4096


def open_pdf(data: bytes, password: str) -> Any:
    """Return the open document.

    Args:
        data: The file.
        password: Empty where none is known; files with an owner's password alone open without.

    Raises:
        EmptyFile: No bytes.
        EncryptedFile: A password is needed and none was given.
        WrongPassword: The one given does not open the file.
        UnsupportedEncryption: It is encrypted otherwise than by the standard's passwords.
        DamagedFile: Not a PDF, or broken beyond repair.
    """
    if not data:
        raise EmptyFile("the file has no bytes; a PDF with text is needed")
    start = data.find(b"%PDF-", 0, _HEAD_BYTES)
    # What stands before the header shifts every offset in the file, so it is cut off.
    body = data[start:] if start > 0 else data
    try:
        document = _open(stream=body, filetype="pdf")
    except Exception as error:
        if handler := _other_encryption(body):
            raise UnsupportedEncryption(
                f"the PDF is encrypted by {handler!r}, which is not read; files encrypted by"
                " password, in the standard way, are"
            ) from error
        raise _damaged(error) from error
    if document.needs_pass:
        _unlock(document, password)
    try:
        pages = document.page_count
    except Exception as error:
        raise _damaged(error) from error
    if pages < 1:
        raise DamagedFile("the PDF has 0 pages; at least 1 that can be read is needed")
    return document


def _other_encryption(body: bytes) -> str:
    """Return what encrypts a file; empty where nothing does, or passwords do."""
    for entry in _ENCRYPTION.finditer(body):
        number = entry.group(1)
        start = entry.end()
        if number:
            own = re.search(rb"[\r\n]%s \d+ obj" % number, body)
            start = own.end() if own else len(body)
        handler = _HANDLER.search(body[start : start + _DICTIONARY_BYTES])
        if handler and handler.group(1) != b"Standard":
            return handler.group(1).decode("latin-1")
    return ""


def open_picture(data: bytes, suffix: str) -> Any:
    """Return an open document whose pages are the pictures of a file.

    Args:
        data: The file.
        suffix: Of its kind, as the library wants it told.

    Raises:
        DamagedFile: It cannot be opened.
    """
    try:
        document = _open(stream=data, filetype=suffix)
        pages = document.page_count
    except Exception as error:
        raise DamagedFile(
            f"the picture cannot be opened ({type(error).__name__}); it may be cut short"
        ) from error
    if pages < 1:
        raise DamagedFile("the file holds 0 pictures; at least 1 that can be read is needed")
    return document


def _damaged(error: Exception) -> DamagedFile:
    """Return the error for a file that cannot be opened, without the library's words on it."""
    return DamagedFile(
        f"the file cannot be opened as a PDF ({type(error).__name__});"
        " it may be cut short or no PDF"
    )


def _unlock(document: Any, password: str) -> None:
    """Open the document's encryption with the password."""
    if not password:
        raise EncryptedFile(
            "the PDF is encrypted and no password was given; its password is needed"
        )
    if not document.authenticate(password):
        raise WrongPassword(
            "the password given does not open the PDF; its user or owner password is needed"
        )


def outline_of(document: Any, most: int) -> tuple[list[Entry], int]:
    """Return the outline's entries, at most so many, and how many it has."""
    try:
        # The library's own table of contents looks up every name in the file, in Python, and gives
        # some heights from the page's foot.
        return _walked(document.outline, most)
    except Exception:  # A broken outline is no reason to refuse the text.
        return [], 0


def _walked(first: Any, most: int) -> tuple[list[Entry], int]:
    entries: list[Entry] = []
    total = 0
    open_items = [(first, 1)]
    while open_items:
        item, level = open_items.pop()
        if item is None or item.this.m_internal is None:
            continue
        total += 1
        if len(entries) < most:
            page, y = item.page + 1, float(item.y)
            entries.append(Entry(level, item.title or "", max(page, 0), y if y > 0 else -1.0))
        open_items += (item.next, level), (item.down, level + 1)
    return entries, total
