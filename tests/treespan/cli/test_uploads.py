from __future__ import annotations

import threading

import pytest

from fake_services import FakeIngest, serving
from treespan.cli.files import Source, sources
from treespan.cli.uploads import Job, Result, outcomes
from treespan.client import Client
from treespan.v1.ingest_service_pb2 import Collection, Progress


class Notes:
    """Keeps what it is told."""

    def __init__(self):
        self.running = 0
        self.most = 0
        self.stages = []
        self._lock = threading.Lock()

    def started(self, source):
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)

    def progressed(self, source, progress):
        self.stages.append(progress.stage)

    def finished(self, outcome):
        with self._lock:
            self.running -= 1


@pytest.fixture
def ingest():
    fake = FakeIngest()
    fake.collections["default"] = Collection(collection="default")
    return fake


@pytest.fixture
def client(ingest):
    with serving(ingest) as address, Client(address) as client:
        yield client


def job(client, at_once=2):
    return Job(client, "default", {}, None, at_once)


def test_no_more_files_than_allowed_are_under_way(client, tmp_path):
    for at in range(9):
        (tmp_path / f"{at}.txt").write_text("one")
    notes = Notes()
    ended = list(outcomes(job(client, 3), sources([tmp_path]), notes))
    assert sorted(one.source.artifact for one in ended) == [f"{at}.txt" for at in range(9)]
    assert all(one.result is Result.OK for one in ended)
    assert 1 <= notes.most <= 3
    assert notes.running == 0


def test_file_that_vanished_is_not_read_and_the_others_are(client, tmp_path):
    (tmp_path / "a.txt").write_text("one")
    found = [Source(tmp_path / "gone.txt", "gone.txt", "gone.txt"), *sources([tmp_path])]
    ended = {one.source.artifact: one for one in outcomes(job(client), found, Notes())}
    assert ended["a.txt"].result is Result.OK
    assert ended["gone.txt"].reason == "NOT_READ"
    assert ended["gone.txt"].message == f"No such file or directory: {tmp_path / 'gone.txt'}"


def test_two_files_of_one_name_are_not_both_sent(client, ingest, tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(folder)
    ended = list(outcomes(job(client), sources([tmp_path / "x", tmp_path / "y"]), Notes()))
    assert sorted(one.result.name for one in ended) == ["FAILED", "OK"]
    assert ingest.artifacts["a.txt"].size_bytes == 1


def test_stages_are_passed_on(client, ingest, tmp_path):
    (tmp_path / "a.txt").write_text("one")
    ingest.stages = [Progress(stage=Progress.STAGE_CHUNKING)]
    notes = Notes()
    list(outcomes(job(client), sources([tmp_path]), notes))
    assert Progress.STAGE_CHUNKING in notes.stages


def test_closed_early_starts_no_further_file(client, ingest, tmp_path):
    for at in range(50):
        (tmp_path / f"{at:02}.txt").write_text("one")
    running = outcomes(job(client, 1), sources([tmp_path]), Notes())
    next(running)
    running.close()
    assert len(ingest.headers) < 50
