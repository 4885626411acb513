"""Scores that onnxruntime gives with an exported model."""

import numpy as np
import onnxruntime
import polars as pl


def onnx_scores(path, rows):
    """Score a matrix, or a table whose columns become the inputs as `export_onnx` says."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    if not isinstance(rows, pl.DataFrame):
        given = {"features": rows}
    else:
        given = {each.name: _input(rows[each.name], each.type)[:, None] for each in session.get_inputs()}
    (scores,) = session.run(None, given)
    assert scores.shape == (len(rows), 1)
    return scores.ravel()


def _input(column, kind):
    if kind == "tensor(string)":
        return column.cast(pl.String).fill_null("").to_numpy().astype(object)
    if kind == "tensor(int64)":
        return column.cast(pl.Datetime("us")).to_numpy().astype("datetime64[us]").astype(np.int64)
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def assert_same(scores, expected, *, tolerance=1e-5):
    """Scores differ by no more than a small share of their spread."""
    assert np.std(expected) > 0
    np.testing.assert_allclose(scores, expected, rtol=0, atol=tolerance * np.std(expected))
