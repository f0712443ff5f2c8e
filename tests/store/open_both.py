"""A process that opens a store to write and then to read, and prints the two errors.

python -m store.open_both <folder> [<user to become, where started by root>]
"""

from __future__ import annotations

import os
import sys
from contextlib import closing

from treespan.errors import StoreUnavailable
from treespan.store import open_reader, open_writer


def main() -> None:
    """Open and print; no error is an empty line."""
    folder, *users = sys.argv[1:]
    for user in map(int, users):
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    try:
        open_writer(folder).close()
        sys.stdout.write("\n")
    except StoreUnavailable as error:
        sys.stdout.write(f"{error}\n")
    with closing(open_reader(folder)) as reader:
        try:
            reader.last_seq()
            sys.stdout.write("\n")
        except StoreUnavailable as error:
            sys.stdout.write(f"{error}\n")


if __name__ == "__main__":
    main()
