"""Validation of features: any X that scikit-learn accepts, converted to a float array or CSR matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from headrank._numbers import short_repr
from headrank._types import ArrayLike, Vector
from headrank.estimators._blocks import checked_blocks
from headrank.estimators.frame_categories import FrameCategories
from headrank.labels import check_classes
from headrank.rows import Blocks, is_distributed, open_rows

LARGEST = 1e75
"""Largest feature, and largest C times the weight of all losses: the square of their product must be finite."""
_LARGEST_SINGLE = 1e15
"""Largest feature in float32, where squares overflow at 1e38."""
_FAR = {np.dtype(np.float64): 1e4, np.dtype(np.float32): 1e3}
"""A feature is far from 0 if its values exceed their range by this factor: products then lose as many digits."""


def checked_matrix(estimator: Any, X: Any, *, reset: bool, finite: bool = True) -> Any:
    """Return X as a float32 or float64 array or CSR matrix without duplicate entries, or raise.

    Trees compare values and compute nothing from them: with ``finite=False``, NaN, infinities and any size will do.
    """
    if is_distributed(X) and estimator._takes_blocks:
        X = Blocks.from_dask(X)
    if isinstance(X, Blocks):
        X = checked_blocks(estimator, X, reset=reset)
        return _computable(X) if finite else X
    X = _read(estimator, X, reset=reset, finite=finite)
    return _computable(X) if finite else _without_duplicates(X)


def checked_matrix_and_labels(estimator: Any, X: Any, y: ArrayLike, *, finite: bool = True) -> tuple[Any, Any]:
    """Return X as `checked_matrix` does, and the labels as scikit-learn checks them."""
    check_classes(y)
    if isinstance(X, Blocks):
        X = checked_blocks(estimator, X, reset=True)
        return _computable(X) if finite else X, y
    X, labels = _read(estimator, X, y, reset=True, finite=finite)
    return _computable(X) if finite else _without_duplicates(X), labels


def shift_of(X: Any) -> Vector | None:
    """What to subtract from each feature so that none is far from 0; None if none is. One pass over X.

    A common shift of the scores changes no ranking, but the digits it takes are lost to the differences: for seconds
    since 1970, nine of sixteen. No feature with zeros is far.
    """
    low, high = open_rows(X).ends()
    largest = np.maximum(np.abs(low), np.abs(high))
    far = (largest > _FAR[X.dtype] * (high - low)) & (largest > _FAR[X.dtype])  # excludes columns of ones
    return np.where(far, low, 0.0) if far.any() else None


def _read(estimator: Any, X: Any, *y: ArrayLike, reset: bool, finite: bool) -> Any:
    _refuse_other_shapes(X)
    if estimator._takes_categories:
        X = _with_codes(estimator, X, reset=reset)
    try:
        with np.errstate(all="ignore"):  # infinities are looked for by adding them up
            return validate_data(
                estimator,
                X,
                *y,
                accept_sparse="csr",
                dtype=(np.float64, np.float32),
                ensure_all_finite=finite,
                reset=reset,
            )
    except Exception as error:
        kind = type(error) if isinstance(error, ValueError | TypeError) else ValueError
        if culprit := _culprit(X):
            raise kind(f"X must contain only numbers, but {culprit} ({error}); encode or drop it") from None
        if kind is not type(error):
            raise kind(f"X cannot be read as a table of numbers: {error}") from None
        raise


def _with_codes(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Replace the categories of a data frame by codes, which are learned if ``reset``."""
    if reset:
        vars(estimator).pop("categories_", None)
        if (found := FrameCategories.of(X)) is not None:
            estimator.categories_ = found
    known = getattr(estimator, "categories_", None)
    return X if known is None else known.encoded(X)


def _refuse_other_shapes(X: Any) -> None:
    """Raise unless X has rows and columns. Lists are left to scikit-learn, which has good messages for them."""
    shape = getattr(X, "shape", None)
    if (shape is None and not isinstance(X, Sequence) | hasattr(X, "__array__")) or isinstance(X, str | bytes | range):
        raise TypeError(f"X must be an array, a sparse matrix or a data frame of numbers, got {short_repr(X)}")
    if isinstance(shape, tuple) and len(shape) != 2:
        raise ValueError(
            f"X must have rows and columns, but has shape {shape}. Reshape your data: a single feature is X[:, None], "
            "a single row X[None, :]"
        )
    if isinstance(shape, tuple) and shape[1] == 0:
        raise ValueError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _computable(X: Any) -> Any:
    """Return X without duplicate entries, or raise if its values are too large."""
    X = _without_duplicates(X)
    low, high = open_rows(X).ends()
    largest = max(float(high.max()), -float(low.min()))
    if largest > LARGEST:
        raise ValueError(
            f"features must lie within ±{LARGEST:g}, so that their squares can be summed, but X reaches {largest:.3g}; "
            "divide the features by a constant, or check for values that encode missing ones"
        )
    if X.dtype == np.float64 or largest <= _LARGEST_SINGLE:
        return X
    if isinstance(X, Blocks):
        raise ValueError(
            f"float32 features in blocks must lie within ±{_LARGEST_SINGLE:g}, but X reaches {largest:.3g}; store them "
            "as float64"
        )
    return X.astype(np.float64)


def _without_duplicates(X: Any) -> Any:
    if getattr(X, "has_canonical_format", True):
        return X
    X = X.copy()  # variances and kernels take entries one by one; the X given is not modified
    X.sum_duplicates()
    return X


def _culprit(X: Any) -> str | None:
    """Describe the first value that is not a number and its position; None if there is none or X is not a table."""
    names = getattr(X, "columns", None)
    if hasattr(X, "nnz"):
        return None
    try:
        columns = np.asarray(X, dtype=object)
    except Exception:
        return "its rows differ in length"
    if columns.ndim != 2:
        columns = columns[:, None] if columns.ndim == 1 else np.empty((0, 0))
    for j, column in enumerate(columns.T):
        for i, value in enumerate(column):
            try:
                float(value)
            except Exception:  # float() may raise anything
                where = f"column {names[j]!r}" if names is not None else f"column {j}"
                return f"{where} contains {short_repr(value)} in row {i}"
    return None
