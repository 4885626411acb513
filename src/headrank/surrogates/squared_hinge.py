"""The squared hinge with the optimal intercept: a linear support vector classifier as a risk of scores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headrank._types import Vector
from headrank.surrogates.cut import Cut, RowFacts

_NEWTON_STEPS = 60
_CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class SquaredHinge:
    """Sum of the squared margin errors of the rows at the optimal intercept. O(N), convex in the scores.

    A row's error is max(0, 1 - m), where its margin m is score plus intercept for a positive and minus that for a
    negative. scikit-learn's ``LinearSVC`` minimises 1/2 |w|^2 + C times this, plus a penalty on the intercept. It does
    not focus on the head, but ignores rows that are far on their own side; queries are ignored. Weights multiply the
    losses.

    >>> cut = SquaredHinge()(np.array([0.0]), np.array([0.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (2.0, array([-2.]), array([2.]))
    """

    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the intercept, then the risk and its derivative; the derivative in the intercept is 0 there."""
        n_pos = pos_scores.size
        # With z = side * score the margin is z + side * intercept.
        side = np.ones(n_pos + neg_scores.size)
        side[n_pos:] = -1.0
        z = side * np.concatenate([pos_scores, neg_scores], dtype=np.float64)
        weights = np.ones(z.size)
        if self.rows.pos_weights is not None and self.rows.neg_weights is not None:
            weights = np.concatenate([self.rows.pos_weights, self.rows.neg_weights])
        errors = np.maximum(1 - z - side * _intercept(z, side, weights), 0)
        coef = -2 * weights * side * errors
        curvature = 2 * weights * (errors > 0)  # at a kink, the curvature of the flat side
        return Cut(
            float(weights @ errors**2),
            coef[:n_pos],
            coef[n_pos:],
            pos_curvature=curvature[:n_pos],
            neg_curvature=curvature[n_pos:],
        )


def _intercept(z: Vector, side: Vector, weights: Vector) -> float:
    """Return where the errors of both classes balance: the root of an increasing, piecewise linear function.

    Safeguarded Newton steps; a step from the piece that contains the root ends at the root.
    """
    corner = side * (1 - z)  # a positive has an error if the intercept is below its corner, a negative if above
    low, high = float(corner.min()), float(corner.max())
    here = float(weights @ corner) / float(weights.sum())
    for _ in range(_NEWTON_STEPS):
        away = here - corner
        counting = np.where(side * away < 0, weights, 0.0)
        surplus, rise = float(counting @ away), float(counting.sum())
        if surplus == 0:
            break
        if surplus > 0:
            high = here
        else:
            low = here
        there = here - surplus / rise
        step = abs(there - here)
        if not low < there < high and step > _CLOSE * (1 + abs(here)):
            there = (low + high) / 2
        here = there
        if step <= _CLOSE * (1 + abs(here)):
            break
    return here
