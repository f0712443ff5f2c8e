"""Checksums that contents and artifacts are stored with, so that damage on the disk is found."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGEST_BYTES = 16


def content_checksum(
    tree: bytes, vector_nodes: bytes, vectors: bytes, cells: bytes, *said: bytes
) -> str:
    """Return the BLAKE2b of a content as it is stored, 32 hexadecimal digits.

    Args:
        tree: The bytes, and so on.
        vector_nodes: Likewise.
        vectors: Likewise.
        cells: Likewise.
        said: What its file states and what was counted and summed up. Where all of it is empty it
            does not count, as in the checksums of older stores.
    """
    return _checksum(tree, vector_nodes, vectors, cells, *(said if any(said) else ()))


def artifact_checksum(names: Iterable[str], metadata: bytes, said: Iterable[str] = ()) -> str:
    """Return the BLAKE2b of what an artifact's row says, 32 hexadecimal digits.

    Args:
        names: Tenant, collection, name, file name, version and content, in this order.
        metadata: As it is stored.
        said: Summary and source URI; where both are empty they do not count.
    """
    extra = [text.encode("utf-8", "surrogatepass") for text in said]
    parts = [name.encode("utf-8", "surrogatepass") for name in names]
    return _checksum(*parts, metadata, *(extra if any(extra) else ()))


def bytes_checksum(data: bytes) -> str:
    """Return the BLAKE2b of some bytes, 32 hexadecimal digits."""
    return _checksum(data)


def _checksum(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        # With its length, so that no byte can move from one part into the next.
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
