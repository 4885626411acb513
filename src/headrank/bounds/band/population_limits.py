"""PopulationLimits: all that a sample says about a population, for measures that need more of it than the ROC curve.

Besides the curve these are the share of positives among all instances and how much of the population may share one
score. Each is known with a risk of its own; together they keep to the risk that was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import Counts, Vector
from headrank.bounds.band.rate_limits import RateLimits, rate_limits
from headrank.bounds.confidence import Side
from headrank.bounds.inequalities.tail_limits import Method
from headrank.curve import RocCurve

_SHARE_OF_RATE = 0.2
"""Part of the risk spent on the share of positives, where it is not stated."""
_SHARE_OF_ATOMS = 0.05
"""Part of the risk spent on ties in the population."""


@dataclass(frozen=True, eq=False)
class PopulationLimits:
    """What is known with probability ``1 - risk``.

    Attributes
    ----------
    curve : RocCurve
        The sample.
    risk : float
        Probability that anything read from here is false.
    method : {"tail", "dkw"}
        How the limits of the rates are made.
    side : {"two-sided", "lower", "upper"}
        Which end of the measure is wanted.
    positive_rate : float or None
        The share of positives in the population if it is stated; else all rows are one random sample of it.
    """

    curve: RocCurve
    risk: float
    method: Method
    side: Side
    positive_rate: float | None

    def curve_alone(self, *, rising: bool) -> RateLimits:
        """Limits of the rates with all the risk spent on them; ``rising`` if a higher curve raises the measure."""
        return self._rate_limits(self.risk, _envelope_wanted(self.side, rising))

    def curve_beside(self, *, rising: bool | None) -> RateLimits:
        """Limits of the rates that hold together with all else; both envelopes if ``rising`` is None."""
        share = 1 - _SHARE_OF_ATOMS - (_SHARE_OF_RATE if self.positive_rate is None else 0.0)
        side: Side = "two-sided" if rising is None else _envelope_wanted(self.side, rising)
        return self._rate_limits(share * self.risk, side)

    @cached_property
    def positive_rates(self) -> tuple[float, float]:
        """Least and greatest share of positives: as stated, or the exact limits of Clopper & Pearson (1934)."""
        if self.positive_rate is not None:
            return self.positive_rate, self.positive_rate
        from scipy.special import betainccinv, betaincinv

        n_pos, n_neg, each = self.curve.n_pos, self.curve.n_neg, _SHARE_OF_RATE * self.risk / 2
        return float(betaincinv(n_pos, n_neg + 1, each)), float(betainccinv(n_pos + 1, n_neg, each))

    def largest_pos_atoms(self, counts: Counts) -> Vector:
        """Largest share of the true positives that may have one score, given how many of the sample's have it."""
        return largest_atoms(counts, int(self.curve.n_pos), risk=_SHARE_OF_ATOMS * self.risk / 2)

    def largest_neg_atoms(self, counts: Counts) -> Vector:
        """Largest share of the true negatives that may have one score, given how many of the sample's have it."""
        return largest_atoms(counts, int(self.curve.n_neg), risk=_SHARE_OF_ATOMS * self.risk / 2)

    def _rate_limits(self, risk: float, side: Side) -> RateLimits:
        return rate_limits(self.curve, risk=risk, method=self.method, side=side)


def largest_atoms(counts: Counts, n: int, *, risk: float) -> Vector:
    """Greatest probability of one value, given how many of ``n`` independent draws took it; for all values at once.

    The solution q of P(Binomial(n, q) <= count) = risk * q. A value of probability q exceeds its limit only if its
    count is so low that P(Binomial(n, q) <= count) < risk * q, which happens with probability risk * q at most; all
    probabilities add up to 1 at most, so some value exceeds its limit with probability ``risk`` at most.

    >>> largest_atoms(np.array([0, 1, 10, 100]), 100, risk=0.01).round(3)
    array([0.07 , 0.09 , 0.214, 1.   ])
    """
    from scipy.special import betaincc

    distinct, where = np.unique(counts, return_inverse=True)
    k = np.minimum(distinct, n - 1).astype(np.float64)
    # The left side over the right one falls in q: bisect for its logarithm, and take the end above the solution.
    low, high = np.full(k.size, np.log(1e-3 * risk / n)), np.zeros(k.size)
    for _ in range(60):
        middle = (low + high) / 2
        too_small = betaincc(k + 1, n - k, np.exp(middle)) > risk * np.exp(middle)
        low, high = np.where(too_small, middle, low), np.where(too_small, high, middle)
    return np.where(distinct < n, np.exp(high), 1.0)[where]


def _envelope_wanted(side: Side, rising: bool) -> Side:
    if side == "two-sided" or rising:
        return side
    return "upper" if side == "lower" else "lower"
