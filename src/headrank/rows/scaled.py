"""Rows whose features are divided by a scale, without changing them."""

from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.rows.protocol import Rows


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows with each feature divided by its scale: the division is folded into weights and combinations.

    Subtracting a mean would add the same number to all scores, which does not affect the ranking.
    """

    rows: Rows
    scale: Vector

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.rows.n_features

    def scores(self, weights: Vector) -> Vector:
        """(X / scale) @ weights."""
        return self.rows.scores(weights / self.scale)

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ (X / scale)."""
        return np.asarray(self.rows.combine(coef) / self.scale)

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        """The products coef @ (X / scale) and (X / scale).T @ diag(coef) @ (X / scale)."""
        first, second = self.rows.moments(coef)
        return first / self.scale, second / self.scale / self.scale[:, None]
