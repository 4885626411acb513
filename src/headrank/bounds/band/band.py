"""Band: where the whole true ROC curve lies, with a stated confidence, for any distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent
from headrank._numbers import short_repr
from headrank._types import ArrayLike, Vector
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.band.from_band import from_band
from headrank.bounds.band.rate_limits import RateLimits, rate_limits
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.tail_limits import THEOREMS, Method, check_method
from headrank.bounds.interval import INDEPENDENT_ROWS, Interval, require_counts
from headrank.curve import RocCurve
from headrank.measures import Measure
from headrank.measures import measure as measure_of


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """A region that holds the whole true ROC curve with a stated confidence, made by `band`.

    Attributes
    ----------
    curve : RocCurve
        The empirical curve.
    confidence : float
        Probability that the true curve lies inside, everywhere at once.
    method : {"tail", "dkw"}
        How the limits of the rates were made.
    limits : RateLimits
        Least and greatest rates at each threshold of the curve.
    """

    curve: RocCurve
    confidence: float
    method: Method
    limits: RateLimits

    @property
    def lower(self) -> Envelope:
        """The lowest curve in the band, a polyline."""
        return self.limits.lower

    @property
    def upper(self) -> Envelope:
        """The highest curve in the band, a polyline."""
        return self.limits.upper

    @property
    def n_pos(self) -> int:
        """Positives in the sample."""
        return int(self.curve.n_pos)

    @property
    def n_neg(self) -> int:
        """Negatives in the sample."""
        return int(self.curve.n_neg)

    @property
    def theorem(self) -> str:
        """Where it is proved that the band holds."""
        return THEOREMS[self.method]

    @property
    def assumptions(self) -> str:
        """What must hold for the promise to hold."""
        return INDEPENDENT_ROWS

    def lower_at(self, fpr: ArrayLike) -> Vector:
        """Return the least true TPR at each FPR; an array of the shape of ``fpr``."""
        return self.lower.tpr_at(_rates(fpr))

    def upper_at(self, fpr: ArrayLike) -> Vector:
        """Return the greatest true TPR at each FPR; an array of the shape of ``fpr``."""
        return self.upper.tpr_at(_rates(fpr))

    def interval(self, measure: Measure | str, *, positive_rate: float | None = None) -> Interval:
        """Return the interval of a measure that this confidence and method give; see `from_band`.

        Those of areas and rates hold all at once, together with the band. Those that depend on the share of positives
        hold all at once among themselves: they pay for more, and are read off a band of a higher confidence.
        """
        return from_band(
            self.curve, measure_of(measure), confidence=self.confidence, method=self.method, positive_rate=positive_rate
        )

    def to_frame(self) -> Any:
        """Return a polars data frame: each threshold with both rates and their limits."""
        with needs_extra("cli"):
            import polars as pl

        rates = {"threshold": self.curve.thresholds, "fpr": self.curve.fpr, "tpr": self.curve.tpr}
        return pl.DataFrame(rates | {name: getattr(self.limits, name) for name in self.limits.__annotations__})

    def __repr__(self) -> str:
        return (
            f"<Band: the true curve, whole, with {percent(self.confidence)} confidence, from {self.n_pos:,} positives "
            f"and {self.n_neg:,} negatives ({self.method}: any distribution, any sample size)>"
        )


def band(curve: RocCurve, *, confidence: float = 0.95, method: Method = "tail") -> Band:
    """Band that holds the whole true ROC curve with the stated confidence, for any distribution, ties included.

    Parameters
    ----------
    curve : RocCurve
        A whole curve of unweighted rows: independent draws in each class, not used in training.
    confidence : float, default=0.95
        In (0, 1).
    method : {"tail", "dkw"}, default="tail"
        ``"tail"``: equal local levels, exact; narrow at both ends of the curve, where a band of constant width says
        nothing. ``"dkw"``: Dvoretzky-Kiefer-Wolfowitz with Massart's constant, somewhat narrower in the middle. Costs
        and theorems: `tail_limits`; then O(n_levels).

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> population = Binormal(separation=2.0)
    >>> curve = RocCurve.from_scores(*population.sample_classes(200, 1000, random_state=0))
    >>> around = band(curve)
    >>> around
    <Band: the true curve, whole, with 95 % confidence, from 200 positives and 1,000 negatives (tail: any distribution,
    any sample size)>
    >>> fpr = np.array([0.01, 0.05, 0.2])
    >>> around.lower_at(fpr).round(2), population.roc(fpr).round(2), around.upper_at(fpr).round(2)
    (array([0.08, 0.45, 0.75]), array([0.37, 0.64, 0.88]), array([0.65, 0.86, 0.98]))
    """
    if not isinstance(curve, RocCurve):
        raise TypeError(f"a band is that of a RocCurve, got {short_repr(curve)}; make one with RocCurve.from_scores")
    return band_of(curve, confidence=check_confidence(confidence), method=check_method(method))


def band_of(curve: RocCurve, *, confidence: float, method: Method = "tail") -> Band:
    """Return the band by arguments that were checked; see `band`."""
    require_counts(curve, "a band")
    curve.require_complete("a band")
    return Band(curve, confidence, method, rate_limits(curve, risk=1 - confidence, method=method))


def _rates(fpr: ArrayLike) -> Vector:
    try:
        rates = np.asarray(fpr, dtype=np.float64)
    except Exception:  # whatever the library says that the values are from
        raise TypeError(f"fpr must be numbers, got {short_repr(fpr)}") from None
    inside = (rates >= 0) & (rates <= 1)
    if not np.all(inside):
        raise ValueError(f"fpr must lie in [0, 1], got {rates[~inside][0]:g}; rates are fractions, not percent")
    return rates
