from __future__ import annotations

import threading
import time

import grpc
import pytest

from fake_services import FakeIngest, fail, serving
from treespan.cli import uploads
from treespan.cli.files import Source, found
from treespan.cli.interrupts import UnderWay
from treespan.cli.plan import Plan
from treespan.cli.uploads import Job, Result
from treespan.client import Client, has_ended
from treespan.errors import ArtifactBusy, Interrupted, QueueFull
from treespan.v1.ingest_service_pb2 import Artifact, Collection, Operation, Progress


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


def job(client, at_once=2, **keywords):
    return Job(client, "default", keywords, at_once, UnderWay(client))


def later(condition, act):
    """Act in a thread once a condition holds."""

    def run():
        while not condition():
            time.sleep(0.01)
        act()

    threading.Thread(target=run).start()


def sources(paths):
    return found(paths).sources


def outcomes(job, sources, notes, held=None):
    return uploads.outcomes(job, Plan(held or {}, job.keywords), sources, notes)


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


def test_stages_of_the_operation_are_passed_on(client, ingest, tmp_path):
    (tmp_path / "a.txt").write_text("one")
    notes = Notes()
    list(outcomes(job(client), sources([tmp_path]), notes))
    ingest.held.add("b.txt")
    (tmp_path / "b.txt").write_text("one")
    later(lambda: "op-002" in ingest.operations, lambda: ingest.release("op-002"))
    list(outcomes(job(client), sources([tmp_path / "b.txt"]), notes))
    assert Progress.STAGE_READING in notes.stages


def test_closed_early_starts_no_further_file(client, ingest, tmp_path):
    for at in range(50):
        (tmp_path / f"{at:02}.txt").write_text("one")
    running = outcomes(job(client, 1), sources([tmp_path]), Notes())
    next(running)
    running.close()
    assert len(ingest.headers) < 50


def only(ended):
    (outcome,) = ended
    return outcome


@pytest.fixture
def one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    return sources([path])


def test_a_connection_that_breaks_while_it_is_watched_costs_nothing(client, ingest, one):
    ingest.cut_watches = 2
    assert only(outcomes(job(client), one, Notes())).result is Result.OK
    assert ingest.calls.count("IngestFile") == 1


def test_a_request_that_was_lost_is_sent_again_under_its_id(ingest, one, monkeypatch):
    monkeypatch.setattr(UnderWay, "pause", lambda *_: None)
    answered = ingest.IngestFile

    def lost_once(requests, context):
        answer = answered(requests, context)
        if ingest.calls.count("IngestFile") == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        return answer

    ingest.IngestFile = lost_once
    with serving(ingest) as address, Client(address) as client:
        ended = only(outcomes(job(client), one, Notes()))
    assert ended.result is Result.OK
    assert ingest.calls.count("IngestFile") == 2
    assert len(ingest.operations) == 1


def test_another_ingest_of_the_same_artifact_is_waited_for(client, ingest, one, monkeypatch):
    ingest.held.add("a.txt")
    client.ingest_bytes(b"one", "default", "a.txt", detached=True)
    ingest.held.clear()
    enter = ingest._enter

    def busy(name, context):
        enter(name, context)
        if name == "IngestFile" and not has_ended(ingest.operations["op-001"]):
            fail(context, ArtifactBusy("another ingest of 'a.txt' is under way"))

    monkeypatch.setattr(ingest, "_enter", busy)
    later(lambda: "GetOperation" in ingest.calls, lambda: ingest.release("op-001"))
    assert only(outcomes(job(client), one, Notes())).result is Result.ALREADY_THERE


def test_an_operation_that_a_restart_has_ended_is_begun_anew(client, ingest, one, monkeypatch):
    monkeypatch.setattr(UnderWay, "pause", lambda *_: None)
    ended, made = FakeIngest._ingested, []

    def interrupted_once(self, header, data):
        made.append(header.options.request_id)
        if len(made) == 1:
            raise Interrupted("a restart of the service ended it")
        return ended(self, header, data)

    monkeypatch.setattr(FakeIngest, "_ingested", interrupted_once)
    assert only(outcomes(job(client), one, Notes())).result is Result.OK
    assert len(set(made)) == 2


def test_what_does_not_pass_by_itself_is_given_up_in_time(client, ingest, one, monkeypatch):
    monkeypatch.setattr(UnderWay, "pause", lambda *_: None)
    monkeypatch.setitem(uploads._PATIENCE_S, QueueFull, 0.0)
    ingest.fail_with = QueueFull("400 files wait", 2.5)
    ended = only(outcomes(job(client), one, Notes()))
    assert (ended.result, ended.reason) == (Result.FAILED, "QUEUE_FULL")


def test_an_artifact_that_is_deleted_at_once_is_told_from_its_operation(
    client, ingest, one, monkeypatch
):
    def deleted(self, operation, state, error):
        ends(self, operation, state, error)
        self.artifacts.clear()

    ends = FakeIngest._end
    monkeypatch.setattr(FakeIngest, "_end", deleted)
    ended = only(outcomes(job(client), one, Notes()))
    assert ended.result is Result.OK
    assert ended.artifact == Artifact(artifact="a.txt")


def test_stopping_cancels_what_was_begun_and_begins_nothing_else(client, ingest, tmp_path):
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text("one")
        ingest.held.add(name)
    running = job(client, 1)
    later(lambda: ingest.operations, running.under_way.stop)
    ended = list(outcomes(running, sources([tmp_path]), Notes()))
    assert {one.result for one in ended} == {Result.CANCELLED}
    assert [one.state for one in ingest.operations.values()] == [Operation.STATE_CANCELLED]


def test_a_request_whose_answer_was_not_waited_for_is_cancelled(client, ingest, one):
    ingest.held.add("a.txt")
    sent = client.ingest_bytes(b"one", "default", "a.txt", detached=True, request_id="r-1")
    uploads._cancel_request(job(client), "r-1")
    cancelled = client.get_operation(sent.operation.operation)
    assert cancelled.state == Operation.STATE_CANCELLED
