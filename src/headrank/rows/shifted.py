"""Rows of which some features are shifted, without copying the others."""

from dataclasses import dataclass

import numpy as np

from headrank._types import IntVector, Vector
from headrank.rows.protocol import Rows, StoredRows

_BLOCK_COLUMNS = 16


@dataclass(frozen=True, eq=False)
class ShiftedRows:
    """Rows with some features replaced by others: only these are stored, as float64, and the rows are left alone."""

    rows: Rows
    replaced: IntVector
    columns: Vector
    """The features in their place, of shape (n_rows, n_replaced)."""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.rows.n_features

    def scores(self, weights: Vector) -> Vector:
        """(X - shift) @ weights."""
        others = weights.copy()
        others[self.replaced] = 0.0
        return self.rows.scores(others) + self.columns @ weights[self.replaced]

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ (X - shift), for one vector or several."""
        result = self.rows.combine(coef)
        result[..., self.replaced] = coef @ self.columns
        return result

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        """The products coef @ (X - shift) and (X - shift).T @ diag(coef) @ (X - shift)."""
        first, second = self.rows.moments(coef)
        first[self.replaced] = coef @ self.columns
        for start in range(0, self.replaced.size, _BLOCK_COLUMNS):
            block = slice(start, start + _BLOCK_COLUMNS)
            second[self.replaced[block]] = self.combine(coef * self.columns[:, block].T)
        second[:, self.replaced] = second[self.replaced].T
        return first, second


def shifted(rows: StoredRows, shift: Vector) -> ShiftedRows:
    """Subtract a number from each feature; those whose shift is 0 are used as they are.

    >>> from headrank.rows.dense import DenseRows
    >>> shifted(DenseRows(np.array([[1.0, 7e9], [2.0, 7e9 + 1]])), np.array([0.0, 7e9])).scores(np.array([10.0, 1.0]))
    array([10., 21.])
    """
    far = np.flatnonzero(shift)
    return ShiftedRows(rows, far, rows.columns(far) - shift[far])
