"""Smooth risks of ranks among all rows: the best fraction, and functions of the rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.surrogates.cut import Cut
from headrank.surrogates.smooth import Lists, SmoothRisk
from headrank.surrogates.soft_counts import soft_step

_BISECTIONS = 60
"""Enough to find the border of the top to the last digit of its float."""
_SHORT = 1e-6


@dataclass(frozen=True, eq=False)
class Reward:
    """What a positive in the top is worth: ``base + per_neg * negatives below it + per_pos * positives below it``.

    The risk is ``offset - sum over the positives in the top of their worth``. One value for each list, or for all.
    """

    offset: Vector | float
    base: Vector | float = 0.0
    per_neg: Vector | float = 0.0
    per_pos: Vector | float = 0.0


RewardOfCounts = Callable[[Vector, Vector, Vector], Reward]
"""How the reward follows from the numbers of positives and negatives and the size of the top of each list."""
SizeOfTop = Callable[[Vector, bool], Vector]
"""How many rows the top of a list of so many rows has, and whether the rows have weights, which cannot be counted."""


@dataclass(frozen=True, eq=False)
class SmoothTop(SmoothRisk):
    """A sum over the positives in the best rows of a list, each worth what `Reward` says.

    A row at score x is in the top by the soft step of x - Q, and Q solves "soft count above Q = size of the top", so
    the top always has its size.

    >>> from headrank.measures import LocalAUC
    >>> from headrank.surrogates import surrogate_for
    >>> risk = surrogate_for(LocalAUC(0.3), "smooth", bandwidth=1e-3)
    >>> risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk
    0.5
    """

    size: SizeOfTop
    reward: RewardOfCounts

    def _of_lists(self, lists: Lists) -> Cut:
        h, queries = self.bandwidth, lists.pos_queries
        n_top = np.minimum(self.size(lists.n_rows, lists.weighted), lists.n_rows)
        reward = self.reward(*(np.where(lists.counted, number, 1.0) for number in (lists.n_pos, lists.n_neg, n_top)))
        border = self._border(lists, n_top)
        member, member_rise = soft_step(lists.pos - lists.spread(border, queries), h)
        weight = lists.pos_weights * lists.spread(lists.share, queries)
        base, per_neg, per_pos = (
            lists.spread(part * np.ones(lists.n_queries), queries)
            for part in (reward.base, reward.per_neg, reward.per_pos)
        )
        worth, worth_rise = base + np.zeros(lists.pos.size), np.zeros(lists.pos.size)
        pos_coef, neg_coef = np.zeros(lists.pos.size), np.zeros(lists.neg.size)
        for per_row, crowd, rows, row_queries, row_weights, coef in (
            (per_neg, lists.negatives, lists.neg, lists.neg_queries, lists.neg_weights, neg_coef),
            (per_pos, lists.positives, lists.pos, lists.pos_queries, lists.pos_weights, pos_coef),
        ):
            if np.any(per_row):
                below, rise = crowd(row_weights).below(lists.pos, queries, h)
                worth += per_row * below
                worth_rise += per_row * rise
                # What a row takes from the positives around it by rising past them.
                coef += row_weights * lists.positives(weight * member * per_row).below(rows, row_queries, h)[1]
        pos_coef -= weight * (member * worth_rise + member_rise * worth)
        # Rows near the border push it up, and the top's members out.
        pushed = lists.summed(weight * member_rise * worth, queries)
        pos_near = lists.pos_weights * member_rise
        neg_near = lists.neg_weights * soft_step(lists.neg - lists.spread(border, lists.neg_queries), h)[1]
        near = lists.summed(pos_near, queries) + lists.summed(neg_near, lists.neg_queries)
        push = np.divide(pushed, near, out=np.zeros_like(pushed), where=near > 0)
        pos_coef += pos_near * lists.spread(push, queries)
        neg_coef += neg_near * lists.spread(push, lists.neg_queries)
        return Cut(float(np.sum(reward.offset * lists.share) - (weight * member) @ worth), pos_coef, neg_coef)

    def _border(self, lists: Lists, n_top: Vector) -> Vector:
        """Q of each list: above it, with a soft edge, lie ``n_top`` rows."""
        n_below = lists.n_rows - n_top
        each = None if lists.pos_queries is None else np.arange(lists.n_queries)
        low = np.full(lists.n_queries, min(lists.pos.min(), lists.neg.min()) - self.bandwidth)
        high = np.full(lists.n_queries, max(lists.pos.max(), lists.neg.max()) + self.bandwidth)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            too_high = lists.everybody.below(middle, each, self.bandwidth)[0] > n_below
            high, low = np.where(too_high, middle, high), np.where(too_high, low, middle)
        return np.asarray((low + high) / 2)


@dataclass(frozen=True, eq=False)
class SmoothRanks(SmoothRisk):
    """1 - the mean over the positives of ``phi(rank / (N + 1))``, with soft ranks.

    ``phi`` takes relative ranks and returns its values and its derivatives there.

    >>> risk = SmoothRanks(1e-3, lambda v: (v, np.ones_like(v)))
    >>> round(risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk, 9)
    0.4
    """

    phi: Callable[[Vector], tuple[Vector, Vector]]

    def _of_lists(self, lists: Lists) -> Cut:
        h, queries = self.bandwidth, lists.pos_queries
        ranks, rise = lists.everybody.below(lists.pos, queries, h)
        per_rank = lists.spread(1 / (lists.n_rows + 1), queries)
        values, slopes = self.phi((ranks + 0.5) * per_rank)
        share = np.divide(lists.share, lists.n_pos, out=np.zeros_like(lists.share), where=lists.counted)
        weight = lists.pos_weights * lists.spread(share, queries)
        gain = weight * slopes * per_rank
        # A positive that rises gains ranks; a row that rises takes one from each positive it passes.
        passed = lists.positives(gain)
        pos_coef = lists.pos_weights * passed.below(lists.pos, queries, h)[1] - gain * rise
        neg_coef = lists.neg_weights * passed.below(lists.neg, lists.neg_queries, h)[1]
        return Cut(1 - float(weight @ values), pos_coef, neg_coef)


def power(exponent: float) -> Callable[[Vector], tuple[Vector, Vector]]:
    """Return the power function and its derivative."""
    return lambda v: (v**exponent, exponent * v ** (exponent - 1))


def differenced(phi: Callable[[Vector], Vector]) -> Callable[[Vector], tuple[Vector, Vector]]:
    """Return a function given by its values alone, and its slopes as differences over a short step."""

    def read(v: Vector) -> tuple[Vector, Vector]:
        reach = np.minimum(_SHORT, np.minimum(v, 1 - v) / 2)  # phi is defined between 0 and 1 only
        rise = np.asarray(phi(v + reach), dtype=np.float64) - np.asarray(phi(v - reach), dtype=np.float64)
        return np.asarray(phi(v), dtype=np.float64), rise / (2 * reach)

    return read
