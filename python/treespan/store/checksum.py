"""The checksum that a content is stored with, so that damage on the disk is found."""

from __future__ import annotations

import hashlib

_DIGEST_BYTES = 16


def content_checksum(tree: bytes, vector_nodes: bytes, vectors: bytes, cells: bytes) -> str:
    """Return the BLAKE2b of a content's bytes as they are stored, 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in (tree, vector_nodes, vectors, cells):
        # With its length, so that no byte can move from one part into the next.
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
