"""`treespan ingest` as it is typed, against a service in this process."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
import time

import pytest

from treespan import errors
from treespan.cli.mirror import file_uri
from treespan.client import metadata_of
from treespan.v1.ingest_service_pb2 import Artifact, Collection, IngestOptions, Progress


def test_folder_is_ingested_and_one_bad_file_does_not_stop_the_rest(run, ingest, tmp_path):
    for name, text in {"a.md": "one", "sub/b.md": "bad", "sub/c.md": "odd"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    ingest.artifacts["a.md"] = Artifact(artifact="a.md")
    done = run("ingest", tmp_path)
    assert done.exit_code == 1
    assert done.stderr == "created the collection 'default'\n"
    assert sorted(ingest.headers) == ["a.md", "sub:b.md", "sub:c.md"]
    assert ingest.headers["sub:c.md"].file_name == "sub/c.md"
    assert "already there  a.md  2 pages, 5 chunks, 1,200 tokens" in done.stdout
    assert "failed  sub/b.md  DAMAGED: page 3 cannot be read" in done.stdout
    assert "    ! NO_TEXT_LAYER: page 2 has no text" in done.stdout
    files, counts, _, amounts, values = done.stdout.splitlines()[-5:]
    assert files.split() == ["files", "ok", "already", "there", "failed", "skipped"]
    assert counts.split() == ["3", "1", "1", "1", "0"]
    assert amounts.split()[:4] == ["pages", "chunks", "tokens", "seconds"]
    assert amounts.split()[4:] == ["files/s", "pages/s", "chunks/s"]
    assert values.split()[:3] == ["2", "5", "1,200"]


def test_all_files_well_is_code_0_and_an_existing_collection_is_not_mentioned(
    run, ingest, tmp_path
):
    ingest.collections["papers"] = Collection(collection="papers")
    (tmp_path / "a.md").write_text("one")
    done = run("ingest", tmp_path / "a.md", "--collection", "papers")
    assert (done.exit_code, done.stderr) == (0, "")
    assert ingest.calls.count("CreateCollection") == 0


def test_metadata_is_text_unless_given_as_json(run, ingest, tmp_path):
    (tmp_path / "a.md").write_text("one")
    pairs = ["version=1.10", "year:=2017", 'tags:=["x","y"]', "query=a=b"]
    options = [part for pair in pairs for part in ("--metadata", pair)]
    assert run("ingest", tmp_path / "a.md", *options).exit_code == 0
    assert metadata_of(ingest.headers["a.md"].metadata) == {
        "version": "1.10",
        "year": 2017,
        "tags": ["x", "y"],
        "query": "a=b",
    }


@pytest.mark.parametrize("pair", ["novalue", "=x", ":=1", "year:=20 17"])
def test_metadata_of_another_form_is_wrong_usage(run, tmp_path, pair):
    assert run("ingest", tmp_path, "--metadata", pair).exit_code == 2


def test_metadata_that_cannot_be_kept_is_reported_once(run, ingest, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("one")
    done = run("ingest", tmp_path, "--metadata", 'x:={"a":1}')
    assert done.exit_code == 2
    assert "type dict" in done.stderr
    assert ingest.calls == []


def test_password_comes_from_the_environment(run, ingest, tmp_path):
    (tmp_path / "a.pdf").write_text("one")
    run("ingest", tmp_path, env={"TREESPAN_PASSWORD": "secret"})
    assert ingest.headers["a.pdf"].password == "secret"


def test_ingest_as_json_is_one_line_a_file(run, tmp_path):
    for name, text in {"a.md": "one", "b.md": "bad"}.items():
        (tmp_path / name).write_text(text)
    done = run("ingest", tmp_path, "--json")
    assert done.exit_code == 1
    files = {found["name"]: found for found in map(json.loads, done.stdout.splitlines())}
    assert files["a.md"]["result"] == "OK"
    assert files["a.md"]["artifact"]["chunk_count"] == 5
    assert (files["b.md"]["reason"], files["b.md"]["artifact"]) == ("DAMAGED", None)


def test_path_that_does_not_exist_is_wrong_usage(run, tmp_path):
    done = run("ingest", tmp_path / "none")
    assert done.exit_code == 2
    assert "does not exist" in done.stderr


def test_full_queue_is_waited_for(run, ingest, tmp_path, monkeypatch):
    (tmp_path / "a.md").write_text("one")
    ingest.collections["default"] = Collection(collection="default")
    waits = []

    def wait(under_way, seconds):
        waits.append(seconds)
        ingest.fail_with = None

    monkeypatch.setattr("treespan.cli.interrupts.UnderWay.pause", wait)
    enter = ingest._enter
    monkeypatch.setattr(
        ingest,
        "_enter",
        lambda name, context: enter(name, context) if name == "IngestFile" else None,
    )
    ingest.fail_with = errors.QueueFull("400 files wait", 2.5)
    done = run("ingest", tmp_path)
    assert done.exit_code == 0, done.output
    assert waits == [2.5]


def test_progress_is_shown_on_a_terminal_only(run, ingest, tmp_path):
    (tmp_path / "a.md").write_text("one")
    ingest.stages = [Progress(stage=Progress.STAGE_EMBEDDING, done=1, total=2)]
    done = run("ingest", tmp_path)
    assert "embedding" not in done.stdout
    assert "\x1b" not in done.stdout


def results(done):
    """Return what became of each name, from JSON lines."""
    return {line["name"]: line["result"] for line in map(json.loads, done.stdout.splitlines())}


def held(path, **changed):
    """Return the artifact that the ingest of a file in a folder makes."""
    data = path.read_bytes()
    made = {
        "artifact": path.name,
        "file_name": path.name,
        "state": Artifact.STATE_POPULATED,
        "size_bytes": len(data),
        "content_sha256": hashlib.sha256(data).hexdigest(),
        "source_uri": file_uri(path),
    }
    return Artifact(**{**made, **changed})


@pytest.fixture
def folder(tmp_path):
    """A folder of three files, and a collection to put them in."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("a.md", "b.md", "c.md"):
        (docs / name).write_text(f"text of {name}")
    return docs


