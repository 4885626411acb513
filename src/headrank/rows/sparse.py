"""Rows in a compressed sparse matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import IntVector, Vector
from headrank.rows.precision import factor_for, narrowed, times

_BLOCK_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A SciPy sparse matrix or array in CSR format, float64 or float32.

    Vectors are converted to the type of the matrix; otherwise SciPy would convert the matrix at each product. Sums over
    float32 rows are computed in blocks and summed in float64, as for dense rows.
    """

    X: Any

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
            return np.asarray((self.X.T @ coef.T).T)
        factor = factor_for(self.X, coef)
        total: Vector = np.zeros((*coef.shape[:-1], self.n_features))
        for start in range(0, self.X.shape[0], _BLOCK_ROWS):
            stop = min(start + _BLOCK_ROWS, self.X.shape[0])
            total += (self._block(start, stop).T @ narrowed(self.X, coef[..., start:stop], factor).T).T
        return times(total, factor)

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        """The products coef @ X and X.T @ diag(coef) @ X, in blocks of rows, in float64."""
        first: Vector = np.zeros(self.n_features)
        second: Vector = np.zeros((self.n_features, self.n_features))
        present = np.flatnonzero(coef)
        for start in range(0, present.size, _BLOCK_ROWS):
            rows = present[start : start + _BLOCK_ROWS]
            block = self.X[rows].astype(np.float64)
            weighted = block.copy()
            weighted.data *= np.repeat(coef[rows], np.diff(block.indptr))
            first += block.T @ coef[rows]
            second += (block.T @ weighted).toarray()
        return first, second

    def ends(self) -> tuple[Vector, Vector]:
        """Lowest and highest value of each feature, of a matrix without duplicates; SciPy would copy X for them."""
        n_stored = np.zeros(self.n_features, dtype=np.intp)
        np.add.at(n_stored, self.X.indices, 1)
        full = n_stored == self.X.shape[0]
        low, high = (np.where(full, end, 0.0).astype(self.X.dtype) for end in (np.inf, -np.inf))
        with np.errstate(invalid="ignore"):  # NaN is the answer
            np.minimum.at(low, self.X.indices, self.X.data)
            np.maximum.at(high, self.X.indices, self.X.data)
        return low.astype(np.float64), high.astype(np.float64)

    def columns(self, features: IntVector) -> Vector:
        """A copy of some features, as float64 and with all their zeros."""
        return np.asarray(self.X[:, features].toarray(), dtype=np.float64)

    def _block(self, start: int, stop: int) -> Any:
        """Return a block of rows, as a matrix that shares their memory."""
        ends = self.X.indptr[start : stop + 1]
        held = slice(ends[0], ends[-1])
        parts = self.X.data[held], self.X.indices[held], ends - ends[0]
        return type(self.X)(parts, shape=(stop - start, self.n_features), copy=False)
