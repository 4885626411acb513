"""The logistic loss with the optimal intercept, and its power for the negatives: logistic regression and P-push."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from headrank._types import Vector
from headrank.surrogates.row_loss import RowLoss, RowLosses, Totals, weighted


@dataclass(frozen=True, eq=False)
class LogisticLoss(RowLoss):
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
    close: ClassVar[float] = 1e-6
    """The remaining error is about the square of the last step."""

    def bracket(self, pos: Totals, neg: Totals) -> tuple[float, float, float]:
        """If all scores were the highest, or the lowest, the root would be at either end."""
        best, both = _for_constant(pos.weight / neg.weight, self.power), pos.merge(neg)
        return best - both.high, best - both.low, best - both.mean

    def balance(self, scores: Vector, sign: int, weights: Vector | None) -> Vector:
        """The expected errors of a class, which are those of the other at the best intercept, and their slope."""
        slope = self._slope(sign)
        chance, rise = (weighted(values, weights).sum() for values in _chance(slope * scores))
        return np.array([chance, abs(slope) * rise])

    def newton(self, pos: Vector, neg: Vector) -> tuple[float, float]:
        """The logarithm of each is nearly linear in the intercept where errors are rare: few steps are enough."""
        (missed, of_missed), (alarms, of_alarms) = pos.tolist(), neg.tolist()
        if missed <= 0 or alarms <= 0:
            return alarms - missed, inf
        slope = of_missed / missed + of_alarms / alarms
        return alarms - missed, log(alarms / missed) / slope if slope > 0 else inf

    def of_rows(self, scores: Vector, sign: int, weights: Vector | None) -> RowLosses:
        """Return the losses of rows of a class and their derivatives."""
        slope = self._slope(sign)
        x = slope * scores
        chance, rise = _chance(x)
        # log(1 + exp(x)) without overflow.
        losses = (np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)) / abs(slope)
        return RowLosses(*(weighted(values, weights) for values in (losses, -sign * chance, abs(slope) * rise)))

    def _slope(self, sign: int) -> float:
        return -1.0 if sign > 0 else float(self.power)


def _for_constant(ratio: float, power: float) -> float:
    """Return the optimal intercept of constant scores 0, given positives over negatives: the log of it for power 1."""
    if power == 1:
        return log(ratio)
    # 1 / (1 + exp(-p c)) = ratio / (1 + exp(c)); the left side rises in c, the right side falls.
    return float(brentq(lambda c: log(ratio) - np.logaddexp(0, c) + np.logaddexp(0, -power * c), -800, 800))


def _chance(x: Vector) -> tuple[Vector, Vector]:
    """Return 1 / (1 + exp(-x)) and its derivative. By tanh, which NumPy vectorises."""
    half = np.tanh(x / 2)
    return (1 + half) / 2, (1 - half**2) / 4
