"""The logistic loss, with the best intercept: plain logistic regression as a risk of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log

import numpy as np

from headrank._types import Vector
from headrank.surrogates.cut import Cut, RowFacts

_NEWTON_STEPS = 50


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """Sum of the rows' logistic losses at the intercept that makes it smallest. O(N), convex in the scores.

    1/2 |w|^2 + C times this is what scikit-learn's ``LogisticRegression`` minimises, and its intercept is as free.
    It ranks by the odds of being positive and knows nothing of heads; queries are ignored. Weights multiply the losses.

    >>> cut = LogisticLoss()(np.array([0.0]), np.array([0.0]))
    >>> round(cut.risk, 6), cut.pos_coef, cut.neg_coef
    (1.386294, array([-0.5]), array([0.5]))
    """

    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the intercept, then the risk and its derivative; that of the intercept vanishes there."""
        from scipy.special import expit

        s, t = pos_scores.astype(np.float64, copy=False), neg_scores.astype(np.float64, copy=False)
        pos_weights = np.ones(s.size) if self.rows.pos_weights is None else self.rows.pos_weights
        neg_weights = np.ones(t.size) if self.rows.neg_weights is None else self.rows.neg_weights
        intercept = self._intercept(s, t, pos_weights, neg_weights)
        pos_coef = -pos_weights * expit(-s - intercept)
        neg_coef = neg_weights * expit(t + intercept)
        risk = pos_weights @ np.logaddexp(0, -s - intercept) + neg_weights @ np.logaddexp(0, t + intercept)
        return Cut(float(risk), pos_coef, neg_coef)

    def _intercept(self, s: Vector, t: Vector, pos_weights: Vector, neg_weights: Vector) -> float:
        """Where the expected number of positives is their number: a root of a rising function, by safe Newton steps."""
        from scipy.special import expit

        n_pos, n_neg = float(pos_weights.sum()), float(neg_weights.sum())
        highest = float(max(s.max(), t.max()))
        lowest = float(min(s.min(), t.min()))
        odds = log(n_pos / n_neg)
        low, high = odds - highest, odds - lowest  # constant scores at either end would have their root there
        here = odds - (n_pos * float(s.mean()) + n_neg * float(t.mean())) / (n_pos + n_neg)
        for _ in range(_NEWTON_STEPS):
            p, q = expit(s + here), expit(t + here)
            surplus = float(pos_weights @ p + neg_weights @ q) - n_pos
            if surplus > 0:
                high = here
            else:
                low = here
            slope = float(pos_weights @ (p * (1 - p)) + neg_weights @ (q * (1 - q)))
            step = surplus / slope if slope > 0 else inf
            there = here - step
            if not low <= there <= high:
                there = (low + high) / 2
            if abs(there - here) <= 1e-12 * (1 + abs(here)):
                return there
            here = there
        return here
