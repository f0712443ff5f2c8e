"""Reads tar archives: their files, in the order of the archive. Links and devices are no files."""

from __future__ import annotations

import io
import tarfile
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.archives.members import Member, read_members
from ingest_svc.readers.archives.unpacking import BombProof
from ingest_svc.readers.block import ParsedFile, Warning
from ingest_svc.readers.limits import check
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_BROKEN = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError)
"""What the library raises on damaged archives."""


def read_tar(source: Source) -> ParsedFile:
    """Return what the files of an archive hold.

    Raises:
        FileProblem: no file could be read; of several reasons the most telling one.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(source.data), mode="r:") as archive:
            entries, fault = _entries(source, archive)
            members = [
                Member(entry.name, partial(_data, source, archive, entry)) for entry in entries
            ]
            parsed = read_members(source, members, "application/x-tar")
    except _BROKEN as error:
        raise DamagedFile(f"the tar archive is damaged: {error}") from error
    if not fault:
        return parsed
    warning = Warning("DAMAGED", f"the archive is read as far as it goes: {fault}")
    return msgspec.structs.replace(parsed, warnings=[warning, *parsed.warnings])


def _entries(source: Source, archive: tarfile.TarFile) -> tuple[list[tarfile.TarInfo], str]:
    """Return the files of an archive, and what is wrong with the rest of it."""
    entries: list[tarfile.TarInfo] = []
    try:
        for entry in archive:
            if entry.isreg():
                entries.append(entry)
                check(source.limits, "max_archive_entries", len(entries))
    except _BROKEN as error:
        if not entries:
            raise
        return entries, str(error)
    return entries, ""


def _data(source: Source, archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    counted = BombProof(source.limits, source.unpacks())
    try:
        stream = archive.extractfile(entry)
        while stream and (part := stream.read(counted.step_bytes)):
            counted.add(part)
    except _BROKEN as error:
        raise DamagedFile(f"the tar archive is damaged or cut short: {error}") from error
    return counted.bytes()
