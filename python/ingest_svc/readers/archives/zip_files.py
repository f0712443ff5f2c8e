"""Reads ZIP archives: their files, in the order of the archive."""

from __future__ import annotations

import stat
from functools import partial
from typing import TYPE_CHECKING

from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.archives.members import Member, read_members
from ingest_svc.readers.archives.names import entry_names

if TYPE_CHECKING:
    import zipfile

    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.source import Source

_UNIX = 3


def read_zip(source: Source) -> ParsedFile:
    """Return what the files of an archive hold.

    Raises:
        FileProblem: no file could be read; of several reasons the most telling one.
    """
    archive = Archive(source)
    named = zip(archive.entries, entry_names(archive.entries), strict=True)
    members = [
        Member(name, partial(archive.read, entry)) for entry, name in named if _is_file(entry)
    ]
    return read_members(source, members, "application/zip")


def _is_file(entry: zipfile.ZipInfo) -> bool:
    """Tell whether an entry is no folder and no link."""
    mode = stat.S_IFMT(entry.external_attr >> 16) if entry.create_system == _UNIX else 0
    return not (entry.filename.endswith(("/", "\\")) or mode in (stat.S_IFDIR, stat.S_IFLNK))
