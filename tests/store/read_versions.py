"""A process that reads one artifact while another replaces it, and checks that it is always whole.

    python -m store.read_versions <address> <last version>

Prints, as JSON, the versions it saw. `test_store_atomicity` runs the same in threads of its own.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from store import samples
from treespan.store import open_reader

if TYPE_CHECKING:
    from treespan.store.interface import Reader
    from treespan.store.records import NewArtifact

SECTIONS = 400
TIMEOUT_S = 60


def commit(version: int) -> NewArtifact:
    """Return a version of the artifact, about 40 kB; file name and content name the version."""
    return samples.new_artifact("a", samples.content(version, SECTIONS), note=f" v{version}")


def versions_seen(reader: Reader, last: int) -> list[int]:
    """Read until the last version is seen; return the versions seen, each of them whole."""
    seen: list[int] = []
    deadline = time.monotonic() + TIMEOUT_S
    while not seen or seen[-1] != last:
        assert time.monotonic() < deadline, f"saw {len(seen)} versions and not the last"
        record = reader.artifact(samples.ACME, "papers", "a")
        document = reader.searchable(samples.ACME, "papers", record.doc_id)
        version = int(record.title.split()[1])
        expected = samples.content(version, SECTIONS)
        artifact = commit(version)
        assert record.file_name == artifact.file_name
        assert (record.doc_id, record.sha256) == (artifact.doc_id, expected.sha256)
        # Between the two calls the version may have been replaced: then it is gone, never torn.
        assert document is None or document == samples.searchable(artifact, expected, document.key)
        if document is not None and (not seen or seen[-1] != version):
            seen.append(version)
    return seen


def main() -> None:
    """Read, check and report."""
    address, last = sys.argv[1:]
    with closing(open_reader(address)) as reader:
        sys.stdout.write(json.dumps(versions_seen(reader, int(last))) + "\n")


if __name__ == "__main__":
    main()
