"""A process whose files may not grow beyond a limit, as on a disk that stops taking bytes.

python -m store.limited_writer <folder>
"""

from __future__ import annotations

import resource
import sys
from contextlib import closing

from store.samples import collection, content, new_artifact
from treespan.errors import StoreUnavailable
from treespan.store import open_writer

LIMIT_BYTES = 200_000


def main() -> None:
    """Write until the limit is met, and go on reading."""
    with closing(open_writer(sys.argv[1])) as writer:
        writer.create_collection(collection())
        writer.commit_artifact(new_artifact("a", content(1)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))
        try:
            writer.commit_artifact(new_artifact("a", content(2, sections=3000)))
        except StoreUnavailable as error:
            sys.stdout.write(f"{error.code.name} {error.reason}\n")
        if len(writer.visible()[1]) == 1 and writer.last_seq() == 2:
            sys.stdout.write("still readable\n")


if __name__ == "__main__":
    main()
