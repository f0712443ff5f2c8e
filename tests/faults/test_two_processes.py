"""Two processes of one service on one folder: one writer, any number of readers, one builder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from faults.callers import calling, until
from faults.versions import versions_of
from faults.wholeness import AT, check_files, named_segments, settled

if TYPE_CHECKING:
    from faults.callers import Caller
    from servers import Servers

_TAKES_OVER_S = 10.0
_PAGE_MAP = re.compile(r"^(\w+):\s+(\d+) kB$", re.MULTILINE)


def test_second_ingest_process_ends_at_once_and_names_the_first(
    running: Servers, caller: Caller
) -> None:
    first = running.processes["ingest"]
    running.spawn("ingest-2")
    second = running.processes.pop("ingest-2")
    assert second.wait(30) == 1
    [line] = running.log_lines("ingest-2")
    assert line["level"] == "error"
    assert f"another ingest process (pid {first.pid} on " in line["message"]
    assert str(running.store) in line["message"]
    caller.put("a", 1)
    assert versions_of(caller.find(AT, min_seq=caller.seqs["a"]).chunks) == {"a": 1}


def sealed(servers: Servers, name: str, since: int = 0) -> int:
    """How many segments a search process has said it sealed."""
    lines = servers.log_lines(name, since)
    return len([line for line in lines if line["message"] == "sealed a segment"])


def kilobytes(pid: int) -> dict[str, int]:
    """Memory of a process by kind."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return {kind: int(size) for kind, size in _PAGE_MAP.findall(rollup)}


def test_two_search_processes_share_one_cache_and_one_takes_over_from_the_other(
    running: Servers, caller: Caller
) -> None:
    running.start("search-2")
    with calling(running, "search-2") as other:
        for number in range(12):
            caller.put(f"a{number}", 1)
        last = caller.seqs["a11"]
        assert caller.everything(AT, last) == other.everything(AT, last)
        settled(caller)
        settled(other)
        builders = [name for name in ("search", "search-2") if sealed(running, name)]
        assert builders == ["search"], "the first to start is the builder, and the only one"
        assert caller.everything(AT) == other.everything(AT)
        assert shares_segments(running)

        running.kill("search")
        before = {name for name, *_ in named_segments(running.store / "cache")}
        for number in range(12, 24):
            caller.put(f"a{number}", 1)
        found = other.everything(AT, caller.seqs["a23"])
        assert len({node_id.split("-")[0] for node_id, _ in found}) == 24
        until(lambda: sealed(running, "search-2"), "the other builds", _TAKES_OVER_S)
        settled(other)
        assert {name for name, *_ in named_segments(running.store / "cache")} != before
        check_files(running)

        running.start("search")
        assert caller.everything(AT, caller.seqs["a23"]) == other.everything(AT) == found
    lines = running.log_lines("search-2") + running.log_lines("search")
    assert not [line for line in lines if line["level"] == "error"]


def shares_segments(servers: Servers) -> bool:
    """Whether both processes have the files of the manifest mapped, and share memory at all."""
    cache = servers.store / "cache"
    named = {str(cache / f"{name}.segment") for name, *_ in named_segments(cache)}
    for name in ("search", "search-2"):
        pid = servers.processes[name].pid
        mapped = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
        if not all(path in mapped for path in named):
            return False
        memory = kilobytes(pid)
        assert memory["Pss"] < memory["Rss"]
    return bool(named)
