"""Ridge regression in the space of a Gaussian kernel: sums over rows, solutions of many subsets, and contributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.metrics.pairwise import euclidean_distances

from headrank._types import BoolVector, IntVector, Vector

_VALUES_AT_A_TIME = 2_000_000
"""Kernel values in memory at a time, besides sums."""
PENALTY_OF_WEIGHTS = 1e-9
"""On the squared weights of landmarks, besides that on the norm: kernel matrices are numerically singular."""
_FARTHEST = 1e300
_N_NODES = 16
"""Of the quadrature along a line."""


@dataclass(frozen=True, eq=False)
class GaussianKernel:
    """The functions exp(-gamma |x - z|²) of x, one for each landmark z.

    Attributes
    ----------
    landmarks : matrix
        A row for each; dense or CSR.
    gamma : float
        One over the square of the width.
    """

    landmarks: Any
    gamma: float

    def values(self, X: Any) -> Vector:
        """Return the functions of all landmarks for all rows. O(n_rows n_landmarks n_features)."""
        return self.of_squares(squared_distances(X, self.landmarks))

    def chunks(self, n_rows: int) -> Iterator[slice]:
        """Rows whose values fit into memory."""
        step = max(1, _VALUES_AT_A_TIME // self.landmarks.shape[0])
        return (slice(start, start + step) for start in range(0, n_rows, step))

    def sums(self, X: Any, weights: Vector) -> Vector:
        """Return the weighted sums of the functions, one column for each column of weights."""
        return np.concatenate([self.values(X[some]) @ weights for some in self.chunks(X.shape[0])])

    def of_squares(self, squares: Vector) -> Vector:
        """Return the functions at these squared distances."""
        values: Vector = np.exp(-self.gamma * np.maximum(squares, 0.0))
        return values


@dataclass(frozen=True, eq=False)
class GaussianSum:
    """A weighted sum of Gaussian functions: a smooth scorer."""

    kernel: GaussianKernel
    weights: Vector

    def scores(self, X: Any) -> Vector:
        """Score rows."""
        return self.kernel.sums(X, self.weights)

    def contributions(self, X: Any, start: Vector) -> Vector:
        """Return what each feature adds to the score of each row, on the way from ``start``.

        These are the integrals of the partial derivatives along the straight line (Aumann-Shapley values; "integrated
        gradients" of Sundararajan et al., 2017): of a linear scorer, weights times distances. They add up to the
        difference of the scores: one of the two integrals over each function is by quadrature, the other follows from
        the first and the ends of the line. O(n_rows n_landmarks (n_features + 16)).
        """
        return np.concatenate([self._along_lines(X[some], start) for some in self.kernel.chunks(X.shape[0])])

    def _along_lines(self, X: Any, start: Vector) -> Vector:
        # On the line, x(t) = start + t d, the squared distance to a landmark is a + 2 b t + c t².
        landmarks, gamma, of_squares = self.kernel.landmarks, self.kernel.gamma, self.kernel.of_squares
        d = _dense(X) - start
        a = squared_distances(start[None, :], landmarks)
        b = (d @ start)[:, None] - np.asarray(landmarks @ d.T).T
        c = np.einsum("ij,ij->i", d, d)[:, None]
        nodes, shares = np.polynomial.legendre.leggauss(_N_NODES)
        integral: Vector = np.zeros_like(b)  # of the function
        for t, share in zip((nodes + 1) / 2, shares / 2, strict=True):
            integral += share * of_squares(a + 2 * t * b + t**2 * c)
        # Of t times the function: its derivative, -2 gamma (b + c t) times the function, integrates to its change.
        moment = np.zeros_like(b)
        change = of_squares(a + 2 * b + c) - of_squares(a)
        np.divide(-change / (2 * gamma) - b * integral, c, out=moment, where=c > 0)
        weighted = integral * self.weights
        to_landmarks = weighted.sum(axis=1)[:, None] * start - np.asarray(weighted @ landmarks)
        along: Vector = -2 * gamma * d * (to_landmarks + (moment @ self.weights)[:, None] * d)
        return along


def squared_distances(X: Any, Z: Any) -> Vector:
    """Return the squared distances of all pairs of rows; 1e300 where they overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = euclidean_distances(X.astype(np.float64), Z.astype(np.float64), squared=True)
    result: Vector = np.nan_to_num(squares, copy=False, nan=_FARTHEST, posinf=_FARTHEST)
    return result


@dataclass(frozen=True, eq=False)
class RidgeSums:
    """What ridge regression needs to know of some rows; sums of two sets of rows add up.

    Attributes
    ----------
    gram : array of shape (n_landmarks, n_landmarks)
        Weighted sum of the products of the functions.
    with_target, with_one : arrays
        Weighted sums of the functions, times the target and alone.
    weight, target : float
        Total weight, and weighted sum of the target.
    """

    gram: Vector
    with_target: Vector
    with_one: Vector
    weight: float
    target: float

    @classmethod
    def of(cls, kernel: GaussianKernel, X: Any, rows: IntVector, target: Vector, weights: Vector | None) -> RidgeSums:
        """Sum over some rows of X. O(n_rows n_landmarks²)."""
        size = kernel.landmarks.shape[0]
        gram, with_target, with_one = np.zeros((size, size)), np.zeros(size), np.zeros(size)
        for some in kernel.chunks(rows.size):
            part = rows[some]
            values, of_rows = kernel.values(X[part]), np.ones(part.size) if weights is None else weights[part]
            with_target += values.T @ (of_rows * target[part])
            with_one += values.T @ of_rows
            values *= np.sqrt(of_rows)[:, None]
            gram += values.T @ values
        total = np.ones(rows.size) if weights is None else weights[rows]
        return cls(gram, with_target, with_one, float(total.sum()), float(total @ target[rows]))

    def __add__(self, other: RidgeSums) -> RidgeSums:
        return RidgeSums(
            self.gram + other.gram,
            self.with_target + other.with_target,
            self.with_one + other.with_one,
            self.weight + other.weight,
            self.target + other.target,
        )

    def solved(self, between: Vector, penalties: Sequence[float], used: BoolVector) -> Vector:
        """Return the weights of the landmarks in use, one column for each penalty; 0 for the others.

        They minimise the mean square of (sum of functions - (target - its mean)) plus the penalty times the squared
        norm in the kernel's space plus 1e-9 times their own squares; ``between`` are the functions of the landmarks
        themselves. A mean, so that the unit of weights and copies of all rows make no difference. O(n_landmarks³) for
        each penalty.
        """
        result = np.zeros((used.size, len(penalties)))
        if not used.any():
            return result
        gram, norm = self.gram[np.ix_(used, used)] / self.weight, between[np.ix_(used, used)]
        right = (self.with_target - self.target / self.weight * self.with_one)[used] / self.weight
        for column, penalty in enumerate(penalties):
            matrix = gram + penalty * norm
            matrix[np.diag_indices_from(matrix)] += PENALTY_OF_WEIGHTS
            result[used, column] = cho_solve(cho_factor(matrix, lower=True, overwrite_a=True), right)
        return result


def _dense(X: Any) -> Vector:
    dense: Vector = X.toarray() if hasattr(X, "toarray") else X
    return dense.astype(np.float64)
