"""One artifact replaced again and again under search: every answer is one whole version.

TREESPAN_REPLACEMENTS sets how often (default 60; 1,000 in the long form).
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from faults.callers import calling, has_words, until
from faults.versions import versions_of
from faults.wholeness import AT, check_files, check_search
from servers import Servers
from treespan.store.upkeep import vacuum

if TYPE_CHECKING:
    from collections.abc import Callable

    from faults.callers import Caller
    from treespan.v1.search_service_pb2 import SearchResponse

REPLACEMENTS = int(os.environ.get("TREESPAN_REPLACEMENTS", "60"))
ARTIFACT = "a"
_LARGEST_SHARE = 2.0


@dataclass
class Watching:
    """Searches in threads until told to stop, and notes how many and what was wrong."""

    servers: Servers
    rows: int
    answers: list[int] = field(default_factory=list)
    """Version of every answer, in the order in which they came."""
    faults: list[BaseException] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, ask: Callable[[Caller], SearchResponse]) -> None:
        with calling(self.servers) as caller:
            newest = 0
            while not self.stop.is_set() and not self.faults:
                try:
                    chunks = ask(caller).chunks
                    found = versions_of(chunks)
                    assert len(found) == 1, f"{len(found)} artifacts in an answer"
                    assert len(chunks) == self.rows, "an answer is no whole version"
                    assert found[ARTIFACT] >= newest, "an answer is older than the one before"
                    newest = found[ARTIFACT]
                    self.answers.append(newest)
                except BaseException as error:
                    self.faults.append(error)


def by_vector(caller: Caller) -> SearchResponse:
    return caller.find(AT, 1000)


def by_metadata(caller: Caller) -> SearchResponse:
    return caller.find(AT, 1000, where=has_words("genre", "manual"))


def by_heading(caller: Caller) -> SearchResponse:
    return caller.find(AT, 1000, where=has_words("heading", "Section"))


def by_name(caller: Caller) -> SearchResponse:
    return caller.find(AT, 1000, artifacts=[ARTIFACT])


@pytest.mark.timeout(120 + REPLACEMENTS)
def test_every_answer_during_replacements_is_one_whole_version_and_vacuum_frees_the_others(
    running: Servers, caller: Caller, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = caller.put(ARTIFACT, 1).chunk_count
    caller.find(AT, min_seq=caller.seqs[ARTIFACT])
    watching = Watching(running, rows)
    threads = [
        threading.Thread(target=watching.run, args=(ask,))
        for ask in (by_vector, by_metadata, by_heading, by_name)
    ]
    for thread in threads:
        thread.start()
    try:
        for version in range(2, REPLACEMENTS + 2):
            caller.put(ARTIFACT, version)
            if watching.faults:
                break
        grown = size(running)
        vacuum(running.store)
    finally:
        watching.stop.set()
        for thread in threads:
            thread.join()
    if watching.faults:
        raise watching.faults[0]
    assert len(set(watching.answers)) > REPLACEMENTS / 4, "few versions were ever seen"

    last = REPLACEMENTS + 1
    assert versions_of(caller.find(AT, min_seq=caller.seqs[ARTIFACT]).chunks) == {ARTIFACT: last}
    check_search(caller, caller.embedded())
    vacuum(running.store)
    alone = size_of_one_version(running, tmp_path_factory, last)
    assert size(running) <= _LARGEST_SHARE * alone, f"{grown} bytes before vacuum"
    check_files(running)


def size(servers: Servers) -> int:
    """Bytes of the store's files and of the cache."""
    return sum(path.stat().st_size for path in servers.store.rglob("*") if path.is_file())


def size_of_one_version(servers: Servers, folders: pytest.TempPathFactory, version: int) -> int:
    """Size of a store that never held anything else, with a search process beside it."""
    other = Servers(folders.mktemp("alone"), dict(servers.settings))
    try:
        other.start()
        with calling(other) as caller:
            caller.create()
            caller.put(ARTIFACT, version)
            caller.find(AT, min_seq=caller.seqs[ARTIFACT])
            vacuum(other.store)
            until(lambda: caller.held().rows, "it is searchable")
        return size(other)
    finally:
        other.stop()
