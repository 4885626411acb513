"""A graph of ONNX operators under construction: each operator is added with the names of its inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._extras import needs_extra

OPERATORS, TREE_OPERATORS = 20, 5
"""Versions of the operator sets ``ai.onnx`` and ``ai.onnx.ml``: the first with trees in double precision."""
_IR = 9
"""The format of the file that goes with them."""
ML = "ai.onnx.ml"


class Graph:
    """Operators, constants and inputs.

    Parameters
    ----------
    precision : {"float64", "float32"}
        Of the computation and of the scores.
    taken : names
        Names of inputs and outputs, which no intermediate result may have.
    """

    def __init__(self, precision: str, *, taken: Collection[str] = ()) -> None:
        with needs_extra("onnx"):
            import onnx
        self._onnx = onnx
        self.precision = np.dtype(precision)
        self._prefix = "headrank/"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []

    def input(self, name: str, dtype: npt.DTypeLike, n_columns: int) -> str:
        """Add an input of shape (rows, n_columns)."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, ["rows", n_columns]))
        return name

    def constant(self, value: Any, dtype: npt.DTypeLike | None = None) -> str:
        """Add a constant, in the precision of the computation unless another type is given."""
        name = self._new_name()
        self._constants.append(self.tensor(np.asarray(value, dtype=dtype or self.precision), name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        name = self._new_name()
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def cast(self, x: str, dtype: npt.DTypeLike | None = None) -> str:
        """Convert to another type, by default to the precision of the computation."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype or self.precision))
        return self.add("Cast", x, to=kind)

    def columns(self, x: str, numbers: Any) -> str:
        """Select some columns."""
        return self.add("Gather", x, self.constant(numbers, np.int64), axis=1)

    def total(self, terms: list[str]) -> str:
        """Add up tensors of one shape."""
        return terms[0] if len(terms) == 1 else self.add("Sum", *terms)

    def tensor(self, values: Any, name: str = "") -> Any:
        """Return an array as ONNX keeps it."""
        return self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)

    def finished(self, score: str, output: str, facts: Mapping[str, str]) -> bytes:
        """Return the file: ``score``, of shape (rows, 1), becomes the output of this name."""
        helper = self._onnx.helper
        nodes = [*self._nodes, helper.make_node("Identity", [score], [output])]
        kind = helper.np_dtype_to_tensor_dtype(self.precision)
        outputs = [helper.make_tensor_value_info(output, kind, ["rows", 1])]
        graph = helper.make_graph(nodes, "headrank", self._inputs, outputs, self._constants)
        versions = [helper.make_opsetid("", OPERATORS), helper.make_opsetid(ML, TREE_OPERATORS)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=_IR, producer_name="headrank")
        helper.set_model_props(model, dict(facts))
        self._onnx.checker.check_model(model)
        result: bytes = model.SerializeToString()
        return result

    def _new_name(self) -> str:
        return f"{self._prefix}{len(self._nodes) + len(self._constants)}"
