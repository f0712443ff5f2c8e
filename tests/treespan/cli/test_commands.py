"""The commands, run whole against services in this process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from drawn_trees import tree
from fake_services import serving
from treespan import errors
from treespan.cli import main
from treespan.cli.commands import _COMMANDS
from treespan.client import filter_message, key
from treespan.v1.search_service_pb2 import ContextOptions

NOWHERE = "127.0.0.1:1"


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


@pytest.mark.parametrize("command", ["search", "explain"])
def test_filter_reaches_the_request(run, ingest, search, command):
    ingest.nodes = tree("document 0\n  section 2 Head\n    text 3 The hit.")
    done = run(command, "why?", "--where", "year >= 2024 and not language = de")
    assert done.exit_code == 0, done.stderr
    assert search.request.context_filter.metadata_filter == filter_message(
        (key("year") >= 2024) & ~(key("language") == "de")
    )


def test_filter_that_is_none_is_wrong_usage_with_the_place(run, search):
    done = run("search", "why?", "--where", "year >=")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-3:] == [
        "Error: Invalid value for '--where': expected a value (a number, true, false, a date, or "
        "a string), found the end",
        "  year >=",
        "         ^",
    ]
    too_many = run("search", "why?", "--where", " or ".join(["a exists"] * 257))
    assert "it has 257 conditions, at most 256" in too_many.stderr
    assert search.calls == []


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
