"""A clock that is set back by a day in mid-run: changes have an order that no clock decides."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from faults.callers import calling
from faults.versions import versions_of
from faults.wholeness import AT, check_files, check_search
from treespan.store import open_reader
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.callers import Caller
    from servers import Servers


@pytest.fixture
def sign(servers: Servers) -> Path:
    """Where this file is made, the clock of both services goes back."""
    path = servers.data / "back"
    modules = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    servers.settings["PYTHONPATH"] = os.pathsep.join(filter(None, modules))
    for name in ("ingest", "search"):
        servers.wrappers[name] = ["faults.clock_back", str(path)]
    return path


@pytest.fixture
def caller(servers: Servers, sign: Path) -> Iterator[Caller]:
    servers.start()
    with calling(servers) as opened:
        opened.create()
        yield opened


def test_changes_after_the_clock_went_back_are_the_later_ones(
    servers: Servers, caller: Caller, sign: Path
) -> None:
    before = {name: caller.put(name, 1) for name in ("a", "b", "c")}
    sign.touch()
    replaced = caller.put("a", 2)
    assert replaced.update_time.seconds < before["a"].update_time.seconds, "the clock went back"
    caller.delete("b")
    caller.put("d", 1)
    newest = caller.seqs["d"]
    assert versions_of(caller.find(AT, 1000, min_seq=newest).chunks) == {"a": 2, "c": 1, "d": 1}
    caller.put("b", 3)

    reader = open_reader(servers.store)
    seqs = [operation.seq for operation in reader.changes_after(0, 100)]
    reader.close()
    assert seqs == sorted(set(seqs))
    assert newest < caller.seqs["b"] == seqs[-1]

    servers.kill("search")
    servers.start("search")
    right = {"a": 2, "b": 3, "c": 1, "d": 1}
    assert versions_of(caller.find(AT, 1000, min_seq=seqs[-1]).chunks) == right
    check_search(caller, caller.embedded())
    check_files(servers)


def test_collection_made_anew_after_the_clock_went_back_is_empty(
    servers: Servers, caller: Caller, sign: Path
) -> None:
    caller.put("a", 1)
    caller.put("b", 1, 100)
    sign.touch()
    request = pb.DeleteCollectionRequest(collection=caller.collection, force=True)
    caller.ingest.DeleteCollection(request)
    caller.create()
    assert caller.everything(AT, caller.info().store_seq) == []
    assert caller.listed() == []
    caller.put("a", 2)
    assert versions_of(caller.find(AT, 1000, min_seq=caller.seqs["a"]).chunks) == {"a": 2}

    servers.kill("search", "ingest")
    servers.start()
    assert versions_of(caller.find(AT, 1000).chunks) == {"a": 2}
    check_search(caller, caller.embedded())
    check_files(servers)