# What is there already


def test_a_second_run_sends_nothing(run, ingest, folder):
    assert run("ingest", folder).exit_code == 0
    sent = len(ingest.part_sizes)
    done = run("ingest", folder, "--json")
    assert done.exit_code == 0
    assert set(results(done).values()) == {"ALREADY_THERE"}
    assert (sent, len(ingest.part_sizes)) == (3, 3)


def test_what_has_changed_is_sent(run, ingest, folder):
    run("ingest", folder)
    (folder / "b.md").write_text("text of B.md")
    done = run("ingest", folder, "--json")
    assert results(done) == {"a.md": "ALREADY_THERE", "b.md": "OK", "c.md": "ALREADY_THERE"}


@pytest.mark.parametrize(
    "options",
    [
        ["--again"],
        ["--ocr", "force"],
        ["--pdf-mode", "layout"],
        ["--ocr-languages", "deu"],
        ["--include-hidden"],
        ["--password", "pw"],
        ["--metadata", "year:=2017"],
        ["--summary", "Another."],
    ],
    ids=lambda options: options[0],
)
def test_what_may_become_another_tree_or_another_artifact_is_sent(run, ingest, folder, options):
    run("ingest", folder)
    run("ingest", folder, *options)
    assert len(ingest.part_sizes) == 6


@pytest.mark.parametrize(
    "changed",
    [
        {"state": Artifact.STATE_INITIALIZED},
        {"file_name": "other.md"},
        {"content_sha256": "0" * 64},
        {"warnings": [{"kind": "NO_TEXT_LAYER"}]},
        {"warnings": [{"kind": "OCR_FAILED"}]},
    ],
)
def test_an_artifact_that_is_not_quite_there_is_sent(run, ingest, folder, changed):
    ingest.collections["default"] = Collection(collection="default")
    ingest.artifacts["a.md"] = held(folder / "a.md", **changed)
    run("ingest", folder)
    assert "a.md" in ingest.headers


def test_metadata_that_others_have_added_is_no_difference(run, ingest, folder):
    run("ingest", folder, "--metadata", "year:=2017")
    ingest.artifacts["a.md"].metadata["mine"].string_value = "kept"
    run("ingest", folder, "--metadata", "year:=2017")
    assert len(ingest.part_sizes) == 3


# Options


def test_options_reach_the_request(run, ingest, folder):
    options = ["--pdf-mode", "layout", "--ocr", "force", "--ocr-languages", "eng+chi_sim"]
    run("ingest", folder / "a.md", *options, "--include-hidden", "--summary", "In short.")
    header = ingest.headers["a.md"]
    assert header.options == IngestOptions(
        request_id=header.options.request_id,
        detached=True,
        pdf_mode=IngestOptions.PDF_MODE_LAYOUT,
        ocr=IngestOptions.OCR_MODE_FORCE,
        ocr_languages=["eng", "chi_sim"],
        include_hidden=True,
    )
    assert len(header.options.request_id) == 32
    assert header.summary == "In short."
    assert header.source_uri == file_uri(folder / "a.md")


