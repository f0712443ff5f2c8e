"""`treespan ingest` over folders, as its own process against a real service.

Nothing may be lost, doubled or left half-way, whoever is killed in the middle.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from mixed_files import write
from servers import Servers
from tiny_model import write_tiny_model
from treespan.client import Client
from treespan.client.operations import UNDER_WAY
from treespan.errors import NotServing
from treespan.v1.ingest_service_pb2 import Artifact, Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COMMAND = "from treespan.cli import main; main()"
WORDS = ("red", "green", "blue")


@dataclass
class Here:
    """A service with a slow model, a client of it and a folder of documents."""

    servers: Servers
    client: Client
    docs: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def begin(self, *arguments: object) -> subprocess.Popen[str]:
        """Begin `treespan ingest`."""
        address = self.servers.address("ingest")
        command = [sys.executable, "-c", COMMAND, "--ingest", address, "--search", address]
        process = subprocess.Popen(
            [*command, "ingest", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.docs.parent,
        )
        self.running.append(process)
        return process

    def ingest(self, *arguments: object) -> tuple[int, dict[str, str]]:
        """Run it to its end; return its exit code and what became of each artifact."""
        return self.ended(self.begin(*arguments, "--json"))

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, dict[str, str]]:
        out, err = process.communicate(timeout=90)
        assert "Traceback" not in err, err
        lines = map(json.loads, out.splitlines())
        return process.returncode, {line["name"]: line["result"] for line in lines}

    def held(self) -> dict[str, Artifact]:
        return {one.artifact: one for one in self.client.list_artifacts("default")}

    def populated(self) -> set[str]:
        held = self.held().values()
        return {one.artifact for one in held if one.state == Artifact.STATE_POPULATED}

    def under_way(self) -> list[Operation]:
        return list(self.client.list_operations("default", states=UNDER_WAY))

    def write(self, count: int, sentences: int = 40) -> set[str]:
        """Write documents that take a moment each; return their artifacts."""
        self.docs.mkdir(exist_ok=True)
        for at in range(count):
            lines = [f"{WORDS[(at + line) % 3]} {at} {line}." for line in range(sentences)]
            (self.docs / f"{at:03}.md").write_text("\n\n".join(lines))
        return {f"{at:03}.md" for at in range(count)}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("model"), max_tokens=512, slowness=1)


@pytest.fixture
def here(tmp_path: Path, model: Path) -> Iterator[Here]:
    settings = {"MODELS__EMBEDDING": model, "INGEST__URI_ROOTS": tmp_path / "docs"}
    named = {f"TREESPAN__{name}": str(value) for name, value in settings.items()}
    servers = Servers(tmp_path, named)
    servers.start("ingest")
    with Client(servers.address("ingest")) as client:
        client.create_collection("default")
        made = Here(servers, client, tmp_path / "docs")
        try:
            yield made
        finally:
            for process in made.running:
                process.kill()
                process.communicate()
            codes = servers.stop()
    assert set(codes.values()) == {0}


def eventually(condition: Callable[[], object], within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while True:
        with suppress(NotServing):
            if condition():
                return
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_good_files_are_in_bad_ones_are_named_and_a_second_run_skips_what_is_there(
    here: Here,
) -> None:
    known = {one.path.name: one.reason for one in write(here.docs, 100)}
    process = here.begin(here.docs, "--json")
    out, err = process.communicate(timeout=90)
    lines = [json.loads(line) for line in out.splitlines()]
    told = {line["path"].rpartition("/")[2]: line["reason"] for line in lines}
    assert process.returncode == 1, err
    assert told == known
    good = sum(not reason for reason in known.values())
    assert len(here.populated()) == good
    _, second = here.ingest(here.docs)
    assert Counter(second.values()) == {"ALREADY_THERE": good, "FAILED": 100 - good}


def test_a_second_run_takes_a_twentieth_of_the_first(here: Here) -> None:
    here.write(60, sentences=200)
    seconds = [
        float(re.search(r"[\d,]+ +[\d,]+ +[\d,]+ +([\d.]+) +", out).group(1))
        for out in (here.begin(here.docs).communicate(timeout=90)[0] for _ in range(2))
        for out in [out[out.rindex("pages") :]]
    ]
    assert seconds[1] < max(seconds[0] / 20, 0.3), seconds


def test_a_service_that_is_killed_in_the_middle_costs_nothing(here: Here) -> None:
    wanted = here.write(40, sentences=100)
    process = here.begin(here.docs, "--json")
    eventually(lambda: len(here.populated()) > 5)
    here.servers.kill("ingest")
    here.servers.start("ingest")
    code, results = here.ended(process)
    assert code == 0
    assert results.keys() == wanted
    assert set(results.values()) <= {"OK", "ALREADY_THERE"}
    assert set(here.held()) == here.populated() == wanted
    assert here.under_way() == []


def test_an_interrupt_cancels_what_is_under_way_and_the_next_run_goes_on(here: Here) -> None:
    wanted = here.write(40, sentences=200)
    process = here.begin(here.docs, "--json")
    eventually(lambda: len(here.populated()) > 5)
    process.send_signal(signal.SIGINT)
    code, results = here.ended(process)
    assert code == 130
    assert results.keys() == wanted
    assert here.under_way() == []
    done = {name for name, result in results.items() if result == "OK"}
    assert 0 < len(done) < 40
    assert set(here.held()) == here.populated() == done
    code, results = here.ingest(here.docs)
    assert code == 0
    assert {name for name, result in results.items() if result == "ALREADY_THERE"} == done
    assert here.populated() == wanted


def test_a_command_that_is_killed_loses_nothing_and_doubles_nothing(here: Here) -> None:
    wanted = here.write(40, sentences=200)
    process = here.begin(here.docs, "--json")
    eventually(lambda: len(here.populated()) > 5)
    process.kill()
    code, results = here.ingest(here.docs)
    assert code == 0
    assert results.keys() == wanted
    assert here.populated() == wanted
    succeeded = here.client.list_operations("default", states=["succeeded"])
    made = Counter(one.artifact for one in succeeded if not one.already_ingested)
    assert made == dict.fromkeys(wanted, 1)


def test_a_mirror_is_like_its_folder(here: Here) -> None:
    here.write(6)
    here.client.ingest_text("red", "default", "mine")
    assert here.ingest(here.docs)[0] == 0
    (here.docs / "000.md").unlink()
    (here.docs / "001.md").rename(here.docs / "new.md")
    code, results = here.ingest(here.docs, "--delete")
    assert code == 0
    assert Counter(results.values()) == {"ALREADY_THERE": 4, "OK": 1, "DELETED": 2}
    assert here.populated() == {"mine", "new.md", "002.md", "003.md", "004.md", "005.md"}


def test_a_followed_folder_is_in_the_collection_whatever_happens_to_it(here: Here) -> None:
    wanted = here.write(3)
    process = here.begin(here.docs, "--watch", "--settle", "0.3", "--json")
    eventually(lambda: here.populated() == wanted)
    before = here.held()["001.md"]
    (here.docs / "new.md").write_text("green")
    (here.docs / "half.part").write_text("gre")
    eventually(lambda: "new.md" in here.populated())
    (here.docs / "new.md").write_text("green and blue")
    eventually(lambda: here.held()["new.md"].size_bytes == 14)
    (here.docs / "sub").mkdir()
    (here.docs / "001.md").rename(here.docs / "sub" / "moved.md")
    eventually(lambda: here.populated() == {"000.md", "002.md", "new.md", "sub:moved.md"})
    assert here.held()["sub:moved.md"].content_sha256 == before.content_sha256
    (here.docs / "new.md").unlink()
    eventually(lambda: here.populated() == {"000.md", "002.md", "sub:moved.md"})
    here.servers.kill("ingest")
    (here.docs / "later.md").write_text("blue")
    here.servers.start("ingest")
    eventually(lambda: "later.md" in here.populated())
    process.send_signal(signal.SIGTERM)
    assert here.ended(process)[0] == 0


def test_an_address_is_fetched_by_the_service_where_it_may(here: Here) -> None:
    here.write(1)
    inside, outside = f"file://{here.docs}/000.md", f"file://{here.docs.parent}/secret.md"
    assert here.ingest(inside)[0] == 0
    assert [one.source_uri for one in here.held().values()] == [inside]
    code, results = here.ingest(outside)
    assert code == 1
    assert list(results.values()) == ["FAILED"]
