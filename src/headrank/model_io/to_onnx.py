"""export_onnx: write a model for any ONNX runtime."""

from __future__ import annotations

import os
from typing import Any, Literal

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from headrank._whole_files import write_file
from headrank.exceptions import ModelFileError
from headrank.model_io.onnx_export.estimators import scored
from headrank.model_io.onnx_export.graph import Graph
from headrank.model_io.onnx_export.tables import encoded
from headrank.training.encoding import TableEncoder
from headrank.training.features import OccurringFeatures
from headrank.training.table_model import TableModel

_FEATURES, _SCORE = "features", "score"


def export_onnx(
    model: Any, path: str | os.PathLike[str], *, precision: Literal["float32", "float64"] = "float64"
) -> None:
    """Write a model as ONNX. Its output is "score", one number per row, of shape (n_rows, 1).

    The input of an estimator is "features", a matrix, with the codes of the categories of a data frame, NaN for unknown
    ones (``categories_.values``). A model of ``headrank fit`` has one input per column that it
    uses, each of shape (n_rows, 1) and with the name of the column:

    - numbers, and true/false as 1/0: float64, with NaN for missing values;
    - text: strings; blank ones are missing;
    - dates: int64, microseconds since 1970, with the smallest integer for missing values: ``datetime64[us]`` of NumPy
      as integers.

    A table in which a column is itself called "score" gets the output ``"score_"``.

    In float64, rows take the same branches of all trees, and scores agree with `decision_function` to about 1e-12 of
    their size, or 1e-6 for the linear part of a `RankerCV`, whose features are in single precision. In float32, trees
    take the branches that the model takes for the row rounded to float32, and scores agree to about 1e-6 of the size of
    the largest term; rows with closer scores may tie or swap places.

    Needs onnx: ``pip install "headrank[onnx]"``. The file has operators of version 20, and trees of version 5. Use
    onnxruntime 1.24.1 or later: 1.20 refuses the file, and 1.21 to 1.23 score some trees wrongly, without an error.

    Parameters
    ----------
    model : ranker, LogisticRegression, a pipeline of scalers that ends in one, or a model of ``headrank fit``
        A fitted model. The rankers are `RankerCV`, `BoostedRanker`, `BoostedRankerCV`, `LinearRanker` and
        `LinearRankerCV`; the scalers scikit-learn's ``StandardScaler``, ``MaxAbsScaler``, ``MinMaxScaler`` and
        ``RobustScaler``.
    path : str or path
        The file. An existing file is replaced.
    precision : {"float64", "float32"}
        Precision of the computation and the scores, and of the input of an estimator.

    Raises
    ------
    ModelFileError
        If the model is not fitted, or has a part that ONNX has no operator for, such as text with many different
        values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import headrank as hr, numpy as np, onnxruntime
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = hr.BoostedRanker("pauc@0.3", n_estimators=20).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     export_onnx(ranker, Path(folder) / "ranker.onnx")
    ...     session = onnxruntime.InferenceSession(Path(folder) / "ranker.onnx", providers=["CPUExecutionProvider"])
    >>> (scores,) = session.run(["score"], {"features": X.astype(np.float64)})
    >>> bool(np.allclose(scores.ravel(), ranker.decision_function(X), rtol=1e-12))
    True
    """
    if precision not in ("float32", "float64"):
        raise ValueError(f"precision must be 'float32' or 'float64', got {precision!r}")
    if isinstance(model, TableModel):
        data = _of_table(model, precision)
    else:
        _require_fitted(model)
        graph = Graph(precision, taken=(_FEATURES, _SCORE))
        n_features = getattr(model, "n_features_in_", 1)  # whatever has no features is refused
        data = graph.finished(scored(model, graph, graph.input(_FEATURES, precision, n_features)), _SCORE, {})
    write_file(path, lambda unfinished: unfinished.write_bytes(data))


def _of_table(model: TableModel, precision: str) -> bytes:
    columns = [column.name for column in model.columns]
    output = _SCORE
    while output in columns:
        output += "_"
    graph = Graph(precision, taken=(*columns, output))
    steps = model.estimator.steps
    first = steps[0][1]
    if isinstance(first, TableEncoder):
        x, steps = encoded(first, graph), steps[1:]
    else:
        x = graph.input(_FEATURES, precision, model.n_features)
        if isinstance(first, OccurringFeatures):
            x, steps = graph.columns(x, first.numbers_ - model.first_feature), steps[1:]
    facts = {"promise": model.promise} | ({} if model.threshold is None else {"threshold": repr(model.threshold)})
    return graph.finished(scored(Pipeline(steps), graph, x), output, facts)


def _require_fitted(model: Any) -> None:
    end = model.steps[-1][1] if isinstance(model, Pipeline) else model
    try:
        check_is_fitted(end)
    except (NotFittedError, TypeError) as error:
        raise ModelFileError(f"this {type(end).__name__} is not fitted; call fit before exporting it") from error
