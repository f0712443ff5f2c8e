"""A process that reads as search does, and prints the epoch and the last seq when they change.

python -m store.watch_epoch <address>
"""

from __future__ import annotations

import sys
import time
from contextlib import closing

from treespan.store import open_reader

POLL_S = 0.002


def main() -> None:
    """Watch until ended."""
    seen = "", 0
    with closing(open_reader(sys.argv[1])) as reader:
        while True:
            if reader.changed():
                epoch, seq = reader.epoch(), reader.last_seq()
                if epoch == reader.epoch() and (epoch, seq) != seen:
                    sys.stdout.write(f"{epoch} {seq}\n")
                    sys.stdout.flush()
                    seen = epoch, seq
            time.sleep(POLL_S)


if __name__ == "__main__":
    main()
