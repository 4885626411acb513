"""Soft counts: how many points lie below each of many others, where points within reach count in part.

The step 1{x > v} becomes the integral of the triangular kernel of half-width h,

    G(d) = (d + h)_+^2 - 2 d_+^2 + (d - h)_+^2, over 2 h^2, with d = x - v,

which is 0 below -h, 1 above h, 1/2 at 0, and once differentiable. Within reach of x it is made of two squares, and
each, summed over all v between two edges, is a quadratic in x whose coefficients are prefix sums of 1, v and v^2. So
sums over all pairs cost one sort and three binary searches per point, and so do their exact derivatives.

**Narrow reach.** Differences of sums of v^2 over the whole line, divided by h^2, would lose all digits for a small h.
So lengths are in units of h, and the line is tiled with cells of width 4; v is measured from the centre of its cell.
With two tilings, shifted by half a cell, the reach of any x lies in one cell of one of them. Then no summand exceeds 4
for any h, and the sums are as accurate as those of the weights alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headrank._types import IntVector, Vector

_ONE_CELL = 64.0
"""Points within this distance of 0, in units of the reach, form one cell: faster, at a cost of 12 bits."""


class Crowd:
    """Weighted points that can be counted below any other point, per query. O(n) to construct.

    Parameters
    ----------
    values, weights : arrays of shape (n,)
        The points, ascending (within each query).
    reach : float
        Half-width of the soft edge.
    queries : int array of shape (n,), or None
        The query of each point, ascending; None for a single query.
    n_queries : int
        Number of queries.

    Examples
    --------
    >>> crowd = Crowd(np.array([0.0, 1.0]), np.ones(2), 0.2)
    >>> count, slope = crowd.below(np.array([-1.0, 0.0, 0.5, 2.0]))
    >>> count.round(9), slope.round(9)
    (array([0. , 0.5, 1. , 2. ]), array([0., 5., 0., 0.]))
    """

    def __init__(
        self, values: Vector, weights: Vector, reach: float, queries: IntVector | None = None, n_queries: int = 1
    ) -> None:
        self._reach = reach
        z = values / reach
        self._keys = self._key(z, queries)
        self._tiled = max(z.max(initial=0.0), -z.min(initial=0.0)) > _ONE_CELL
        tilings = _tilings(z) if self._tiled else (z,)
        self._n_sums = z.size + 1
        self._sums = np.zeros((3, len(tilings) * self._n_sums))
        for start, u in zip(range(0, self._sums.shape[1], self._n_sums), tilings, strict=True):
            sums = self._sums[:, start + 1 : start + self._n_sums]
            np.cumsum(weights, out=sums[0])
            moment = weights * u
            np.cumsum(moment, out=sums[1])
            moment *= u
            np.cumsum(moment, out=sums[2])
        if queries is not None:
            self._starts = np.searchsorted(queries, np.arange(n_queries))

    def below(self, points: Vector, queries: IntVector | None = None) -> tuple[Vector, Vector]:
        """Return the weight below each point, with a soft edge, and its derivative in the point.

        Lookups are several times faster for points in ascending order.
        """
        z = points / self._reach
        places = [np.searchsorted(self._keys, self._key(z + shift, queries)) for shift in (-1.0, 0.0, 1.0)]
        if self._tiled:
            # The nearest centre is the nearest even number; every other one is of the second tiling.
            half = np.rint(z / 2)
            second_tiling = (half - 2 * np.floor(half / 2)).astype(np.intp)
            z -= 2 * half
            for place in places:
                place += second_tiling * self._n_sums
        lower, middle, upper = (self._sums[:, place] for place in places)
        count: Vector = middle[0] if queries is None else middle[0] - self._sums[0, self._starts[queries]]
        # With d in units of the reach, points just below lack (1 - d)^2 / 2 of 1, those just above have (1 + d)^2 / 2.
        # If no point is near, the sums are exactly 0.
        weight, first, second = middle - lower
        edge = z - 1
        lacking = edge * (edge * weight - 2 * first) + second
        slope = first - edge * weight
        weight, first, second = upper - middle
        edge = z + 1
        having = edge * (edge * weight - 2 * first) + second
        slope += edge * weight - first
        return count + (having - lacking) / 2, slope / self._reach

    @staticmethod
    def _key(points: Vector, queries: IntVector | None) -> Any:
        # Complex numbers sort by real, then by imaginary part: by query, then by value.
        return points if queries is None else queries + 1j * points


def _tilings(z: Vector) -> tuple[Vector, Vector]:
    """Return each point relative to the centre of its cell: a multiple of 4, in the second tiling plus 2.

    Halving, rounding down and comparing with integers are exact, so points within reach of each other are never put in
    different cells by rounding.
    """
    half = np.floor(z / 2)
    return z - 4 * np.floor((half + 1) / 2), z - (4 * np.floor(half / 2) + 2)


def soft_step(distance: Vector, reach: float) -> tuple[Vector, Vector]:
    """Return G and its derivative: 0 below minus the reach, 1 above it, 1/2 at 0.

    >>> soft_step(np.array([-1.0, 0.0, 1.0]), 1.0)
    (array([0. , 0.5, 1. ]), array([0., 1., 0.]))
    """
    x = np.clip(distance / reach, -1, 1)
    rest = 1 - np.abs(x)
    return np.where(x < 0, rest**2 / 2, 1 - rest**2 / 2), rest / reach
