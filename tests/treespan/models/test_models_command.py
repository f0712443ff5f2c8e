from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from tiny_model import write_tiny_model
from treespan.cli.models import models
from treespan.models.packages import E5_SMALL, MINILM

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(cache: Path, *arguments: str) -> Result:
    return CliRunner().invoke(models, ["--cache", str(cache), *arguments])


def test_list_shows_what_is_ready(tmp_path: Path) -> None:
    run(tmp_path / "cache", "add", str(write_tiny_model(tmp_path / "mine")))
    result = run(tmp_path / "cache", "list", "--json")
    states = {model["name"]: model["state"] for model in json.loads(result.stdout)}
    assert states["tiny"] == "ready"
    assert states[E5_SMALL.name] in ("installed", "missing")
    assert set(states) == {"tiny", E5_SMALL.name, MINILM.name}
    assert "tiny" in run(tmp_path / "cache", "list").stdout


def test_list_names_a_damaged_model_and_goes_on(tmp_path: Path) -> None:
    run(tmp_path / "cache", "add", str(write_tiny_model(tmp_path / "mine")))
    (card,) = (tmp_path / "cache").glob("tiny@*/model_card.json")
    card.write_text("{")
    result = run(tmp_path / "cache", "list", "--json")
    states = {model["name"]: model["state"] for model in json.loads(result.stdout)}
    assert states["tiny"] == "damaged"
    assert len(states) == 3


def test_add_refuses_a_folder_that_cannot_be_run(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "mine", dimension=3)
    result = run(tmp_path / "cache", "add", str(folder))
    assert result.exit_code == 1
    assert "its card says 3" in result.stderr
    assert not (tmp_path / "cache").exists()


def test_check_proves_the_default_model(e5_folder: Path) -> None:
    result = run(e5_folder.parent, "check", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert found["name"] == E5_SMALL.name
    assert found["problems"] == []
    assert found["related"] > found["unrelated"]


def test_check_says_what_is_wrong(tmp_path: Path) -> None:
    # Its five words know no question from its answer.
    result = run(tmp_path / "cache", "check", str(write_tiny_model(tmp_path / "mine")))
    assert result.exit_code == 1
    assert "are prefixes and pooling right?" in result.stderr.replace("\n", " ")


def test_prepare_makes_the_model_of_the_settings_ready(e5_folder: Path) -> None:
    result = run(e5_folder.parent, "prepare")
    assert result.exit_code == 0
    assert str(e5_folder) in result.stdout


def test_unknown_model_ends_with_one_line(tmp_path: Path) -> None:
    result = run(tmp_path, "check", "nope")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: there is no model 'nope'")
