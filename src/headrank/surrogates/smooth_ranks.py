"""Smooth risks of ranks among all rows: the best fraction, and functions of the rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headrank._types import IntVector, Vector
from headrank.surrogates.smooth import Lists, SmoothRisk
from headrank.surrogates.soft_counts import Crowd, soft_step

_BISECTIONS = 60
"""Enough to find the border of the top to the last digit of its float."""


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

    def _of_standardised(self, z: Vector, lists: Lists) -> tuple[float, Vector]:
        h, n_pos, queries = self.bandwidth, lists.pos_weights.size, lists.all_queries
        n_rows = lists.n_pos + lists.n_neg
        n_top = np.minimum(self.size(n_rows, lists.weighted), n_rows)
        reward = self.reward(*(np.where(lists.counted, number, 1.0) for number in (lists.n_pos, lists.n_neg, n_top)))
        border = self._border(z, lists, n_top)
        s, t = z[:n_pos], z[n_pos:]
        member, member_rise = soft_step(s - lists.spread(border, lists.pos_queries), h)
        weight = lists.pos_weights * lists.spread(lists.share, lists.pos_queries)
        base, per_neg, per_pos = (
            lists.spread(part * np.ones(lists.n_queries), lists.pos_queries)
            for part in (reward.base, reward.per_neg, reward.per_pos)
        )
        worth, worth_rise = base + np.zeros(n_pos), np.zeros(n_pos)
        slope = np.zeros(z.size)
        for per_row, values, weights, others, part in (
            (per_neg, t, lists.neg_weights, lists.neg_queries, slope[n_pos:]),
            (per_pos, s, lists.pos_weights, lists.pos_queries, slope[:n_pos]),
        ):
            if not np.any(per_row):
                continue
            below, rise = Crowd(values, weights, others, lists.n_queries).below(s, lists.pos_queries, h)
            worth += per_row * below
            worth_rise += per_row * rise
            # What a row does to the positives around it by rising past them.
            passed = Crowd(s, weight * member * per_row, lists.pos_queries, lists.n_queries)
            part += weights * passed.below(values, others, h)[1]
        slope[:n_pos] -= weight * (member * worth_rise + member_rise * worth)
        # Rows near the border push it up, and the top's members out.
        pushed = lists.summed(weight * member_rise * worth, lists.pos_queries)
        near = lists.all_weights * soft_step(z - lists.spread(border, queries), h)[1]
        total = lists.summed(near, queries)
        slope += near * lists.spread(np.divide(pushed, total, out=np.zeros_like(pushed), where=total > 0), queries)
        return float(np.sum(reward.offset * lists.share) - (weight * member) @ worth), slope

    def _border(self, z: Vector, lists: Lists, n_top: Vector) -> Vector:
        """Q of each list: above it, with a soft edge, lie ``n_top`` rows."""
        crowd = Crowd(z, lists.all_weights, lists.all_queries, lists.n_queries)
        n_below = lists.n_pos + lists.n_neg - n_top
        each = None if lists.all_queries is None else np.arange(lists.n_queries)
        low = np.full(lists.n_queries, z.min() - self.bandwidth)
        high = np.full(lists.n_queries, z.max() + self.bandwidth)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            too_high = crowd.below(middle, each, self.bandwidth)[0] > n_below
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

    def _of_standardised(self, z: Vector, lists: Lists) -> tuple[float, Vector]:
        h, n_pos, queries = self.bandwidth, lists.pos_weights.size, lists.all_queries
        ranks, rise = Crowd(z, lists.all_weights, queries, lists.n_queries).below(z[:n_pos], lists.pos_queries, h)
        per_rank = lists.spread(1 / (lists.n_pos + lists.n_neg + 1), lists.pos_queries)
        values, slopes = self.phi((ranks + 0.5) * per_rank)
        weight = lists.pos_weights * lists.spread(
            np.divide(lists.share, lists.n_pos, out=np.zeros_like(lists.share), where=lists.counted), lists.pos_queries
        )
        gain = weight * slopes * per_rank
        slope = np.zeros(z.size)
        slope[:n_pos] = -gain * rise
        slope += lists.all_weights * Crowd(z[:n_pos], gain, lists.pos_queries, lists.n_queries).below(z, queries, h)[1]
        return 1 - float(weight @ values), slope


def power(exponent: float) -> Callable[[Vector], tuple[Vector, Vector]]:
    """Return the power function and its derivative."""
    return lambda v: (v**exponent, exponent * v ** (exponent - 1))


def interpolated(phi: Callable[[Vector], Vector], n_knots: int = 10_001) -> Callable[[Vector], tuple[Vector, Vector]]:
    """Return a function given by its values alone, read between knots, and the slopes there."""
    knots = np.linspace(0, 1, n_knots)[1:-1]
    values = np.asarray(phi(knots), dtype=np.float64)
    steps = np.diff(values) / np.diff(knots)

    def read(v: Vector) -> tuple[Vector, Vector]:
        piece: IntVector = np.clip(np.searchsorted(knots, v) - 1, 0, steps.size - 1)
        return values[piece] + steps[piece] * (v - knots[piece]), steps[piece]

    return read
