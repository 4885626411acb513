"""Exponential bounds on the mean of independent variables in [0, 1], inverted.

Every function takes the effective sample size ``k`` and the ``risk``, the probability in (0, 1] that the bound
fails. Throughout, ``KL(p || q) = p ln(p/q) + (1-p) ln((1-p)/(1-q))``.

The bounds depend on ``E exp(t (mean - expectation))`` alone. A two-sample U-statistic is an average, over the matchings
of the two samples, of means of k = min(n_pos, n_neg) independent variables, and exp is convex; so by Jensen's
inequality every bound here for a mean of k variables holds for the statistic as well (Hoeffding 1963, section 5).

References
----------
W. Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58, 1963.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, sqrt

_HALVINGS = 64  # a bracket inside [0, 1] shrinks below the spacing of the numbers near 1
_TINY = 1e-300


def hoeffding_radius(k: float, risk: float) -> float:
    """Bound how far the mean of k independent variables in [0, 1] exceeds its expectation: ``sqrt(ln(1/risk) / (2k))``.

    Hoeffding (1963), Theorem 1, (2.3). One-sided; for both sides pass half the risk. O(1).

    >>> round(hoeffding_radius(50, 0.025), 4)
    0.1921
    """
    return sqrt(_exponent(k, risk) / 2)


def kl_lower(mean: float, k: float, risk: float) -> float:
    """Return the smallest q <= mean with ``k KL(mean || q) <= ln(1/risk)``: a lower bound on the expectation.

    Hoeffding (1963), Theorem 1, (2.1): k independent variables in [0, 1] have a mean of at least ``mean`` with
    probability at most ``exp(-k KL(mean || q))`` when their expectation is q. Never below ``mean`` minus
    `hoeffding_radius`, and far above it for a mean near 0 or 1. 64 halvings; rounded downwards.

    >>> round(kl_lower(1.0, 50, 0.025), 4)           # 0.025 ** (1 / 50)
    0.9289
    """
    if mean == 1:
        return exp(-_exponent(k, risk))
    return mean - _fall(mean, 1 - mean, _exponent(k, risk))


def kl_upper(mean: float, k: float, risk: float) -> float:
    """Return the greatest q >= mean with ``k KL(mean || q) <= ln(1/risk)``: the mirror image of `kl_lower`.

    >>> round(kl_upper(0.0, 50, 0.025), 4)           # 1 - 0.025 ** (1 / 50)
    0.0711
    """
    return min(mean + _fall(1 - mean, mean, _exponent(k, risk)), 1.0)


def divergence_below(mean: float, rest: float, fall: float) -> float:
    """Return ``KL(mean || mean - fall)`` for 0 <= fall, with ``rest = 1 - mean``; infinite if ``fall >= mean``.

    In terms of the fall, since the difference of two nearly equal logarithms would lose half the digits.

    >>> divergence_below(0.5, 0.5, 0.1) > 2 * 0.1**2          # Pinsker's inequality
    True
    """
    if fall >= mean:
        return inf
    # x ln(1 + 1/x) goes to 0 with x, but 1/x overflows first.
    return -mean * log1p(-fall / mean) - (rest * log1p(fall / rest) if rest > _TINY else 0.0)


def _exponent(k: float, risk: float) -> float:
    return abs(log(risk)) / k


def _fall(mean: float, rest: float, exponent: float) -> float:
    """Return the greatest fall <= mean with ``KL(mean || mean - fall) <= exponent``."""
    if rest == 0:
        return -expm1(-exponent)
    # Pinsker: KL(p || q) >= 2 (p - q)^2
    return crossing(lambda fall: divergence_below(mean, rest, fall), exponent, min(mean, sqrt(exponent / 2)))


def crossing(growing: Callable[[float], float], level: float, high: float) -> float:
    """Return where an increasing function crosses the level, in [0, high], rounded upwards."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if growing(middle) <= level:
            low = middle
        else:
            high = middle
    return high
