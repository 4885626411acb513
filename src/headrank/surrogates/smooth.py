"""Smooth surrogates: the measures themselves with soft counts, one for every measure that can be learned.

Each indicator 1{s > t} becomes a soft step of half-width h (`soft_counts`), with h in units of the standard deviation
of all scores, so that nothing depends on the scale of the scores. Value and exact gradient cost O(N log N). As h goes
to 0, the risk goes to 1 - measure, or to the measure itself where lower is better. (With unequal row weights the
measures of the best fraction go to the value for a top of exactly that fraction, which cuts the row at its border.)

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
from math import ceil

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.curve import share, shares
from headrank.surrogates.cut import Cut, RowFacts
from headrank.surrogates.soft_counts import Crowd


@dataclass(frozen=True, eq=False)
class Lists:
    """What a smooth risk knows of its rows besides their scores: weights, and which list (query) they belong to."""

    pos_weights: Vector
    neg_weights: Vector
    pos_queries: IntVector | None
    neg_queries: IntVector | None
    weighted: bool

    @classmethod
    def of(cls, rows: RowFacts, n_pos: int, n_neg: int) -> Lists:
        """Fill in what the facts leave out."""
        weighted = rows.pos_weights is not None and rows.neg_weights is not None
        return cls(
            np.ones(n_pos) if rows.pos_weights is None else rows.pos_weights,
            np.ones(n_neg) if rows.neg_weights is None else rows.neg_weights,
            rows.pos_queries,
            rows.neg_queries,
            weighted,
        )

    @cached_property
    def n_queries(self) -> int:
        """How many lists there are."""
        if self.pos_queries is None or self.neg_queries is None:
            return 1
        return 1 + int(max(self.pos_queries.max(), self.neg_queries.max()))

    @cached_property
    def n_pos(self) -> Vector:
        """Positives of each list, by weight."""
        return self.summed(self.pos_weights, self.pos_queries)

    @cached_property
    def n_neg(self) -> Vector:
        """Negatives of each list, by weight."""
        return self.summed(self.neg_weights, self.neg_queries)

    @cached_property
    def counted(self) -> BoolVector:
        """Whether a list has both classes; the others are left out of every mean."""
        return (self.n_pos > 0) & (self.n_neg > 0)

    @cached_property
    def share(self) -> Vector:
        """The share of each list in the mean over lists."""
        return self.counted / np.count_nonzero(self.counted)

    @cached_property
    def all_queries(self) -> IntVector | None:
        """The list of each row, positives first."""
        if self.pos_queries is None or self.neg_queries is None:
            return None
        return np.concatenate([self.pos_queries, self.neg_queries])

    @cached_property
    def all_weights(self) -> Vector:
        """The weight of each row, positives first."""
        return np.concatenate([self.pos_weights, self.neg_weights])

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
        """Evaluate at these scores. Constant scores, which have no scale, are refused with a ValueError."""
        lists = Lists.of(self.rows, pos_scores.size, neg_scores.size)
        z = np.concatenate([pos_scores, neg_scores], dtype=np.float64)
        means = lists.summed(z * lists.all_weights, lists.all_queries) / _safe(lists.n_pos + lists.n_neg)
        z -= lists.spread(means, lists.all_queries)
        total = float(lists.all_weights.sum())
        scale = float(np.sqrt((lists.all_weights @ z**2) / total))
        if not scale > 0:
            raise ValueError("the scores are constant: a smooth risk has no direction to start from")
        z /= scale
        risk, slope = self._of_standardised(z, lists)
        # The risk does not change with the scale, so the derivative has no part along the scores themselves.
        slope = (slope - lists.all_weights * z * (float(slope @ z) / total)) / scale
        return Cut(risk, slope[: pos_scores.size], slope[pos_scores.size :])

    @abstractmethod
    def _of_standardised(self, z: Vector, lists: Lists) -> tuple[float, Vector]:
        """Risk and its derivative in each standardised score, positives first."""


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

    def _of_standardised(self, z: Vector, lists: Lists) -> tuple[float, Vector]:
        s, t = z[: lists.pos_weights.size], z[lists.pos_weights.size :]
        neg = _counted_ranks(t, lists.neg_weights, lists.neg_queries, lists.n_neg, self.min_fpr, self.max_fpr)
        pos = _counted_ranks(s, lists.pos_weights, lists.pos_queries, lists.n_pos, self.min_tpr, 1.0)
        width = lists.n_pos * (1 - self.min_tpr) * lists.n_neg * (self.max_fpr - self.min_fpr)
        scale = self.scale * lists.share / _safe(width)
        pos *= lists.spread(scale, lists.pos_queries)
        slope = np.zeros(z.size)
        in_range, low = np.flatnonzero(neg), np.flatnonzero(pos)
        pos_queries = None if lists.pos_queries is None else lists.pos_queries[low]
        neg_queries = None if lists.neg_queries is None else lists.neg_queries[in_range]
        negatives = Crowd(t[in_range], neg[in_range], neg_queries, lists.n_queries)
        below, rise = negatives.below(s[low], pos_queries, self.bandwidth)
        slope[low] = -pos[low] * rise
        positives = Crowd(s[low], pos[low], pos_queries, lists.n_queries)
        rise = positives.below(t[in_range], neg_queries, self.bandwidth)[1]
        slope[lists.pos_weights.size + in_range] = neg[in_range] * rise
        return self.scale - float(pos[low] @ below), slope


def _counted_ranks(
    values: Vector, weights: Vector, queries: IntVector | None, totals: Vector, low: float, high: float
) -> Vector:
    """How much of each row's weight has ranks from the top, of its list, between two fractions of the whole."""
    if low == 0 and high == 1:
        return weights.copy()
    if queries is None and weights[0] == 1 and weights.max() == weights.min():
        return _counted_places(values, low, high)
    order = np.argsort(-values) if queries is None else np.lexsort((-values, queries))
    ends = np.cumsum(weights[order])
    starts = ends - weights[order]
    if queries is not None:
        offset = np.cumsum(totals) - totals
        starts, ends = starts - offset[queries[order]], ends - offset[queries[order]]
    total = Lists.spread(totals, None if queries is None else queries[order])
    counted = np.empty(values.size)
    counted[order] = np.clip(np.minimum(ends, shares(high, total)) - np.maximum(starts, shares(low, total)), 0, None)
    return counted


def _counted_places(values: Vector, low: float, high: float) -> Vector:
    """`_counted_ranks` of one list of rows that count alike: only those that the range reaches are sorted."""
    start, stop = share(low, values.size), share(high, values.size)
    n_reached = ceil(stop)
    reached = np.argpartition(values, values.size - n_reached)[values.size - n_reached :]
    places = np.arange(n_reached)[::-1]
    counted = np.zeros(values.size)
    counted[reached[np.argsort(values[reached])]] = np.clip(
        np.minimum(places + 1, stop) - np.maximum(places, start), 0, None
    )
    return counted


def _safe(totals: Vector) -> Vector:
    """Totals to divide by, 1 where there is nothing to divide."""
    return np.where(totals > 0, totals, 1.0)
