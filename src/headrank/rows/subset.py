"""A subset of the rows, without copying them."""

from dataclasses import dataclass

import numpy as np

from headrank._types import IntVector, Vector
from headrank.rows.protocol import Rows


@dataclass(frozen=True, eq=False)
class SubsetRows:
    """The rows with the given indices. Each product runs over all rows, so most rows should be kept, as in folds."""

    rows: Rows
    kept: IntVector
    n_rows: int
    """Number of all rows."""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.rows.n_features

    def scores(self, weights: Vector) -> Vector:
        """X[kept] @ weights."""
        return self.rows.scores(weights)[self.kept]

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X[kept], for one vector or several."""
        everywhere = np.zeros((*coef.shape[:-1], self.n_rows))
        everywhere[..., self.kept] = coef
        return self.rows.combine(everywhere)

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        """The products coef @ X[kept] and X[kept].T @ diag(coef) @ X[kept]."""
        everywhere = np.zeros(self.n_rows)
        everywhere[self.kept] = coef
        return self.rows.moments(everywhere)
