"""The commands, run whole against services in this process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from drawn_trees import tree
from fake_services import FakeIngest, FakeSearch, serving
from treespan import errors
from treespan.cli import main
from treespan.cli.commands import _COMMANDS
from treespan.client import metadata_of
from treespan.v1.chunk_pb2 import Chunk, ContextNode, Document, Expansion
from treespan.v1.ingest_service_pb2 import Artifact, Collection, Progress
from treespan.v1.search_service_pb2 import CollectionInfo, ContextOptions, SearchResponse

NOWHERE = "127.0.0.1:1"


@pytest.fixture
def ingest():
    return FakeIngest()


@pytest.fixture
def search():
    fake = FakeSearch()
    fake.answer = SearchResponse(
        token_count=12,
        chunks=[
            Chunk(
                node_id="n2",
                abs_idx=2,
                artifact="paper",
                document=Document(file_name="论文.pdf"),
                score=0.5,
                text="The hit.",
                previous_texts=["[bold]Before.[/bold]"],
                next_texts=["After."],
                context_nodes=[ContextNode(abs_idx=2, text="The hit.", hit=True)],
                expansion=Expansion(budget_tokens=100, used_tokens=5),
            )
        ],
    )
    return fake


@pytest.fixture
def run(ingest, search):
    """Run a command line against both services."""
    with serving(ingest, search) as address:

        def run(*arguments, env=None):
            addresses = ["--ingest", address, "--search", address]
            return CliRunner().invoke(main, [*addresses, *map(str, arguments)], env=env)

        yield run


# The program


def test_help_names_every_command_and_imports_none():
    code = (
        "import sys; from treespan.cli import main; main(['--help'], standalone_mode=False); "
        "assert not [m for m in sys.modules if m in ('treespan.cli.serve', 'treespan.cli.models')]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in _COMMANDS if f"  {name} " not in done.stdout] == []


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help(name):
    done = CliRunner().invoke(main, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert "Usage: " in done.stdout


def test_unknown_command_is_wrong_usage():
    done = CliRunner().invoke(main, ["fetch"])
    assert done.exit_code == 2
    assert "No such command 'fetch'" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["search", "q"], ["explain", "q"], ["artifacts"], ["collections"], ["tree", "a"]],
    ids=lambda arguments: arguments[0],
)
def test_no_server_is_one_line_that_names_the_address(arguments):
    done = CliRunner().invoke(main, ["--ingest", NOWHERE, "--search", NOWHERE, *arguments])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert NOWHERE in done.stderr
    assert "treespan serve" in done.stderr


def test_refusal_is_one_line_and_code_1(run, search):
    search.fail_with = errors.CollectionNotFound("papers")
    done = run("search", "q", "--collection", "papers")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: there is no collection 'papers'; `treespan ingest PATH` makes one\n",
    )


def test_addresses_and_tenant_come_from_the_environment(ingest, search):
    with serving(ingest, search) as address:
        env = {"TREESPAN_SEARCH": address, "TREESPAN_TENANT": "acme"}
        done = CliRunner().invoke(main, ["search", "q"], env=env)
    assert done.exit_code == 0, done.stderr
    assert search.tenants == {"acme"}


# Search and explain


def test_search_shows_the_hit_with_its_mark(run):
    done = run("search", "why?")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["1  0.500  论文.pdf", "   ▶ The hit."]
    assert lines[-1].startswith("1 hit · 12 tokens")


def test_search_takes_no_text_for_markup(run, search):
    del search.answer.chunks[0].context_nodes[:]
    assert "     [bold]Before.[/bold]" in run("search", "why?").stdout.splitlines()


def test_search_options_reach_the_request(run, search):
    run(
        *("search", "why?", "-c", "papers", "-a", "x", "-a", "y", "--limit", 3, "--budget", 50),
        *("--answer-budget", 200, "--mode", "linear", "--gaps", "--merge", "--threshold", 0.5),
    )
    request = search.request
    assert request.context_filter.collection == "papers"
    assert list(request.context_filter.artifacts) == ["x", "y"]
    assert (request.limit, request.score_threshold) == (3, 0.5)
    assert request.context == ContextOptions(
        mode=ContextOptions.MODE_LINEAR,
        token_budget=50,
        answer_token_budget=200,
        gaps=True,
        merge=True,
        nodes=True,
    )


def test_search_without_options_leaves_the_servers_defaults(run, search):
    run("search", "why?")
    assert not search.request.HasField("limit")
    assert not search.request.HasField("score_threshold")
    assert search.request.context == ContextOptions(nodes=True)


def test_search_as_json_is_the_whole_answer(run):
    done = run("search", "why?", "--json")
    answer = json.loads(done.stdout)
    assert answer["chunks"][0]["document"]["file_name"] == "论文.pdf"
    assert answer["token_count"] == 12


@pytest.mark.parametrize("option", [("--limit", 0), ("--threshold", 2), ("--mode", "window")])
def test_value_that_cannot_be_is_wrong_usage(run, option):
    assert run("search", "q", *option).exit_code == 2


def test_explain_draws_the_hit_in_its_tree(run, ingest, search):
    ingest.nodes = tree("document 0\n  section 2 Head\n    text 3 The hit.\n    text 90 long")
    done = run("explain", "why?")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-6:] == [
        "   budget 100 tokens, used 5, left 95",
        "   ended: down not tried · next not tried · previous not tried · up not tried",
        "   document (0/95)",
        "   └─ section (2/95)  Head",
        "      ├─ text* (3)  The hit.",
        "      └─ … 1 node (90)",
    ]
    assert "* = hit    + = picked    · = left out" in done.stdout


def test_explain_notices_that_the_document_was_replaced(run, ingest):
    ingest.nodes = tree("document 0\n  text 2 another")
    done = run("explain", "why?")
    assert done.exit_code == 1
    assert "'paper' was replaced meanwhile" in done.stderr


# What is stored


def test_artifacts_are_listed_with_their_counts(run, ingest):
    ingest.collections["default"] = Collection(collection="default")
    for name in ("a", "报告", "c"):
        ingest.artifacts[name] = Artifact(
            artifact=name,
            state=Artifact.STATE_POPULATED,
            media_type="application/pdf",
            chunk_count=1234,
        )
    lines = [line.split() for line in run("artifacts").stdout.splitlines()]
    assert lines[0] == ["artifact", "state", "type", "pages", "chunks", "tokens", "warnings"]
    assert lines[1] == ["a", "POPULATED", "application/pdf", "-", "1,234", "0", "0"]
    assert {line[0] for line in lines[1:]} == {"a", "报告", "c"}
    as_json = run("artifacts", "--json").stdout.splitlines()
    assert [json.loads(line)["artifact"] for line in as_json] == ["a", "c", "报告"]


def test_empty_collection_and_empty_store_are_said_in_words(run, ingest):
    assert run("collections").stdout == "there is no collection\n"
    ingest.collections["default"] = Collection(collection="default")
    assert run("artifacts").stdout == "collection 'default' is empty\n"


def test_collections_are_listed_with_their_counts(run, ingest):
    ingest.collections["papers"] = Collection(collection="papers", embedding_model="e5")
    ingest.artifacts["a"] = Artifact()
    last = run("collections").stdout.splitlines()[-1]
    assert last.split() == ["papers", "1", "0", "0", "0", "0", "e5"]


def test_delete_goes_on_after_one_that_is_missing(run, ingest):
    ingest.artifacts |= {"a": Artifact(), "c": Artifact()}
    done = run("delete", "a", "b", "c")
    assert done.exit_code == 1
    assert done.stdout == "deleted a\ndeleted c\n"
    assert done.stderr == "Error: there is no artifact 'b'\n"
    assert ingest.artifacts == {}


def test_tree_is_drawn_down_to_a_depth(run, ingest):
    ingest.nodes = tree("document 0\n  section 2 Head\n    text 3 One.\n  section 2 Tail")
    assert run("tree", "a", "--depth", 1).stdout.splitlines() == [
        "document (0/7)",
        "├─ section (2/5)  Head",
        "└─ section (2)  Tail",
    ]
    assert run("tree", "a", "--max-nodes", 1).stdout.endswith("… 3 more nodes\n")
    nodes = [json.loads(line) for line in run("tree", "a", "--json").stdout.splitlines()]
    assert [node["kind"] for node in nodes] == ["DOCUMENT", "SECTION", "TEXT", "SECTION"]


def test_status_shows_both_services(run, search):
    search.info.collections.append(CollectionInfo(collection="papers", documents=7))
    done = run("status")
    assert done.exit_code == 0
    assert done.stdout.count("ready") == 2
    assert "1.2.3" in done.stdout
    assert json.loads(run("status", "--json").stdout)["server_info"]["version"] == "1.2.3"


def test_status_shows_the_one_that_answers_when_the_other_does_not(ingest, search):
    with serving(search) as address:
        done = CliRunner().invoke(main, ["--ingest", NOWHERE, "--search", address, "status"])
    assert done.exit_code == 2
    assert "no treespan server answers at 127.0.0.1:1" in " ".join(done.stdout.split())
    assert "1.2.3" in done.stdout


# Ingest


def test_folder_is_ingested_and_one_bad_file_does_not_stop_the_rest(run, ingest, tmp_path):
    for name, text in {"a.md": "one", "sub/b.md": "bad", "sub/c.md": "odd"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    ingest.artifacts["a.md"] = Artifact()
    done = run("ingest", tmp_path)
    assert done.exit_code == 1
    assert done.stderr == "created the collection 'default'\n"
    assert sorted(ingest.headers) == ["a.md", "sub:b.md", "sub:c.md"]
    assert ingest.headers["sub:c.md"].file_name == "sub/c.md"
    assert "already there  a.md  2 pages, 5 chunks, 1,200 tokens" in done.stdout
    assert "failed  sub/b.md  DAMAGED: page 3 cannot be read" in done.stdout
    assert "    ! NO_TEXT_LAYER: page 2 has no text" in done.stdout
    head, counts = done.stdout.splitlines()[-2:]
    assert head.split() == [
        "ok",
        "already",
        "there",
        *["failed", "pages", "chunks", "tokens", "seconds"],
    ]
    assert counts.split()[:6] == ["1", "1", "1", "4", "10", "2,400"]


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

    def wait(seconds):
        waits.append(seconds)
        ingest.fail_with = None

    monkeypatch.setattr("treespan.cli.uploads.time.sleep", wait)
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
