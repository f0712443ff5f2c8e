"""A collection that follows folders, against a service in this process."""

from __future__ import annotations

import os
import shutil
import threading
import time

import click
import pytest

from fake_services import FakeIngest, serving
from treespan.cli import uploads
from treespan.cli.files import Found
from treespan.cli.following import Follower
from treespan.cli.ingest_options import IngestOptions
from treespan.cli.ingest_report import Report
from treespan.cli.interrupts import UnderWay
from treespan.cli.mirror import file_uri
from treespan.cli.uploads import Job
from treespan.client import Client
from treespan.errors import QueueFull
from treespan.v1.ingest_service_pb2 import Artifact, Collection

GIVEN = {
    "pairs": (),
    "summary": None,
    "password": None,
    "pdf_mode": None,
    "ocr": None,
    "ocr_languages": None,
    "include_hidden": False,
    "include": (),
    "exclude": (),
    "jobs": 2,
    "watch": True,
    "settle": 60.0,
    "delete": False,
    "dry_run": False,
    "again": False,
    "as_json": False,
}


@pytest.fixture
def ingest():
    fake = FakeIngest()
    fake.collections["default"] = Collection(collection="default")
    return fake


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def follower(ingest, docs):
    """A follower that looks when it is told to; a file settles in a minute."""
    with serving(ingest) as address, Client(address) as client:
        job = Job(client, "default", {}, 2, UnderWay(client))
        made = Follower(job, IngestOptions.of((str(docs),), GIVEN), Report(as_json=False))
        made.take_stock()
        yield made


