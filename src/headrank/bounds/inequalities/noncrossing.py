"""The exact probability that all order statistics of a uniform sample stay within limits, and its inverse.

Legend: U_(1) <= ... <= U_(n) are n independent uniforms in ascending order, N(t) how many of them are at most t. Then
U_(k) <= u exactly when N(u) >= k, so limits l_k <= U_(k) <= u_k confine N at the times l_k and u_k and nowhere else.
N is a Poisson process of rate n given N(1) = n, with independent increments: one vector of probabilities is carried
from time to time and truncated to the allowed counts (Khmaladze & Shinjikashvili 2001; Moscovich & Nadler 2017).
"""

from __future__ import annotations

from math import ceil, exp, floor, lgamma, log, log1p, pi, sqrt

import numpy as np

from headrank._types import IntVector, Vector

_FAR = 9.5
"""Standard deviations from the mean beyond which counts are negligible in double precision."""
_DIRECT = 200_000
"""Number of products up to which direct convolution is faster than the FFT."""
_SMALLEST_RISK = 1e-8
"""Below this risk 1 - P loses its digits, and the union bound, which is sharp there, is used."""
_FINE = 1e-5
"""Relative precision of the risk, on the conservative side."""
_MOST_STEPS = 60
_NEGLIGIBLE = 1e-17
"""Local level of the side without a guarantee: its limits only keep the vectors short, and cost nothing."""


def probability_inside(n: int, knots: IntVector, lower: Vector, upper: Vector) -> float:
    """Return P(``lower <= U_(k) <= upper`` at all knots k). O(knots) convolutions of O(sqrt(n)) counts.

    Parameters
    ----------
    n : int
        Number of uniforms.
    knots : int array of shape (n_knots,)
        The order statistics with limits; ascending, in 1..n.
    lower, upper : arrays of shape (n_knots,)
        Their limits in [0, 1], not decreasing.

    Examples
    --------
    >>> probability_inside(1, np.array([1]), np.array([0.1]), np.array([0.7]))
    0.6
    """
    if upper[0] <= 0 or lower[-1] >= 1:
        return 0.0
    times = np.unique(np.concatenate([lower, upper]))
    times = times[(times > 0) & (times < 1)]
    first = np.searchsorted(lower, times)
    most = np.where(first < knots.size, knots[np.minimum(first, knots.size - 1)] - 1, n)
    last = np.searchsorted(upper, times, side="right")
    least = np.where(last > 0, knots[last - 1], 0)
    steps = np.diff(times, prepend=0.0, append=1.0) * n
    allowed = zip([*least.tolist(), n], [*most.tolist(), n], steps.tolist(), strict=True)

    start, log_scale = 0, 0.0
    chances: Vector = np.ones(1)
    for fewest, largest, mean in allowed:
        start, chances = after_jump(start, chances, _poisson_weights(mean), fewest, largest)
        total = float(chances.sum())
        if total <= 0:
            return 0.0
        chances /= total
        log_scale += log(total)
    return min(exp(log_scale - _log_poisson_at_mean(n)), 1.0)


def local_level(n: int, knots: IntVector, *, risk: float, side: str) -> float:
    """Find the local level at which some limit is exceeded with probability ``risk``, or slightly less.

    The local level is the probability that a single order statistic leaves its limits, the same for all. It lies
    between ``risk / (sides * knots)``, the union bound, and ``risk``. Takes about five evaluations of the probability.
    """
    sides = 2 if side == "two-sided" else 1
    lowest, highest = log(risk / (sides * knots.size)), log(risk)
    if risk < _SMALLEST_RISK or highest - lowest < 1e-9:
        return exp(lowest)
    wanted = log(risk) - log1p(-risk)  # log-odds are accurate near 0 and near 1

    def excess(log_level: float) -> float:
        inside = probability_inside(n, knots, *limits_at(n, knots, level=exp(log_level), side=side, bounded=True))
        return log(max(1 - inside, 1e-300)) - log(max(inside, 1e-300)) - wanted

    # Secant method: log-odds against log level are almost linear, with a slope near 1. About five steps.
    x, slope, previous = lowest + 0.4 * (highest - lowest), 1.0, None
    for _ in range(_MOST_STEPS):
        value = excess(x)
        if -_FINE <= value <= 0:  # stop on the conservative side only
            return exp(x)
        lowest, highest = (lowest, x) if value > 0 else (x, highest)
        if previous is not None and abs(x - previous[0]) > 1e-12:
            slope = (value - previous[1]) / (x - previous[0])
        previous = x, value
        step = x - (value + _FINE / 2) / slope if slope > 0 else lowest
        x = step if lowest < step < highest else (lowest + highest) / 2
    return exp(lowest)


