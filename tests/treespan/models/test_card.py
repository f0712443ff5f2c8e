from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tiny_model import write_tiny_model
from treespan.models.card import CONVERTER, ModelCard, ModelError, fingerprint, read_card

if TYPE_CHECKING:
    from pathlib import Path

CARD = ModelCard(
    name="m",
    dimension=4,
    max_tokens=16,
    query_prefix="q ",
    passage_prefix="p ",
    pooling="mean",
    normalise=True,
    precision="row8",
    weights_sha256="aa",
    converter=CONVERTER,
)


def rewrite(folder: Path, **entries: Any) -> None:
    path = folder / "model_card.json"
    card = json.loads(path.read_text()) | entries
    path.write_text(json.dumps({key: value for key, value in card.items() if value is not None}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "n"),
        ("dimension", 5),
        ("max_tokens", 17),
        ("query_prefix", "q"),
        ("passage_prefix", ""),
        ("pooling", "cls"),
        ("normalise", "in_graph"),
        ("precision", "fp32"),
        ("weights_sha256", "ab"),
        ("tokenizer_sha256", "aa"),
        ("converter", 2),
    ],
)
def test_fingerprint_changes_with_everything_a_vector_depends_on(field: str, value: object) -> None:
    assert fingerprint(msgspec.structs.replace(CARD, **{field: value})) != fingerprint(CARD)


def test_fingerprint_starts_with_the_name_and_ignores_the_graph_form() -> None:
    other = msgspec.structs.replace(CARD, files={"model.onnx": "cc"})
    assert fingerprint(other) == fingerprint(CARD)
    assert fingerprint(CARD).startswith("m@")


def test_card_of_a_folder_made_by_hand_gets_the_hashes_of_its_files(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    card = read_card(folder)
    graph = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    tokenizer = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert (card.weights_sha256, card.tokenizer_sha256) == (graph, tokenizer)


def test_another_graph_or_its_data_is_another_fingerprint(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    before = fingerprint(read_card(folder))
    (folder / "model.onnx_data").write_bytes(b"weights")
    assert fingerprint(read_card(folder)) != before


def test_stated_hash_that_is_not_the_files_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    rewrite(folder, weights_sha256="ab")
    with pytest.raises(ModelError, match="weights_sha256 is ab, the files have"):
        read_card(folder)


def test_changed_file_of_a_converted_model_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    graph = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    rewrite(folder, converter=CONVERTER, files={"model.onnx": graph})
    assert read_card(folder).files == {"model.onnx": graph}
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(ModelError, match=r"model\.onnx is damaged"):
        read_card(folder)


def test_missing_file_of_a_converted_model_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    rewrite(folder, converter=CONVERTER, files={"model.packed.onnx": "aa"})
    with pytest.raises(ModelError, match=r"model\.packed\.onnx is damaged \(sha256 missing"):
        read_card(folder)


def test_folder_of_another_conversion_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    rewrite(folder, converter=CONVERTER + 1)
    with pytest.raises(ModelError, match="was written by version"):
        read_card(folder)


@pytest.mark.parametrize("field", ["query_prefix", "passage_prefix", "pooling", "normalise"])
def test_what_must_not_be_guessed_must_be_stated(tmp_path: Path, field: str) -> None:
    folder = write_tiny_model(tmp_path)
    rewrite(folder, **{field: None})
    with pytest.raises(ModelError, match=f"missing required field `{field}`"):
        read_card(folder)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"normalize": True}, "unknown field `normalize`"),
        ({"pooling": "max"}, "Invalid enum value 'max'"),
        ({"name": "../x"}, "name is '../x'"),
        ({"dimension": 0}, "dimension is 0"),
        ({"max_tokens": 2}, "max_tokens is 2"),
        ({"pad_id": -1}, "pad_id is -1"),
    ],
)
def test_card_with_a_wrong_entry_is_refused(
    tmp_path: Path, entries: dict[str, object], message: str
) -> None:
    folder = write_tiny_model(tmp_path)
    rewrite(folder, **entries)
    with pytest.raises(ModelError, match=message):
        read_card(folder)


@pytest.mark.parametrize("name", ["model_card.json", "tokenizer.json", "model.onnx"])
def test_folder_without_one_of_its_files_is_refused(tmp_path: Path, name: str) -> None:
    folder = write_tiny_model(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        read_card(folder)
