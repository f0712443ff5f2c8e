"""A disk that takes no more bytes: writes are refused in words, the rest goes on, and comes back.

A limit on the size of files stands for the full disk, as it can be set and taken away from a
process that runs; where the tests may mount a small file system, a real one is filled as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import grpc
import pytest

from calls import refused
from faults.callers import calling, until
from faults.versions import versions_of
from faults.wholeness import AT, check_files, check_search, named_segments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faults.callers import Caller
    from servers import Servers

# More bytes than any log of these tests: it must go on, in a file like the others.
_LIMIT_BYTES = 64 << 10
_DISK_BYTES = 12 << 20
_DISK_FILES = 100
_LEFT_BYTES = 200 << 10
# Sealing is tried again after 1, 2 and 4 s.
_TRIES_AGAIN_S = 4.0


def unavailable(caller: Caller, artifact: str, version: int, sections: int) -> str:
    """Put a version in, which must be refused; return the reason in words."""
    with refused() as told:
        caller.put(artifact, version, sections)
    assert told.code is grpc.StatusCode.UNAVAILABLE
    assert told.reason == "STORE_UNAVAILABLE"
    assert told.retry_s
    return told.message


def test_commit_that_the_disk_does_not_take_is_refused_and_possible_again_with_space(
    running: Servers, caller: Caller
) -> None:
    caller.put("a", 1)
    caller.put("b", 1)
    before = caller.everything(AT, caller.seqs["b"])
    log = running.store / "store.db-wal"
    running.limit_file_size("ingest", log.stat().st_size + 4096)

    assert "the disk of the store" in unavailable(caller, "a", 2, 20)
    assert "the disk of the store" in unavailable(caller, "c", 1, 20)
    assert versions_of(caller.find(AT, 1000).chunks) == {"a": 1, "b": 1}
    assert caller.everything(AT) == before
    assert {artifact.artifact for artifact in caller.listed()} >= {"a", "b"}

    running.limit_file_size("ingest", None)
    caller.put("a", 2, 400)
    caller.put("c", 1, 400)
    # What was reserved for the refused upload goes by itself.
    until(lambda: [each.artifact for each in caller.listed()] == ["a", "b", "c"], "only these")
    check_search(caller, caller.embedded())
    assert versions_of(caller.find(AT, 1000).chunks) == {"a": 2, "b": 1, "c": 1}
    check_files(running)
    assert running.alive("ingest")
    assert "Traceback" not in running.log("ingest")


def test_segment_that_the_disk_does_not_take_is_said_once_and_written_when_there_is_space(
    running: Servers, caller: Caller
) -> None:
    running.limit_file_size("search", _LIMIT_BYTES)
    since = running.log_length("search")
    caller.put("a", 1, 500)

    until(lambda: errors(running, since), "the failure is logged")
    found = caller.everything(AT, caller.seqs["a"])
    assert {node_id for node_id, _ in found} == caller.embedded()
    caller.put("b", 1, 500)
    found = caller.everything(AT, caller.seqs["b"])
    assert {node_id for node_id, _ in found} == caller.embedded()
    threading.Event().wait(_TRIES_AGAIN_S)
    [error] = errors(running, since)
    assert "a segment cannot be written" in error
    assert caller.held().segments == 0
    assert not [path for path in (running.store / "cache").iterdir() if "segment" in path.name]

    running.limit_file_size("search", None)
    until(lambda: named_segments(running.store / "cache"), "a segment is sealed", 40)
    assert caller.everything(AT) == found
    check_files(running)
    assert "Traceback" not in running.log("search")


def errors(servers: Servers, since: int) -> list[str]:
    lines = servers.log_lines("search", since)
    return [line["message"] for line in lines if line["level"] in ("warning", "error")]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system for the store."""
    folder = tmp_path / "store"
    folder.mkdir()
    size = f"size={_DISK_BYTES},nr_inodes={_DISK_FILES}"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(disk: Path) -> Path:
    """Leave a few bytes; return the file that holds the others."""
    filler = disk / "filler"
    free = os.statvfs(disk)
    filler.write_bytes(bytes(free.f_bavail * free.f_frsize - _LEFT_BYTES))
    return filler


def test_disk_that_is_really_full_stops_writes_only_and_only_while_it_is_full(
    disk: Path, servers: Servers
) -> None:
    servers.start()
    with calling(servers) as caller:
        caller.create()
        caller.put("a", 1)
        filler = fill(disk)
        since = servers.log_length("search")
        assert "disk" in unavailable(caller, "a", 2, 100)
        assert "No space left" in unavailable(caller, "b", 1, 400)
        assert versions_of(caller.find(AT, 1000).chunks) == {"a": 1}

        filler.unlink()
        caller.put("a", 2, 400)
        filler = fill(disk)
        caller.delete("a")
        assert caller.everything(AT, caller.info().store_seq) == []

        filler.unlink()
        caller.put("b", 2, 400)
        until(lambda: named_segments(disk / "cache"), "a segment is sealed", 40)
        check_search(caller, caller.embedded())
        check_files(servers)
        assert len(errors(servers, since)) <= 1
    assert servers.alive("ingest")
    assert servers.alive("search")
    assert "Traceback" not in servers.log("ingest") + servers.log("search")


def test_disk_that_is_full_when_search_starts_is_used_once_there_is_space(
    disk: Path, servers: Servers
) -> None:
    servers.start()
    with calling(servers) as caller:
        caller.create()
        caller.put("a", 1, 200)
        until(lambda: named_segments(disk / "cache"), "a segment is sealed")
        servers.stop("search")
        shutil.rmtree(disk / "cache")
        fillers = use_up_files(disk)

        since = servers.log_length("search")
        servers.start("search")
        found = caller.everything(AT)
        assert {node_id for node_id, _ in found} == caller.embedded()
        until(lambda: errors(servers, since), "the failure is logged")
        for filler in fillers:
            filler.unlink()
        until(lambda: named_segments(disk / "cache"), "a segment is sealed")
        assert caller.everything(AT) == found
        check_files(servers)
        [told] = errors(servers, since)
        assert "No space left" in told


def use_up_files(disk: Path) -> list[Path]:
    """Make empty files until there can be no more."""
    fillers = []
    with suppress(OSError):
        for number in range(_DISK_FILES):
            filler = disk / f"filler-{number}"
            filler.touch()
            fillers.append(filler)
    return fillers
