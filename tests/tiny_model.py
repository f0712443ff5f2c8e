"""A model folder small enough to work out by hand: five words, vectors of four numbers.

A token's state is its row of `WORDS`, plus a row of `TYPES` in graphs that ask for token types; so
the vector of a text is a mean, or a first row, of known numbers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, pre_tokenizers, processors

if TYPE_CHECKING:
    from pathlib import Path

_SIDE = 1024
"""Of the matrices that make a slow model slow."""

VOCABULARY = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "red": 4, "green": 5, "blue": 6}
WORDS = np.array(
    [
        [9, 9, 9, 9],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 1],
        [4, 0, 2, 0],
        [0, 3, 0, 5],
        [1, 1, 7, 1],
    ],
    np.float32,
)
TYPES = np.array([[0, 0, 0, 2], [50, 50, 50, 50]], np.float32)


def write_tiny_model(
    folder: Path, *, token_types: bool = False, slowness: int = 0, **card: Any
) -> Path:
    """Write a model folder; `card` replaces entries of its card; "in_graph" pooling is a sum.

    Each step of `slowness` makes a run of the model multiply two large matrices, for nothing.
    """
    stated = {
        "name": "tiny",
        "dimension": 4,
        "max_tokens": 16,
        "pad_id": 0,
        "query_prefix": "red ",
        "passage_prefix": "",
        "pooling": "mean",
        "normalise": True,
        "precision": "fp32",
    } | card
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model_card.json").write_text(json.dumps(stated))
    _tokenizer().save(str(folder / "tokenizer.json"))
    pooled = stated["pooling"] == "in_graph"
    graph = _graph(token_types=token_types, pooled=pooled, slowness=slowness)
    save(graph, str(folder / "model.onnx"))
    return folder


def unit(vector: Any) -> Any:
    array = np.asarray(vector, np.float32)
    return array / np.linalg.norm(array)


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    # What a published tokenizer.json may carry, and a loader must not obey.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=32)
    return tokenizer


def _graph(*, token_types: bool, pooled: bool, slowness: int) -> Any:
    nodes = [helper.make_node("Gather", ["words", "input_ids"], ["word_states"])]
    names = ["input_ids", "attention_mask"]
    states = "word_states"
    if token_types:
        names.append("token_type_ids")
        nodes.append(helper.make_node("Gather", ["types", "token_type_ids"], ["type_states"]))
        nodes.append(helper.make_node("Add", [states, "type_states"], ["typed_states"]))
        states = "typed_states"
    if slowness:
        nodes += _delay(states, slowness)
        states = "late_states"
    outputs = [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["b", "s", 4])]
    nodes.append(helper.make_node("Identity", [states], ["states"]))
    if pooled:
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["wide_mask"]),
            helper.make_node("Mul", [states, "wide_mask"], ["real_states"]),
            helper.make_node(
                "ReduceSum", ["real_states", "one"], ["sentence_embedding"], keepdims=0
            ),
        ]
        outputs.append(
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["b", 4])
        )
    constants = [
        numpy_helper.from_array(WORDS, "words"),
        numpy_helper.from_array(TYPES, "types"),
        numpy_helper.from_array(np.array([-1]), "last"),
        numpy_helper.from_array(np.array([1]), "one"),
    ]
    if slowness:
        constants += [
            numpy_helper.from_array(np.ones((_SIDE, _SIDE), np.float32), "large"),
            numpy_helper.from_array(np.array(0, np.float32), "nothing"),
        ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in names]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _delay(states: str, slowness: int) -> list[Any]:
    """Nodes that add nothing to the states, and take long to say so."""
    nodes = [
        helper.make_node("ReduceMean", [states], ["mean_0"], keepdims=0),
        helper.make_node("Mul", ["large", "mean_0"], ["large_0"]),
    ]
    for step in range(slowness):
        nodes.append(helper.make_node("MatMul", [f"large_{step}", "large"], [f"product_{step}"]))
        nodes.append(helper.make_node("Mul", [f"product_{step}", "nothing"], [f"large_{step + 1}"]))
    nodes.append(helper.make_node("ReduceMean", [f"large_{slowness}"], ["delay"], keepdims=0))
    nodes.append(helper.make_node("Add", [states, "delay"], ["late_states"]))
    return nodes
