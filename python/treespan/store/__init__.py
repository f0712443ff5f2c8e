"""The store: one truth behind one interface; the contract between the two services."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from treespan.errors import StoreUnavailable
from treespan.store.sqlite_reader import SqliteReader
from treespan.store.sqlite_writer import SqliteWriter

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer

__all__ = ["open_reader", "open_writer"]


def open_reader(store: str | Path) -> Reader:
    """Return a reader of a store.

    Args:
        store: A folder on a local disk. It need not exist yet: until a writer creates the store,
            it reads as an empty one.

    Raises:
        StoreUnavailable: there is no engine for this kind of store, or it is a file.
    """
    return SqliteReader(_folder(store))


def open_writer(store: str | Path) -> Writer:
    """Return the writer of a store, which is created or upgraded where that is needed.

    Args:
        store: A folder on a local disk; created where there is none.

    Raises:
        StoreUnavailable: another process writes to it, or it cannot be written, or it is of a later
            version, or there is no engine for this kind of store.
        StoreDamaged: what is there is no database any more.
    """
    return SqliteWriter(_folder(store))


def _folder(store: str | Path) -> Path:
    """Return the folder that a setting names."""
    scheme, found, _ = str(store).partition("://")
    if found:
        # The rest of the address may hold a password.
        raise StoreUnavailable(f'there is no store engine for "{scheme}://"; a store is a folder')
    folder = Path(store)
    if folder.exists() and not folder.is_dir():
        raise StoreUnavailable(f"{folder} is a file; a store is a folder (store.path)")
    return folder
