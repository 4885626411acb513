"""Smooth surrogates: the measures themselves with soft counts, one for every measure that can be learned.

Each indicator 1{s > t} becomes a soft step of half-width h (`soft_counts`), with h in units of the standard deviation
of all scores, so that nothing depends on the scale of the scores. Value and exact gradient cost O(N log N). As h goes
to 0, the risk goes to 1 - measure, or to the measure itself where lower is better. (With row weights the measures of
the best fraction go to the value for a top of exactly that fraction, which cuts the row at its border.)

The smooth risks are not convex: they are minimised from the scorer of a convex one.

Three kinds of risk stand for all measures. *Pairs*: a mean over pairs of a positive and a negative, of which only some
ranks count; the ranks are hard, as the sum is continuous where two rows swap places. *Top*: a sum over the positives in
the best fraction, whose border Q solves "soft count above Q = top". *Ranks*: a mean over the positives of a function of
their soft rank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.curve import shares
from headrank.surrogates.cut import Cut, RowFacts
from headrank.surrogates.soft_counts import Crowd


class ConstantScoresError(ValueError):
    """Scores without a scale: all are equal, or equal within each list."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Standardised scores of positives and negatives, ascending within each list (query), with weights."""

    pos: Vector
    neg: Vector
    pos_weights: Vector
    neg_weights: Vector
    pos_queries: IntVector | None
    neg_queries: IntVector | None
    n_queries: int
    weighted: bool

    @cached_property
    def n_pos(self) -> Vector:
        """Positives of each list, by weight."""
        return self.summed(self.pos_weights, self.pos_queries)

    @cached_property
    def n_neg(self) -> Vector:
        """Negatives of each list, by weight."""
        return self.summed(self.neg_weights, self.neg_queries)

    @property
    def n_rows(self) -> Vector:
        """Rows of each list, by weight."""
        return self.n_pos + self.n_neg

    @cached_property
    def counted(self) -> BoolVector:
        """Whether a list has both classes; the others are left out of every mean."""
        return (self.n_pos > 0) & (self.n_neg > 0)

    @cached_property
    def share(self) -> Vector:
        """The share of each list in the mean over lists."""
        return self.counted / np.count_nonzero(self.counted)

    @cached_property
    def everybody(self) -> Crowd:
        """Positives and negatives in one crowd."""
        values = np.concatenate([self.pos, self.neg])
        weights = np.concatenate([self.pos_weights, self.neg_weights])
        if self.pos_queries is None or self.neg_queries is None:
            order = np.argsort(values, kind="stable")  # two sorted runs: one linear merge
            return Crowd(values[order], weights[order])
        queries = np.concatenate([self.pos_queries, self.neg_queries])
        order = np.lexsort((values, queries))
        return Crowd(values[order], weights[order], queries[order], self.n_queries)

    def positives(self, weights: Vector) -> Crowd:
        """A crowd of the positives, with these weights."""
        return Crowd(self.pos, weights, self.pos_queries, self.n_queries)

    def negatives(self, weights: Vector) -> Crowd:
        """A crowd of the negatives, with these weights."""
        return Crowd(self.neg, weights, self.neg_queries, self.n_queries)

    def summed(self, values: Vector, queries: IntVector | None) -> Vector:
        """Add up rows by list."""
        if queries is None:
            return np.array([values.sum()])
        sums: Vector = np.bincount(queries, weights=values, minlength=self.n_queries).astype(np.float64, copy=False)
        return sums

    @staticmethod
    def spread(per_list: Vector, queries: IntVector | None) -> Vector:
        """Give each row the value of its list."""
        return per_list if queries is None else per_list[queries]


