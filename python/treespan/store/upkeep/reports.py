"""What the operations of a store report; the same for every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called now and then with what is being done, how much of it is done, and how much there is."""


def silent(what: str, done: int, total: int) -> None:
    """Take progress and say nothing."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A committed state of a store, in numbers."""

    schema: int
    epoch: str
    seq: int
    """The last change that it holds."""
    collections: int
    artifacts: int
    """In any state."""
    contents: int


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was made."""

    path: str
    size_bytes: int
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """A backup that was restored."""

    store: str
    source: str
    snapshot: Snapshot
    """What the store holds now; its epoch is a new one."""
    kept: str
    """Where the store lies that was there before; empty where there was none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a store that is not as it must be."""

    what: str
    where: str
    repairable: bool
    """Whether `repair` mends it, from what is sound."""
    advice: str = ""
    """What else to do, where it does not."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check looked at and found."""

    snapshot: Snapshot
    contents: int
    """Contents that were looked at."""
    cache_files: int
    findings: tuple[Finding, ...]
    repaired: tuple[Finding, ...] = ()
    """What was found and is mended now."""


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """Space that was given back."""

    bytes_before: int
    """Bytes of the store's files."""
    bytes_after: int
    log_bytes_after: int
    """Of them, bytes of the write-ahead log; not 0 where readers were at work all the time."""
    freed_pages: int
    pruned_changes: int
    """Rows of the op log that were dropped."""
    steps: int
    longest_step_s: float
    """The longest that writes had to wait."""


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """What a collection's POPULATED artifacts hold."""

    tenant: str
    collection: str
    artifacts: int
    contents: int
    """Different contents; equal files are kept once."""
    shared_contents: int
    """Of them, those that more than one artifact of the tenant holds."""
    nodes: int
    vectors: int
    tokens: int
    metadata_keys: int
    tree_bytes: int
    vector_bytes: int
    text_entries: int
    """Nodes that full-text search knows."""


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The search service's cache of the vector index."""

    segments: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class StoreStats:
    """A store in numbers."""

    engine: str
    store: str
    snapshot: Snapshot
    changes: int
    """Rows of the op log."""
    operations: int
    """Ingests on record, ended or not."""
    unfinished_operations: int
    """Of them, those that have not ended."""
    drafts: int
    """Versions that wait to be populated."""
    draft_bytes: int
    file_bytes: int
    log_bytes: int
    free_bytes: int
    """Bytes within the file that hold nothing; `vacuum` gives them back."""
    text_index_bytes: int
    """Bytes of the full-text indexes."""
    collections: tuple[CollectionStats, ...]
    cache: CacheStats
