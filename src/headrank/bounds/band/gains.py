"""Limits of the gains curve: how many positives are in the best fraction, simultaneously for all fractions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import ArrayLike, Vector
from headrank.bounds.band.population_limits import PopulationLimits
from headrank.bounds.band.rate_limits import RateLimits
from headrank.bounds.interval import require_counts
from headrank.curve import RocCurve


@dataclass(frozen=True, eq=False)
class GainsLimits:
    """Limits of what is in the best fraction u of all instances, simultaneous in u; see `gains_limits`.

    Attributes
    ----------
    known : PopulationLimits
        Limits of the curve and of the share of positives.
    """

    known: PopulationLimits

    @cached_property
    def _curve(self) -> RateLimits:
        return self.known.curve_beside(rising=True)

    def lower(self, fractions: ArrayLike) -> Vector:
        """Return lower limits of P(positive and in the best fraction); non-decreasing."""
        fewest = self.known.positive_rates[0]
        return np.asarray(fewest * self._curve.lower.meets(fewest, fractions)[1])

    def upper(self, fractions: ArrayLike) -> Vector:
        """Return upper limits of P(positive and in the best fraction), at most the fractions; non-decreasing."""
        most = self.known.positive_rates[1]
        of_curve = most * self._curve.upper.meets(most, fractions)[1]
        return np.asarray(np.minimum(of_curve, np.asarray(fractions, dtype=np.float64)))

    def recall_lower(self, fractions: ArrayLike) -> Vector:
        """Return lower limits of P(in the best fraction | positive); non-decreasing."""
        return np.asarray(np.minimum(*(self._curve.lower.meets(p, fractions)[1] for p in self.known.positive_rates)))

    def recall_upper(self, fractions: ArrayLike) -> Vector:
        """Return upper limits of P(in the best fraction | positive); non-decreasing."""
        return np.asarray(np.maximum(*(self._curve.upper.meets(p, fractions)[1] for p in self.known.positive_rates)))


def gains_limits(curve: RocCurve, *, confidence: float) -> GainsLimits:
    """Return limits of the gains curve of the population, for any distribution, simultaneously for all fractions.

    The gain at u is P(positive and in the best fraction u of all instances) = u times the precision there. Its limits
    and those of the recall are the two-sided ones of `PrecisionAt` and `RecallAt` from the band, which hold
    simultaneously: p TPR grows with the curve, and for each curve with the share p of positives; TPR grows with the
    curve and is monotone in p.

    Parameters
    ----------
    curve : RocCurve
        A complete curve of unweighted rows: a random sample of the population, not used in training.
    confidence : float
        In (0, 1).

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0, positive_rate=0.1).sample_scores(5000, random_state=0)
    >>> limits = gains_limits(RocCurve.from_scores(y, scores), confidence=0.95)
    >>> limits.lower([0.05]).round(3), limits.upper([0.05]).round(3)
    (array([0.032]), array([0.048]))
    """
    require_counts(curve, "a band of the gains curve")
    curve.require_complete("a band of the gains curve")
    return GainsLimits(PopulationLimits(curve, 1 - confidence, "tail", "two-sided", None))
