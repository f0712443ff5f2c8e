"""What a reader is given: one file, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from ingest_svc.readers.limits import ReaderLimits, check, too_large
from treespan.config import OcrConfig

Progress = Callable[[int, int], None]
"""Takes the units done and all units, for example pages."""

Look = Callable[[bytes], str]
"""Takes a PNG of a page and returns its text as Markdown; raises `ocr.VisionError`."""

_FREE_BYTES = 64 << 20
"""What any file may unpack to, however small it is."""


class ReadOptions(msgspec.Struct, frozen=True):
    """How a file is to be read; the request's wishes over the settings."""

    pdf_mode: Literal["fast", "layout"] = "fast"
    ocr: Literal["off", "auto", "force"] = "auto"
    ocr_languages: str = "eng"
    """By Tesseract's names, joined by "+"."""
    include_hidden: bool = False
    """Read hidden sheets, rows, columns and slides, too."""


class Unpacked:
    """Counts what is unpacked from a file and from all files inside it."""

    def __init__(self, limits: ReaderLimits, packed_bytes: int) -> None:
        """Take the limits and the size of the outermost file."""
        self._limits = limits
        self._packed_bytes = packed_bytes
        self.bytes = 0
        """Bytes so far."""
        self.files = 0
        """Files inside so far, at whatever depth."""

    def add(self, count: int) -> None:
        """Count bytes that came out.

        Raises:
            TooLarge: they are more than the limits allow.
        """
        self.bytes += count
        check(self._limits, "max_unpacked_bytes", self.bytes)
        most = max(_FREE_BYTES, self._limits.max_unpack_ratio * self._packed_bytes)
        if self.bytes > most:
            ratio = f"{self.bytes / max(1, self._packed_bytes):,.0f} or more"
            raise too_large(self._limits, "max_unpack_ratio", ratio)


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read."""

    data: bytes
    text: str = ""
    """The characters, for kinds of text."""
    password: str = ""
    limits: ReaderLimits = field(default_factory=ReaderLimits)
    progress: Progress | None = None
    name: str = ""
    """The declared name."""
    options: ReadOptions = field(default_factory=ReadOptions)
    ocr: OcrConfig = field(default_factory=OcrConfig)
    """Where the engines for pictures of text are."""
    look: Look | None = None
    """Asks a vision service; None where there is none, or it cannot be asked from here."""
    depth: int = 0
    """Number of files around this one."""
    unpacked: Unpacked | None = None
    """Shared with all files inside; None only in tests of readers that unpack nothing."""

    def unpacks(self) -> Unpacked:
        """Return the count of unpacked bytes to add to."""
        return self.unpacked or Unpacked(self.limits, len(self.data))
