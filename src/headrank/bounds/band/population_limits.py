"""PopulationLimits: what a sample says about the population, for measures that depend on more than the ROC curve.

Besides the curve these are the share of positives and the largest share of the population with one score. Each bound
has its own risk; together they keep to the requested risk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, log

from headrank.bounds.band.rate_limits import RateLimits, rate_limits
from headrank.bounds.confidence import Side
from headrank.bounds.inequalities.tail_limits import Method
from headrank.curve import RocCurve

_SHARE_OF_RATE = 0.2
"""Part of the risk spent on the share of positives, if it is not given."""
_SHARE_OF_ATOMS = 0.05
"""Part of the risk spent on ties in the population."""


@dataclass(frozen=True, eq=False)
class PopulationLimits:
    """Limits that hold with probability ``1 - risk``.

    Attributes
    ----------
    curve : RocCurve
        The sample.
    risk : float
        Probability that any of the limits fails.
    method : {"tail", "dkw"}
        How the limits of the rates are computed.
    side : {"two-sided", "lower", "upper"}
        Which end of the measure is needed.
    positive_rate : float or None
        The share of positives in the population if given; otherwise the rows are a random sample of it.
    """

    curve: RocCurve
    risk: float
    method: Method
    side: Side
    positive_rate: float | None

    def curve_alone(self, *, rising: bool) -> RateLimits:
        """Return limits of the rates that take all the risk; ``rising`` if a higher curve raises the measure."""
        return self._rate_limits(self.risk, _envelope_wanted(self.side, rising))

    def curve_beside(self, *, rising: bool | None) -> RateLimits:
        """Return limits of the rates that hold together with the other limits; both envelopes if ``rising`` is None."""
        share = 1 - _SHARE_OF_ATOMS - (_SHARE_OF_RATE if self.positive_rate is None else 0.0)
        side: Side = "two-sided" if rising is None else _envelope_wanted(self.side, rising)
        return self._rate_limits(share * self.risk, side)

    @cached_property
    def positive_rates(self) -> tuple[float, float]:
        """Least and greatest share of positives: as given, or the exact limits of Clopper & Pearson (1934)."""
        if self.positive_rate is not None:
            return self.positive_rate, self.positive_rate
        from scipy.special import betainccinv, betaincinv

        n_pos, n_neg, each = self.curve.n_pos, self.curve.n_neg, _SHARE_OF_RATE * self.risk / 2
        return float(betaincinv(n_pos, n_neg + 1, each)), float(betainccinv(n_pos + 1, n_neg, each))

    @property
    def largest_pos_atom(self) -> float:
        """Largest share of the population's positives that may have one score."""
        return largest_atom(int(self.curve.pos.max()), int(self.curve.n_pos), risk=_SHARE_OF_ATOMS * self.risk)

    def _rate_limits(self, risk: float, side: Side) -> RateLimits:
        return rate_limits(self.curve, risk=risk, method=self.method, side=side)


def largest_atom(count: int, n: int, *, risk: float) -> float:
    """Return an upper bound on the probability of any one value, if at most ``count`` of ``n`` draws share a value.

    It is the solution q of P(Binomial(n, q) <= count) = risk * q. A value of probability q exceeds it only if so few
    draws took that value that P(Binomial(n, q) <= count) < risk * q, which has probability at most risk * q. All
    probabilities add up to at most 1, so some value exceeds it with probability at most ``risk``.

    >>> [round(largest_atom(count, 100, risk=0.01), 3) for count in (1, 10, 100)]
    [0.09, 0.214, 1.0]
    """
    from scipy.special import betaincc

    if count >= n:
        return 1.0
    # The ratio of both sides decreases in q: bisect for log q, and take the end above the solution.
    low, high = log(1e-3 * risk / n), 0.0
    for _ in range(60):
        middle = (low + high) / 2
        too_small = betaincc(count + 1, n - count, exp(middle)) > risk * exp(middle)
        low, high = (middle, high) if too_small else (low, middle)
    return exp(high)


def _envelope_wanted(side: Side, rising: bool) -> Side:
    if side == "two-sided" or rising:
        return side
    return "upper" if side == "lower" else "lower"
