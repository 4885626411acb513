"""The logistic loss with the optimal intercept, and its power for the negatives: logistic regression and P-push."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log

import numpy as np
from scipy.optimize import brentq

from headrank._types import Vector
from headrank.surrogates.cut import Cut, RowFacts

_NEWTON_STEPS = 60
_CLOSE = 1e-6
"""After a Newton step this short, the remaining error is about its square."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """Sum of the logistic losses of the rows at the optimal intercept. O(N), convex in the scores.

    A positive with score s loses log(1 + exp(-s)), a negative with score t loses log(1 + exp(p t)) / p. With the power
    p = 1, scikit-learn's ``LogisticRegression`` minimises 1/2 |w|^2 + C times this, also with a free intercept: it
    ranks by the odds of being positive and does not focus on the head. A higher power pushes the highest negatives
    down. With exponential losses in place of the logistic ones it is the p-norm push, as Ertekin & Rudin (JMLR 2011)
    show; with these, which grow linearly, no row outweighs all others. Queries are ignored. Weights multiply the
    losses.

    >>> cut = LogisticLoss()(np.array([0.0]), np.array([0.0]))
    >>> round(cut.risk, 6), cut.pos_coef, cut.neg_coef
    (1.386294, array([-0.5]), array([0.5]))
    """

    power: float = 1.0
    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the intercept, then the risk and its derivative; the derivative in the intercept is 0 there."""
        n_pos = pos_scores.size
        scores = np.concatenate([pos_scores, neg_scores], dtype=np.float64)
        weights = np.ones(scores.size)
        if self.rows.pos_weights is not None and self.rows.neg_weights is not None:
            weights = np.concatenate([self.rows.pos_weights, self.rows.neg_weights])
        slopes = np.full(scores.size, self.power)
        slopes[:n_pos] = -1.0
        x = slopes * (scores + _intercept(scores, slopes, weights, n_pos))
        chance, rise = _chance(x)
        coef, curvature = weights * np.sign(slopes) * chance, weights * np.abs(slopes) * rise
        # log(1 + exp(x)) without overflow.
        losses = (np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)) / np.abs(slopes)
        return Cut(
            float(weights @ losses),
            coef[:n_pos],
            coef[n_pos:],
            pos_curvature=curvature[:n_pos],
            neg_curvature=curvature[n_pos:],
        )


def _intercept(scores: Vector, slopes: Vector, weights: Vector, n_pos: int) -> float:
    """Return where the expected errors of both classes are equal: safeguarded Newton steps on their log ratio.

    The logarithm of each is nearly linear in the intercept where errors are rare, so that few steps are enough.
    """
    power, of_pos, of_neg = float(slopes[-1]), weights[:n_pos], weights[n_pos:]
    # If all scores were the highest, or the lowest, the root would be at either end. Rows of weight 0 are excluded.
    present = scores if weights.all() else scores[weights > 0]
    best = _for_constant(weights, power, n_pos)
    low, high = best - float(present.max()), best - float(present.min())
    here = best - float(weights @ scores) / float(weights.sum())
    for _ in range(_NEWTON_STEPS):
        chance, rise = _chance(slopes * (scores + here))
        missed, alarms = float(of_pos @ chance[:n_pos]), float(of_neg @ chance[n_pos:])
        if alarms == missed:
            break
        if alarms > missed:
            high = here
        else:
            low = here
        there = inf
        if missed > 0 and alarms > 0:
            slope = float(of_pos @ rise[:n_pos]) / missed + power * float(of_neg @ rise[n_pos:]) / alarms
            there = here - log(alarms / missed) / slope if slope > 0 else inf
        if not low <= there <= high:
            there = (low + high) / 2
        step, here = abs(there - here), there
        if step <= _CLOSE * (1 + abs(here)):
            break
    return here


def _for_constant(weights: Vector, power: float, n_pos: int) -> float:
    """Return the optimal intercept of constant scores 0: the log odds, if the power is 1."""
    ratio = float(weights[:n_pos].sum()) / float(weights[n_pos:].sum())
    if power == 1:
        return log(ratio)
    # 1 / (1 + exp(-p c)) = ratio / (1 + exp(c)); the left side rises in c, the right side falls.
    return float(brentq(lambda c: log(ratio) - np.logaddexp(0, c) + np.logaddexp(0, -power * c), -800, 800))


def _chance(x: Vector) -> tuple[Vector, Vector]:
    """Return 1 / (1 + exp(-x)) and its derivative. By tanh, which NumPy vectorises."""
    half = np.tanh(x / 2)
    return (1 + half) / 2, (1 - half**2) / 4
