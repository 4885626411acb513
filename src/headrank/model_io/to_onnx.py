"""export_onnx: write a linear model for any ONNX runtime."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from headrank._types import Vector
from headrank._whole_files import write_file
from headrank.exceptions import ModelFileError
from headrank.model_io.linear_form import linear_form

_SCALERS = (StandardScaler, MaxAbsScaler, MinMaxScaler, RobustScaler)


def export_onnx(
    model: Any, path: str | os.PathLike[str], *, precision: Literal["float32", "float64"] = "float64"
) -> None:
    """Write a linear model as ONNX. Its input is "features", its output "score", one number per row.

    In float64, scores agree with `decision_function` to about 1e-12 of their size. Many runtimes support only float32.
    Scores then agree to about 1e-6 of the size of the largest term, and rows with closer scores may tie or swap places.

    Needs skl2onnx: ``pip install "headrank[onnx]"``.

    Parameters
    ----------
    model : LinearRanker, LinearRankerCV, LogisticRegression, or a pipeline of scalers that ends in one
        A fitted model. The scalers may be scikit-learn's ``StandardScaler``, ``MaxAbsScaler``, ``MinMaxScaler`` and
        ``RobustScaler``.
    path : str or path
        The file. An existing file is replaced.
    precision : {"float64", "float32"}
        Precision of the input, the computation and the scores.

    Raises
    ------
    ModelFileError
        If the model is not linear, not fitted, or has steps other than these scalers.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import headrank as hr, onnxruntime
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> ranker = hr.LinearRanker("auc").fit(X, [0, 0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     export_onnx(ranker, Path(folder) / "ranker.onnx")
    ...     session = onnxruntime.InferenceSession(Path(folder) / "ranker.onnx", providers=["CPUExecutionProvider"])
    >>> (scores,) = session.run(["score"], {"features": X})
    >>> bool(np.allclose(scores.ravel(), ranker.decision_function(X), rtol=1e-12))
    True
    """
    if precision not in ("float32", "float64"):
        raise ValueError(f"precision must be 'float32' or 'float64', got {precision!r}")
    form = linear_form(model)
    strange = [type(step).__name__ for _, step in form.before if type(step) not in _SCALERS]
    if strange:
        raise ModelFileError(
            f"{', '.join(strange)} cannot be exported to ONNX; the steps before a linear model may be "
            f"{', '.join(each.__name__ for each in _SCALERS)}; for the coefficients alone use export_json"
        )
    graph = _converted(form.before, LinearEnd(form.coefficients, form.intercept), precision)
    write_file(path, lambda unfinished: unfinished.write_bytes(graph.SerializeToString()))


class LinearEnd(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """The linear model as skl2onnx sees it: a regressor with one output."""

    def __init__(self, coefficients: Vector, intercept: float) -> None:
        self.coefficients = coefficients
        self.intercept = intercept


def _converted(before: tuple[tuple[str, Any], ...], end: LinearEnd, precision: str) -> Any:
    try:
        from skl2onnx import convert_sklearn, update_registered_converter
        from skl2onnx.algebra.onnx_ops import OnnxAdd, OnnxMatMul
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    except ImportError as error:
        raise ImportError('export_onnx needs skl2onnx: pip install "headrank[onnx]"') from error
    tensor = DoubleTensorType if precision == "float64" else FloatTensorType

    def shape(operator: Any) -> None:
        operator.outputs[0].type = tensor([None, 1])

    def convert(scope: Any, operator: Any, container: Any) -> None:
        weights = end.coefficients.astype(precision).reshape(-1, 1)
        versions = {"op_version": container.target_opset}
        terms = OnnxMatMul(operator.inputs[0], weights, **versions)
        offset = np.array([end.intercept], dtype=precision)
        OnnxAdd(terms, offset, output_names=operator.outputs[:1], **versions).add_to(scope, container)

    update_registered_converter(LinearEnd, "HeadrankLinearEnd", shape, convert, overwrite=True)
    n_features = before[0][1].n_features_in_ if before else end.coefficients.size
    return convert_sklearn(
        Pipeline([*before, ("score", end)]) if before else end,
        name="headrank",
        initial_types=[("features", tensor([None, n_features]))],
        final_types=[("score", tensor([None, 1]))],
    )