def test_globs_choose_and_what_is_left_out_is_counted_by_reason(run, ingest, folder):
    (folder / "~$a.docx").touch()
    (folder / ".git").mkdir()
    done = run("ingest", folder, "--include", "*.md", "--exclude", "b.*")
    assert sorted(ingest.headers) == ["a.md", "c.md"]
    assert done.stdout.splitlines()[-1] == "skipped: 1 hidden, 1 excluded, 1 temporary"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--watch", "{folder}/a.md"], "--watch follows folders"),
        (["--watch", "https://x.org/a"], "--watch follows folders"),
        (["--delete", "{folder}/a.md"], "--delete is about folders"),
        (["--watch", "--dry-run", "{folder}"], "do not go together"),
        (["{folder}/none"], "does not exist"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(run, folder, arguments, said):
    done = run("ingest", *[one.format(folder=folder) for one in arguments])
    assert done.exit_code == 2
    assert said in done.stderr


# Addresses


def test_addresses_are_fetched_by_the_service(run, ingest, folder):
    done = run("ingest", "https://x.org/docs/a.pdf", folder / "a.md", "--ocr", "auto")
    assert done.exit_code == 0
    assert [(sent.uri, sent.artifact) for sent in ingest.uris] == [
        ("https://x.org/docs/a.pdf", "x.org:docs:a.pdf")
    ]
    assert ingest.uris[0].options.ocr == IngestOptions.OCR_MODE_AUTO
    assert "ok  https://x.org/docs/a.pdf  1 page, 2 chunks, 30 tokens" in done.stdout


def test_an_address_that_is_refused_is_named_with_the_reason(run, folder):
    done = run("ingest", "https://refused.org/")
    assert done.exit_code == 1
    assert "failed  https://refused.org/  URI_NOT_ALLOWED: the host is not among" in done.stdout


# What would be done


def test_a_dry_run_says_what_would_be_done_and_does_nothing(run, ingest, folder):
    run("ingest", folder)
    before = list(ingest.calls)
    (folder / "a.md").write_text("changed")
    (folder / "b.md").unlink()
    (folder / "d.md").write_text("new")
    (folder / "e.tmp").write_text("half")
    done = run("ingest", folder, "https://x.org/f", "--dry-run", "--delete")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:-2] == [
        f"skipped  {folder / 'e.tmp'}  temporary",
        "changed  a.md",
        "already there  c.md",
        "new  d.md",
        "to fetch  https://x.org/f",
        "to delete  b.md",
        "",
    ]
    assert set(ingest.calls[len(before) :]) == {"ListArtifacts"}


def test_a_dry_run_as_json_is_one_line_a_file(run, ingest, folder):
    ingest.collections["default"] = Collection(collection="default")
    ingest.artifacts["a.md"] = held(folder / "a.md")
    done = run("ingest", folder, "--dry-run", "--json")
    assert results(done) == {"a.md": "SAME", "b.md": "NEW", "c.md": "NEW"}


def test_a_dry_run_makes_no_collection(run, ingest, folder):
    done = run("ingest", folder, "--dry-run", "--json")
    assert set(results(done).values()) == {"NEW"}
    assert ingest.collections == {}


# What is gone


def test_a_mirror_deletes_what_it_made_of_files_that_are_gone(run, ingest, folder):
    run("ingest", folder)
    (folder / "b.md").unlink()
    done = run("ingest", folder, "--delete")
    assert done.exit_code == 0
    assert "deleted  b.md\n" in done.stdout
    assert sorted(ingest.artifacts) == ["a.md", "c.md"]


def test_without_being_told_to_nothing_is_deleted(run, ingest, folder):
    run("ingest", folder)
    (folder / "b.md").unlink()
    assert run("ingest", folder).exit_code == 0
    assert sorted(ingest.artifacts) == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize(
    "source_uri",
    ["", "https://x.org/b.md", "file://elsewhere/docs/b.md", "file://{host_and_parent}/more/b.md"],
)
def test_a_mirror_leaves_alone_what_others_put_there(run, ingest, folder, source_uri):
    run("ingest", folder)
    parent = file_uri(folder.parent).removeprefix("file://")
    mark = source_uri.format(host_and_parent=parent)
    ingest.artifacts["other.md"] = Artifact(artifact="other.md", source_uri=mark)
    run("ingest", folder, "--delete")
    assert "other.md" in ingest.artifacts


def test_a_file_under_another_name_is_new_before_the_old_one_goes(run, ingest, folder):
    run("ingest", folder)
    (folder / "b.md").rename(folder / "z.md")
    run("ingest", folder, "--delete")
    assert sorted(ingest.artifacts) == ["a.md", "c.md", "z.md"]
    assert ingest.calls.index("DeleteArtifact") > len(ingest.calls) - 2


def test_an_empty_folder_is_not_taken_at_its_word(run, ingest, folder):
    run("ingest", folder)
    for path in folder.iterdir():
        path.unlink()
    done = run("ingest", folder, "--delete")
    assert done.exit_code == 1
    assert "is its disk mounted? Nothing was deleted" in done.stderr
    assert len(ingest.artifacts) == 3


# Interruptions


def test_an_interrupt_cancels_what_is_under_way_and_says_what_is_done(run, ingest, folder):
    ingest.held.add("b.md")

    def interrupt():
        while not [one for one in ingest.operations.values() if one.artifact == "b.md"]:
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    done = run("ingest", folder)
    assert done.exit_code == 130
    assert "CancelOperation" in ingest.calls
    assert "cancelled  b.md  CANCELLED: the operation was cancelled" in done.stdout
    files, counts = done.stdout.splitlines()[-5:-3]
    assert files.split()[-2:] == ["skipped", "cancelled"]
    assert counts.split() == ["3", "2", "0", "0", "0", "1"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_run_begins_nothing_further(run, ingest, folder):
    ingest.held |= {"a.md", "b.md", "c.md"}

    def interrupt():
        while not ingest.operations:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=interrupt).start()
    done = run("ingest", folder, "--jobs", "1", "--json")
    assert results(done) == dict.fromkeys(("a.md", "b.md", "c.md"), "CANCELLED")
    assert len(ingest.operations) == 1