def limits_at(n: int, knots: IntVector, *, level: float, side: str, bounded: bool = False) -> tuple[Vector, Vector]:
    """Return limits that each order statistic leaves with probability ``level``: quantiles of Beta(k, n - k + 1).

    The side without a guarantee is 0 or 1; ``bounded`` gives it limits that are practically never exceeded.
    """
    from scipy.special import betainccinv, betaincinv

    tails = {"two-sided": (level / 2, level / 2), "lower": (level, _NEGLIGIBLE), "upper": (_NEGLIGIBLE, level)}[side]
    k = knots.astype(np.float64)
    both = bounded or side == "two-sided"
    lower = betaincinv(k, n + 1 - k, tails[0]) if both or side == "lower" else np.zeros(k.size)
    upper = betainccinv(k, n + 1 - k, tails[1]) if both or side == "upper" else np.ones(k.size)
    return np.maximum.accumulate(lower), np.maximum.accumulate(upper)


def after_jump(start: int, chances: Vector, jump: tuple[int, Vector], fewest: int, largest: int) -> tuple[int, Vector]:
    """Add an independent jump to a count and keep the allowed counts.

    Both are given by their first value and the probabilities from there. The result is a single 0 if none is allowed.
    """
    offset, weights = jump
    # Only jumps that lead from a present count to an allowed one.
    shortest, longest = fewest - (start + chances.size - 1), largest - start
    weights = weights[max(shortest - offset, 0) : max(longest + 1 - offset, 0)]
    offset = max(offset, shortest)
    if not weights.size:
        return fewest, np.zeros(1)
    moved, moved_start = _convolved(chances, weights), start + offset
    cut_start = max(fewest, moved_start)
    kept = moved[cut_start - moved_start : largest + 1 - moved_start]
    return (cut_start, kept) if kept.size else (fewest, np.zeros(1))


def _poisson_weights(mean: float) -> tuple[int, Vector]:
    """Return the first count and all non-negligible Poisson probabilities from there, by their ratios."""
    reach = _FAR * sqrt(mean)
    first = max(floor(mean - reach), 0)
    last = ceil(mean + reach + 25)
    # Ratios keep the digits that differences of logarithms and log-gammas of 1e7 would lose.
    weights = np.cumprod(np.concatenate([[1.0], mean / np.arange(first + 1, last + 1)]))
    return first, weights / weights.sum()


def _convolved(a: Vector, b: Vector) -> Vector:
    if a.size * b.size <= _DIRECT:
        return np.convolve(a, b)
    from scipy.fft import irfft, next_fast_len, rfft

    size = a.size + b.size - 1
    padded = next_fast_len(size, real=True)
    return np.asarray(np.maximum(irfft(rfft(a, padded) * rfft(b, padded), padded)[:size], 0.0))


def _log_poisson_at_mean(n: int) -> float:
    """Log of the Poisson probability of ``n`` when the mean is ``n``; Stirling's series where lgamma loses digits."""
    if n < 50:
        return n * log(n) - n - lgamma(n + 1)
    return -log(2 * pi * n) / 2 - 1 / (12 * n) + 1 / (360 * n**3) - 1 / (1260 * n**5)
