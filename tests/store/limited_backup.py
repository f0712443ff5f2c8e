"""A process that makes or restores a backup while its files may not grow, as on a full disk.

python -m store.limited_backup (back_up | restore) <folder> <file>
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from treespan.errors import StoreUnavailable
from treespan.store import back_up, restore

LIMIT_BYTES = 50_000


def main() -> None:
    """Try, and print the error."""
    what, folder, file = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))
    try:
        if what == "back_up":
            back_up(folder, Path(file))
        else:
            restore(folder, Path(file), force=True)
    except StoreUnavailable as error:
        sys.stdout.write(f"{error.code.name} {error}\n")


if __name__ == "__main__":
    main()
