"""The weights of a BERT encoder as arrays, and the reader of the safetensors form of MiniLM."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_KINDS: Final = {"F32": np.float32, "F16": np.float16, "I64": np.int64}


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear layer: weight [out, in], bias [out]."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the encoder."""

    qkv: Linear
    """Queries, keys and values, stacked."""
    attention_out: Linear
    attention_norm: Norm
    up: Linear
    down: Linear
    out_norm: Norm


@dataclass(frozen=True, slots=True)
class Nibbles:
    """A table in 4 bits: codes [rows, blocks, 32] with zero point 8, scales [rows, blocks]."""

    codes: NDArray[np.uint8]
    scales: Floats

    def floats(self) -> Floats:
        """Return the table as floats, [rows, blocks * 32]."""
        wide = (self.codes.astype(np.float32) - np.float32(8)) * self.scales[..., None]
        return wide.reshape(self.codes.shape[0], -1)


@dataclass(frozen=True, slots=True)
class Encoder:
    """All weights of an encoder."""

    hidden: int
    heads: int
    epsilon: float
    layers: tuple[Layer, ...]
    words: Floats | Nibbles
    """The word table, [vocabulary, hidden]."""
    positions: Floats
    """The position table with the first token type added, [positions, hidden]."""
    norm: Norm


def stack(layers: Sequence[Linear]) -> Linear:
    """Return linear layers over the same input as one."""
    return Linear(
        np.concatenate([layer.weight for layer in layers]),
        np.concatenate([layer.bias for layer in layers]),
    )


def read_safetensors(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the tensors of a safetensors file by name, as views of `data`."""
    (size,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, info in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        start, end = (8 + size + offset for offset in info["data_offsets"])
        flat = np.frombuffer(data[start:end], _KINDS[info["dtype"]])
        tensors[name] = flat.reshape(info["shape"])
    return tensors


def read_minilm(path: Path) -> Encoder:
    """Return the weights of all-MiniLM-L6-v2 from its `model.safetensors`."""
    tensors = read_safetensors(path.read_bytes())

    def linear(name: str) -> Linear:
        return Linear(tensors[name + ".weight"], tensors[name + ".bias"])

    def norm(name: str) -> Norm:
        return Norm(tensors[name + ".weight"], tensors[name + ".bias"])

    def layer(prefix: str) -> Layer:
        heads = [linear(f"{prefix}attention.self.{part}") for part in ("query", "key", "value")]
        return Layer(
            qkv=stack(heads),
            attention_out=linear(prefix + "attention.output.dense"),
            attention_norm=norm(prefix + "attention.output.LayerNorm"),
            up=linear(prefix + "intermediate.dense"),
            down=linear(prefix + "output.dense"),
            out_norm=norm(prefix + "output.LayerNorm"),
        )

    words = tensors["embeddings.word_embeddings.weight"]
    types = tensors["embeddings.token_type_embeddings.weight"]
    return Encoder(
        hidden=words.shape[1],
        heads=12,
        epsilon=1e-12,
        layers=tuple(layer(f"encoder.layer.{i}.") for i in range(6)),
        words=words,
        positions=tensors["embeddings.position_embeddings.weight"] + types[0],
        norm=norm("embeddings.LayerNorm"),
    )
