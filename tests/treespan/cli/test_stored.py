"""What is stored, listed, changed and deleted from the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from drawn_trees import tree
from fake_services import serving
from treespan.cli import main
from treespan.client import filter_message, key, metadata_of
from treespan.client.metadata import metadata_values
from treespan.v1.ingest_service_pb2 import Artifact, Collection
from treespan.v1.search_service_pb2 import CollectionInfo

NOWHERE = "127.0.0.1:1"
CLIMATE = filter_message((key("year") >= 2024) & key("tags").contains("climate"))
CLIMATE_TEXT = 'year >= 2024 and tags contains "climate"'


@pytest.fixture
def terminal(monkeypatch):
    """Make the command believe that somebody sits before it."""
    monkeypatch.setattr("treespan.cli.delete._is_terminal", lambda: True)


def test_artifacts_are_listed_with_their_counts(run, ingest):
    ingest.collections["default"] = Collection(collection="default")
    for name in ("a", "报告", "c"):
        ingest.artifacts[name] = Artifact(
            artifact=name,
            state=Artifact.STATE_POPULATED,
            media_type="application/pdf",
            chunk_count=1234,
            language="zh",
        )
    lines = [line.split() for line in run("artifacts").stdout.splitlines()]
    assert lines[0] == [
        "artifact",
        "state",
        "type",
        "language",
        "pages",
        "chunks",
        "tokens",
        "warnings",
    ]
    assert lines[1] == ["a", "POPULATED", "application/pdf", "zh", "-", "1,234", "0", "0"]
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
    search.info.lag = 3
    search.info.collections.append(
        CollectionInfo(collection="papers", documents=7, memory_bytes=1_234_567)
    )
    search.info.collections.append(CollectionInfo(collection="more", memory_bytes=2_000_000_000))
    done = run("status")
    assert done.exit_code == 0
    shown = [line.split() for line in done.stdout.splitlines()]
    assert ["lag", "3", "changes"] in shown
    assert ["memory", "2,001.2", "MB", "of", "vectors", "and", "graphs"] in shown
    assert ["papers", "7", "0", "0", "0", "1.2", "MB"] in shown
    assert done.stdout.count("ready") == 2
    assert "1.2.3" in done.stdout
    assert json.loads(run("status", "--json").stdout)["server_info"]["version"] == "1.2.3"


def test_status_shows_the_one_that_answers_when_the_other_does_not(ingest, search):
    with serving(search) as address:
        done = CliRunner().invoke(main, ["--ingest", NOWHERE, "--search", address, "status"])
    assert done.exit_code == 2
    assert "no treespan server answers at 127.0.0.1:1" in " ".join(done.stdout.split())
    assert "1.2.3" in done.stdout


def test_artifacts_like_a_filter_are_listed(run, ingest):
    ingest.collections["default"] = Collection(collection="default")
    ingest.artifacts |= {name: Artifact(artifact=name) for name in "abcd"}
    ingest.matching = {"b", "d"}
    lines = run("artifacts", "--where", CLIMATE_TEXT).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["b", "d"]
    ingest.matching = set()
    assert run("artifacts", "--where", "year = 1").stdout == (
        "no artifact of collection 'default' is like this\n"
    )
    assert ingest.filters[0] == CLIMATE


def test_table_wider_than_80_columns_is_not_broken_without_a_terminal(run, ingest):
    long = {"collection": "c" * 90, "embedding_model": "m" * 90}
    ingest.collections["c" * 90] = Collection(**long)
    head, row = run("collections").stdout.splitlines()
    assert head.split()[-1] == "model"
    assert row.split() == ["c" * 90, "0", "0", "0", "0", "0", "m" * 90]


def test_empty_setting_is_shown_as_one(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = [line.split() for line in run("config").stdout.splitlines()]
    assert ["models.weights", '""', "default"] in rows


def test_models_are_listed_without_breaking_lines(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = run("models", "--cache", tmp_path / ("c" * 100), "list").stdout.splitlines()
    assert lines[-1].endswith("c" * 100)
    missing = [line for line in lines if "run: pip install" in line]
    assert all("==" in line for line in missing)


# Delete


def test_delete_goes_on_after_one_that_is_missing(run, ingest):
    ingest.artifacts |= {"a": Artifact(), "c": Artifact()}
    done = run("delete", "a", "b", "c")
    assert done.exit_code == 1
    assert done.stdout == "deleted a\ndeleted c\n"
    assert done.stderr == "Error: there is no artifact 'b'\n"
    assert ingest.artifacts == {}


def test_more_names_than_an_answer_holds_are_deleted(run, ingest):
    ingest.artifacts |= {f"a{at:04}": Artifact() for at in range(2_500)}
    done = run("delete", *sorted(ingest.artifacts), "a0000")
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2_500
    assert ingest.artifacts == {}


def test_delete_as_json_names_what_went_and_what_was_missing(run, ingest):
    ingest.artifacts |= {"a": Artifact(), "c": Artifact()}
    done = run("delete", "a", "b", "--json")
    assert done.exit_code == 1
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "artifacts": ["a"],
        "deleted_artifacts": 1,
        "seq": 12,
        "missing": ["b"],
        "dry_run": False,
    }


def test_dry_run_names_what_would_go_and_nothing_goes(run, ingest):
    ingest.artifacts |= {name: Artifact() for name in "abc"}
    ingest.matching = {"a", "b"}
    done = run("delete", "--where", CLIMATE_TEXT, "--dry-run")
    assert (done.exit_code, done.stdout) == (0, "would delete a\nwould delete b\n")
    assert run("delete", "c", "--dry-run").stdout == "would delete c\n"
    assert len(ingest.artifacts) == 3
    assert ingest.filters == [CLIMATE]


def test_delete_by_filter_asks_on_a_terminal_and_shows_what_it_understood(run, ingest, terminal):
    ingest.artifacts |= {f"a{at:02}": Artifact() for at in range(13)}
    ingest.matching = {f"a{at:02}" for at in range(12)}
    done = run("delete", "--where", "`year`>=2024 AND tags contains climate", answer="n\n")
    assert done.exit_code == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0] == f"where {CLIMATE_TEXT}:"
    assert lines[1:12] == [f"  a{at:02}" for at in range(10)] + ["  2 artifacts more"]
    assert lines[12].startswith("Delete 12 artifacts of 'default'?")
    assert len(ingest.artifacts) == 13
    done = run("delete", "--where", CLIMATE_TEXT, answer="y\n")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [f"deleted a{at:02}" for at in range(12)]
    assert list(ingest.artifacts) == ["a12"]


def test_filter_that_lets_nothing_through_asks_nothing(run, ingest, terminal):
    ingest.artifacts["a"] = Artifact()
    done = run("delete", "--where", "year = 1", "--json")
    assert done.exit_code == 0
    assert done.stderr == "where year = 1:\n  nothing\n"
    assert json.loads(done.stdout)["deleted_artifacts"] == 0
    assert list(ingest.artifacts) == ["a"]


def test_delete_by_filter_without_a_terminal_needs_yes(run, ingest):
    ingest.artifacts["a"] = Artifact()
    ingest.matching = {"a"}
    done = run("delete", "--where", "year = 1")
    assert done.exit_code == 2
    assert "give --yes, or --dry-run" in done.stderr
    assert ingest.calls == []
    assert run("delete", "--where", "year = 1", "--yes").stdout == "deleted a\n"
    assert ingest.artifacts == {}


@pytest.mark.parametrize("arguments", [(), ("a", "--where", "year = 1")])
def test_delete_takes_names_or_a_filter(run, ingest, arguments):
    done = run("delete", *arguments)
    assert done.exit_code == 2
    assert "give either artifacts or --where" in done.stderr
    assert ingest.calls == []


# Update


@pytest.fixture
def paper(ingest):
    given = {"year": 2017, "draft": True, "venue": "NIPS"}
    ingest.artifacts["paper"] = Artifact(
        artifact="paper", file_name="old.pdf", metadata=metadata_values(given)
    )


def test_update_sets_removes_and_keeps(run, ingest, paper):
    done = run(
        *("update", "paper", "--set", "year:=2018", "--set", "note=a=b", "--unset", "draft"),
        *("--file-name", "论文.pdf"),
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "updated paper; its file is 论文.pdf",
        '  note: "a=b"',
        '  venue: "NIPS"',
        "  year: 2018",
    ]
    assert metadata_of(ingest.artifacts["paper"].metadata) == {
        "year": 2018,
        "note": "a=b",
        "venue": "NIPS",
    }


def test_update_as_json_is_the_artifact_and_the_change(run, paper):
    changed = json.loads(run("update", "paper", "--unset", "draft", "--json").stdout)
    assert changed["artifact"]["metadata"] == {"venue": "NIPS", "year": 2017}
    assert changed["artifact"]["file_name"] == "old.pdf"
    assert changed["seq"] == 11


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing to change"),
        (("--set", "year"), "'year' is not KEY=VALUE"),
        (("--set", "year:=20 18"), "Invalid value for --set: '20 18' is neither JSON"),
        (("--set", "day:=2018-02-30"), "nor a date such as 2024-01-31"),
        (("--set", "k=1", "--unset", "k"), "'k' is given to --set and to --unset"),
    ],
)
def test_update_that_cannot_be_is_wrong_usage(run, ingest, paper, options, said):
    done = run("update", "paper", *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert ingest.calls == []


def test_update_of_what_is_missing_is_code_1(run):
    done = run("update", "none", "--set", "a=b")
    assert (done.exit_code, done.stderr) == (1, "Error: there is no artifact 'none'\n")
