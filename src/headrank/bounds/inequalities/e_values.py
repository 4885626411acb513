"""Building blocks of bounds by e-values: nonnegative statistics with an expectation of at most 1 under a hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from headrank._types import Vector

_SCAN = 12
"""Truths tried before the root search."""


def curvature(least: Vector) -> Vector:
    """Return the least c with ``log(1 + z) >= z - c z^2`` for all z from ``least`` on, -1 < least <= 0."""
    z = np.minimum(least, -1e-4)
    return np.asarray((z - np.log1p(z)) / z**2)


def bernstein(variance: float, n: int, exponent: float) -> float:
    """Return a deviation that the mean of n variables with this variance exceeds with probability exp(-exponent)."""
    part = exponent / (3 * n)
    return min(part + sqrt(part**2 + 2 * variance * exponent / n), 1.0)


def log_mean_exp(logs: Vector) -> Vector:
    """Return the logarithm of the mean over the first axis of the exponentials: the average of e-values is one."""
    most = logs.max(axis=0)
    return np.asarray(most + np.log(np.exp(logs - most).mean(axis=0)))


def first_kept(excess: Callable[[float], float], least: float, estimate: float) -> float:
    """Return the first truth from ``least`` to the estimate that is not rejected: a scan, then a root search.

    A truth is rejected if its excess is not negative. A true value is missed only if it is itself rejected, provided
    that the rejected truths are those below some number; the tests of each bound check this.
    """
    from scipy.optimize import brentq

    rejected = least
    for part in np.linspace(0, 1, _SCAN + 1):
        at = least + (estimate - least) * float(1 - (1 - part) ** 2)  # closer to each other near the estimate
        if excess(at) < 0:
            return max(float(brentq(excess, rejected, at, xtol=1e-9)) - 1e-9, least) if at > least else least
        rejected = at
    return estimate
