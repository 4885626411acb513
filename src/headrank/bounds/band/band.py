"""Band: a confidence band for the whole ROC curve, for any distribution."""

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
from headrank.bounds.interval import INDEPENDENT_ROWS, Interval, about_heads, require_counts
from headrank.curve import RocCurve
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks
from headrank.score_blocks import ScoreBlocks, require_plain_rows


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """A confidence band for the whole true ROC curve, returned by `band`.

    Attributes
    ----------
    curve : RocCurve
        The empirical curve.
    confidence : float
        Probability that the band contains the true curve everywhere.
    method : {"tail", "dkw"}
        How the limits of the rates were computed.
    limits : RateLimits
        Lower and upper limits of the rates at each threshold of the curve.
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
        """Where the guarantee is proved."""
        return THEOREMS[self.method]

    @property
    def assumptions(self) -> str:
        """What the guarantee assumes."""
        return INDEPENDENT_ROWS

    def lower_at(self, fpr: ArrayLike) -> Vector:
        """Return the lower limit of the true TPR at each FPR; an array of the shape of ``fpr``."""
        return self.lower.tpr_at(_rates(fpr))

    def upper_at(self, fpr: ArrayLike) -> Vector:
        """Return the upper limit of the true TPR at each FPR; an array of the shape of ``fpr``."""
        return self.upper.tpr_at(_rates(fpr))

    def interval(self, measure: Measure | str, *, positive_rate: float | None = None) -> Interval:
        """Return the interval of a measure at this confidence and by this method; see `from_band`.

        Intervals of areas and rates hold simultaneously, together with the band. Those that depend on the share of
        positives hold simultaneously among themselves; they are read from a band of higher confidence.
        """
        return from_band(
            self.curve, measure_of(measure), confidence=self.confidence, method=self.method, positive_rate=positive_rate
        )

    def to_frame(self) -> Any:
        """Return a polars data frame with one row per threshold: both rates and their limits."""
        with needs_extra("cli"):
            import polars as pl

        rates = {"threshold": self.curve.thresholds, "fpr": self.curve.fpr, "tpr": self.curve.tpr}
        return pl.DataFrame(rates | {name: getattr(self.limits, name) for name in self.limits.__annotations__})

    def __repr__(self) -> str:
        return (
            f"<Band: contains the whole true curve with {percent(self.confidence)} confidence, from {self.n_pos:,} "
            f"positives and {self.n_neg:,} negatives ({self.method}: any distribution, any sample size)>"
        )


def band(curve: RocCurve | Blocks, *, confidence: float = 0.95, method: Method = "tail") -> Band:
    """Compute a confidence band for the whole true ROC curve, for any distribution, ties included.

    Parameters
    ----------
    curve : RocCurve or Blocks
        A complete curve of unweighted rows: independent draws within each class, not used in training. Of `Blocks` with
        labels 0/1, -1/+1 or bool and scores as their only feature, it is merged from the curves of the blocks.
    confidence : float, default=0.95
        In (0, 1).
    method : {"tail", "dkw"}, default="tail"
        ``"tail"``: equal local levels, exact; narrow at both ends of the curve, where a band of constant width is
        uninformative. ``"dkw"``: Dvoretzky-Kiefer-Wolfowitz with Massart's constant, somewhat narrower in the middle.
        For costs and theorems see `tail_limits`; then O(n_levels).

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> population = Binormal(separation=2.0)
    >>> curve = RocCurve.from_scores(*population.sample_classes(200, 1000, random_state=0))
    >>> around = band(curve)
    >>> around
    <Band: contains the whole true curve with 95 % confidence, from 200 positives and 1,000 negatives (tail: any
    distribution, any sample size)>
    >>> fpr = np.array([0.01, 0.05, 0.2])
    >>> around.lower_at(fpr).round(2), population.roc(fpr).round(2), around.upper_at(fpr).round(2)
    (array([0.08, 0.45, 0.75]), array([0.37, 0.64, 0.88]), array([0.65, 0.86, 0.98]))
    """
    confidence, method = check_confidence(confidence), check_method(method)
    if isinstance(curve, Blocks):
        curve = ScoreBlocks.of(require_plain_rows("band", curve)).curve()
    if not isinstance(curve, RocCurve):
        raise TypeError(
            f"curve must be a RocCurve or Blocks of scores, got {short_repr(curve)}; make one with RocCurve.from_scores"
        )
    with about_heads():
        return band_of(curve, confidence=confidence, method=method)


def band_of(curve: RocCurve, *, confidence: float, method: Method = "tail") -> Band:
    """Return the band; see `band`. The arguments are not checked again."""
    require_counts(curve, "a band")
    curve.require_complete("a band")
    return Band(curve, confidence, method, rate_limits(curve, risk=1 - confidence, method=method))


def _rates(fpr: ArrayLike) -> Vector:
    try:
        rates = np.asarray(fpr, dtype=np.float64)
    except Exception:  # array libraries raise various errors
        raise TypeError(f"fpr must be numbers, got {short_repr(fpr)}") from None
    inside = (rates >= 0) & (rates <= 1)
    if not np.all(inside):
        raise ValueError(f"fpr must lie in [0, 1], got {rates[~inside][0]:g}; rates are fractions, not percent")
    return rates
