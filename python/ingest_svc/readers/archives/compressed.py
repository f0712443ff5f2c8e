"""Reads single files that are compressed: gzip, bzip2, xz; often there is a tar archive in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.archives.members import Member, read_members
from ingest_svc.readers.archives.tar_files import read_tar
from ingest_svc.readers.archives.unpacking import BombProof, Packing, inflated
from ingest_svc.readers.sniff import sniff

if TYPE_CHECKING:
    from ingest_svc.readers.block import ParsedFile
    from ingest_svc.readers.source import Source

_ENDINGS = {".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg"}


def read_gzip(source: Source) -> ParsedFile:
    """Return what is in a file compressed by gzip.

    Raises:
        FileProblem: it is damaged, too large when unpacked, or what is in it cannot be read.
    """
    return _read(source, "gzip", filetypes.GZIP.media_type)


def read_bzip2(source: Source) -> ParsedFile:
    """Return what is in a file compressed by bzip2; raises as `read_gzip` does."""
    return _read(source, "bzip2", filetypes.BZIP2.media_type)


def read_xz(source: Source) -> ParsedFile:
    """Return what is in a file compressed by xz; raises as `read_gzip` does."""
    return _read(source, "xz", filetypes.XZ.media_type)


def _read(source: Source, packing: Packing, media_type: str) -> ParsedFile:
    data = inflated(source.data, packing, BombProof(source.limits, source.unpacks()))
    name = _inner_name(source.name)
    if data and sniff(data, name).type is filetypes.TAR:
        return read_tar(replace(source, data=data, unpacked=source.unpacks()))
    return read_members(source, [Member(name, lambda: data)], media_type)


def _inner_name(name: str) -> str:
    """Return the name without the ending that says how it is compressed."""
    path = PurePath(name.replace("\\", "/"))
    return path.stem + _ENDINGS.get(path.suffix.lower(), "") if path.suffix else path.name
