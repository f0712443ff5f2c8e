"""What was asked for, and how it is kept for going on with it after a restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.source import ReadOptions

if TYPE_CHECKING:
    from ingest_svc.operations.job import ArtifactKey
    from treespan.store.records import OperationKind


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """What of a request outlives a restart; never a password."""

    file_name: str = ""
    """Empty where it is to be the last part of the address."""
    metadata: bytes = b""
    """As `ArtifactRecord.metadata`."""
    media_type: str = ""
    options: ReadOptions = ReadOptions()
    summary: str = ""
    source_uri: str = ""
    initialize_only: bool = False
    detached: bool = False
    """Whether it outlives its call."""
    has_password: bool = False
    """Whether it cannot go on without what is not kept."""
    had_draft: bool = False
    """Whether a version of the artifact waited to be populated before, which stays."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request, checked."""

    kind: OperationKind
    key: ArtifactKey
    kept: Kept = field(default_factory=Kept)
    password: str = field(default="", repr=False)
    request_id: str = ""
    digest: str = ""
    """Hex SHA-256 of the request; empty without a `request_id`."""


def packed_request(kept: Kept) -> bytes:
    """Return a request as `OperationRecord.request` holds it."""
    return msgspec.msgpack.encode(kept)


def kept_request(packed: bytes) -> Kept:
    """Return what `packed_request` packed.

    Raises:
        msgspec.ValidationError: another version of treespan packed it, and means something else.
    """
    return msgspec.msgpack.decode(packed, type=Kept)
