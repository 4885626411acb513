"""Counting with a soft edge: how many points lie below each of many others, a point within reach counting in part.

The step 1{x > v} becomes the integral of the triangular kernel of half-width h,

    G(d) = (d + h)_+^2 - 2 d_+^2 + (d - h)_+^2, over 2 h^2, with d = x - v,

which is 0 below -h, 1 above h, 1/2 at 0, and once differentiable. Within reach of x it is made of two squares, and
each, summed over all v between two edges, is a quadratic in x whose coefficients are prefix sums of 1, v and v^2. So
sums over all pairs cost one sort and three binary searches per point, and so do their exact derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headrank._types import IntVector, Vector


class Crowd:
    """Weighted points, one crowd per query, counted from anywhere. O(n) to make.

    Parameters
    ----------
    values, weights : arrays of shape (n,)
        The points, ascending (within each query).
    queries : int array of shape (n,), or None
        The query of each, ascending; None if there is but one.
    n_queries : int
        Their number.

    Examples
    --------
    >>> crowd = Crowd(np.array([0.0, 1.0]), np.ones(2))
    >>> count, slope = crowd.below(np.array([-1.0, 0.0, 0.5, 2.0]), None, 0.2)
    >>> count.round(9), slope.round(9)
    (array([0. , 0.5, 1. , 2. ]), array([0., 5., 0., 0.]))
    """

    def __init__(self, values: Vector, weights: Vector, queries: IntVector | None = None, n_queries: int = 1) -> None:
        self._sums = np.zeros((3, values.size + 1))
        np.cumsum(weights, out=self._sums[0, 1:])
        np.cumsum(weights * values, out=self._sums[1, 1:])
        np.cumsum(weights * values**2, out=self._sums[2, 1:])
        self._keys = self._key(values, queries)
        if queries is not None:
            self._starts = np.searchsorted(queries, np.arange(n_queries))

    def below(self, points: Vector, queries: IntVector | None, reach: float) -> tuple[Vector, Vector]:
        """Weight of the crowd below each point, with a soft edge, and its derivative in the point.

        Points in ascending order are looked up several times faster.
        """
        lower, middle, upper = (
            self._sums[:, np.searchsorted(self._keys, self._key(points + shift, queries))]
            for shift in (-reach, 0.0, reach)
        )
        count: Vector = middle[0] if queries is None else middle[0] - self._sums[0, self._starts[queries]]
        # Those just below lack (reach - d)^2 / (2 reach^2) of 1, those just above have (reach + d)^2 / (2 reach^2).
        # Where nobody is near, the sums are 0 exactly.
        weight, first, second = middle - lower
        edge = points - reach
        count = count - (edge * (edge * weight - 2 * first) + second) / (2 * reach**2)
        slope = first - edge * weight
        weight, first, second = upper - middle
        edge = points + reach
        count += (edge * (edge * weight - 2 * first) + second) / (2 * reach**2)
        slope += edge * weight - first
        return count, slope / reach**2

    @staticmethod
    def _key(points: Vector, queries: IntVector | None) -> Any:
        # Complex numbers sort by their real, then by their imaginary part: by query, then by value.
        return points if queries is None else queries + 1j * points


def soft_step(distance: Vector, reach: float) -> tuple[Vector, Vector]:
    """Return G and its derivative: 0 below minus the reach, 1 above it, 1/2 at 0.

    >>> soft_step(np.array([-1.0, 0.0, 1.0]), 1.0)
    (array([0. , 0.5, 1. ]), array([0., 1., 0.]))
    """
    x = np.clip(distance / reach, -1, 1)
    rest = 1 - np.abs(x)
    return np.where(x < 0, rest**2 / 2, 1 - rest**2 / 2), rest / reach
