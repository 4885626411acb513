"""Smooth risks of the places in a list: each positive is worth a function of its rank from the top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import NamedTuple

import numpy as np

from headrank._types import Vector
from headrank.measures import NDCG
from headrank.surrogates.cut import Cut
from headrank.surrogates.smooth import Lists, SmoothRisk
from headrank.surrogates.soft_counts import soft_step


class Worth(NamedTuple):
    """What each positive is worth, and the derivatives in its rank among the positives and among all rows."""

    value: Vector
    per_pos_rank: Vector
    per_rank: Vector


WorthOfRanks = Callable[[Vector, Vector], Worth]
"""Worth as a function of the rank among the positives and the rank among all rows, both 1 at the top."""


@dataclass(frozen=True, eq=False)
class SmoothPlaces(SmoothRisk):
    """1 - the mean over the positives of their worth, a function of soft ranks from the top. O(N log N).

    The soft rank of a row is 1/2 plus the soft number of rows above it, itself counting one half; so it is a whole
    number if no other row is within reach, and copies of a row share the middle of their ranks.

    >>> risk = SmoothPlaces(1e-3, precision_at_rank(None))
    >>> round(risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk, 9)
    0.166666667
    """

    worth: WorthOfRanks

    def _of_lists(self, lists: Lists) -> Cut:
        queries = lists.pos_queries
        below, rise = lists.everybody.below(lists.pos, queries)
        pos_below, pos_rise = lists.positives(lists.pos_weights).below(lists.pos, queries)
        ranks = 0.5 + lists.spread(lists.n_rows, queries) - below
        pos_ranks = 0.5 + lists.spread(lists.n_pos, queries) - pos_below
        worth = self.worth(pos_ranks, ranks)
        weight = self._share_of_positives(lists)
        by_rank, by_pos_rank = weight * worth.per_rank, weight * worth.per_pos_rank
        # A positive that rises lowers its own ranks; any row that rises adds to the ranks of the positives it passes.
        passed = lists.positives(by_rank)
        pos_passed = lists.positives(by_rank + by_pos_rank)
        pos_coef = by_rank * rise + by_pos_rank * pos_rise
        pos_coef -= lists.pos_weights * pos_passed.below(lists.pos, queries)[1]
        neg_coef = -lists.neg_weights * passed.below(lists.neg, lists.neg_queries)[1]
        return Cut(1 - float(weight @ worth.value), pos_coef, neg_coef)

    def _share_of_positives(self, lists: Lists) -> Vector:
        """Return the factor of the worth of each positive."""
        share = np.divide(lists.share, lists.n_pos, out=np.zeros_like(lists.share), where=lists.counted)
        return lists.pos_weights * lists.spread(share, lists.pos_queries)


def precision_at_rank(k: int | None) -> WorthOfRanks:
    """Return the precision at the rank of a positive; beyond rank ``k`` it fades to 0 at k + 1."""

    def worth(pos_ranks: Vector, ranks: Vector) -> Worth:
        precision = pos_ranks / ranks
        kept, slope = until(ranks, k)
        return Worth(kept * precision, kept / ranks, slope * precision - kept * precision / ranks)

    return worth


def until(ranks: Vector, k: int | None) -> tuple[Vector, Vector]:
    """Return how much ranks count, 1 up to rank ``k`` and 0 from k + 1 on, and its derivative.

    >>> until(np.array([2.0, 2.5, 3.0]), 2)
    (array([1. , 0.5, 0. ]), array([ 0., -2.,  0.]))
    """
    if k is None:
        return np.ones_like(ranks), np.zeros_like(ranks)
    kept, slope = soft_step(k + 0.5 - ranks, 0.5)
    return kept, 0.0 - slope


@dataclass(frozen=True, eq=False)
class SmoothGain(SmoothPlaces):
    """1 - NDCG with soft ranks: the gain of each positive times the discount at its rank, over that of the best order.

    Grades are those of `RowFacts`; without them every positive has grade 1.

    >>> from headrank.measures import NDCG
    >>> from headrank.surrogates import RowFacts, surrogate_for
    >>> risk = surrogate_for(NDCG(), "smooth", RowFacts(pos_grades=np.array([2, 1])), bandwidth=1e-3)
    >>> round(1 - risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk, 6)  # NDCG()([2, 0, 1, 0], [4, 3, 2, 1])
    0.950234
    """

    measure: NDCG

    def _share_of_positives(self, lists: Lists) -> Vector:
        if lists.pos_grades is None:
            share = lists.share / np.where(lists.counted, self.measure.discounted(lists.n_pos), 1.0)
            return lists.pos_weights * lists.spread(share, lists.pos_queries)
        share = lists.share / np.where(lists.counted, self._best, 1.0)
        gains = self.measure.gains_of(lists.pos_grades)
        return lists.pos_weights * gains * lists.spread(share, lists.pos_queries)

    @cached_property
    def _best(self) -> Vector:
        """The discounted gain of the best order of each list."""
        grades, weights, queries = self.rows.pos_grades, self.rows.pos_weights, self.rows.pos_queries
        assert grades is not None
        queries = np.zeros(grades.size, dtype=np.intp) if queries is None else queries
        best = np.zeros(self._n_queries)
        of_positives = self.measure.best(grades, weights, queries)
        best[: of_positives.size] = of_positives
        return best


def discount_at_rank(k: int | None) -> WorthOfRanks:
    """Return 1 / log2(1 + rank); beyond rank ``k`` it fades to 0 at k + 1."""

    def worth(_pos_ranks: Vector, ranks: Vector) -> Worth:
        logs = np.log1p(ranks)
        discount = log(2) / logs
        kept, slope = until(ranks, k)
        return Worth(kept * discount, np.zeros_like(ranks), discount * (slope - kept / ((1 + ranks) * logs)))

    return worth
