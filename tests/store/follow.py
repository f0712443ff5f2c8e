"""A process that follows the op log as search does, and prints each sequence number as it sees it.

python -m store.follow <address>
"""

from __future__ import annotations

import sys
import time
from contextlib import closing

from treespan.store import open_reader

POLL_S = 0.005


def main() -> None:
    """Follow until ended."""
    applied = 0
    with closing(open_reader(sys.argv[1])) as reader:
        while True:
            if reader.changed():
                for change in reader.changes_after(applied, 100):
                    applied = change.seq
                    sys.stdout.write(f"{applied}\n")
                sys.stdout.flush()
            time.sleep(POLL_S)


if __name__ == "__main__":
    main()
