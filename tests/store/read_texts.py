"""A process that looks for an artifact's words while another process replaces it.

    python -m store.read_texts <address> <last version>

What is found must be the nodes of one version, all of them, and never two versions or none. Prints,
as JSON, the versions seen.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing

from store import samples
from treespan.store import open_reader
from treespan.words import match_phrase

TIMEOUT_S = 60


def main() -> None:
    """Read, check and report."""
    address, last = sys.argv[1], int(sys.argv[2])
    seen: list[int] = []
    deadline = time.monotonic() + TIMEOUT_S
    with closing(open_reader(address)) as reader:
        while not seen or seen[-1] != last:
            assert time.monotonic() < deadline, f"saw {len(seen)} versions and not the last"
            hits = reader.text_hits(samples.ACME, "papers", '"part"', 100)
            assert [hit.node for hit in hits] == [1, 2, 3]
            assert len({hit.key for hit in hits}) == 1
            # The commit of version n is the change 4 + n; the texts name the version as well.
            version = hits[0].key - 4
            phrase = match_phrase(f"Version {version}, part")
            assert phrase
            named = reader.text_hits(samples.ACME, "papers", phrase, 100)
            gone = reader.visible()[1][0].key != version + 4
            assert gone or len(named) == 3
            if not seen or seen[-1] != version:
                seen.append(version)
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main()
