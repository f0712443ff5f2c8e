"""What is known about a model, in the `model_card.json` beside it, and the model's fingerprint.

A model folder holds `model.packed.onnx` or `model.onnx`, `tokenizer.json` and the card. The card of
a folder made by hand:

    {
      "name": "my-model",              letters, digits, "-", "_" and "."
      "dimension": 384,                elements of a vector
      "max_tokens": 512,               longest input, special tokens and prefix included
      "pad_id": 0,                     token that fills up a batch
      "query_prefix": "query: ",       what the model wants before a query, "" for nothing
      "passage_prefix": "passage: ",   and before a passage
      "pooling": "mean",               "mean", "cls", or "in_graph" for a graph that pools
      "normalise": true,               scale vectors to length 1; "in_graph": the graph does
      "precision": "fp32"              free text; part of the fingerprint
    }

Prefixes and pooling have no default: a wrong guess looks fine in every demonstration and finds
worse.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Final, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CARD_FILE: Final = "model_card.json"
TOKENIZER_FILE: Final = "tokenizer.json"
PACKED_FILE: Final = "model.packed.onnx"
PADDED_FILE: Final = "model.onnx"
CONVERTER: Final = 1
"""Version of the conversion; raised whenever the graphs it writes give other vectors."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FINGERPRINTED: Final = (
    "name",
    "dimension",
    "max_tokens",
    "query_prefix",
    "passage_prefix",
    "pooling",
    "normalise",
    "precision",
    "weights_sha256",
    "tokenizer_sha256",
    "converter",
)


class ModelError(Exception):
    """A model is missing, damaged, or not what its card says; the message says what to do."""


class ModelCard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model's properties."""

    name: str
    dimension: int
    """Elements of a vector."""
    max_tokens: int
    """Longest input, special tokens and prefix included."""
    pad_id: int = 0
    query_prefix: str
    passage_prefix: str
    pooling: Literal["mean", "cls", "in_graph"]
    """How token states become a vector; "in_graph" where the graph does it."""
    normalise: bool | Literal["in_graph"]
    """Whether vectors are scaled to length 1 outside the graph."""
    precision: str
    weights_sha256: str = ""
    """Of the weights it was converted from; in a folder made by hand, of the graph and its data."""
    tokenizer_sha256: str = ""
    """Of `tokenizer.json` where that is not made from the weights."""
    converter: int = 0
    """`CONVERTER` of the conversion that wrote the folder; 0 for a folder made by hand."""
    files: dict[str, str] = {}
    """SHA-256 of the files beside the card, as the conversion wrote them."""


def fingerprint(card: ModelCard) -> str:
    """Return "name@hash" over everything that a vector depends on: equal means comparable."""
    known = {field: getattr(card, field) for field in _FINGERPRINTED}
    canonical = json.dumps(known, sort_keys=True, ensure_ascii=True)
    return f"{card.name}@{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


def graph_file(folder: Path) -> Path:
    """Return the path of the graph to run: the packed form where there is one.

    Raises:
        ModelError: there is none.
    """
    for name in (PACKED_FILE, PADDED_FILE):
        if (folder / name).is_file():
            return folder / name
    raise ModelError(f"{folder} holds neither {PACKED_FILE} nor {PADDED_FILE}")


def read_card(folder: Path) -> ModelCard:
    """Return a folder's card, its hashes checked against the files.

    In a folder made by hand, hashes that the card does not state are filled in from the files.

    Raises:
        ModelError: the card or a file is missing, damaged or at odds with the other.
    """
    path = folder / CARD_FILE
    try:
        card = msgspec.json.decode(path.read_bytes(), type=ModelCard)
    except FileNotFoundError:
        raise ModelError(f"{folder} is no model folder: it holds no {CARD_FILE}") from None
    except msgspec.DecodeError as error:
        raise ModelError(f"{path}: {error}") from error
    _check_values(card, path)
    if not (folder / TOKENIZER_FILE).is_file():
        raise ModelError(f"{folder} holds no {TOKENIZER_FILE}")
    return _check_hashes(card, folder) if card.converter else _fill_hashes(card, folder)


def file_sha256(paths: Iterable[Path]) -> str:
    """Return the hex SHA-256 of the bytes of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _check_values(card: ModelCard, path: Path) -> None:
    if not _NAME.fullmatch(card.name):
        raise ModelError(
            f"{path}: name is {card.name!r};"
            " allowed are at most 100 letters, digits, '-', '_' and '.'"
        )
    if not 1 <= card.dimension <= 65_536:
        raise ModelError(f"{path}: dimension is {card.dimension}; allowed are 1 to 65,536")
    if not 16 <= card.max_tokens <= 1_000_000:
        raise ModelError(f"{path}: max_tokens is {card.max_tokens}; allowed are 16 to 1,000,000")
    if card.pad_id < 0:
        raise ModelError(f"{path}: pad_id is {card.pad_id}; it is a token, 0 or more")


def _check_hashes(card: ModelCard, folder: Path) -> ModelCard:
    if card.converter != CONVERTER:
        raise ModelError(
            f"{folder} was written by version {card.converter} of the conversion, this is"
            f" {CONVERTER}; delete it and prepare the model again"
        )
    for name, expected in card.files.items():
        path = folder / name
        found = file_sha256([path]) if path.is_file() else "missing"
        if found != expected:
            raise ModelError(
                f"{path} is damaged (sha256 {found}, its card says {expected});"
                f" delete {folder} and prepare the model again"
            )
    return card


def _fill_hashes(card: ModelCard, folder: Path) -> ModelCard:
    graph = graph_file(folder)
    # Data beyond 2 GB lies beside the graph, as model.onnx_data or model.onnx.data.
    weights = file_sha256(sorted(folder.glob(graph.name + "*")))
    tokenizer = file_sha256([folder / TOKENIZER_FILE])
    for field, stated, found in (
        ("weights_sha256", card.weights_sha256, weights),
        ("tokenizer_sha256", card.tokenizer_sha256, tokenizer),
    ):
        if stated not in ("", found):
            raise ModelError(
                f"{folder / CARD_FILE}: {field} is {stated}, the files have {found};"
                " put the right files there or leave the field out"
            )
    return msgspec.structs.replace(card, weights_sha256=weights, tokenizer_sha256=tokenizer)
