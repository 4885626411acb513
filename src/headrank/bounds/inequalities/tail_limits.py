"""TailLimits: limits of the true share above any threshold, from the sample of one class.

For n independent draws X_1, ..., X_n of any distribution, discrete ones included, and simultaneously for all c::

    lower(r) <= P(X >= c) <= upper(r),    r = number of draws that are at least c,

and the same for P(X > c) with the number of draws above c.

This holds for any distribution: T(c) = P(X >= c) does not increase and is continuous from the left, so with G(u) =
max{c : T(c) >= u} and U uniform, X = G(U) has the distribution, and {X >= c} = {U <= T(c)} exactly. If r of the draws
are at least c, then U_(r) <= T(c) < U_(r+1): limits of the uniform order statistics are limits of T(c), simultaneously
for all c. For P(X > c) let thresholds decrease to c.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log, sqrt
from typing import Any, Literal, get_args

import numpy as np

from headrank._numbers import option, whole
from headrank._types import ArrayLike, IntVector, Vector
from headrank.bounds.confidence import Side, check_confidence, check_side
from headrank.bounds.inequalities.noncrossing import limits_at, local_level

Method = Literal["tail", "dkw"]
"""Limits that narrow towards both tails (equal local levels), or of constant width (Dvoretzky-Kiefer-Wolfowitz)."""

THEOREMS: dict[str, str] = {
    "tail": (
        "equal local levels of uniform order statistics (Aldor-Noiman et al. 2013), exact by the recursion of "
        "Moscovich & Nadler (2017), once per class"
    ),
    "dkw": "Dvoretzky-Kiefer-Wolfowitz inequality with the constant of Massart (1990), once per class",
}

_ALL_KNOTS = 1000
"""Number of draws up to which every order statistic is a knot, with limits from the exact computation."""
_DENSE = 50
"""For more draws, every order statistic up to this one from either end is a knot."""
_SPACING = 0.02
"""Further in, the distance between knots is this share of k (1 - k / n)."""
_GROWTH = 1.5
"""Beyond the head, if only that is wanted, the ratio of neighbouring knots."""
_SHARE_OF_GAPS = 0.05
"""Part of the risk spent on the order statistics between the knots."""


class TailLimits(ABC):
    """Limits of the true share above every threshold, simultaneously, given how many of ``n`` draws are above it.

    Attributes
    ----------
    n : int
        Number of draws.
    risk : float
        Probability that the true share is outside its limits at some threshold: at most 1 - confidence.
    side : {"two-sided", "lower", "upper"}
        Which limits are guaranteed; the others are 0 and 1.
    """

    n: int
    risk: float
    side: Side

    @abstractmethod
    def lower(self, counts: ArrayLike) -> Vector:
        """Return the lower limit of the true share above a threshold, given the draws above it; counts in 0..n."""

    @abstractmethod
    def upper(self, counts: ArrayLike) -> Vector:
        """Return the upper limit of the true share above a threshold, given the draws above it; counts in 0..n."""


def tail_limits(
    n: int,
    *,
    confidence: float | None = None,
    risk: float | None = None,
    side: Side = "two-sided",
    method: Method,
    head: int | None = None,
) -> TailLimits:
    """Return limits for P(X >= c), simultaneous in c, for ``n`` independent draws of any distribution.

    ``"tail"``: every order statistic leaves its limits with the same probability, and all stay within them with exactly
    the stated confidence, which is computed, not tabulated. Up to 1,000 draws each order statistic has its own limits;
    for more draws, some 470 to 1,400 knots do. Given two knots, the draws between them are independent and uniform, so
    Massart's inequality holds there; 5 % of the risk is spent on it. Narrow if the share is near 0 or 1: for small
    counts the width is close to that of exact binomial limits. The first call for an n takes 0.1 to 3 seconds, up to
    n = 1e7; the result is cached.

    ``"dkw"``: r / n +- sqrt(ln(2 / risk) / (2 n)); one-sided ln(1 / risk), which Massart proves for a risk up to 1/2.
    Fast, and somewhat narrower near one half.

    Parameters
    ----------
    n : int
        Number of draws, at least 1.
    confidence : float
        Probability that the limits hold simultaneously for all thresholds, in (0, 1).
    risk : float
        1 - confidence, to be given instead if it is small or a part of another risk.
    side : {"two-sided", "lower", "upper"}
        Which limits are guaranteed.
    method : {"tail", "dkw"}
        See above.
    head : int, optional
        With ``"tail"``: the limits are wanted for counts up to this one. They are narrower, as few of the other order
        statistics have limits.

    Examples
    --------
    >>> limits = tail_limits(1000, confidence=0.95, method="tail")
    >>> limits.lower([0, 10, 500]).round(4), limits.upper([0, 10, 500]).round(4)
    (array([0.    , 0.0027, 0.4479]), array([0.0075, 0.025 , 0.5521]))
    >>> limits = tail_limits(1000, confidence=0.95, method="dkw")
    >>> limits.lower([0, 10, 500]).round(4), limits.upper([0, 10, 500]).round(4)
    (array([0.    , 0.    , 0.4571]), array([0.0429, 0.0529, 0.5429]))
    """
    n = whole("n", n, at_least=1)
    side = check_side(side)
    if (confidence is None) == (risk is None):
        raise TypeError(f"expected exactly one of confidence and risk, got {'neither' if risk is None else 'both'}")
    if risk is None:
        risk = 1 - check_confidence(confidence)
    elif not 0 < risk < 1:
        raise ValueError(f"risk must lie strictly between 0 and 1, got {risk!r}")
    if check_method(method) == "tail":
        return _order_statistics(n, risk, side, n if head is None else whole("head", head, at_least=1))
    sides = 2 if side == "two-sided" or risk > 0.5 else 1  # Massart's one-sided inequality needs a risk up to 1/2
    return _ConstantWidth(n, risk, side, sqrt(log(sides / risk) / (2 * n)))


def check_method(method: Any) -> Method:
    """Return the method, or raise."""
    return option("method", method, get_args(Method))  # type: ignore[return-value]


@dataclass(frozen=True)
class _ConstantWidth(TailLimits):
    """The empirical share plus and minus a constant."""

    n: int
    risk: float
    side: Side
    half_width: float

    def lower(self, counts: ArrayLike) -> Vector:
        shares = np.asarray(counts) / self.n
        return np.zeros(shares.shape) if self.side == "upper" else np.maximum(shares - self.half_width, 0.0)

    def upper(self, counts: ArrayLike) -> Vector:
        shares = np.asarray(counts) / self.n
        return np.ones(shares.shape) if self.side == "lower" else np.minimum(shares + self.half_width, 1.0)


@dataclass(frozen=True, eq=False)
class _OrderStatistics(TailLimits):
    """Limits of some order statistics, the knots, and of those in between.

    The knots are framed by 0 and by n + 1 and n + 2, with limits 0 and 1: the ends of the unit interval. Limits never
    exclude the empirical share, which could happen at a confidence near 0.
    """

    n: int
    risk: float
    side: Side
    level: float
    knots: IntVector
    lower_at: Vector
    upper_at: Vector
    gap_risk: float
    head: int

    def lower(self, counts: ArrayLike) -> Vector:
        # r draws are at least c: P(X >= c) >= U_(r).
        k = np.asarray(counts)
        i, points, place = self._between(k)
        share = np.clip(place / points - self._slack(i, points), 0.0, 1.0)
        limits = self.lower_at[i] + share * (self.lower_at[i + 1] - self.lower_at[i])
        return np.asarray(np.minimum(limits, k / self.n))

    def upper(self, counts: ArrayLike) -> Vector:
        # The next draw is below c: P(X >= c) < U_(r+1).
        k = np.asarray(counts) + 1
        i, points, place = self._between(k)
        share = np.where(place == 0, 0.0, np.clip((place - 1) / points + self._slack(i, points), 0.0, 1.0))
        limits = self.upper_at[i] + share * (self.upper_at[i + 1] - self.upper_at[i])
        return np.asarray(np.maximum(limits, (k - 1) / self.n))

    def _between(self, k: IntVector) -> tuple[IntVector, IntVector, IntVector]:
        """Return the knot at or before k, the number of order statistics up to the next knot, and k's place among them.

        Given both knots, a and b, those between are a sorted sample of independent uniforms on (a, b): U_(k) is a +
        share * (b - a) with a share that Massart's inequality confines to place / points -+ slack. That grows with
        a, b and the share, so their limits give its limits.
        """
        i = np.searchsorted(self.knots, k, side="right") - 1
        return i, np.maximum(self.knots[i + 1] - self.knots[i] - 1, 1), k - self.knots[i]

    def _slack(self, i: IntVector, points: IntVector) -> Vector:
        slack = np.sqrt(log((2 if self.side == "two-sided" else 1) / self.gap_risk) / (2 * points))
        # Beyond the head: what lies between two knots is only known to lie there.
        return np.where(self.knots[i] >= self.head, 1.0, slack)


@lru_cache(maxsize=256)
def _order_statistics(n: int, risk: float, side: Side, head: int) -> _OrderStatistics:
    knots = _knots(n)
    if head < n:
        knots = np.concatenate([knots[knots < head], _sparse_knots(head, n)])
    n_gaps = int(np.count_nonzero(np.diff(knots[knots <= head]) > 1))
    gap_risk = _SHARE_OF_GAPS * risk / n_gaps if n_gaps else 0.5
    level = local_level(n, knots, risk=risk * (1 - _SHARE_OF_GAPS) if n_gaps else risk, side=side)
    lower, upper = limits_at(n, knots, level=level, side=side)
    framed = np.concatenate([[0], knots, [n + 1, n + 2]])
    lower_at = np.concatenate([[0.0], lower, [0.0, 0.0] if side == "upper" else [1.0, 1.0]])
    upper_at = np.concatenate([[1.0] if side == "lower" else [0.0], upper, [1.0, 1.0]])
    return _OrderStatistics(n, risk, side, level, framed, lower_at, upper_at, gap_risk, min(head, n))


def _sparse_knots(head: int, n: int) -> IntVector:
    """Return the head, and order statistics at growing distances up to n."""
    knots = [head]
    while knots[-1] < n:
        knots.append(min(ceil(_GROWTH * knots[-1]), n))
    return np.array(knots)


def _knots(n: int) -> IntVector:
    """Return all order statistics, or all near both ends and geometrically fewer inwards; symmetric."""
    if n <= _ALL_KNOTS:
        return np.arange(1, n + 1)
    half = [*range(1, _DENSE + 1)]
    while half[-1] < n / 2:
        # The gaps follow the spread of U_(k), which is that of k draws near the end and less towards the middle.
        half.append(half[-1] + max(int(_SPACING * half[-1] * (1 - half[-1] / n)), 1))
    near = np.array(half)
    return np.unique(np.concatenate([near, n + 1 - near]))
