"""Vectors in the precision of the rows they are multiplied with."""

from typing import Any

import numpy as np

from headrank._types import Vector

_SAFE = 1e15
"""Float32 ranges from 1e-38 to 1e38; weights beyond this size may lose digits or overflow in products."""


def factor_for(X: Any, values: Vector) -> Vector | None:
    """Return the divisor of one or several vectors before conversion to the float type of X; None if not needed.

    >>> factor_for(np.ones((2, 1), dtype=np.float32), np.array([1e60, 2e60]))
    array([2.e+60])
    """
    if X.dtype == np.float64:
        return None
    # Not np.abs(values).max(), which would allocate another vector of this length.
    largest = np.maximum(values.max(axis=-1, keepdims=True), -values.min(axis=-1, keepdims=True))
    if ((largest == 0) | ((largest > 1 / _SAFE) & (largest < _SAFE))).all():
        return None
    return np.where(largest > 0, largest, 1.0)


def narrowed(X: Any, values: Vector, factor: Vector | None) -> Vector:
    """Return vectors, or parts of them, divided by their factor, in the float type of X."""
    return (values if factor is None else values / factor).astype(X.dtype, copy=False)


def times(products: Vector, factor: Vector | None) -> Vector:
    """Multiply products in place by the factor of their vectors."""
    if factor is not None:
        products *= factor
    return products
