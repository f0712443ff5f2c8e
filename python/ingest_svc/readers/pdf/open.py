"""Opening: bytes to an open document and its outline, or the error that says why not."""

from __future__ import annotations

import re
from typing import Any

import pymupdf

from ingest_svc.readers.pdf.outline import Entry
from treespan.errors import DamagedFile, EmptyFile, EncryptedFile, WrongPassword

# The library prints what it finds wrong in a file; a worker says it by errors and warnings alone.
_TOOLS: Any = pymupdf.TOOLS
_TOOLS.mupdf_display_errors(False)
_TOOLS.mupdf_display_warnings(False)
_open: Any = pymupdf.open

_HEAD_BYTES = 1024
_NO_TITLE = re.compile(
    r"^(?:untitled|unbenannt|sans titre|document\d*|title|slide \d+|presentation\d*|no ?title|"
    r".{0,3})$|"
    r"\.(?:docx?|pdf|indd|xlsx?|pptx?|tex|dvi|ps|qxd|fm|rtf|odt|html?|txt|wpd|pmd|cdr)$|[/\\]",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel) - |Print - )", re.IGNORECASE)
_KEPT_METADATA = ("author", "subject", "keywords", "creationDate", "modDate")


def open_pdf(data: bytes, password: str) -> Any:
    """Return the open document.

    Args:
        data: The file.
        password: Empty where none is known; files with an owner's password alone open without.

    Raises:
        EmptyFile: No bytes.
        EncryptedFile: A password is needed and none was given.
        WrongPassword: The one given does not open the file.
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
        raw = document.get_toc(simple=False)
    except Exception:  # A broken outline is no reason to refuse the text.
        return [], 0
    entries = [
        Entry(level, title or "", max(page, 0), _height(detail))
        for level, title, page, detail in raw[:most]
    ]
    return entries, len(raw)


def _height(detail: dict[str, Any]) -> float:
    """Return where on its page an entry points to, from the top; negative where it does not say."""
    to = detail.get("to")
    return float(to.y) if to is not None and to.y > 0 else -1.0


def title_of(document: Any) -> str:
    """Return the title that the file states; empty where it is only a file name or a default."""
    title = _PROGRAM.sub("", (document.metadata or {}).get("title") or "")
    title = " ".join(title.replace("\x00", "").split())
    return "" if _NO_TITLE.search(title) else title


def metadata_of(document: Any) -> dict[str, str]:
    """Return what the file states about itself, and how many files are attached to it."""
    stated = document.metadata or {}
    kept = {
        key: " ".join(value.replace("\x00", "").split())
        for key in _KEPT_METADATA
        if (value := stated.get(key))
    }
    if document.language:
        kept["language"] = document.language
    attached = document.embfile_count()
    if attached:
        kept["attachments"] = str(attached)
    return kept
