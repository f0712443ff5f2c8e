"""Writes ONNX graphs: constants, operators, and linear layers and word tables by precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from treespan.models.weights import Nibbles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from onnx import ModelProto

    from treespan.models.packages import Precision
    from treespan.models.weights import Floats, Linear

MICROSOFT: Final = "com.microsoft"
_OPSET: Final = 18
_IR: Final = 9


class Graph:
    """A graph under construction; values are named by strings."""

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, name: str, values: NDArray[Any] | np.generic) -> str:
        """Return the name of a constant, made on first use; a number becomes a list of one."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def ints(self, *values: int) -> str:
        """Return the name of a constant list of integers."""
        return self.constant("ints_" + "_".join(map(str, values)), np.array(values, np.int64))

    def ops(
        self, kind: str, *inputs: str, outputs: int, domain: str = "", **more: Any
    ) -> list[str]:
        """Add an operator and return the names of its outputs; `more` are its attributes."""
        number = len(self._nodes)
        names = [f"{kind}_{number}_{i}" for i in range(outputs)]
        self._nodes.append(
            helper.make_node(
                kind, list(inputs), names, name=f"{kind}_{number}", domain=domain, **more
            )
        )
        return names

    def op(self, kind: str, *inputs: str, domain: str = "", **more: Any) -> str:
        """Add an operator with one output and return that output's name."""
        return self.ops(kind, *inputs, outputs=1, domain=domain, **more)[0]

    def name_output(self, value: str, name: str) -> None:
        """Give a value the name that callers use."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))

    def linear(self, x: str, name: str, layer: Linear) -> str:
        """Return `x` times a layer's weight; the fused operator that follows adds the bias."""
        weight = layer.weight.T
        if self._precision == "fp32":
            return self.op("MatMul", x, self.constant(name, weight))
        scale = (np.maximum(np.abs(weight).max(0), 1e-8) / 127).astype(np.float32)
        whole = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
        whole_name, scale_name = self.constant(name, whole), self.constant(name + ".scale", scale)
        # A zero point for every layer: in exact mode (`treespan.embed.open_session`) onnxruntime
        # rewrites int8 constants node by node and refuses a graph in which two nodes share one.
        zero = self.constant(name + ".zero", np.zeros(weight.shape[1], np.int8))
        rounded, peak = self._quantised_rows(x)
        step = self.constant("step", np.float32(1 / 127))
        middle = self.constant("middle_u8", np.uint8(128))
        inputs = (rounded, whole_name, step, scale_name, middle, zero)
        return self.op("Mul", self.op("MatMulIntegerToFloat", *inputs, domain=MICROSOFT), peak)

    def _quantised_rows(self, x: str) -> tuple[str, str]:
        """Return every token on its own scale, u8 around 128, and its largest absolute value.

        On a scale of its own a token comes out the same whatever shares its batch; on a scale of
        the whole tensor it would not.
        """
        largest = self.op("ReduceMax", self.op("Abs", x), self.ints(-1), keepdims=1)
        peak = self.op("Max", largest, self.constant("tiny", np.float32(1e-9)))
        factor = self.op("Div", self.constant("top", np.float32(127)), peak)
        shifted = self.op(
            "Add", self.op("Mul", x, factor), self.constant("middle", np.float32(128))
        )
        return self.op("Cast", self.op("Round", shifted), to=TensorProto.UINT8), peak

    def rows(self, table: Floats | Nibbles, ids: str) -> str:
        """Return the rows of a word table that `ids` names, as floats, [..., hidden]."""
        if self._precision == "fp32":
            whole = table.floats() if isinstance(table, Nibbles) else table
            return self.op("Gather", self.constant("words", whole), ids)
        return self._rows4(table, ids) if isinstance(table, Nibbles) else self._rows8(table, ids)

    def _rows8(self, table: Floats, ids: str) -> str:
        peak = np.maximum(np.abs(table).max(1, keepdims=True), 1e-8)
        scale = (peak / 127).astype(np.float32)
        whole = np.clip(np.rint(table / scale), -127, 127).astype(np.int8)
        rows = self.op("Gather", self.constant("words", whole), ids)
        scales = self.op("Gather", self.constant("words.scale", scale), ids)
        return self.op("Mul", self.op("Cast", rows, to=TensorProto.FLOAT), scales)

    def _rows4(self, table: Nibbles, ids: str) -> str:
        half = table.codes.shape[2] // 2
        packed = table.codes[:, :, :half] | (table.codes[:, :, half:] << 4)
        rows = self.op("Gather", self.constant("words", packed), ids)
        low = self.op("BitwiseAnd", rows, self.constant("fifteen", np.uint8(15)))
        high = self.op("BitShift", rows, self.constant("four", np.uint8(4)), direction="RIGHT")
        codes = self.op("Cast", self.op("Concat", low, high, axis=-1), to=TensorProto.FLOAT)
        centred = self.op("Sub", codes, self.constant("eight", np.float32(8)))
        halves = self.constant("words.scale", table.scales.astype(np.float16))
        scale = self.op("Cast", self.op("Gather", halves, ids), to=TensorProto.FLOAT)
        wide = self.op("Mul", centred, self.op("Unsqueeze", scale, self.ints(-1)))
        return self.op(
            "Reshape", wide, self.ints(0, 0, table.codes.shape[1] * table.codes.shape[2])
        )

    def model(
        self,
        inputs: Mapping[str, Sequence[int | str]],
        outputs: Mapping[str, Sequence[int | str]],
    ) -> ModelProto:
        """Return the finished model: int64 inputs and float outputs, given as name and shape."""
        proto = helper.make_graph(
            self._nodes,
            "encoder",
            [helper.make_tensor_value_info(n, TensorProto.INT64, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(proto, opset_imports=opsets, ir_version=_IR)


def probe() -> ModelProto:
    """Return the graph in `int8_probe.onnx`: u8[8, 64] times s8[64, 16] of 127."""
    weights = numpy_helper.from_array(np.full((64, 16), 127, np.int8), "weights")
    proto = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "weights"], ["y"])],
        "probe",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [8, 64])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [8, 16])],
        [weights],
    )
    return helper.make_model(proto, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
