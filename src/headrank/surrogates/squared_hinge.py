"""The squared hinge of the margins, with the best intercept: a linear support vector classifier as a risk of scores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headrank._types import Vector
from headrank.surrogates.cut import Cut, RowFacts

_NEWTON_STEPS = 60
_CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class SquaredHinge:
    """Sum of the rows' squared margin errors at the intercept that makes it smallest. O(N), convex in the scores.

    A row's error is max(0, 1 - m), where its margin m is score plus intercept for a positive and minus that for a
    negative. 1/2 |w|^2 + C times this is what scikit-learn's ``LinearSVC`` minimises, but for the penalty that it puts
    on the intercept. It knows nothing of heads, but ignores rows that are far on their own side; queries are ignored.
    Weights multiply the losses.

    >>> cut = SquaredHinge()(np.array([0.0]), np.array([0.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (2.0, array([-2.]), array([2.]))
    """

    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the intercept, then the risk and its derivative; that of the intercept vanishes there."""
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
        curvature = 2 * weights * (errors > 0)  # at a kink, that of the flat side
        return Cut(
            float(weights @ errors**2),
            coef[:n_pos],
            coef[n_pos:],
            pos_curvature=curvature[:n_pos],
            neg_curvature=curvature[n_pos:],
        )


def _intercept(z: Vector, side: Vector, weights: Vector) -> float:
    """Where the errors of both classes weigh the same: a root of a rising, piecewise linear function.

    Safe Newton steps; one from the piece that holds the root ends there.
    """
    corner = side * (1 - z)  # a positive is in error where the intercept lies below it, a negative above
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
