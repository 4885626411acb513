"""How many new draws precede the highest of n old ones: the exact joint law, and limits that hold simultaneously.

Legend: n old and m new draws, exchangeable, are put into one descending order with ties broken at random. V_i is the
number of new draws before the i-th old one. All C(n + m, m) interleavings are equally likely. In each of them the n + 1
gaps before, between and after the old draws contain m new draws in total, and every such sequence of gaps is one
interleaving. So (V_1, V_2, ...) are the partial sums of n + 1 independent geometric variables given their total m: all
sequences with that total have the same probability. One vector of probabilities is carried from rank to rank by
convolution with negative binomial weights, and truncated to the allowed counts. A single V_i is negative
hypergeometric, which is beta-binomial(m, i, n - i + 1).

With the samples exchanged, W_v is the number of old draws before the v-th new one, and V_i <= u is the same event as
W_(u + 1) >= i. So the draws of the smaller sample are counted along the ranks of the larger one, which keeps the
vectors short: if m <= n the limits are V_i <= u_i at some ranks i, otherwise W_v >= i_v at some ranks v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, floor, log, sqrt
from typing import Literal

import numpy as np

from headrank._types import IntVector, Vector
from headrank.bounds.inequalities.noncrossing import after_jump

Side = Literal["most", "least"]

_FAR = 8.0
"""Standard deviations from the mean beyond which counts are negligible: below 1e-14."""
_NEGLIGIBLE = 1e-18
"""Probability of a count, relative to the most likely one, below which it is dropped; this is conservative."""
_SMALLEST_RISK = 1e-8
"""Below this risk 1 - P loses its digits, and the union bound, which is sharp there, is used."""
_FINE = 1e-3
"""Relative precision of the local level, on the conservative side,"""
_COARSE = 1e-2
"""and for samples of more than a hundred thousand draws."""
_ROUNDING = 1e-9
"""Relative rounding error of a probability that is compared with a risk."""

# Which ranks have a limit depends on the sizes and the risk alone. Compared with all ranks, the local level is higher,
# and between sparse ranks little is lost; docs/lists.md has figures.
_HEAD = 1 / 8
"""Share of the old draws whose ranks have limits,"""
_FEWEST = 10
"""at least this many of them,"""
_DEEP = 1 / 4
"""and one more rank, at this share, for long lists."""
_DENSE = 20
"""In the larger sample, every rank up to this one has a limit."""
_SPACING = 0.05
"""Further down, the distance between ranks is this share of the rank."""


@dataclass(frozen=True, eq=False)
class Precedence:
    """Limits that hold simultaneously: at most ``most[j]`` new draws precede the ``ranks[j]``-th highest old one.

    Attributes
    ----------
    ranks, most : int arrays of shape (n_limits,)
        Ranks of old draws, in 1..n, and the limits, in 0..m - 1; both strictly increasing. Empty if the samples are too
        small for any limit below m.
    level : float
        The probability that a single limit is exceeded is at most this.
    probability : float
        The exact probability that all limits hold.
    """

    ranks: IntVector
    most: IntVector
    level: float
    probability: float


@lru_cache(maxsize=256)
def precedence(n_old: int, n_new: int, risk: float) -> Precedence:
    """Return limits of equal local levels that all hold except with probability ``risk``, or slightly less.

    The limit at each rank is the upper quantile of V_i at one local level: the largest one, to 0.1 % or 1 %, at which
    the exact joint probability is at least 1 - risk. The ranks depend on the sizes alone. Takes 5 to 10 evaluations of
    `probability_within`: milliseconds for thousands of draws, about a second for two million; cached.

    >>> limits = precedence(500, 400, 0.05)
    >>> [int(limits.most[limits.ranks == i][0]) for i in (1, 5, 10, 20)], round(limits.probability, 3)
    ([6, 12, 19, 31], 0.95)
    """
    if n_new <= n_old:
        ranks = _ranks(_head(n_old), ceil(_DEEP * n_old))
        limits, level, probability = _equal_local_levels(n_old, n_new, ranks, risk, "most")
    else:  # W_v >= i, that is at most v - 1 new draws before the i-th old one
        head, deep = (_reach(n_old, n_new, rank, risk) for rank in (_head(n_old), ceil(_DEEP * n_old)))
        places = _ranks(head, deep)
        ranks, level, probability = _equal_local_levels(n_new, n_old, places, risk, "least")
        limits = places - 1
    # A limit of m says nothing, nor does a rank 0; of equal limits the one at the lowest rank implies the others, of
    # equal ranks the one with the lowest limit.
    kept = (limits < n_new) & (ranks > 0) & (np.diff(limits, append=n_new) > 0) & (np.diff(ranks, prepend=0) > 0)
    return Precedence(ranks[kept], limits[kept], level, probability)


def _head(n_old: int) -> int:
    return max(ceil(_HEAD * n_old), min(n_old, _FEWEST))


def _reach(n_old: int, n_new: int, rank: int, risk: float) -> int:
    """Return about how many new draws may precede this rank of the old ones, for a local level of a tenth of the risk.

    The share of the new draws is that of the population above the rank, Beta(i, n - i + 1), if they are many.
    """
    from scipy.special import betainccinv

    return min(ceil(n_new * float(betainccinv(rank, n_old - rank + 1, risk / 10))) + 1, n_new)


def _ranks(head: int, deep: int) -> IntVector:
    ranks = [*range(1, min(head, _DENSE) + 1)]
    while ranks[-1] < head:
        ranks.append(min(ranks[-1] + max(int(_SPACING * ranks[-1]), 1), head))
    return np.array([*ranks, deep] if deep > head else ranks)


def _equal_local_levels(
    n: int, n_counted: int, ranks: IntVector, risk: float, side: Side
) -> tuple[IntVector, float, float]:
    """Return the limits at all ranks, their local level and their joint probability."""
    lowest = risk / ranks.size  # the union bound
    quantiles = [_quantiles(n, n_counted, rank, lowest, risk, side) for rank in ranks.tolist()]

    def limits_at(log_level: float) -> IntVector:
        return np.array([quantile(exp(log_level) * (1 + _ROUNDING)) for quantile in quantiles])

    def inside(log_level: float) -> float:
        return probability_within(n, n_counted, ranks, limits_at(log_level), side=side)

    fine = _FINE if n <= 100_000 else _COARSE
    log_level = log(lowest) if risk < _SMALLEST_RISK else _highest_level(inside, log(lowest), risk, fine)
    limits = limits_at(log_level)
    probability = probability_within(n, n_counted, ranks, limits, side=side)
    return limits, exp(log_level), probability


def _highest_level(inside: Callable[[float], float], low: float, risk: float, fine: float) -> float:
    """Return the highest log level, to within ``fine``, at which all limits hold except with this risk.

    The log of the risk grows with the log level in small steps, almost linearly with a slope near 1: regula falsi, with
    bisection in every fourth step.
    """
    x = high = log(risk)
    at: dict[float, float] = {}
    for step in range(1, 100):
        at[x] = excess = log(max(1 - inside(x), 1e-300) / risk)
        if excess <= _ROUNDING:
            low = x
        else:
            high = x
        if high - low <= fine or low == log(risk):
            break
        slope = (at[high] - at[low]) / (high - low) if low in at and high in at else 1.0
        target = (low + high) / 2 if step % 4 == 0 else x - excess / slope
        x = min(max(target, low + fine / 2), high - fine / 2)
    return low


def _quantiles(n: int, n_counted: int, rank: int, lowest: float, highest: float, side: Side) -> Callable[[float], int]:
    """Return the limit at one rank as a function of the local level, from ``lowest`` to ``highest``.

    ``most``: the smallest u with P(more than u) <= level. ``least``: the largest w with P(fewer than w) <= level.
    """
    mean = n_counted * rank / (n + 1)
    spread = sqrt(mean * (n + 1 - rank) * (n + n_counted + 1) / ((n + 1) * (n + 2)))
    reach = _FAR * spread + 60 * (1 + n_counted / n)  # near the ends of the ranks the tails are exponential
    first, last = max(floor(mean - reach), 0), min(ceil(mean + reach), n_counted)
    counts = np.arange(first, last + 1)
    before = counts[:-1]
    # Beta-binomial probabilities by the ratios of neighbours; log-gammas of a million would lose digits.
    ratios = (before + rank) / (before + 1) * ((n_counted - before) / (n - rank + n_counted - before))
    chances = np.cumprod(np.concatenate([[1.0], ratios]))
    chances /= chances.sum()
    if side == "least":
        counts, chances = -counts[::-1], chances[::-1]
    beyond = np.append(np.cumsum(chances[:0:-1])[::-1], 0.0)  # P(more than the count)
    start, stop = np.searchsorted(-beyond, [-highest * (1 + 2 * _ROUNDING), -lowest])
    tails, at = -beyond[start : stop + 1], counts[start : stop + 1]
    sign = 1 if side == "most" else -1
    return lambda level: sign * int(at[np.searchsorted(tails, -level)])


def probability_within(n: int, n_counted: int, ranks: IntVector, limits: IntVector, *, side: Side) -> float:
    """Return P(at each of these ranks of n draws, at most / at least ``limits`` of ``n_counted`` others precede it).

    O(ranks) convolutions of O(sqrt(n_counted)) probabilities if ``n_counted <= n``.

    Parameters
    ----------
    n, n_counted : int
        Sizes of the two samples.
    ranks : int array of shape (n_ranks,)
        Ranks in the first sample, increasing, in 1..n.
    limits : int array of shape (n_ranks,)
        Limits of the number of draws of the second sample, not decreasing, in 0..n_counted.
    side : {"most", "least"}
        Whether they are upper or lower limits.

    Examples
    --------
    >>> round(probability_within(3, 2, np.array([1]), np.array([0]), side="most"), 12)  # one of the 3 comes first
    0.6
    """
    # Any odds give the same law given the total. With these the total is near its mean, so that no digits are lost.
    odds = n_counted / (n + 1 + n_counted)
    gaps = np.diff(ranks, prepend=0, append=n + 1).tolist()
    allowed = [(0, limit) if side == "most" else (limit, n_counted) for limit in limits.tolist()]
    start, log_scale = 0, 0.0
    chances: Vector = np.ones(1)
    for gap, (fewest, largest) in zip(gaps, [*allowed, (n_counted, n_counted)], strict=True):
        moved = after_jump(start, chances, _negative_binomial(gap, odds), fewest, largest)
        start, chances = _without_unlikely(*moved)
        total = float(chances.sum())
        if total <= 0:
            return 0.0
        chances = chances / total
        log_scale += log(total)
    offset, weights = _negative_binomial(n + 1, odds)
    return min(exp(log_scale - log(weights[n_counted - offset])), 1.0)


def _without_unlikely(start: int, chances: Vector) -> tuple[int, Vector]:
    likely = np.flatnonzero(chances > _NEGLIGIBLE * chances.max())
    return (start + int(likely[0]), chances[likely[0] : likely[-1] + 1]) if likely.size else (start, chances)


@lru_cache(maxsize=1024)
def _negative_binomial(gaps: int, odds: float) -> tuple[int, Vector]:
    """Return the first count and the probabilities of all likely ones, for a sum of ``gaps`` geometric variables."""
    mean, spread = gaps * odds / (1 - odds), sqrt(gaps * odds) / (1 - odds)
    first = max(floor(mean - _FAR * spread), 0)
    counts = np.arange(first + 1, ceil(mean + _FAR * spread + 60 / (1 - odds)) + 1)
    weights = np.cumprod(np.concatenate([[1.0], odds * (counts + gaps - 1) / counts]))
    weights /= weights.sum()
    weights.flags.writeable = False  # cached
    return first, weights
