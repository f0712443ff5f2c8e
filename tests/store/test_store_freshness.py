"""The contract of the store: how soon another process sees a commit."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from store.processes import python
from store.samples import collection, content, new_artifact

if TYPE_CHECKING:
    from treespan.store.interface import Writer

COMMITS = 50


def test_commit_is_seen_by_another_process_that_polls(writer: Writer, address: str) -> None:
    writer.create_collection(collection())
    process = python("store.follow", address, stdout=subprocess.PIPE)
    assert process.stdout is not None
    delays_ms = []
    with process:
        assert process.stdout.readline() == "1\n"
        for number in range(COMMITS):
            seq = writer.commit_artifact(new_artifact(f"a{number}", content(number % 4)))
            committed = time.perf_counter()
            assert process.stdout.readline() == f"{seq}\n"
            delays_ms.append((time.perf_counter() - committed) * 1000)
        process.terminate()
    # Generous, as the machine may be busy: the usual delay is below 20 ms.
    assert sorted(delays_ms)[COMMITS // 2] < 500
