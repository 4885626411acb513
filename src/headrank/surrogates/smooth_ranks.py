"""Smooth risks of ranks among all rows: the best fraction, and functions of the rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.surrogates.cut import Cut
from headrank.surrogates.smooth import Lists, SmoothRisk
from headrank.surrogates.soft_counts import soft_step

_STEPS = 120
"""Enough to find the border of the top to double precision, were every other step a bisection."""
_NEAR = 2.0**-51
"""Steps this short, relative to the scores, are rounding."""
_SHORT = 1e-6
"""Half the step of a difference, in relative ranks: short compared with phi, long compared with rounding."""


@dataclass(frozen=True, eq=False)
class Reward:
    """The worth of a positive in the top: ``base + per_neg * negatives below it``.

    The risk is ``offset - sum over the positives in the top of their worth + per_pair * found**2 / 2``, with ``found``
    the number of positives in the top. One value per list, or one for all.
    """

    offset: Any
    base: Any = 0.0
    per_neg: Any = 0.0
    per_pair: Any = 0.0

    def of_all_lists(self, counted: BoolVector) -> Reward:
        """Expand to all lists: the values are for the lists with both classes, the others get 0."""

        def spread(values: Any) -> Vector:
            per_list = np.zeros(counted.size)
            per_list[counted] = values
            return per_list

        return Reward(*map(spread, (self.offset, self.base, self.per_neg, self.per_pair)))


RewardOfCounts = Callable[[Vector, Vector, Vector], Reward]
"""Reward as a function of the positives, the negatives and the size of the top, per list with both classes."""
SizeOfTop = Callable[[Vector], Vector]
"""Size of the top as a function of the number of rows of a list."""


@dataclass(frozen=True, eq=False)
class SmoothTop(SmoothRisk):
    """A sum over the positives in the top of a list, each with its worth by `Reward`.

    A row at score x is in the top by the soft step of x - Q, and Q solves "soft count above Q = size of the top", so
    the top always has its size. The risk is the mean over lists, so the reward carries what differs between them:
    precision divides the positives found by the size of the top, recall by the positives of the list.

    >>> from headrank.measures import LocalAUC
    >>> from headrank.surrogates import surrogate_for
    >>> risk = surrogate_for(LocalAUC(0.3), "smooth", bandwidth=1e-3)
    >>> risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk
    0.5
    """

    size: SizeOfTop
    reward: RewardOfCounts

    def _of_lists(self, lists: Lists) -> Cut:
        n_top = np.minimum(self.size(lists.n_rows), lists.n_rows)
        reward = self.reward(*(number[lists.counted] for number in (lists.n_pos, lists.n_neg, n_top)))
        reward = reward.of_all_lists(lists.counted)
        border = self._border(lists, n_top)
        member, member_rise = soft_step(lists.pos - lists.spread(border, lists.pos_queries), lists.reach)
        worth, worth_rise = self._worth(lists, reward)
        weight = lists.pos_weights * lists.spread(lists.share, lists.pos_queries)
        neg_taken = self._taken_by_rising(lists, reward, weight * member)
        found = lists.summed(lists.pos_weights * member, lists.pos_queries)
        leaving = weight * member_rise * (worth - lists.spread(reward.per_pair * found, lists.pos_queries))
        neg_rise = soft_step(lists.neg - lists.spread(border, lists.neg_queries), lists.reach)[1]
        near = lists.pos_weights * member_rise, lists.neg_weights * neg_rise
        pos_pushed, neg_pushed = self._pushed_out_by_rising(lists, *near, leaving)
        return Cut(
            float(np.sum((reward.offset + reward.per_pair * found**2 / 2) * lists.share) - (weight * member) @ worth),
            pos_pushed - (weight * member * worth_rise + leaving),
            neg_taken + neg_pushed,
        )

    @staticmethod
    def _worth(lists: Lists, reward: Reward) -> tuple[Vector, Vector]:
        """Return the worth of each positive if it is in the top, and its derivative in the score."""
        queries = lists.pos_queries
        base = lists.spread(reward.base, queries) + np.zeros(lists.pos.size)
        if not reward.per_neg.any():
            return base, np.zeros(lists.pos.size)
        each = lists.spread(reward.per_neg, queries)
        below, below_rise = lists.negatives(lists.neg_weights).below(lists.pos, queries)
        return base + each * below, each * below_rise

    @staticmethod
    def _taken_by_rising(lists: Lists, reward: Reward, held: Vector) -> Vector:
        """Return the loss that each negative causes by rising past the positives near it.

        ``held`` is the part of each positive that counts in the top.
        """
        if not reward.per_neg.any():
            return np.zeros(lists.neg.size)
        passed = lists.positives(held * lists.spread(reward.per_neg, lists.pos_queries))
        return np.asarray(lists.neg_weights * passed.below(lists.neg, lists.neg_queries)[1])

    @staticmethod
    def _pushed_out_by_rising(
        lists: Lists, pos_near: Vector, neg_near: Vector, leaving: Vector
    ) -> tuple[Vector, Vector]:
        """Return the loss caused by the rise of each row, positives first: it raises the border, and members drop out.

        ``pos_near`` and ``neg_near`` are the rates at which rows enter the top as they rise; ``leaving`` is the rate at
        which each positive loses worth as the border rises.
        """
        near = lists.summed(pos_near, lists.pos_queries) + lists.summed(neg_near, lists.neg_queries)
        lost = lists.summed(leaving, lists.pos_queries)
        push = np.divide(lost, near, out=np.zeros_like(lost), where=near > 0)
        return pos_near * lists.spread(push, lists.pos_queries), neg_near * lists.spread(push, lists.neg_queries)

    def _border(self, lists: Lists, n_top: Vector) -> Vector:
        """Return Q of each list: ``n_top`` rows lie above it, with a soft edge."""
        n_below = lists.n_rows - n_top
        each = None if lists.pos_queries is None else np.arange(lists.n_queries)
        low = np.full(lists.n_queries, min(lists.pos.min(), lists.neg.min()) - lists.reach)
        high = np.full(lists.n_queries, max(lists.pos.max(), lists.neg.max()) + lists.reach)
        border, step = (low + high) / 2, high - low
        near = _NEAR * np.maximum(np.abs(low), np.abs(high))
        for _ in range(_STEPS):
            count, slope = lists.everybody.below(border, each)
            lacking = n_below - count
            high, low = np.where(lacking < 0, border, high), np.where(lacking < 0, low, border)
            newton = np.divide(lacking, slope, out=np.full_like(slope, np.inf), where=slope > 0)
            found = (lacking == 0) | (np.abs(newton) <= near) | (high - low <= near)
            if found.all():
                break
            # Newton's step, or half the way where it leads out or its steps shrink too slowly.
            good = (np.abs(newton) <= step / 2) & (border + newton > low) & (border + newton < high)
            following = np.where(found, border, np.where(good, border + newton, (low + high) / 2))
            border, step = following, np.abs(following - border)
        return np.asarray(border)


@dataclass(frozen=True, eq=False)
class SmoothRanks(SmoothRisk):
    """1 - the mean over the positives of ``phi(rank / (N + 1))``, with soft ranks.

    ``phi`` takes relative ranks and returns its values and its derivatives there. The gradient is exact up to rounding
    with `power`, and up to the error of a difference with `differenced`.

    >>> risk = SmoothRanks(1e-3, lambda v: (v, np.ones_like(v)))
    >>> round(risk(np.array([4.0, 2.0]), np.array([3.0, 1.0])).risk, 9)
    0.4
    """

    phi: Callable[[Vector], tuple[Vector, Vector]]

    def _of_lists(self, lists: Lists) -> Cut:
        queries = lists.pos_queries
        ranks, rise = lists.everybody.below(lists.pos, queries)
        per_rank = lists.spread(1 / (lists.n_rows + 1), queries)
        values, slopes = self.phi((ranks + 0.5) * per_rank)
        share = np.divide(lists.share, lists.n_pos, out=np.zeros_like(lists.share), where=lists.counted)
        weight = lists.pos_weights * lists.spread(share, queries)
        gain = weight * slopes * per_rank
        # A positive gains ranks as it rises; any row that rises takes one from each positive it passes.
        passed = lists.positives(gain)
        pos_coef = lists.pos_weights * passed.below(lists.pos, queries)[1] - gain * rise
        neg_coef = lists.neg_weights * passed.below(lists.neg, lists.neg_queries)[1]
        return Cut(1 - float(weight @ values), pos_coef, neg_coef)


def power(exponent: float) -> Callable[[Vector], tuple[Vector, Vector]]:
    """Return the power function and its derivative."""
    return lambda v: (v**exponent, exponent * v ** (exponent - 1))


def differenced(phi: Callable[[Vector], Vector]) -> Callable[[Vector], tuple[Vector, Vector]]:
    """Return the values of phi, and its slopes as differences over a short step.

    The values are exact. The slopes are central differences over 2e-6, or over the way to 0 or 1 if that is nearer:
    off by about 1e-10 from rounding and 1e-12 times the third derivative of phi. At a jump of phi, the slope is the
    jump over the step.

    >>> values, slopes = differenced(np.square)(np.array([0.25]))
    >>> values, slopes.round(6)
    (array([0.0625]), array([0.5]))
    """

    def read(v: Vector) -> tuple[Vector, Vector]:
        reach = np.minimum(_SHORT, np.minimum(v, 1 - v) / 2)  # phi is defined between 0 and 1 only
        rise = np.asarray(phi(v + reach), dtype=np.float64) - np.asarray(phi(v - reach), dtype=np.float64)
        return np.asarray(phi(v), dtype=np.float64), rise / (2 * reach)

    return read
