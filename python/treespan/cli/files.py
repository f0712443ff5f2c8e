"""Which files a list of paths means, and what their artifacts are called."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from treespan.cli.selection import LINK, NO_FILE, Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Source:
    """A file or address to ingest, or one that cannot be."""

    path: Path
    """Where the file is; of an address, the address."""
    artifact: str
    """Name of the artifact; a path within a folder with ":" for "/"."""
    file_name: str
    problem: str = ""
    """Why it cannot be ingested; empty where nothing is known against it."""
    uri: str = ""
    """The address; empty for a file of this machine."""

    @property
    def place(self) -> str:
        """The path or the address."""
        return self.uri or str(self.path)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, or a folder with all that is in it, that is passed over."""

    path: Path
    reason: str


@dataclass(slots=True)
class Found:
    """What a list of paths means."""

    sources: list[Source] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def found(paths: Iterable[Path], selection: Selection | None = None) -> Found:
    """Return the files meant by `paths`, sorted within each folder, none twice under one name.

    A file is taken whatever its name; of a folder every regular file at any depth that the
    selection lets through, but for hidden ones, in hidden folders and behind links to folders.
    """
    result = Found()
    taken: dict[str, Path] = {}
    for one in _all(paths, selection or Selection()):
        if isinstance(one, LeftOut):
            result.left_out.append(one)
            continue
        first = taken.setdefault(one.artifact, one.path)
        if first is not one.path and first.absolute() == one.path.absolute():
            continue
        if first is not one.path:
            problem = f"{first} is ingested as {one.artifact!r} already"
            one = Source(one.path, one.artifact, one.file_name, problem)
        result.sources.append(one)
    return result


def artifact_name(path: bytes) -> str:
    """Return the artifact's name for a path within a folder; what is not UTF-8 becomes U+FFFD."""
    return path.decode("utf-8", "replace").replace("/", ":")


def _all(paths: Iterable[Path], selection: Selection) -> Iterator[Source | LeftOut]:
    for path in paths:
        if path.is_dir():
            yield from _inside(path, selection)
        elif path.is_file():
            yield _source(path, path.name)
        else:
            yield _source(path, path.name, f"{path} is no regular file")


def _inside(top: Path, selection: Selection) -> Iterator[Source | LeftOut]:
    """Yield what is in a folder; by hand, since folders may be nested deeper than calls."""
    open_folders = [iter(("",))]
    while open_folders:
        path = next(open_folders[-1], None)
        if path is None:
            open_folders.pop()
            continue
        at = top / path
        if path and not _is_folder(at):
            yield from _entry(at, path, selection)
        elif path and (reason := LINK if at.is_symlink() else selection.folder_left_out(path)):
            yield LeftOut(at, reason)
        else:
            try:
                names = sorted(entry.name for entry in at.iterdir())
            except OSError as error:
                yield _source(at, path or top.name, f"{error.strerror}: {at}")
                continue
            open_folders.append(iter([f"{path}/{name}" if path else name for name in names]))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # within a folder that may not be entered
        return False


def _entry(at: Path, path: str, selection: Selection) -> Iterator[Source | LeftOut]:
    reason = selection.file_left_out(path)
    try:
        reason = reason or ("" if at.is_file() else NO_FILE)
    except OSError as error:
        yield _source(at, path, f"{error.strerror}: {at}")
        return
    yield LeftOut(at, reason) if reason else _source(at, path)


def _source(path: Path, name: str, problem: str = "") -> Source:
    raw = os.fsencode(name)
    return Source(path, artifact_name(raw), raw.decode("utf-8", "replace"), problem)