@dataclass(frozen=True, eq=False)
class SmoothRisk(ABC):
    """A risk of standardised scores. Subclasses never see the scale of the scores.

    Parameters
    ----------
    bandwidth : float
        Half-width of the soft step, in standard deviations of the scores (within lists).
    rows : RowFacts
        Weights and queries of the rows, if any.
    """

    bandwidth: float
    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Evaluate at these scores. Constant scores, which have no scale, are refused."""
        s, t = pos_scores.astype(np.float64), neg_scores.astype(np.float64)
        v, w = _given(self.rows.pos_weights, s), _given(self.rows.neg_weights, t)
        if self.rows.pos_queries is not None and self.rows.neg_queries is not None:
            n_pos = np.bincount(self.rows.pos_queries, weights=v, minlength=self._n_queries)
            n_neg = np.bincount(self.rows.neg_queries, weights=w, minlength=self._n_queries)
            both = (n_pos > 0) & (n_neg > 0)
            v, w = v * both[self.rows.pos_queries], w * both[self.rows.neg_queries]
        total = float(v.sum() + w.sum())
        size = max(float(np.abs(s).max()), float(np.abs(t).max()))
        scale = self._standardise(s, t, v, w)
        if not scale > 1e-12 * size:
            raise ConstantScoresError("the scores are constant: a smooth risk has no direction to start from")
        pos, neg = _order(s, self.rows.pos_queries), _order(t, self.rows.neg_queries)
        lists = Lists(
            *(s[pos], t[neg], v[pos], w[neg]),
            None if self.rows.pos_queries is None else self.rows.pos_queries[pos],
            None if self.rows.neg_queries is None else self.rows.neg_queries[neg],
            self._n_queries,
            weighted=self.rows.pos_weights is not None,
        )
        cut = self._of_lists(lists)
        pos_coef, neg_coef = np.empty_like(s), np.empty_like(t)
        pos_coef[pos], neg_coef[neg] = cut.pos_coef, cut.neg_coef
        # The risk does not change with the scale, so its derivative has no part along the scores themselves.
        along = float(pos_coef @ s + neg_coef @ t) / total
        return Cut(cut.risk, (pos_coef - along * v * s) / scale, (neg_coef - along * w * t) / scale)

    def _standardise(self, s: Vector, t: Vector, v: Vector, w: Vector) -> float:
        """Bring the scores, in place, to mean 0 in each list and variance 1 over all; return the divisor."""
        if self.rows.pos_queries is None or self.rows.neg_queries is None:
            mean = (v @ s + w @ t) / (v.sum() + w.sum())
            s -= mean
            t -= mean
        else:
            sums, weights = (
                np.bincount(self.rows.pos_queries, weights=a, minlength=self._n_queries)
                + np.bincount(self.rows.neg_queries, weights=b, minlength=self._n_queries)
                for a, b in ((v * s, w * t), (v, w))
            )
            means = np.divide(sums, weights, out=np.zeros_like(sums), where=weights > 0)
            s -= means[self.rows.pos_queries]
            t -= means[self.rows.neg_queries]
        scale = float(np.sqrt((v @ s**2 + w @ t**2) / (v.sum() + w.sum())))
        if scale > 0:
            s /= scale
            t /= scale
        return scale

    @cached_property
    def _n_queries(self) -> int:
        if self.rows.pos_queries is None or self.rows.neg_queries is None:
            return 1
        return 1 + int(max(self.rows.pos_queries.max(), self.rows.neg_queries.max()))

    @abstractmethod
    def _of_lists(self, lists: Lists) -> Cut:
        """Risk and its derivative in each standardised score."""


@dataclass(frozen=True, eq=False)
class SmoothPairs(SmoothRisk):
    """1 - the mean of soft 1{s > t} over pairs: negatives of false positive rates in a range, the lowest positives.

    Parameters
    ----------
    bandwidth : float
        Half-width of the soft step, in standard deviations of the scores.
    min_fpr, max_fpr : float
        Only negatives whose rank from the top is in this range count: 0 and 1 for the AUC.
    min_tpr : float
        Only positives whose rank from the top is beyond this count: 0 but for the two-way partial AUC.
    scale : float
        What the risk is multiplied by, for measures that are an affine function of the mean.

    Examples
    --------
    >>> risk = SmoothPairs(1e-6, 0.0, 0.5)
    >>> risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk
    0.5
    """

    min_fpr: float = 0.0
    max_fpr: float = 1.0
    min_tpr: float = 0.0
    scale: float = 1.0

    def _of_lists(self, lists: Lists) -> Cut:
        h = self.bandwidth
        neg = _counted(lists.neg_weights, lists.neg_queries, lists.n_neg, self.min_fpr, self.max_fpr)
        pos = _counted(lists.pos_weights, lists.pos_queries, lists.n_pos, self.min_tpr, 1.0)
        width = lists.n_pos * (1 - self.min_tpr) * lists.n_neg * (self.max_fpr - self.min_fpr)
        pos *= lists.spread(self.scale * lists.share / np.where(width > 0, width, 1.0), lists.pos_queries)
        reached = np.flatnonzero(neg)  # of a narrow range, few
        queries = None if lists.neg_queries is None else lists.neg_queries[reached]
        negatives = Crowd(lists.neg[reached], neg[reached], queries, lists.n_queries)
        below, rise = negatives.below(lists.pos, lists.pos_queries, h)
        neg[reached] *= lists.positives(pos).below(lists.neg[reached], queries, h)[1]
        return Cut(self.scale - float(pos @ below), -pos * rise, neg)


def _counted(weights: Vector, queries: IntVector | None, totals: Vector, low: float, high: float) -> Vector:
    """How much of each row, in ascending order, has ranks from the top of its list between two fractions of it."""
    if low == 0 and high == 1:
        return weights.copy()
    ends = np.cumsum(weights[::-1])[::-1]  # rows from the top of the list, this one included
    if queries is not None:
        ends = ends - (totals.sum() - np.cumsum(totals))[queries]
    total = Lists.spread(totals, queries)
    counted = np.minimum(ends, shares(high, total)) - np.maximum(ends - weights, shares(low, total))
    return np.asarray(np.clip(counted, 0, None))


def _order(scores: Vector, queries: IntVector | None) -> IntVector:
    return np.argsort(scores) if queries is None else np.lexsort((scores, queries))


def _given(weights: Vector | None, scores: Vector) -> Vector:
    return np.ones(scores.size) if weights is None else weights.astype(np.float64, copy=False)
