"""The manifest of a cache folder: which sealed segments it holds, of which store.

Search writes it, and `treespan check` compares the folder with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST: Final = "manifest.json"
SUFFIX: Final = ".segment"
FORMAT: Final = 1


class SegmentFile(msgspec.Struct, frozen=True):
    """A sealed segment on disk."""

    name: str
    """Name of the file without its ending."""
    size_bytes: int
    hash: str
    """xxh3-128 of the whole file, hexadecimal."""


class CollectionSegments(msgspec.Struct, frozen=True):
    """The sealed segments of a collection."""

    created_seq: int
    """Names the collection, see `CollectionRecord.created_seq`."""
    dimension: int
    embedding_fingerprint: str
    segments: list[SegmentFile]


class Manifest(msgspec.Struct, frozen=True):
    """What a cache folder holds."""

    epoch: str
    """Epoch of the store that the segments are derived from."""
    seq: int
    """The last change that they may hold."""
    collections: list[CollectionSegments]
    format: int = FORMAT


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder.

    Raises:
        OSError: there is none, or it cannot be read.
        ValueError: it is damaged, or of another format.
    """
    data = (folder / MANIFEST).read_bytes()
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"it is damaged: {error}") from error
    if manifest.format != FORMAT:
        raise ValueError(f"it has format {manifest.format}; format {FORMAT} is known here")
    return manifest
