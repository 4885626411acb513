"""Limits for the mean of independent variables in [0, 1], by the best of all bounds from one moment: Bentkus (2004).

Let S be the sum of n independent variables in [0, 1] whose mean expectation is q. For every convex f, ``E f(S) <= E
f(B)`` with B ~ Bin(n, q): replacing each variable by a coin of the same expectation raises E f (convexity), and so
does giving all coins the same rate (Hoeffding 1956, Theorem 3). With f(s) = max(s - h, 0) and Markov's inequality,

    ``P(S >= x) <= E max(B - h, 0) / (x - h)``    for every h < x.

The bound takes the best h. On [j, j + 1] the numerator is linear in h, so the ratio is monotone there, and the best h
is one of 0, 1, ..., ceil(x) - 1. It is never worse than Hoeffding's exp(-n KL(x/n || q)), because exp(t s) is a
mixture of functions max(s - h, 0), nor than e P(B >= floor(x)), which Bentkus derives from it.

What holds for the mean of k independent variables holds for a two-sample U-statistic with k = min(n_pos, n_neg): it is
an average of such means over all matchings, and f is convex (Jensen's inequality; Hoeffding 1963, section 5).

References
----------
V. Bentkus, On Hoeffding's inequalities, Annals of Probability 32, 2004.
W. Hoeffding, On the distribution of the number of successes in independent trials, Annals of Math. Statistics 27, 1956.
"""

from __future__ import annotations

from math import ceil, exp, expm1, lgamma, log, log1p, pi, sqrt

import numpy as np

from headrank.bounds.inequalities.chernoff import divergence_below, kl_lower

_FAR = 10.0
"""Standard deviations beyond which the terms of a binomial tail are negligible."""
_ROUNDED_DOWN = 1 - 1e-12
"""Covers the rounding of the root search and of the binomial probabilities."""


def mean_limits(mean: float, n: int, risk: float) -> tuple[float, float]:
    """Return limits for the mean expectation of n independent variables in [0, 1], *each* with the given risk.

    The lower limit is the largest q for which a mean this high has a probability of at most ``risk`` by the bound of
    this module; the upper limit is its mirror image. For every q, the bound rejects all means from some number on, and
    it is at most ``risk`` there. Some hundred evaluations of a binomial tail: O(sqrt(n)) each, 1 ms for n = 1000.

    >>> [round(limit, 4) for limit in mean_limits(0.5, 1000, 0.025)]
    [0.4631, 0.5369]
    >>> round(kl_lower(0.5, 1000, 0.025), 4)          # Hoeffding; exact for zeros and ones would be 0.4685
    0.4571
    """
    high = -expm1(log(risk) / n) if mean <= 0 else 1 - mean_lower(1 - mean, n, risk)
    return mean_lower(mean, n, risk), max(high, mean)


def mean_lower(mean: float, n: int, risk: float) -> float:
    """Return the lower limit of `mean_limits`. Every h gives a valid limit, so the search for the best one is free.

    >>> round(mean_lower(1.0, 50, 0.025), 4)          # 0.025 ** (1 / 50)
    0.9289
    """
    if mean >= 1:
        return exp(log(risk) / n)
    x = n * mean
    last = max(ceil(x) - 1, 0)
    best = risk * mean  # the limit from h = 0: Markov's inequality
    if last == 0 or risk >= 1:
        return min(best, mean)
    q, tried = min(max(kl_lower(mean, n, risk), best), mean), -1
    # Given q the best h, given h the limit: neither step can lower the limit, and few are needed.
    while (h := _best_h(x, n, q, last)) != tried:
        tried = h
        limit = _limit_from(h, x, n, risk, q, mean)
        if limit <= best:
            break
        best = q = limit
    return min(best * _ROUNDED_DOWN, mean)


def log_mean_excess(h: int, n: int, q: float) -> float:
    """Return the logarithm of ``E max(B - h, 0)`` for B ~ Bin(n, q), 0 <= h < n, 0 < q < 1. O(sqrt(n)) at most.

    >>> round(exp(log_mean_excess(1, 2, 0.5)), 10)    # B = 2, one more than h, with probability 1/4
    0.25
    """
    if h <= n * q:
        from scipy.special import betainc

        reached = 1.0 if h == 0 else float(betainc(h, n - h, q))  # P(Bin(n - 1, q) >= h)
        return log((n * q - h) * reached + h * (1 - q) * exp(_log_binomial(h, n - 1, q)))
    # Above the mean that difference would cancel: add up the terms of the tail, by the ratios of their neighbours.
    terms = min(int(_FAR * sqrt(n * q * (1 - q))) + 60, n - h)
    i = np.arange(1.0, terms)
    weights = np.cumprod((n - h - i) / (h + 1 + i) * (q / (1 - q)))
    return _log_binomial(h + 1, n, q) + log1p(float(np.arange(2.0, terms + 1) @ weights))


def _best_h(x: float, n: int, q: float, last: int) -> int:
    """Return the h with the least bound: the ratio of a convex and a linear function has a single valley."""

    def log_bound(h: int) -> float:
        return log_mean_excess(h, n, q) - log(x - h)

    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if log_bound(middle) <= log_bound(middle + 1) else (middle + 1, high)
    return low


def _limit_from(h: int, x: float, n: int, risk: float, low: float, high: float) -> float:
    """Return the q at which the bound from h equals the risk, or ``low`` if it is no higher."""
    from scipy.optimize import brentq

    wanted = log(risk) + log(x - h)

    def excess(q: float) -> float:
        return log_mean_excess(h, n, q) - wanted

    if excess(low) >= 0:
        return low
    return float(brentq(excess, low, high, xtol=1e-300, rtol=1e-14)) if excess(high) > 0 else high


def _log_binomial(k: int, n: int, q: float) -> float:
    """Return log P(Bin(n, q) = k) to full precision: Stirling's formula and the divergence of k / n from q."""
    if k in (0, n):
        return n * (log(q) if k else log1p(-q))
    share = k / n
    if share > q:
        divergence = divergence_below(share, 1 - share, share - q)
    else:
        divergence = divergence_below(1 - share, share, q - share)
    corrections = _stirling_error(n) - _stirling_error(k) - _stirling_error(n - k)
    return corrections - n * divergence - log(2 * pi * k * (1 - share)) / 2


def _stirling_error(n: int) -> float:
    """Return ``ln n! - ln(sqrt(2 pi n) (n / e)^n)``."""
    if n < 16:
        return lgamma(n + 1) - (n + 0.5) * log(n) + n - log(2 * pi) / 2
    return 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
