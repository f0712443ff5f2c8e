"""The folder of the store goes, comes back, is another one, or cannot be written."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import grpc

from calls import refused
from faults.callers import calling, until
from faults.versions import versions_of
from faults.wholeness import AT, check_files, check_search, settled
from servers import Servers
from treespan.store.upkeep import back_up, restore

if TYPE_CHECKING:
    from pathlib import Path

    from faults.callers import Caller


def refuses_writes(caller: Caller, artifact: str) -> str:
    """Put something in, which must be refused as the store's trouble; return the words."""
    with refused() as told:
        caller.put(artifact, 9)
    assert told.code is grpc.StatusCode.UNAVAILABLE
    assert told.reason == "STORE_UNAVAILABLE"
    return told.message


def answers_nothing_wrong(caller: Caller, right: dict[str, int]) -> None:
    """Search may refuse, or answer as before; it must not say that there is nothing."""
    try:
        found = versions_of(caller.find(AT, 1000).chunks)
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise
    else:
        assert found == right


def test_folder_that_goes_while_both_run_stops_both_in_words_and_may_come_back(
    running: Servers, caller: Caller, tmp_path: Path
) -> None:
    for number in range(8):
        caller.put(f"a{number}", 1)
    settled(caller)
    right = {f"a{number}": 1 for number in range(8)}
    before = caller.everything(AT)
    back_up(running.store, tmp_path / "copy.db")

    shutil.rmtree(running.store)
    assert "removed" in refuses_writes(caller, "a1")
    assert "removed" in refuses_writes(caller, "b")
    until(lambda: running.health("search") == "NOT_SERVING", "search says that it cannot serve")
    answers_nothing_wrong(caller, right)
    assert running.alive("ingest")
    assert running.alive("search")

    running.kill("ingest")
    restore(running.store, tmp_path / "copy.db")
    until(lambda: running.health("search") == "SERVING", "search follows the restored store")
    assert [node_id for node_id, _ in caller.everything(AT)] == [node_id for node_id, _ in before]
    running.start("ingest")
    caller.put("a1", 2)
    found = caller.find(AT, 1000, min_seq=caller.seqs["a1"]).chunks
    assert versions_of(found) == right | {"a1": 2}
    settled(caller)
    check_search(caller, caller.embedded())
    check_files(running)
    assert "Traceback" not in running.log("ingest") + running.log("search")


def test_another_store_in_the_place_is_searched_without_a_restart(
    running: Servers, caller: Caller, tmp_path: Path, settings: dict[str, str]
) -> None:
    (tmp_path / "other").mkdir()
    other = Servers(tmp_path / "other", dict(settings))
    other.start("ingest")
    with calling(other, "search") as there:
        there.create()
        for number in range(8):
            there.put(f"b{number}", 5)
    other.stop()
    for number in range(8):
        caller.put(f"a{number}", 1)
    settled(caller)
    running.stop("ingest")

    running.store.rename(tmp_path / "aside")
    other.store.rename(running.store)
    right = {f"b{number}": 5 for number in range(8)}

    def found() -> dict[str, int]:
        try:
            return versions_of(caller.find(AT, 1000).chunks)
        except grpc.RpcError:
            return {}

    until(lambda: found() == right, "the other store is found")
    assert running.health("search") == "SERVING"
    running.start("ingest")
    caller.put("b1", 6)
    found_now = caller.find(AT, 1000, min_seq=caller.seqs["b1"]).chunks
    assert versions_of(found_now) == right | {"b1": 6}
    settled(caller)
    check_search(caller, caller.embedded())
    check_files(running)
    assert "Traceback" not in running.log("search")


def test_folder_that_is_gone_at_the_start_is_made_anew(running: Servers, caller: Caller) -> None:
    caller.put("a", 1)
    running.stop()
    shutil.rmtree(running.store)
    running.start()
    with refused() as told:
        caller.listed()
    assert told.reason == "COLLECTION_NOT_FOUND"
    caller.create()
    caller.put("a", 2)
    assert versions_of(caller.find(AT, min_seq=caller.seqs["a"]).chunks) == {"a": 2}
    check_files(running)


def test_search_that_started_before_there_was_a_store_finds_it(servers: Servers) -> None:
    servers.start("search")
    with calling(servers) as caller:
        with refused() as told:
            caller.everything(AT)
        assert told.reason == "COLLECTION_NOT_FOUND"
        servers.start("ingest")
        caller.create()
        caller.put("a", 1)
        assert versions_of(caller.find(AT, min_seq=caller.seqs["a"]).chunks) == {"a": 1}


def test_store_that_cannot_be_written_is_searched_and_ingest_says_why_it_ends(
    running: Servers, caller: Caller
) -> None:
    for number in range(8):
        caller.put(f"a{number}", 1)
    right = {f"a{number}": 1 for number in range(8)}
    running.stop("ingest")
    _set_mode(running.store, 0o555, 0o444)
    running.plain_users |= {"ingest", "search"}

    since = running.log_length("ingest")
    running.spawn("ingest")
    assert running.processes.pop("ingest").wait(30) == 1
    [line] = running.log_lines("ingest", since)
    assert "cannot be written: Permission denied" in line["message"]
    assert versions_of(caller.find(AT, 1000).chunks) == right
    assert running.health("search") == "SERVING"

    _set_mode(running.store, 0o755, 0o644)
    running.start("ingest")
    caller.put("a1", 2)
    found = caller.find(AT, 1000, min_seq=caller.seqs["a1"]).chunks
    assert versions_of(found) == right | {"a1": 2}


def _set_mode(folder: Path, of_folder: int, of_files: int) -> None:
    for path in folder.iterdir():
        if path.is_file():
            path.chmod(of_files)
    folder.chmod(of_folder)
