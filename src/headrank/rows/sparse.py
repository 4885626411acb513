"""Rows in a compressed sparse matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import Vector


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A SciPy sparse matrix or array in CSR or CSC format, float64 or float32."""

    X: Any

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    # The vectors take the type of the matrix: the other way round, SciPy would convert the matrix at each product.

    def scores(self, weights: Vector) -> Vector:
        """X @ weights."""
        return np.asarray(self.X @ weights.astype(self.X.dtype, copy=False), dtype=np.float64)

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X, for one vector or several."""
        return np.asarray((self.X.T @ coef.T.astype(self.X.dtype, copy=False)).T, dtype=np.float64)
