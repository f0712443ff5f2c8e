"""What the address of a store names."""

from __future__ import annotations

from pathlib import Path

from treespan.errors import StoreUnavailable


def folder_of(store: str | Path) -> Path:
    """Return the folder that an address names; it need not exist.

    Raises:
        StoreUnavailable: there is no engine for this kind of store, or it is a file.
    """
    scheme, found, _ = str(store).partition("://")
    if found:
        # The rest of the address may hold a password.
        raise StoreUnavailable(f'there is no store engine for "{scheme}://"; a store is a folder')
    folder = Path(store)
    if folder.exists() and not folder.is_dir():
        raise StoreUnavailable(f"{folder} is a file; a store is a folder (store.path)")
    return folder
