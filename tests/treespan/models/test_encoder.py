"""The graph against the same encoder written down in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from treespan.embed import _session, open_session
from treespan.models.encoder import build
from treespan.models.feeds import mask_of, packed_inputs, padded_inputs
from treespan.models.graph import probe
from treespan.models.weights import Encoder, Layer, Linear, Nibbles, Norm

if TYPE_CHECKING:
    from pathlib import Path

HIDDEN, HEADS, INNER, WORDS, POSITIONS = 64, 4, 128, 50, 20
IDS = [[3, 7, 11, 4], [5], [9, 9, 2, 30, 41, 8, 1], [49, 0]]


def random_encoder(*, nibbles: bool) -> Encoder:
    rng = np.random.default_rng(11)

    def normal(*shape: int) -> Any:
        return rng.normal(0, 0.5, shape).astype(np.float32)

    def linear(n_out: int, n_in: int) -> Linear:
        return Linear(normal(n_out, n_in) / np.float32(np.sqrt(n_in)), normal(n_out))

    def norm() -> Norm:
        return Norm(1 + normal(HIDDEN) / 4, normal(HIDDEN))

    def layer() -> Layer:
        up, down = linear(INNER, HIDDEN), linear(HIDDEN, INNER)
        qkv, out = linear(3 * HIDDEN, HIDDEN), linear(HIDDEN, HIDDEN)
        return Layer(qkv, out, norm(), up, down, norm())

    codes = rng.integers(0, 16, (WORDS, HIDDEN // 32, 32)).astype(np.uint8)
    # Scales that half precision holds exactly, as those of the weight file are.
    scales = rng.uniform(0.05, 0.2, (WORDS, HIDDEN // 32)).astype(np.float16).astype(np.float32)
    table = Nibbles(codes, scales) if nibbles else normal(WORDS, HIDDEN)
    layers = (layer(), layer())
    return Encoder(HIDDEN, HEADS, 1e-5, layers, table, normal(POSITIONS, HIDDEN), norm())


def in_numpy(weights: Encoder, ids: list[int]) -> Any:
    """Return the vector of one text: what a BERT encoder does, a line a step."""
    table = weights.words.floats() if isinstance(weights.words, Nibbles) else weights.words
    x = _norm(weights, table[ids] + weights.positions[: len(ids)], weights.norm)
    for layer in weights.layers:
        seen = _linear(_attention(_linear(x, layer.qkv)), layer.attention_out)
        x = _norm(weights, x + seen, layer.attention_norm)
        wide = _linear(x, layer.up)
        wide = wide * 0.5 * (1 + _erf(wide / np.sqrt(2)))
        x = _norm(weights, x + _linear(wide, layer.down), layer.out_norm)
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def _linear(x: Any, layer: Linear) -> Any:
    return x @ layer.weight.astype(np.float64).T + layer.bias


def _norm(weights: Encoder, x: Any, norm: Norm) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + weights.epsilon)
    return centred / spread * norm.weight + norm.bias


def _attention(qkv: Any) -> Any:
    q, k, v = (part.reshape(-1, HEADS, HIDDEN // HEADS) for part in np.split(qkv, 3, -1))
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(HIDDEN // HEADS)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("hqk,khd->qhd", weights, v).reshape(-1, HIDDEN)


def _erf(x: Any) -> Any:
    from math import erf

    return np.vectorize(erf)(x)


def run(
    folder: Path,
    weights: Encoder,
    precision: Literal["row8", "fp32"],
    form: Literal["packed", "padded"],
) -> Any:
    path = folder / f"{precision}-{form}.onnx"
    path.write_bytes(build(weights, precision, form).SerializeToString())
    mask = mask_of(IDS)
    inputs = packed_inputs(IDS, mask) if form == "packed" else padded_inputs(IDS, mask, 1)
    session = open_session(path)
    names = {node.name for node in session.get_inputs()}
    return session.run(None, {name: inputs[name] for name in names})[0]


@pytest.mark.parametrize("nibbles", [False, True])
@pytest.mark.parametrize("form", ["packed", "padded"])
def test_float_graph_does_what_numpy_does(
    tmp_path: Path, form: Literal["packed", "padded"], nibbles: bool
) -> None:
    weights = random_encoder(nibbles=nibbles)
    expected = [in_numpy(weights, ids) for ids in IDS]
    np.testing.assert_allclose(run(tmp_path, weights, "fp32", form), expected, atol=2e-6)


@pytest.mark.parametrize("nibbles", [False, True])
def test_row8_graph_stays_close_to_numpy(tmp_path: Path, nibbles: bool) -> None:
    weights = random_encoder(nibbles=nibbles)
    expected = np.array([in_numpy(weights, ids) for ids in IDS])
    cosines = (run(tmp_path, weights, "row8", "packed") * expected).sum(1)
    assert cosines.min() > 0.999


def test_packed_and_padded_row8_are_the_same_bit_for_bit(tmp_path: Path) -> None:
    weights = random_encoder(nibbles=True)
    packed = run(tmp_path, weights, "row8", "packed")
    np.testing.assert_array_equal(packed, run(tmp_path, weights, "row8", "padded"))


def test_probe_in_the_package_is_the_graph_that_the_code_builds() -> None:
    import importlib.resources

    file = importlib.resources.files("treespan.models").joinpath("int8_probe.onnx")
    assert file.read_bytes() == probe().SerializeToString()


def test_exact_int8_product_is_exact_on_every_cpu() -> None:
    session = _session(probe().SerializeToString(), 1, exact=True)
    product = session.run(None, {"x": np.full((8, 64), 255, np.uint8)})[0]
    assert (product == 64 * 255 * 127).all()
