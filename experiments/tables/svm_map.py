"""SVM-MAP (Yue, Finley, Radlinski & Joachims, SIGIR 2007): the structural hinge of the average precision.

Legend: s_1 >= s_2 >= ... the scores of the n positives, t_1 >= t_2 >= ... those of the m negatives. An ordering of all
rows puts some negatives above some positives. The risk is the maximum over all orderings of

    1 - its average precision - 2 / (n m) * sum of s_i - t_j over the pairs that it has in the wrong order.

The j-th negative above the i-th positive lowers the precision there from i / (i + j - 1) to i / (i + j). So the sum
splits into one for each negative, which stands above the positives from some place on. `LinearRanker` has no such
hinge: this is a baseline of the TopPush paper, solved by the same certified solver.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from headrank._types import Vector
from headrank.estimators._risk import LinearRisk
from headrank.rows import open_rows
from headrank.solvers import hybrid
from headrank.surrogates import Cut


@lru_cache(maxsize=2)
def losses(n_pos: int, n_neg: int) -> Vector:
    """The average precision lost if the j-th negative stands above all positives from the i-th on, at [i, j]."""
    i, j = np.arange(1, n_pos + 1)[:, None], np.arange(1, n_neg + 1)
    lost: Vector = (i / (i + j - 1) - i / (i + j)) / n_pos
    return lost[::-1].cumsum(axis=0)[::-1]


class AveragePrecisionHinge:
    """The structural hinge. O(n_pos n_neg) numbers for each evaluation.

    >>> cut = AveragePrecisionHinge()(np.array([0.0]), np.array([0.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (0.5, array([-2.]), array([2.]))
    """

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the place of each negative in the worst ordering."""
        pos, neg = np.argsort(-pos_scores, kind="stable"), np.argsort(-neg_scores, kind="stable")
        s, t = pos_scores[pos], neg_scores[neg]
        per_pair = 2 / (s.size * t.size)
        below = np.arange(s.size, 0, -1)
        values = np.multiply.outer(per_pair * below, t)
        values += losses(s.size, t.size)
        values -= per_pair * s[::-1].cumsum()[::-1, None]
        place = values.argmax(axis=0)
        each = np.arange(t.size)
        wrong = values[place, each] > 0
        counts = np.where(wrong, below[place], 0)
        above = np.bincount(place[wrong], minlength=s.size).cumsum()
        pos_coef, neg_coef = np.empty(s.size), np.empty(t.size)
        pos_coef[pos], neg_coef[neg] = -per_pair * above, per_pair * counts
        risk = float(values[place, each][wrong].sum())
        return Cut(risk, pos_coef, neg_coef, float(losses(s.size, t.size)[place, each][wrong].sum()))


class SVMMAP:
    """Linear scores that minimise 1/2 |w|^2 + C times the hinge, to a certified relative gap of ``tol``."""

    def __init__(self, C: float, tol: float, max_iter: int) -> None:
        self.C, self.tol, self.max_iter = C, tol, max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Minimise from w = 0."""
        risk = LinearRisk(open_rows(X), AveragePrecisionHinge(), np.asarray(y) == 1)
        solution = hybrid(risk, n_features=X.shape[1], C=self.C, tol=self.tol, max_iter=self.max_iter)
        if not solution.converged:
            warnings.warn(f"stopped after {self.max_iter} evaluations", ConvergenceWarning, stacklevel=2)
        self.coef_, self.trace_ = solution.weights, solution.trace
        return self

    def decision_function(self, X: Any) -> Vector:
        """Return the scores."""
        return np.asarray(X @ self.coef_)
