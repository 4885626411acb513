"""What boosting minimises: a surrogate's derivative in each score becomes gradient and Hessian of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.surrogates import Surrogate

_LEAST_CURVATURE = 1e-3
"""Of a row, as a share of the mean: rows outside the head have derivatives 0, and a leaf of such rows must not move."""


@dataclass(frozen=True, eq=False)
class RowDerivatives:
    """First and second derivatives of a surrogate's risk in the score of each row. One evaluation of the surrogate.

    Where the surrogate has no second derivatives, or negative ones, the absolute first derivatives stand in, so that a
    leaf moves by at most 1 times the learning rate. Both are scaled so that the second derivatives have mean 1/4, as
    those of the log loss have at most: limits such as LightGBM's ``min_sum_hessian_in_leaf`` keep their meaning. Weight
    2 is the same as the row twice.

    >>> from headrank.surrogates import LogisticLoss
    >>> derivatives = RowDerivatives(LogisticLoss(), np.array([True, False]))
    >>> derivatives(np.array([0.0, 0.0]))
    (array([-0.5,  0.5]), array([0.25, 0.25]))
    """

    surrogate: Surrogate
    positive: BoolVector
    weights: Vector | None = None

    def __call__(self, scores: Vector) -> tuple[Vector, Vector]:
        """Evaluate at these scores, in the order of the rows."""
        cut = self.surrogate(scores[self.positive], scores[~self.positive])
        gradient = self._of_rows(cut.pos_coef, cut.neg_coef)
        if cut.pos_curvature is None or cut.neg_curvature is None:
            hessian = np.abs(gradient)
        else:
            hessian = self._of_rows(cut.pos_curvature, cut.neg_curvature)
        weights = np.ones(hessian.size) if self.weights is None else self.weights
        typical = float(hessian.sum() / weights.sum())
        if typical == 0:
            return gradient, 0.25 * weights
        scale = 0.25 / typical
        return scale * gradient, np.maximum(scale * hessian, 0.25 * _LEAST_CURVATURE * weights)

    def _of_rows(self, of_pos: Vector, of_neg: Vector) -> Vector:
        values = np.empty(self.positive.size)
        values[self.positive], values[~self.positive] = of_pos, of_neg
        return values
