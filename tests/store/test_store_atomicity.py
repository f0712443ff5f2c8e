"""The contract of the store: what others see while a version takes the place of another."""

from __future__ import annotations

import json
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

from store.processes import python
from store.read_versions import commit, versions_seen
from store.samples import ACME, collection, content, new_artifact
from treespan.store import open_reader

if TYPE_CHECKING:
    from treespan.store.interface import Reader, Writer

REPLACEMENTS = 200


def test_readers_see_versions_whole_and_in_order_under_200_replacements(
    writer: Writer, address: str
) -> None:
    writer.create_collection(collection())
    writer.commit_artifact(commit(0))
    other_process = python(
        "store.read_versions", address, str(REPLACEMENTS), stdout=subprocess.PIPE
    )
    with (
        other_process,
        closing(open_reader(address)) as reader,
        ThreadPoolExecutor(max_workers=3) as pool,
    ):
        by_threads = [pool.submit(versions_seen, reader, REPLACEMENTS) for _ in range(2)]
        for version in range(1, REPLACEMENTS + 1):
            writer.commit_artifact(commit(version))
        output, _ = other_process.communicate(timeout=90)
        seen_by_all = [json.loads(output), *(future.result(timeout=90) for future in by_threads)]
    assert other_process.returncode == 0
    for seen in seen_by_all:
        assert seen == sorted(set(seen))
        assert seen[-1] == REPLACEMENTS
    assert len(writer.artifacts(ACME, "papers", "", 10)) == 1


def test_replacement_leaves_one_content(writer: Writer) -> None:
    writer.create_collection(collection())
    for version in range(5):
        writer.commit_artifact(new_artifact("a", content(version)))
    held = [writer.has_content(ACME, content(version).content_id) for version in range(5)]
    assert held == [False, False, False, False, True]


def test_deletion_of_several_is_seen_all_or_nothing(writer: Writer, reader: Reader) -> None:
    writer.create_collection(collection())
    stop = threading.Event()

    def names_seen() -> set[tuple[str, ...]]:
        seen = set()
        while not stop.is_set():
            seen.add(tuple(sorted(found.artifact for found in reader.visible()[1])))
        return seen

    batches = [[f"{batch}-{number}" for number in range(8)] for batch in range(10)]
    with ThreadPoolExecutor(max_workers=1) as pool:
        reading = pool.submit(names_seen)
        for batch in batches:
            for name in batch:
                writer.commit_artifact(new_artifact(name, content(1)))
            writer.delete_artifacts(ACME, "papers", batch)
        stop.set()
        seen = reading.result(timeout=30)
    # They are committed one by one and deleted first to last: half of a deletion would be an end
    # of a batch without its beginning.
    assert seen <= {tuple(batch[:size]) for batch in batches for size in range(9)}


def test_log_and_state_are_of_one_commit(writer: Writer, reader: Reader) -> None:
    writer.create_collection(collection())
    stop = threading.Event()

    def follow() -> int:
        """Check every row of the log as it appears: its version is there, or a later row is."""
        applied = 1
        while not stop.is_set() or applied < reader.last_seq():
            for change in reader.changes_after(applied, 100):
                document = reader.searchable(ACME, "papers", change.doc_id)
                assert document is not None or reader.last_seq() > change.seq
                applied = change.seq
        return applied

    with ThreadPoolExecutor(max_workers=1) as pool:
        following = pool.submit(follow)
        for version in range(50):
            writer.commit_artifact(new_artifact("a", content(version)))
        stop.set()
        assert following.result(timeout=30) == 51
