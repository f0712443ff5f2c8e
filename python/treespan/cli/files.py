"""Which files a list of paths means, and what their artifacts are called."""

from __future__ import annotations

import os
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
        elif path.is_file():
            yield _source(path, path.name)
        else:
            yield _source(path, path.name, f"{path} is no regular file")


def _inside(folder: Path, top: Path) -> Iterator[Source]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield _source(folder, folder.relative_to(top).as_posix(), f"{error.strerror}: {folder}")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _inside(entry, top)
        elif entry.is_file():
            yield _source(entry, entry.relative_to(top).as_posix())


def _source(path: Path, name: str, problem: str = "") -> Source:
    """Return a path under a name; bytes of the name that are not UTF-8 become U+FFFD."""
    name = os.fsencode(name).decode("utf-8", "replace")
    return Source(path, name.replace("/", ":"), name, problem)
