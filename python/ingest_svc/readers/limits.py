"""The limits of reading one file, and the one sentence in which a file that passes one is refused.

The values and their defaults are those of the settings (`readers.max_pages` and so on), so that a
refusal names the very setting that lifts it. Limits on bytes, pages, nodes and cells are kept by
the readers; memory and processor time by the worker process on itself; wall time by the pool that
watches it.
"""

from __future__ import annotations

from treespan.config import ReadersConfig
from treespan.errors import TooLarge

ReaderLimits = ReadersConfig
"""Limits of one file; a plain frozen dataclass with sensible defaults."""


def too_large(limits: ReaderLimits, name: str, found: object = "more") -> TooLarge:
    """Return the error for a file that passes the limit `name`, a field of `ReaderLimits`."""
    what = LIMITED_THINGS[name]
    return TooLarge(
        f"{what}: limit readers.{name} is {getattr(limits, name)}; this file has {found}"
    )


def check(limits: ReaderLimits, name: str, found: int) -> None:
    """Raise TooLarge where `found` is above the limit `name`, a field of `ReaderLimits`."""
    if found > getattr(limits, name):
        raise too_large(limits, name, found)


LIMITED_THINGS = {
    "max_file_bytes": "too many bytes",
    "max_pages": "too many pages",
    "max_nodes": "too many pieces",
    "max_table_cells": "too many table cells",
    "max_nesting": "nested too deeply",
    "max_unpacked_bytes": "too many bytes when unpacked",
    "max_unpack_ratio": "unpacks to too many times its size",
    "max_archive_entries": "too many entries in the archive",
    "max_archive_depth": "files inside files too deeply",
    "max_page_s": "too much time needed for one page",
    "max_image_pixels": "too many pixels in a picture",
    "memory_bytes": "too much memory needed",
    "cpu_s": "too much processor time needed",
    "wall_s": "too much time needed",
}
"""What each limit is on, as the sentence of a refusal starts."""
