"""The logistic loss with the optimal intercept: logistic regression as a risk of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log

import numpy as np

from headrank._types import Vector
from headrank.surrogates.cut import Cut, RowFacts

_NEWTON_STEPS = 60
_CLOSE = 1e-6
"""After a Newton step this short, the remaining error is about its square."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """Sum of the logistic losses of the rows at the optimal intercept. O(N), convex in the scores.

    scikit-learn's ``LogisticRegression`` minimises 1/2 |w|^2 + C times this, also with a free intercept. It ranks
    by the odds of being positive and does not focus on the head; queries are ignored. Weights multiply the losses.

    >>> cut = LogisticLoss()(np.array([0.0]), np.array([0.0]))
    >>> round(cut.risk, 6), cut.pos_coef, cut.neg_coef
    (1.386294, array([-0.5]), array([0.5]))
    """

    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the intercept, then the risk and its derivative; the derivative in the intercept is 0 there."""
        n_pos = pos_scores.size
        scores = np.concatenate([pos_scores, neg_scores], dtype=np.float64)
        weights = np.ones(scores.size)
        if self.rows.pos_weights is not None and self.rows.neg_weights is not None:
            weights = np.concatenate([self.rows.pos_weights, self.rows.neg_weights])
        x = scores + _intercept(scores, weights, n_pos)
        chance, slope = _chance(x)
        coef = weights * chance
        coef[:n_pos] -= weights[:n_pos]
        curvature = weights * slope
        # log(1 + exp(x)), minus x for the positives, without overflow.
        losses = np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)
        losses[:n_pos] -= x[:n_pos]
        return Cut(
            float(weights @ losses),
            coef[:n_pos],
            coef[n_pos:],
            pos_curvature=curvature[:n_pos],
            neg_curvature=curvature[n_pos:],
        )


def _intercept(scores: Vector, weights: Vector, n_pos: int) -> float:
    """Return where the expected errors of both classes are equal: safeguarded Newton steps on their log ratio.

    The logarithm of each is nearly linear in the intercept where errors are rare, so that few steps are enough.
    """
    wanted, total = float(weights[:n_pos].sum()), float(weights.sum())
    odds = log(wanted / (total - wanted))
    # If all scores were the highest, or the lowest, the root would be at either end. Rows of weight 0 are excluded.
    present = scores if weights.all() else scores[weights > 0]
    low, high = odds - float(present.max()), odds - float(present.min())
    here = odds - float(weights @ scores) / total
    for _ in range(_NEWTON_STEPS):
        chance, slope = _chance(scores + here)
        missed, alarms = wanted - float(weights[:n_pos] @ chance[:n_pos]), float(weights[n_pos:] @ chance[n_pos:])
        if alarms == missed:
            break
        if alarms > missed:
            high = here
        else:
            low = here
        there = inf
        if missed > 0 and alarms > 0:
            rise = float(weights[:n_pos] @ slope[:n_pos]) / missed + float(weights[n_pos:] @ slope[n_pos:]) / alarms
            there = here - log(alarms / missed) / rise if rise > 0 else inf
        if not low <= there <= high:
            there = (low + high) / 2
        step, here = abs(there - here), there
        if step <= _CLOSE * (1 + abs(here)):
            break
    return here


def _chance(x: Vector) -> tuple[Vector, Vector]:
    """Return 1 / (1 + exp(-x)) and its derivative. By tanh, which NumPy vectorises."""
    half = np.tanh(x / 2)
    return (1 + half) / 2, (1 - half**2) / 4
