"""Checksums that contents and artifacts are stored with, so that damage on the disk is found."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGEST_BYTES = 16


def content_checksum(tree: bytes, vector_nodes: bytes, vectors: bytes, cells: bytes) -> str:
    """Return the BLAKE2b of a content's bytes as they are stored, 32 hexadecimal digits."""
    return _checksum(tree, vector_nodes, vectors, cells)


def artifact_checksum(names: Iterable[str], metadata: bytes) -> str:
    """Return the BLAKE2b of what an artifact's row says, 32 hexadecimal digits.

    Args:
        names: Tenant, collection, name, file name, version and content, in this order.
        metadata: As it is stored.
    """
    return _checksum(*(name.encode("utf-8", "surrogatepass") for name in names), metadata)


def _checksum(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        # With its length, so that no byte can move from one part into the next.
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
