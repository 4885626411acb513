"""Vectors in the precision of the rows that they are multiplied with."""

from typing import Any

import numpy as np

from headrank._types import Vector

_SAFE = 1e15
"""Float32 reaches from 1e-38 to 1e38: beyond this, weights in it may lose their digits or be infinite."""


def factor_for(X: Any, values: Vector) -> Vector | None:
    """What to divide one or several vectors by before they take the float type of X; None if by nothing.

    >>> factor_for(np.ones((2, 1), dtype=np.float32), np.array([1e60, 2e60]))
    array([2.e+60])
    """
    if X.dtype == np.float64:
        return None
    # Not the largest of the absolute values: that would take another vector of this length.
    largest = np.maximum(values.max(axis=-1, keepdims=True), -values.min(axis=-1, keepdims=True))
    if ((largest == 0) | ((largest > 1 / _SAFE) & (largest < _SAFE))).all():
        return None
    return np.where(largest > 0, largest, 1.0)


def narrowed(X: Any, values: Vector, factor: Vector | None) -> Vector:
    """Vectors, or parts of them, in the float type of X, divided by their factor."""
    return (values if factor is None else values / factor).astype(X.dtype, copy=False)


def times(products: Vector, factor: Vector | None) -> Vector:
    """Multiply products by the factor that was taken out of their vectors, in place."""
    if factor is not None:
        products *= factor
    return products
