"""Smooth surrogates: the measures themselves with soft counts, one for each learnable measure.

Each indicator 1{s > t} becomes a soft step of half-width h (`soft_counts`), with h in units of the standard deviation
of all scores, so that nothing depends on the scale of the scores. Value and gradient cost O(N log N). The gradient is
exact, except for the rank statistic, whose phi is known by its values alone: its slope is a difference (`differenced`).

As h goes to 0, the risk tends to

- 1 - measure,
- the measure itself if lower is better,
- 1 - measure / best for the enrichment factor and the lift, which may exceed 1: best is the largest possible value for
  the numbers of positives and negatives in each list. It does not depend on the scorer, so minimising the risk
  maximises the measure.

With queries the measure is the mean over lists, and best the mean of the largest values. (With row weights the measures
of the best fraction tend to the value for a top of exactly that fraction, which splits the row at its border.)

Rows of weight 0, and rows of a list that lacks a class, are ignored, whatever their scores.

The smooth risks are not convex: the minimisation starts from the scorer of a convex risk.

Three kinds of risk cover all measures. *Pairs*: a mean over pairs of a positive and a negative in a range of ranks; the
ranks are hard, as the sum is continuous where two rows swap places. *Top*: a sum over the positives in the best
fraction, whose border Q solves "soft count above Q = top". *Ranks*: a mean over the positives of a function of their
soft rank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.curve import share, shares
from headrank.surrogates.cut import Cut, RowFacts
from headrank.surrogates.soft_counts import Crowd

ROUNDING = 1e-12
"""Scores whose standard deviation is a smaller share of the largest one are constant."""
_NARROWEST = 1e-10
"""At a smaller bandwidth, differences of scores, which have 16 digits, would keep fewer than 6."""


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
    reach: float
    """Half-width of the soft step."""
    pos_grades: IntVector | None = None

    @cached_property
    def n_pos(self) -> Vector:
        """Total weight of the positives in each list."""
        return self.summed(self.pos_weights, self.pos_queries)

    @cached_property
    def n_neg(self) -> Vector:
        """Total weight of the negatives in each list."""
        return self.summed(self.neg_weights, self.neg_queries)

    @property
    def n_rows(self) -> Vector:
        """Total weight of the rows in each list."""
        return self.n_pos + self.n_neg

    @cached_property
    def counted(self) -> BoolVector:
        """Whether a list has both classes; others are excluded from every mean."""
        return (self.n_pos > 0) & (self.n_neg > 0)

    @cached_property
    def share(self) -> Vector:
        """The share of each list in the mean over lists."""
        return self.counted / np.count_nonzero(self.counted)

    @cached_property
    def everybody(self) -> Crowd:
        """Positives and negatives together."""
        values = np.concatenate([self.pos, self.neg])
        weights = np.concatenate([self.pos_weights, self.neg_weights])
        if self.pos_queries is None or self.neg_queries is None:
            order = np.argsort(values, kind="stable")  # two sorted runs: one linear merge
            return Crowd(values[order], weights[order], self.reach)
        queries = np.concatenate([self.pos_queries, self.neg_queries])
        order = np.lexsort((values, queries))
        return Crowd(values[order], weights[order], self.reach, queries[order], self.n_queries)

    def positives(self, weights: Vector) -> Crowd:
        """Return the positives with these weights."""
        return Crowd(self.pos, weights, self.reach, self.pos_queries, self.n_queries)

    def negatives(self, weights: Vector) -> Crowd:
        """Return the negatives with these weights."""
        return Crowd(self.neg, weights, self.reach, self.neg_queries, self.n_queries)

    def summed(self, values: Vector, queries: IntVector | None) -> Vector:
        """Sum over the rows of each list."""
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
    """A risk of standardised scores. Subclasses see neither the scale of the scores nor rows that are ignored.

    Parameters
    ----------
    bandwidth : float
        Half-width of the soft step, in standard deviations of the scores (within lists). At least 1e-10.
    rows : RowFacts
        Weights and queries of the rows, if any.
    """

    bandwidth: float
    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def __post_init__(self) -> None:
        if not self.bandwidth >= _NARROWEST:
            raise ValueError(
                f"bandwidth must be at least {_NARROWEST:g} standard deviations of the scores, got {self.bandwidth:g}, "
                "which is below the rounding of the scores; use a larger bandwidth"
            )

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Evaluate the risk at these scores. Constant scores, which have no scale, raise an error."""
        there = self._present
        if there is None:
            return self._of_scores(pos_scores, neg_scores)
        cut = there.risk._of_scores(pos_scores[there.pos], neg_scores[there.neg])
        pos_coef, neg_coef = np.zeros(pos_scores.size), np.zeros(neg_scores.size)
        pos_coef[there.pos], neg_coef[there.neg] = cut.pos_coef, cut.neg_coef
        return Cut(cut.risk, pos_coef, neg_coef)

    @cached_property
    def _present(self) -> _Present | None:
        """The rows of positive weight in lists with both classes; None if these are all rows."""
        pos, neg = (
            _counting(weights, queries)
            for weights, queries in (
                (self.rows.pos_weights, self.rows.pos_queries),
                (self.rows.neg_weights, self.rows.neg_queries),
            )
        )
        if pos is None or neg is None:
            return None
        if self.rows.pos_queries is not None and self.rows.neg_queries is not None:
            both = np.intersect1d(self.rows.pos_queries[pos], self.rows.neg_queries[neg])
            pos &= np.isin(self.rows.pos_queries, both)
            neg &= np.isin(self.rows.neg_queries, both)
        if pos.all() and neg.all():
            return None
        at = np.flatnonzero(pos), np.flatnonzero(neg)
        return _Present(*at, replace(self, rows=self.rows.take(*at)))

    def _of_scores(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Evaluate the risk at scores of rows none of which is ignored."""
        s, t = pos_scores.astype(np.float64), neg_scores.astype(np.float64)
        v, w = _weights_or_ones(self.rows.pos_weights, s), _weights_or_ones(self.rows.neg_weights, t)
        total = float(v.sum() + w.sum())
        size = max(float(np.abs(s).max()), float(np.abs(t).max()))
        scale = self._standardise(s, t, v, w)
        if not scale > ROUNDING * size:
            raise ConstantScoresError("the scores are constant: a smooth risk has no direction to start from")
        pos, neg = _order(s, self.rows.pos_queries), _order(t, self.rows.neg_queries)
        lists = Lists(
            *(s[pos], t[neg], v[pos], w[neg]),
            None if self.rows.pos_queries is None else self.rows.pos_queries[pos],
            None if self.rows.neg_queries is None else self.rows.neg_queries[neg],
            self._n_queries,
            self.bandwidth,
            None if self.rows.pos_grades is None else self.rows.pos_grades[pos],
        )
        cut = self._of_lists(lists)
        pos_coef, neg_coef = np.empty_like(s), np.empty_like(t)
        pos_coef[pos], neg_coef[neg] = cut.pos_coef, cut.neg_coef
        # The risk is invariant to scale, so its derivative has no component along the scores themselves.
        along = float(pos_coef @ s + neg_coef @ t) / total
        return Cut(cut.risk, (pos_coef - along * v * s) / scale, (neg_coef - along * w * t) / scale)

    def _standardise(self, s: Vector, t: Vector, v: Vector, w: Vector) -> float:
        """Standardise the scores in place, to mean 0 in each list and unit variance overall; return the divisor."""
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
        """Return the risk and its derivative in each standardised score."""


@dataclass(frozen=True, eq=False)
class _Present:
    """Indices of the rows that are not ignored, and the risk of these rows."""

    pos: IntVector
    neg: IntVector
    risk: SmoothRisk


def _counting(weights: Vector | None, queries: IntVector | None) -> BoolVector | None:
    """Return which rows have positive weight; None if there are neither weights nor queries."""
    if weights is not None:
        return weights > 0
    return None if queries is None else np.ones(queries.size, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class SmoothPairs(SmoothRisk):
    """1 - the mean of soft 1{s > t} over pairs: negatives in a range of FPR, positives in a range of TPR.

    Parameters
    ----------
    bandwidth : float
        Half-width of the soft step, in standard deviations of the scores.
    min_fpr, max_fpr : float
        Only negatives whose rank from the top is in this range count: 0 and 1 for the AUC.
    min_tpr, max_tpr : float
        Only positives whose rank from the top is in this range count: 0 and 1 except for the two-way partial AUC.
    scale : float
        Factor of the risk, for measures that are an affine function of the mean.

    Examples
    --------
    >>> risk = SmoothPairs(1e-6, 0.0, 0.5)
    >>> risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk
    0.5
    """

    min_fpr: float = 0.0
    max_fpr: float = 1.0
    min_tpr: float = 0.0
    max_tpr: float = 1.0
    scale: float = 1.0

    def _of_lists(self, lists: Lists) -> Cut:
        neg = _counted(lists.neg_weights, lists.neg_queries, lists.n_neg, self.min_fpr, self.max_fpr)
        pos = _counted(lists.pos_weights, lists.pos_queries, lists.n_pos, self.min_tpr, self.max_tpr)
        width = lists.n_pos * (self.max_tpr - self.min_tpr) * lists.n_neg * (self.max_fpr - self.min_fpr)
        pos *= lists.spread(self.scale * lists.share / np.where(width > 0, width, 1.0), lists.pos_queries)
        reached = np.flatnonzero(neg)  # few for a narrow range
        queries = None if lists.neg_queries is None else lists.neg_queries[reached]
        negatives = Crowd(lists.neg[reached], neg[reached], lists.reach, queries, lists.n_queries)
        below, rise = negatives.below(lists.pos, lists.pos_queries)
        neg[reached] *= lists.positives(pos).below(lists.neg[reached], queries)[1]
        return Cut(self.scale - float(pos @ below), -pos * rise, neg)

    def n_reached(self, n_neg: int) -> int:
        """Return how many of the highest negatives the risk depends on, if there are neither weights nor queries."""
        return ceil(share(self.max_fpr, n_neg))

    def of_head(self, pos_scores: Vector, neg_scores: Vector, n_neg: int) -> Cut:
        """Evaluate the risk at standardised scores, given only the highest of ``n_neg`` negatives.

        At least `n_reached` of them are needed; all others count as one row of their number, below the range.

        >>> SmoothPairs(1e-6, 0.0, 0.5).of_head(np.array([4.0, 2.0]), np.array([3.0]), 2).risk
        0.5
        """
        pos, neg = np.argsort(pos_scores), np.argsort(neg_scores)
        t, weights = neg_scores[neg], np.ones(neg.size + 1)
        weights[0] = n_neg - neg.size
        lists = Lists(
            pos_scores[pos], np.append(t[:1], t), np.ones(pos.size), weights, None, None, 1, reach=self.bandwidth
        )
        cut = self._of_lists(lists)
        pos_coef, neg_coef = np.empty(pos.size), np.empty(neg.size)
        pos_coef[pos], neg_coef[neg] = cut.pos_coef, cut.neg_coef[1:]
        return Cut(cut.risk, pos_coef, neg_coef)


def _counted(weights: Vector, queries: IntVector | None, totals: Vector, low: float, high: float) -> Vector:
    """Return the part of each row, in ascending order, whose rank from the top is between two fractions of its list."""
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


def _weights_or_ones(weights: Vector | None, scores: Vector) -> Vector:
    return np.ones(scores.size) if weights is None else weights.astype(np.float64, copy=False)
