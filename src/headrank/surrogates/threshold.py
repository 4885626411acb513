"""Surrogates that ask every positive to beat one threshold: TopPush, tau-FPL and Pat&Mat-NP.

Legend: s_i the scores of the positives, t_j those of the negatives, T a threshold computed from the negatives. The risk
is the weighted mean of max(0, 1 + T - s_i)^2 over the positives. It is convex because T is convex and rises with each
t_j, and T moves with the scores, so that a common shift changes nothing. With queries, each list has a threshold of its
own, and the risk is the mean over the lists.

The papers allow the plain hinge, too, but use its square. Few positives are near T, so that a plain hinge has a kink at
each of them that no average smooths: on 20,000 x 50 rows, the certified solver then took up to 2.6 times the
evaluations of the tight hinge (C = 100, [0, 0.1]).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headrank._types import Vector
from headrank.curve import shares
from headrank.surrogates.cut import Cut
from headrank.surrogates.lists import ListRows, OfLists


class Threshold(NamedTuple):
    """The threshold of each list, its derivative in the score of each negative, and its plane at scores of 0."""

    value: Vector
    coef: Vector
    offset: Vector


@dataclass(frozen=True, eq=False)
class ThresholdHinge(OfLists):
    """Mean squared hinge of the positives against a threshold computed from the negatives."""

    @abstractmethod
    def threshold(self, t: Vector, neg: ListRows) -> Threshold:
        """Compute the threshold of each list from the scores of its negatives."""

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Compute the thresholds, and the mean error of the positives that do not exceed theirs by 1."""
        pos, neg = self.classes(pos_scores.size, neg_scores.size)
        s, t = pos.taken(pos_scores), neg.taken(neg_scores)
        value, coef, offset = self.threshold(t, neg)
        errors = np.maximum(1 + (value[pos.lists] - s), 0)
        slopes = 2 * errors * pos.shares
        return Cut(
            float(pos.shares @ errors**2),
            pos.spread(0 - slopes),
            neg.spread(pos.added_up(slopes)[neg.lists] * coef),
            # The squared error and its slope times 1 + offset - error: what remains of the plane at scores of 0.
            float((pos.shares * errors) @ (2 * (1 + offset[pos.lists]) - errors)),
        )


@dataclass(frozen=True, eq=False)
class TopPush(ThresholdHinge):
    """Squared hinge against the highest negative (Li, Jin & Zhou, NIPS 2014). O(N).

    An upper bound on the share of positives at or below the highest negative, so on 1 - `PartialAUC` of every range.

    >>> cut = TopPush()(np.array([2.0, 0.5]), np.array([0.0, -1.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (0.125, array([ 0. , -0.5]), array([0.5, 0. ]))
    """

    def threshold(self, t: Vector, neg: ListRows) -> Threshold:
        """Return the largest score; tied rows share the derivative.

        If one had all of it, the proof of a collapse would take up to 2.1 times the evaluations (100,000 x 100).
        """
        value = neg.maxima(t)
        tied = np.where(t == value[neg.lists], neg.weights, 0.0)
        return Threshold(value, tied / neg.added_up(tied)[neg.lists], np.zeros(neg.n_lists))


@dataclass(frozen=True, eq=False)
class TauFPL(ThresholdHinge):
    """Squared hinge against the mean of the highest negatives (tau-FPL, Zhang et al., AAAI 2018). O(N).

    An upper bound on 1 - `TPRAtFPR` at ``max_fpr``. The published form rounds the number of these negatives up; here
    the last one counts in part.

    >>> cut = TauFPL(1.0)(np.array([2.0, 0.25]), np.array([0.0, -1.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (0.03125, array([ 0.  , -0.25]), array([0.125, 0.125]))
    """

    max_fpr: float

    def threshold(self, t: Vector, neg: ListRows) -> Threshold:
        """Return the mean over the highest share ``max_fpr`` of the negatives."""
        mass = shares(self.max_fpr, neg.totals)
        coef = neg.highest(t, mass) / mass[neg.lists]
        return Threshold(neg.added_up(coef * t), coef, np.zeros(neg.n_lists))


@dataclass(frozen=True, eq=False)
class PatMat(ThresholdHinge):
    """Squared hinge against a smooth quantile of the negatives (Pat&Mat-NP, Adam, Mácha, Šmídl & Pevný, 2021).

    The threshold T solves mean_j max(0, 1 + beta (t_j - T)) = ``max_fpr``. At most this share of the negatives is at or
    above it, so the risk is an upper bound on 1 - `TPRAtFPR`. At constant scores it is (1 + (1 - max_fpr) / beta)^2.
    For small weights all negatives are within 1 / beta of T, which is then their mean plus a constant: the fit follows
    the difference of the class means, and does not collapse where TopPush does. O(N) for each of a few steps.

    >>> cut = PatMat(0.5, beta=1.0)(np.array([2.0, 0.25]), np.array([0.0, -0.5]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (0.5, array([ 0., -1.]), array([0.5, 0.5]))
    """

    max_fpr: float
    beta: float = 1.0

    def threshold(self, t: Vector, neg: ListRows) -> Threshold:
        """Return the root: Newton's method from the left on a convex, falling, piecewise linear function.

        Each step drops the negatives more than 1 / beta below T. If none is dropped, T is the root, so the number of
        steps is finite.
        """
        width, mass = 1 / self.beta, shares(self.max_fpr, neg.totals)
        top = neg.maxima(t)
        z, within = t - top[neg.lists], np.ones(t.size, dtype=bool)
        while True:
            weights = np.where(within, neg.weights, 0.0)
            counted = neg.added_up(weights)
            mean = neg.added_up(weights * z) / counted
            inside = within & (z > (mean - width * mass / counted)[neg.lists])
            if (inside == within).all():
                break
            within = inside
        offset = width * (1 - mass / counted)
        return Threshold(top + (mean + offset), weights / counted[neg.lists], offset)
