"""What a reader is given: one file, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ingest_svc.readers.limits import ReaderLimits

Progress = Callable[[int, int], None]
"""Takes the units done and all units, for example pages."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read."""

    data: bytes
    text: str = ""
    """The characters, for kinds of text."""
    password: str = ""
    limits: ReaderLimits = field(default_factory=ReaderLimits)
    progress: Progress | None = None
