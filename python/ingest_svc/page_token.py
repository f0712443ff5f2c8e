"""Page tokens: where the next page of a list begins, bound to that one list.

A token is a mark of the list and the name that the page begins behind. The mark is a hash of all
that makes the list what it is (its tenant, its collection, its filter), so that the token of
another list is refused, and says nothing of that list but the one name.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING

from treespan.errors import InvalidField

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARK_BYTES = 16


def list_mark(*parts: str | bytes) -> bytes:
    """Return the mark of the list that these parts decide, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()[:_MARK_BYTES]


def next_token(mark: bytes, names: Sequence[str], size: int) -> str:
    """Return the token of the page after the first `size` of these names; empty without one."""
    if len(names) <= size:
        return ""
    return base64.urlsafe_b64encode(mark + names[size - 1].encode()).decode()


def start_of(token: str, mark: bytes) -> str:
    """Return the name that a page begins behind; empty for the first page.

    Raises:
        InvalidField: the token is none, or another list's.
    """
    if not token:
        return ""
    try:
        data = base64.b64decode(token, altchars=b"-_", validate=True)
        name = data[_MARK_BYTES:].decode()
    except (binascii.Error, ValueError):
        data, name = b"", ""
    if data[:_MARK_BYTES] != mark or not name:
        raise InvalidField(
            "page_token",
            "is none of this list's; pass the next_page_token of the answer before, with the same "
            "collection and the same filter",
        )
    return name
