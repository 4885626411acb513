"""The squared hinge with the optimal intercept: a linear support vector classifier as a risk of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headrank._types import Vector
from headrank.surrogates.row_loss import RowLoss, RowLosses, Totals, weighted


@dataclass(frozen=True, eq=False)
class SquaredHinge(RowLoss):
    """Sum of the squared margin errors of the rows at the optimal intercept. O(N), convex in the scores.

    A row's error is max(0, 1 - m), where its margin m is score plus intercept for a positive and minus that for a
    negative. scikit-learn's ``LinearSVC`` minimises 1/2 |w|^2 + C times this, plus a penalty on the intercept. It does
    not focus on the head, but ignores rows that are far on their own side; queries are ignored. Weights multiply the
    losses.

    >>> cut = SquaredHinge()(np.array([0.0]), np.array([0.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (2.0, array([-2.]), array([2.]))
    """

    close: ClassVar[float] = 1e-12
    """A step from the linear piece that contains the root ends at the root."""

    def bracket(self, pos: Totals, neg: Totals) -> tuple[float, float, float]:
        """Below the first no negative has an error, above the second no positive: neither balances the other."""
        both = pos.merge(neg)
        return -1 - both.high, 1 - both.low, (pos.weight - neg.weight) / both.weight - both.mean

    def balance(self, scores: Vector, sign: int, weights: Vector | None) -> Vector:
        """The errors of a class, which are those of the other at the best intercept, and the weight of its errors."""
        errors = np.maximum(1 - sign * scores, 0)
        return np.array([weighted(errors, weights).sum(), weighted(1.0 * (errors > 0), weights).sum()])

    def newton(self, pos: Vector, neg: Vector) -> tuple[float, float]:
        """The derivative is piecewise linear in the intercept."""
        surplus, rise = float(neg[0] - pos[0]), float(neg[1] + pos[1])
        return surplus, surplus / rise if rise > 0 else 0.0

    def of_rows(self, scores: Vector, sign: int, weights: Vector | None) -> RowLosses:
        """Return the losses of rows of a class and their derivatives; at a kink, the curvature of the flat side."""
        errors = np.maximum(1 - sign * scores, 0)
        of_row = (errors**2, -2 * sign * errors, 2.0 * (errors > 0))
        return RowLosses(*(weighted(values, weights) for values in of_row))
