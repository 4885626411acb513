"""Vectors in the precision of the rows they are multiplied with."""

from typing import Any

import numpy as np

from headrank._types import Vector

_SAFE = 1e15
"""Float32 ranges from 1e-38 to 1e38; weights beyond this size may lose digits or overflow in products."""


def in_precision_of(X: Any, values: Vector) -> tuple[Vector, Vector | float]:
    """Return one or several vectors in the float type of X, and the factor to multiply their products by.

    >>> in_precision_of(np.ones((2, 1), dtype=np.float32), np.array([1e60, 2e60]))
    (array([0.5, 1. ], dtype=float32), array([2.e+60]))
    """
    if X.dtype == np.float64:
        return values, 1.0
    largest = np.abs(values).max(axis=-1, keepdims=True)
    if ((largest == 0) | ((largest > 1 / _SAFE) & (largest < _SAFE))).all():
        return values.astype(X.dtype), 1.0
    factor: Vector = np.where(largest > 0, largest, 1.0)
    return (values / factor).astype(X.dtype), factor
