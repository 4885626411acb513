"""Rows in a NumPy array, in memory or mapped from a file."""

from dataclasses import dataclass

import numpy as np

from headrank._types import IntVector, Vector
from headrank.rows.precision import factor_for, narrowed, times

_BLOCK_ROWS = 16_384
_BLOCK_NUMBERS = 30_000
"""Size of a block that fits in the processor's cache."""


@dataclass(frozen=True, eq=False)
class DenseRows:
    """A float64 or float32 array of shape (n_rows, n_features), in either memory order, or a memory-mapped one.

    Products of a float32 array are computed in float32, in blocks of rows that are summed in float64: without the
    blocks, sums over a million rows would lose the precision that a certified gap requires.
    """

    X: Vector

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self.X.shape[1])

    def scores(self, weights: Vector) -> Vector:
        """X @ weights."""
        factor = factor_for(self.X, weights)
        return times(np.asarray(self.X @ narrowed(self.X, weights, factor), dtype=np.float64), factor)

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X, for one vector or several."""
        if self.X.dtype == np.float64:
            return np.asarray(coef @ self.X if coef.ndim == 1 else (self.X.T @ coef.T).T)  # each is the faster form
        factor = factor_for(self.X, coef)
        total: Vector = np.zeros((*coef.shape[:-1], self.n_features))
        for start in range(0, self.X.shape[0], _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            total += narrowed(self.X, coef[..., block], factor) @ self.X[block]
        return times(total, factor)

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        """The products coef @ X and X.T @ diag(coef) @ X, in blocks of rows, without copying X, in float64."""
        first: Vector = np.zeros(self.n_features)
        second: Vector = np.zeros((self.n_features, self.n_features))
        present = np.flatnonzero(coef)
        roots = np.sqrt(coef[present])[:, None]
        n_block = max(_BLOCK_NUMBERS // self.n_features, 1)
        for start in range(0, present.size, n_block):
            block = slice(start, start + n_block)
            some = self.X[present[block]] * roots[block]
            first += roots[block, 0] @ some
            second += some.T @ some  # NumPy detects the symmetry and computes one half
        return first, second

    def ends(self) -> tuple[Vector, Vector]:
        """Lowest and highest value of each feature."""
        return self.X.min(axis=0).astype(np.float64), self.X.max(axis=0).astype(np.float64)

    def columns(self, features: IntVector) -> Vector:
        """A copy of some features, as float64."""
        return self.X[:, features].astype(np.float64)
