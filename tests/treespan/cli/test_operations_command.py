"""`treespan operations` as it is typed, against a service in this process."""

from __future__ import annotations

import json
import threading

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from treespan.errors import EmptyFile
from treespan.v1.ingest_service_pb2 import Operation, Progress


@pytest.fixture
def running(ingest):
    """An operation under way."""
    ingest.held.add("a.pdf")
    kind = Operation.KIND_INGEST_FILE
    begun = ingest.begin(kind, "papers", "a.pdf", "r-1", lambda: None)
    begun.create_time.CopyFrom(Timestamp(seconds=1_700_000_000))
    return begun


@pytest.fixture
def failed(ingest):
    """An operation that has failed."""

    def ending():
        raise EmptyFile("the file has no bytes")

    return ingest.begin(Operation.KIND_INGEST_URI, "papers", "b.md", "", ending)


def test_operations_are_listed_the_newest_first(run, running, failed):
    done = run("operations")
    assert done.exit_code == 0
    head, first, second = done.stdout.splitlines()
    assert head.split()[:5] == ["operation", "kind", "state", "collection", "artifact"]
    assert first.split()[:6] == ["op-002", "ingest", "uri", "failed", "papers", "b.md"]
    assert first.endswith("EMPTY: the file has no bytes")
    assert second.split()[:6] == ["op-001", "ingest", "file", "running", "papers", "a.pdf"]
    assert "reading 1 of 4 pages" in second


def test_a_list_may_be_narrowed_and_be_json(run, running, failed):
    done = run("operations", "list", "--state", "failed", "--state", "cancelled", "--json")
    assert [json.loads(line)["operation"] for line in done.stdout.splitlines()] == ["op-002"]
    assert run("operations", "list", "--limit", "1", "--json").stdout.count("\n") == 1
    assert run("operations", "list", "-c", "other").stdout == "there is no such operation\n"


def test_no_operations_are_no_table(run):
    assert run("operations").stdout == "no operations\n"


def test_an_operation_is_shown_with_what_it_counted(run, running):
    running.chunk_count = 1_200
    running.counts["sheets"] = 3
    running.warnings.add(kind="DAMAGED", message="repaired")
    done = run("operations", "show", "op-001")
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[:-1])
    assert lines["state"] == "running"
    assert lines["so"] == "far      reading 1 of 4 pages"
    assert (lines["chunks"], lines["sheets"]) == ("1,200", "3")
    assert done.stdout.splitlines()[-1] == "    ! DAMAGED: repaired"
    shown = json.loads(run("operations", "show", "op-001", "--json").stdout)
    assert shown["counts"] == {"sheets": 3}
    assert shown["progress"] == {"stage": "READING", "done": 1, "total": 4}


def test_an_operation_that_is_not_known_is_one_line(run):
    done = run("operations", "show", "x")
    assert (done.exit_code, done.stderr) == (1, "Error: there is no operation 'x'\n")


def test_watching_ends_with_the_operation(run, ingest, running):
    running.progress.stage = Progress.STAGE_EMBEDDING
    threading.Timer(0.2, ingest.release, ["op-001"]).start()
    done = run("operations", "watch", "op-001")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "running  a.pdf  embedding 1 of 4 chunks",
        "succeeded  a.pdf",
    ]


def test_watching_what_fails_ends_with_code_1(run, failed):
    done = run("operations", "watch", failed.operation)
    assert done.exit_code == 1
    assert done.stdout == "failed  b.md  EMPTY: the file has no bytes\n"


def test_cancelling_says_how_each_ended(run, running, failed):
    done = run("operations", "cancel", "op-001", "op-002")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == ["op-001  cancelled  a.pdf", "op-002  failed  b.md"]


def test_one_that_cannot_be_cancelled_does_not_keep_the_others(run, running):
    done = run("operations", "cancel", "x", "op-001")
    assert done.exit_code == 1
    assert done.stderr == "x: there is no operation 'x'\n"
    assert done.stdout == "op-001  cancelled  a.pdf\n"
