"""A process that makes small commits until it is told to end, and prints how long each took.

python -m store.small_writer <folder>
"""

from __future__ import annotations

import signal
import sys
import time
from contextlib import closing
from itertools import count

from store.samples import content, new_artifact
from treespan.store import open_writer


def main() -> None:
    """Write until told to end."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    with closing(open_writer(sys.argv[1])) as writer:
        for number in count():
            start = time.perf_counter()
            writer.commit_artifact(new_artifact("small", content(number)))
            sys.stdout.write(f"{time.perf_counter() - start:.6f}\n")
            sys.stdout.flush()
            if asked:
                return


if __name__ == "__main__":
    main()
