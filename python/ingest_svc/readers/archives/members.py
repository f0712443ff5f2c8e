"""What archives have in common: their files are read one by one, each as if it had come alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest_svc.readers.archives.names import is_system_file
from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.inside import Inside
from ingest_svc.readers.limits import check
from treespan.errors import EmptyFile, FileProblem

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive."""

    name: str
    """Its path there, as written; it is never one of a file here."""
    data: Callable[[], bytes]
    """Returns its bytes; raises a FileProblem where they cannot be had."""


def read_members(source: Source, members: Sequence[Member], media_type: str) -> ParsedFile:
    """Return what the files of an archive hold, in its order.

    Files that systems leave behind, and hidden ones, are passed over.

    Raises:
        FileProblem: no file could be read; of several reasons the most telling one.
    """
    check(source.limits, "max_archive_entries", len(members))
    files = [member for member in members if not is_system_file(member.name)]
    if not files:
        raise EmptyFile(f"the archive holds no file to read; it has {len(members):,} entries")
    inside = Inside(source)
    for done, member in enumerate(files, start=1):
        _add(inside, member)
        if source.progress is not None:
            source.progress(done, len(files))
    if not inside.read:
        raise inside.most_telling()
    return ParsedFile(
        blocks=inside.blocks,
        media_type=media_type,
        warnings=inside.warnings,
        counts={
            "entries": len(members),
            "entries_read": inside.read,
            "skipped": inside.skipped,
        },
    )


def _add(inside: Inside, member: Member) -> None:
    try:
        data = member.data()
    except FileProblem as problem:
        inside.refuse(member.name, problem)
        return
    inside.add(data, member.name)
