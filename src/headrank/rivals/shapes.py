"""Weak learners of single columns: natural cubic splines, and steps for columns of few values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._types import Vector

_OUTER = 0.05
"""The outer knots are these quantiles of the distinct values, from below and above."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Functions of one column, whose sums are its part of the score.

    With knots k_1 < ... < k_K, scaled so that the first is 0 and the last 1, the functions are x and d_i - d_{K-1} for
    i = 1, ..., K - 2, with d_i(x) = ((x - k_i)_+^3 - (x - 1)_+^3) / (1 - k_i). Together with a constant, all natural
    cubic splines, which are linear beyond the outer knots. With ``steps`` they are 1{x > k_i}.

    Attributes
    ----------
    knots : array
        In the units of the column, ascending.
    steps : bool
        Whether the functions are steps.

    Examples
    --------
    >>> Shapes(np.array([0.5]), True).of(np.array([0.0, 1.0]))
    array([[0., 1.]])
    >>> Shapes.for_column(np.linspace(0, 1, 50), 4).of(np.array([0.5])).shape
    (3, 1)
    """

    knots: Vector
    steps: bool

    @classmethod
    def for_column(cls, values: Vector, n_knots: int) -> Shapes:
        """Place the knots: at quantiles of the distinct values, or, if these are few, halfway between any two.

        The distinct values do not change with the weights of rows, or when rows are repeated.
        """
        distinct = np.unique(values)
        if distinct.size <= n_knots:
            low, high = distinct[:-1], distinct[1:]
            middle = low / 2 + high / 2
            return cls(np.where((low <= middle) & (middle < high), middle, low), True)
        knots = np.quantile(distinct, np.linspace(_OUTER, 1 - _OUTER, n_knots))
        if np.any(np.diff(knots) <= 1e-9 * max(abs(knots[0]), abs(knots[-1]))):  # hardly more than rounding
            return cls(np.unique(knots)[:-1], True)
        return cls(knots, False)

    @property
    def size(self) -> int:
        """Number of functions."""
        return self.knots.size if self.steps else self.knots.size - 1

    def of(self, values: Vector) -> Vector:
        """The functions at some values of the column, of shape (size, n). O(size n)."""
        if self.steps:
            return (values > self.knots[:, None]).astype(np.float64)
        x = (values - self.knots[0]) / (self.knots[-1] - self.knots[0])
        inside, beyond = np.minimum(x, 1), np.maximum(x - 1, 0)
        bends = (_bend(knot, inside, beyond) for knot in self._inner[:-1])
        last = _bend(self._inner[-1], inside, beyond)
        return np.array([x, *(bend - last for bend in bends)])

    def roughness(self) -> Vector:
        """The integrals of products of second derivatives, of shape (size, size); 0 for steps.

        Second derivatives are linear between knots, so Simpson's rule is exact.
        """
        if self.steps:
            return np.zeros((self.size, self.size))
        t, inner = np.append(self._inner, 1.0), self._inner[:, None]
        bends = 6 * np.maximum(t - inner, 0) / (1 - inner)
        second = np.vstack([np.zeros(t.size), bends[:-1] - bends[-1]])
        left, right, width = second[:, :-1], second[:, 1:], np.diff(t)
        middle = (left + right) / 2
        parts = ((1 / 6, left), (2 / 3, middle), (1 / 6, right))
        result: Vector = np.sum([share * (part * width) @ part.T for share, part in parts], axis=0)
        return result

    @property
    def _inner(self) -> Vector:
        """The knots but the last one, scaled."""
        scaled: Vector = (self.knots[:-1] - self.knots[0]) / (self.knots[-1] - self.knots[0])
        return scaled


def _bend(knot: float, inside: Vector, beyond: Vector) -> Vector:
    """The function d of a knot; beyond the last knot it is continued as a line, without a difference of cubes."""
    bend: Vector = np.maximum(inside - knot, 0) ** 3 / (1 - knot) + 3 * (1 - knot) * beyond
    return bend
