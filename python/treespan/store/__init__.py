"""The store: one truth behind one interface; the contract between the two services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treespan.store.address import folder_of
from treespan.store.sqlite.reader import SqliteReader
from treespan.store.sqlite.writer import SqliteWriter
from treespan.store.upkeep import back_up, check_store, repair, restore, store_stats, vacuum

if TYPE_CHECKING:
    from pathlib import Path

    from treespan.store.interface import Reader, Writer

__all__ = [
    "back_up",
    "check_store",
    "open_reader",
    "open_writer",
    "repair",
    "restore",
    "store_stats",
    "vacuum",
]


def open_reader(store: str | Path) -> Reader:
    """Return a reader of a store.

    Args:
        store: A folder on a local disk. It need not exist yet: until a writer creates the store,
            it reads as an empty one.

    Raises:
        StoreUnavailable: there is no engine for this kind of store, or it is a file.
    """
    return SqliteReader(folder_of(store))


def open_writer(store: str | Path) -> Writer:
    """Return the writer of a store, which is created or upgraded where that is needed.

    Args:
        store: A folder on a local disk; created where there is none.

    Raises:
        StoreUnavailable: another process writes to it, or it cannot be written, or it is of a later
            version, or there is no engine for this kind of store.
        StoreDamaged: what is there is no database any more.
    """
    return SqliteWriter(folder_of(store))
