"""Which files a list of paths means, and what their artifacts are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """A file to ingest, or a path that cannot be."""

    path: Path
    artifact: str
    """Name of the artifact; a path within a folder with ":" for "/"."""
    file_name: str
    problem: str = ""
    """Why it cannot be ingested; empty where nothing is known against it."""


def sources(paths: Iterable[Path]) -> list[Source]:
    """Return the files meant by `paths`, sorted within each folder, none twice under one name.

    A file is taken whatever its name; of a folder every regular file at any depth, but for hidden
    ones, in hidden folders and behind links to folders.
    """
    found: list[Source] = []
    taken: dict[str, Path] = {}
    for source in _all(paths):
        first = taken.setdefault(source.artifact, source.path)
        if first.absolute() == source.path.absolute() and first is not source.path:
            continue
        if first is not source.path:
            problem = f"{first} is ingested as {source.artifact!r} already"
            source = Source(source.path, source.artifact, source.file_name, problem)
        found.append(source)
    return found


def _all(paths: Iterable[Path]) -> Iterator[Source]:
    for path in paths:
        if path.is_dir():
            yield from _inside(path, path)
        else:
            yield Source(path, path.name, path.name)


def _inside(folder: Path, top: Path) -> Iterator[Source]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        name = folder.relative_to(top).as_posix()
        yield Source(folder, name.replace("/", ":"), name, f"{error.strerror}: {folder}")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _inside(entry, top)
        elif entry.is_file():
            name = entry.relative_to(top).as_posix()
            yield Source(entry, name.replace("/", ":"), name)
