"""Builds the graph of a BERT encoder from its weights, in the packed or the padded form.

Both end in `sentence_embedding` [batch, hidden]: the mean over real tokens, scaled to length 1.

    padded   input_ids, attention_mask   [batch, seq]
    packed   input_ids, position_ids     [1, tokens]    the real tokens of all texts in one row
             pad_index, attention_mask   [batch, seq]   where each place finds its token; padding: 0
             unpad_index                 [tokens]       real tokens' places in flat [batch, seq]

In the packed form linear layers see no padding at all; only attention and pooling do. The vectors
are the same bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from onnx import TensorProto

from treespan.models.graph import MICROSOFT, Graph

if TYPE_CHECKING:
    from onnx import ModelProto

    from treespan.models.packages import Precision
    from treespan.models.weights import Encoder, Floats, Layer, Norm

Form = Literal["packed", "padded"]

_INPUTS: Final[dict[Form, dict[str, list[int | str]]]] = {
    "padded": {"input_ids": ["batch", "seq"], "attention_mask": ["batch", "seq"]},
    "packed": {
        "input_ids": [1, "tokens"],
        "position_ids": [1, "tokens"],
        "pad_index": ["batch", "seq"],
        "unpad_index": ["tokens"],
        "attention_mask": ["batch", "seq"],
    },
}


def build(weights: Encoder, precision: Precision, form: Form) -> ModelProto:
    """Return an encoder's graph."""
    builder = _Builder(weights, precision, form)
    builder.pool(builder.states())
    return builder.graph.model(_INPUTS[form], {"sentence_embedding": ["batch", weights.hidden]})


class _Builder:
    """The parts of one graph."""

    def __init__(self, weights: Encoder, precision: Precision, form: Form) -> None:
        self.graph = Graph(precision)
        self._weights = weights
        self._packed = form == "packed"

    def states(self) -> str:
        """Add the encoder and return its token states, [batch, seq, hidden]."""
        weights, graph = self._weights, self.graph
        key_mask = graph.op("Cast", "attention_mask", to=TensorProto.INT32)
        positions = self._positions()
        words = graph.rows(weights.words, "input_ids")
        # Written as the fused operator: onnxruntime would fuse an Add and a LayerNormalization in
        # one form only, and that last bit grows through int8 rounding to a cosine of 0.9996.
        x = self._skip_norm(words, positions, "norm", weights.norm, None)
        for i, layer in enumerate(weights.layers):
            x = self._layer(x, f"layer{i}.", layer, key_mask)
        return self._pad(x)

    def pool(self, states: str) -> None:
        """Add the mean over real tokens, scaled to length 1, as the output."""
        graph = self.graph
        mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
        mask = graph.op("Unsqueeze", mask, graph.ints(1))
        # A sum is enough: the mean's divisor falls out of the scaling.
        total = graph.op("Squeeze", graph.op("MatMul", mask, states), graph.ints(1))
        length = graph.op("ReduceL2", total, graph.ints(-1), keepdims=1)
        graph.name_output(graph.op("Div", total, length), "sentence_embedding")

    def _positions(self) -> str:
        graph = self.graph
        positions = graph.constant("positions", self._weights.positions)
        if self._packed:
            return graph.op("Gather", positions, "position_ids")
        length = graph.op("Shape", "input_ids", start=1, end=2)
        return graph.op("Slice", positions, graph.ints(0), length, graph.ints(0))

    def _layer(self, x: str, name: str, layer: Layer, key_mask: str) -> str:
        graph = self.graph
        seen = graph.linear(
            self._unpad(self._attention(x, name, layer, key_mask)),
            name + "attention_out",
            layer.attention_out,
        )
        x = self._skip_norm(
            seen, x, name + "attention_norm", layer.attention_norm, layer.attention_out.bias
        )
        wide = graph.linear(x, name + "up", layer.up)
        bias = graph.constant(name + "up.bias", layer.up.bias)
        wide = graph.op("BiasGelu", wide, bias, domain=MICROSOFT)
        narrow = graph.linear(wide, name + "down", layer.down)
        return self._skip_norm(narrow, x, name + "out_norm", layer.out_norm, layer.down.bias)

    def _attention(self, x: str, name: str, layer: Layer, key_mask: str) -> str:
        graph, hidden = self.graph, self._weights.hidden
        qkv = graph.linear(x, name + "qkv", layer.qkv)
        sizes = graph.ints(hidden, hidden, hidden)
        q, k, v = graph.ops("Split", qkv, sizes, outputs=3, axis=-1)
        return graph.op(
            "MultiHeadAttention",
            self._pad(q),
            self._pad(k),
            self._pad(v),
            graph.constant(name + "qkv.bias", layer.qkv.bias),
            key_mask,
            domain=MICROSOFT,
            num_heads=self._weights.heads,
        )

    def _skip_norm(self, x: str, rest: str, name: str, norm: Norm, bias: Floats | None) -> str:
        graph = self.graph
        inputs = [x, rest, graph.constant(name + ".w", norm.weight)]
        inputs.append(graph.constant(name + ".b", norm.bias))
        if bias is not None:
            inputs.append(graph.constant(name + ".bias", bias))
        epsilon = self._weights.epsilon
        return graph.op("SkipLayerNormalization", *inputs, domain=MICROSOFT, epsilon=epsilon)

    def _pad(self, x: str) -> str:
        return self.graph.op("Gather", self._flat(x), "pad_index") if self._packed else x

    def _unpad(self, x: str) -> str:
        if not self._packed:
            return x
        rows = self.graph.op("Gather", self._flat(x), "unpad_index")
        return self.graph.op("Reshape", rows, self.graph.ints(1, -1, self._weights.hidden))

    def _flat(self, x: str) -> str:
        return self.graph.op("Reshape", x, self.graph.ints(-1, self._weights.hidden))