def written(path, text="text", age_s=3600.0):
    """Write a file that was last changed a while ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    then = time.time() - age_s
    os.utime(path, (then, then))


def test_new_and_changed_files_are_taken_and_others_left_in_peace(follower, ingest, docs):
    written(docs / "a.md")
    written(docs / "sub" / "b.md")
    follower.look()
    follower.look()
    assert (sorted(ingest.artifacts), len(ingest.part_sizes)) == (["a.md", "sub:b.md"], 2)
    written(docs / "a.md", "another text", age_s=600)
    follower.look()
    assert len(ingest.part_sizes) == 3
    assert ingest.artifacts["a.md"].size_bytes == len("another text")


def test_a_file_that_was_only_touched_is_not_sent(follower, ingest, docs):
    written(docs / "a.md")
    follower.look()
    written(docs / "a.md", age_s=600)
    follower.look()
    assert len(ingest.part_sizes) == 1


def test_a_file_is_taken_once_it_has_stayed_as_it_is(follower, ingest, docs, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr("treespan.cli.following.time.monotonic", lambda: now)
    written(docs / "a.md", "ha", age_s=0)
    follower.look()
    assert ingest.artifacts == {}
    now += 50
    written(docs / "a.md", "half", age_s=0)
    follower.look()
    now += 50
    follower.look()
    assert ingest.artifacts == {}
    now += 50
    follower.look()
    assert ingest.artifacts["a.md"].size_bytes == 4


def test_a_file_whose_clock_is_ahead_is_taken_all_the_same(follower, ingest, docs, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr("treespan.cli.following.time.monotonic", lambda: now)
    written(docs / "a.md", age_s=-86_400)
    follower.look()
    now += 61
    follower.look()
    assert list(ingest.artifacts) == ["a.md"]


def test_temporary_hidden_and_excluded_files_are_never_taken(follower, ingest, docs):
    for name in ("~$a.docx", ".b.md", "c.part", ".git/d.md"):
        written(docs / name)
    follower.look()
    assert ingest.artifacts == {}


def test_deleted_files_are_deleted(follower, ingest, docs):
    written(docs / "a.md")
    written(docs / "b.md")
    follower.look()
    (docs / "a.md").unlink()
    follower.look()
    assert list(ingest.artifacts) == ["b.md"]


def test_files_deleted_while_nobody_followed_are_deleted(follower, ingest, docs):
    written(docs / "b.md")
    gone = file_uri(docs / "a.md")
    ingest.artifacts["a.md"] = Artifact(artifact="a.md", source_uri=gone)
    ingest.artifacts["other.md"] = Artifact(artifact="other.md", source_uri="https://x.org/a.md")
    ingest.artifacts["named.md"] = Artifact(artifact="named.md", source_uri=gone)
    follower.take_stock()
    follower.look()
    assert sorted(ingest.artifacts) == ["b.md", "named.md", "other.md"]


def test_an_artifact_that_others_made_of_the_same_bytes_is_not_ours(follower, ingest, docs):
    written(docs / "a.md")
    follower.look()
    ingest.artifacts["a.md"].source_uri = ""
    follower._taken.clear()
    follower._owned.clear()
    follower.look()
    (docs / "a.md").unlink()
    follower.look()
    assert list(ingest.artifacts) == ["a.md"]


def test_a_renamed_file_is_new_first_and_then_the_old_one_goes(follower, ingest, docs):
    written(docs / "a.md")
    follower.look()
    (docs / "a.md").rename(docs / "b.md")
    before = len(ingest.calls)
    follower.look()
    assert list(ingest.artifacts) == ["b.md"]
    assert ingest.calls[before:].index("IngestFile") < ingest.calls[before:].index("DeleteArtifact")


def test_a_renamed_folder_takes_its_files_along(follower, ingest, docs):
    written(docs / "old" / "deep" / "a.md")
    follower.look()
    (docs / "old").rename(docs / "new")
    follower.look()
    assert list(ingest.artifacts) == ["new:deep:a.md"]


def test_a_bad_file_is_told_once_and_again_when_it_has_changed(follower, ingest, docs, capsys):
    written(docs / "a.md", "bad")
    follower.look()
    follower.look()
    assert capsys.readouterr().out.count("failed  a.md  DAMAGED") == 1
    written(docs / "a.md", "good", age_s=600)
    follower.look()
    assert list(ingest.artifacts) == ["a.md"]


def test_what_passes_by_itself_is_tried_again(follower, ingest, docs, monkeypatch):
    monkeypatch.setitem(uploads._PATIENCE_S, QueueFull, 0.0)
    monkeypatch.setattr(UnderWay, "pause", lambda *_: None)
    written(docs / "a.md")
    enter = ingest._enter

    def full(name, context):
        ingest.fail_with = QueueFull("400 files wait", 0.1) if name == "IngestFile" else None
        enter(name, context)

    monkeypatch.setattr(ingest, "_enter", full)
    follower.look()
    assert ingest.artifacts == {}
    ingest.fail_with = None
    monkeypatch.setattr(ingest, "_enter", enter)
    follower.look()
    assert list(ingest.artifacts) == ["a.md"]


def test_a_service_that_does_not_answer_is_asked_again(follower, ingest, docs, capsys):
    written(docs / "a.md")
    ingest.unavailable_times = 10
    follower.look()
    assert "trying again" in capsys.readouterr().err
    ingest.unavailable_times = 0
    follower.look()
    assert list(ingest.artifacts) == ["a.md"]


def test_a_folder_that_is_lost_ends_the_following_and_deletes_nothing(follower, ingest, docs):
    written(docs / "a.md")
    follower.look()
    docs.rename(docs.parent / "aside")
    with pytest.raises(click.ClickException, match="nothing of it was deleted"):
        follower.look()
    docs.mkdir()
    with pytest.raises(click.ClickException, match="is another one"):
        follower.look()
    assert list(ingest.artifacts) == ["a.md"]


def test_a_folder_that_is_empty_from_the_start_is_not_taken_at_its_word(follower, ingest, docs):
    ingest.artifacts["a.md"] = Artifact(artifact="a.md", source_uri=file_uri(docs / "a.md"))
    with pytest.raises(click.ClickException, match="is its disk mounted"):
        follower.take_stock()


def test_what_cannot_be_looked_at_is_not_gone(follower, ingest, docs, monkeypatch):
    written(docs / "a.md")
    follower.look()

    def lstat(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("treespan.cli.mirror.os.lstat", lstat)
    monkeypatch.setattr("treespan.cli.following.found", lambda *_: Found())
    follower.look()
    assert list(ingest.artifacts) == ["a.md"]


def test_the_command_follows_until_it_is_stopped(ingest, docs):
    written(docs / "a.md")
    with serving(ingest) as address, Client(address) as client:
        under_way = UnderWay(client)
        job = Job(client, "default", {}, 2, under_way)
        options = IngestOptions.of((str(docs),), {**GIVEN, "settle": 0.2})
        thread = threading.Thread(target=Follower(job, options, Report(as_json=False)).run)
        thread.start()
        eventually(lambda: list(ingest.artifacts) == ["a.md"])
        (docs / "b.md").write_text("new")
        eventually(lambda: sorted(ingest.artifacts) == ["a.md", "b.md"])
        (docs / "b.md").write_text("changed")
        eventually(lambda: ingest.artifacts["b.md"].size_bytes == 7)
        (docs / "sub").mkdir()
        (docs / "b.md").rename(docs / "sub" / "c.md")
        eventually(lambda: sorted(ingest.artifacts) == ["a.md", "sub:c.md"])
        shutil.rmtree(docs / "sub")
        eventually(lambda: list(ingest.artifacts) == ["a.md"])
        under_way.stop()
        thread.join(10)
        assert not thread.is_alive()


def eventually(condition, within_s=20.0):
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
