"""The search service's cache folder, as its manifest describes it: segments of the vector index.

Everything in it can be made again from the store, so whatever is wrong with it is mended by
deleting it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from treespan.manifest import MANIFEST, SUFFIX, SegmentFile, read_manifest
from treespan.store.upkeep.reports import CacheStats

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER: Final = "cache"

FileHash: TypeAlias = Callable[[Path], str]
"""Returns the XXH3 of a whole file, 32 hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Cache:
    """Where a cache is, and how its files are hashed."""

    folder: Path
    """The folder, which need not exist."""
    file_hash: FileHash | None = None
    """None compares sizes only."""


def cache_stats(folder: Path) -> CacheStats:
    """Return the segments and bytes of the cache in a folder."""
    if not folder.is_dir():
        return CacheStats(0, 0)
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    try:
        segments = _segments(folder)
    except ValueError:
        segments = []
    return CacheStats(len(segments), size)


def cache_problems(cache: Cache) -> tuple[int, list[tuple[str, str]]]:
    """Return how many files the manifest names, and what is wrong, each with the file."""
    manifest = cache.folder / MANIFEST
    if not manifest.exists():
        return 0, []
    try:
        segments = _segments(cache.folder)
    except ValueError as error:
        return 0, [(f"the manifest of the cache cannot be read: {error}", str(manifest))]
    files = [(cache.folder / f"{segment.name}{SUFFIX}", segment) for segment in segments]
    found = [
        (problem, str(file))
        for file, segment in files
        for problem in _problems(file, segment, cache.file_hash)
    ]
    # A search at work publishes another manifest, then drops files of the one before.
    if found and _segments_now(cache.folder) != segments:
        return cache_problems(cache)
    return len(segments), found


def drop_cache(folder: Path) -> None:
    """Delete the cache in a folder; search makes it again."""
    # The manifest first: what is left by a crash is then files that nobody looks for.
    (folder / MANIFEST).unlink(missing_ok=True)
    for file in folder.glob(f"*{SUFFIX}*"):
        file.unlink(missing_ok=True)


def _segments(cache: Path) -> list[SegmentFile]:
    """Return the files of the manifest; raises ValueError where it is none."""
    try:
        manifest = read_manifest(cache)
    except OSError as error:
        raise ValueError(str(error)) from error
    return [segment for collection in manifest.collections for segment in collection.segments]


def _segments_now(cache: Path) -> list[SegmentFile] | None:
    try:
        return _segments(cache)
    except ValueError:
        return None


def _problems(file: Path, segment: SegmentFile, file_hash: FileHash | None) -> Iterator[str]:
    try:
        size = file.stat().st_size
    except OSError as error:
        yield f"a segment of the cache cannot be read: {error.strerror}"
        return
    if size != segment.size_bytes:
        yield f"a segment of the cache has {size} bytes; its manifest says {segment.size_bytes}"
    elif file_hash is not None and file_hash(file) != segment.hash:
        yield "a segment of the cache is damaged: its hash is not the manifest's"
