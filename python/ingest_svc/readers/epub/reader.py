"""Reads EPUB books: chapters in reading order, by the types that the book states for them."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.block import Block, ParsedFile, Warning
from ingest_svc.readers.charset import decode
from ingest_svc.readers.epub.headings import fitted_headings
from ingest_svc.readers.epub.package import (
    BookItem,
    OutlineEntry,
    Package,
    is_text,
    local_name,
    read_package,
)
from ingest_svc.readers.html_part import part_blocks
from ingest_svc.readers.limits import check
from ingest_svc.readers.xml_parts import parsed_xml
from treespan.errors import DamagedFile, FileProblem, TooLarge, UnsupportedEncryption

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_ENCRYPTION = "META-INF/encryption.xml"
_HIDES_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_MOST_WARNINGS = 100
_CLOSED_AT_ONCE = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
_VERBATIM = re.compile(r"<!\[CDATA\[((?:(?!<!\[CDATA\[|\]\]>).)*)\]\]>", re.DOTALL)
_PREFIX = re.compile(r"<([A-Za-z][\w.-]*):html\b")


def read_epub(source: Source) -> ParsedFile:
    """Return the chapters of a book.

    Raises:
        DamagedFile: it does not say what is in it, or none of it can be read.
        UnsupportedEncryption: its chapters are encrypted, as bookshops do.
        TooLarge: it passes a limit.
    """
    archive = Archive(source)
    package = read_package(archive, source.limits)
    book = _Book(source, archive, package)
    for done, item in enumerate(package.spine, start=1):
        book.add(item)
        if source.progress is not None:
            source.progress(done, len(package.spine))
    if not book.read and book.problems:
        raise book.problems[0]
    faults = [Warning("DAMAGED", fault) for fault in package.faults]
    return ParsedFile(
        blocks=book.blocks,
        media_type=filetypes.EPUB.media_type,
        title=package.title,
        warnings=[*faults, *book.warnings][:_MOST_WARNINGS],
        metadata=package.metadata,
        dates=package.dates,
        counts={"outline": len(package.outline), "skipped": len(book.problems)},
    )


class _Book:
    """Chapters read so far."""

    def __init__(self, source: Source, archive: Archive, package: Package) -> None:
        self._limits = source.limits
        self._archive = archive
        self._entries: dict[str, list[OutlineEntry]] = {}
        for entry in package.outline:
            self._entries.setdefault(entry.path, []).append(entry)
        self._encrypted = _encrypted_paths(archive)
        self._paths = {entry.filename.lower(): entry.filename for entry in archive.entries}
        self._deeper = 0
        self.read = 0
        self.blocks: list[Block] = []
        self.warnings: list[Warning] = []
        self.problems: list[FileProblem] = []

    def add(self, item: BookItem) -> None:
        """Add a chapter; say so where it cannot be read."""
        try:
            blocks, warnings = self._chapter(item)
        except TooLarge:
            raise
        except FileProblem as problem:
            self.problems.append(problem)
            kind = "DAMAGED" if isinstance(problem, DamagedFile) else "SKIPPED_PART"
            self.warnings.append(Warning(kind, problem.message))
            return
        self.read += 1
        entries = self._entries.get(item.path, [])
        blocks, self._deeper = fitted_headings(blocks, entries, self._deeper)
        self.blocks += blocks
        self.warnings += warnings
        check(self._limits, "max_nodes", len(self.blocks))

    def _chapter(self, item: BookItem) -> tuple[list[Block], list[Warning]]:
        if item.path in self._encrypted:
            raise UnsupportedEncryption(
                f"part {item.path!r} of the book is encrypted (DRM), which no password opens here"
            )
        data = self._archive.read(self._paths.get(item.path.lower(), item.path))
        text = decode(data, markup=True).text
        if not is_text(item) and "<html" not in text[:2_000].lower():
            what = f"part {item.path!r} of the book is no text but {item.media_type or 'unknown'}"
            return [], [Warning("SKIPPED_PART", what)]
        return part_blocks(_as_html(text), self._limits)


def _encrypted_paths(archive: Archive) -> frozenset[str]:
    """Return the parts that are encrypted, but for fonts that are only made hard to copy."""
    if _ENCRYPTION not in archive:
        return frozenset()
    root = parsed_xml(archive.read(_ENCRYPTION), _ENCRYPTION, mend=True)
    paths = set()
    for data in (element for element in root.iter() if local_name(element) == "EncryptedData"):
        parts = {local_name(part): part for part in data.iter()}
        method, reference = parts.get("EncryptionMethod"), parts.get("CipherReference")
        algorithm = "" if method is None else method.get("Algorithm", "")
        if reference is not None and algorithm not in _HIDES_FONTS_ONLY:
            paths.add(reference.get("URI", "").lstrip("/"))
    return frozenset(paths)


def _as_html(text: str) -> str:
    """Return XHTML so that a parser of HTML takes it as it is meant.

    To such a parser a title that is closed where it is opened is never closed at all, and the whole
    chapter is part of it.
    """
    prefix = _PREFIX.search(text[:10_000])
    if prefix:
        text = text.replace(f"<{prefix[1]}:", "<").replace(f"</{prefix[1]}:", "</")
    text = _VERBATIM.sub(lambda found: html.escape(found[1], quote=False), text)
    return _CLOSED_AT_ONCE.sub(_opened_and_closed, text)


def _opened_and_closed(found: re.Match[str]) -> str:
    name = found[1]
    return found[0] if name.lower() in _VOID else f"<{name}{found[2]}></{name}>"
