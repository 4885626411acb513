"""Limits of precision at every recall, and of the average precision, from limits of the curve and the share p.

Legend: b in (0, 1) is a recall, alpha(b) the lowest FPR of the curve there. The precision is p b / (p b + (1 - p)
alpha(b)). It falls with alpha(b), which is lower on a higher curve, and rises with p. So the precision at each recall,
and its mean over all recalls, is least on the lower envelope with the least p, and greatest on the upper envelope with
the greatest p. In the population tied scores are a straight segment of the curve: `PrecisionRecallArea` is the exact
integral, and `AveragePrecision` tends to it as rows are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from headrank._types import ArrayLike, Vector
from headrank.bounds.band.areas import Ends, ends_in_band
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.band.population_limits import PopulationLimits
from headrank.bounds.band.rate_limits import RateLimits
from headrank.bounds.interval import require_counts
from headrank.curve import RocCurve
from headrank.measures import AveragePrecision, PrecisionRecallArea, RPrecision
from headrank.measures.precision import precision_recall_area

_PIECES = 16
"""Pieces of the range of p; on each, every occurrence of p takes its own worst value."""


@ends_in_band.register
def _(_measure: PrecisionRecallArea, known: PopulationLimits) -> Ends:
    """Area under the precision-recall curve."""
    return _mean_precision(known, 1.0)


@ends_in_band.register
def _(measure: AveragePrecision, known: PopulationLimits) -> Ends:
    """The same area; of the first k rows, its part up to the recall of the fraction k / n of all rows."""
    return _mean_precision(known, 1.0 if measure.k is None else min(measure.k / known.curve.n, 1.0))


@ends_in_band.register
def _(_measure: RPrecision, known: PopulationLimits) -> Ends:
    """TPR where the curve meets p = p TPR + (1 - p) FPR.

    It rises with the curve. On each piece of the limits of p, the mass and the slope of the line each take their worse
    end: the TPR rises with the mass, and is monotone in the slope.
    """
    limits, (fewest, most) = known.curve_beside(rising=True), known.positive_rates
    pieces = [*pairwise(np.linspace(fewest, most, 1 + (_PIECES if fewest < most else 1)))]
    lows = [min(float(limits.lower.meets(float(p), ends[0])[1]) for p in ends) for ends in pieces]
    highs = [max(float(limits.upper.meets(float(p), ends[1])[1]) for p in ends) for ends in pieces]
    return Ends(min(lows), max(highs), needs_rate=True)


def _mean_precision(known: PopulationLimits, fraction: float) -> Ends:
    """Bound the integral of the precision over the recalls up to that of the best fraction.

    A higher curve reaches a higher recall there, with a higher precision on the way. For one curve that recall is
    monotone in p, falling where the curve is above the diagonal, so on each piece it is taken at the worse end.
    """
    limits, (fewest, most) = known.curve_beside(rising=True), known.positive_rates
    if fraction == 1:
        return Ends(_area(limits.lower, fewest, 1.0), _area(limits.upper, most, 1.0), needs_rate=True)
    rates = np.linspace(fewest, most, 1 + (_PIECES if fewest < most else 1))
    on_lower, on_upper = (
        [float(envelope.meets(float(p), fraction)[1]) for p in rates] for envelope in (limits.lower, limits.upper)
    )
    lows = [_area(limits.lower, p, min(ends)) for p, ends in zip(rates[:-1], pairwise(on_lower), strict=True)]
    highs = [_area(limits.upper, p, max(ends)) for p, ends in zip(rates[1:], pairwise(on_upper), strict=True)]
    return Ends(min(lows), max(highs), needs_rate=True)


def _area(envelope: Envelope, p: float, recall: float) -> float:
    """Return the integral of the precision along an envelope over the recalls up to one."""
    inside = int(np.searchsorted(envelope.tpr, recall))
    tpr = np.append(envelope.tpr[:inside], recall)
    fpr = np.append(envelope.fpr[:inside], envelope.fpr_at(recall))
    return precision_recall_area(p * np.diff(tpr, prepend=0.0), (1 - p) * np.diff(fpr, prepend=0.0)) / p


@dataclass(frozen=True, eq=False)
class PrecisionLimits:
    """Limits of the precision at any recall, simultaneous in the recall; see `precision_limits`."""

    known: PopulationLimits

    @cached_property
    def _curve(self) -> RateLimits:
        return self.known.curve_beside(rising=True)

    def lower(self, recalls: ArrayLike) -> Vector:
        """Return lower limits of the precision at each recall, in (0, 1]."""
        return _precision(self._curve.lower, self.known.positive_rates[0], recalls)

    def upper(self, recalls: ArrayLike) -> Vector:
        """Return upper limits of the precision at each recall, in (0, 1]."""
        return _precision(self._curve.upper, self.known.positive_rates[1], recalls)


def _precision(envelope: Envelope, p: float, recalls: ArrayLike) -> Vector:
    b = np.asarray(recalls, dtype=np.float64)
    return np.asarray(p * b / (p * b + (1 - p) * envelope.fpr_at(b)))


def precision_limits(curve: RocCurve, *, confidence: float, positive_rate: float | None = None) -> PrecisionLimits:
    """Return limits of the precision-recall curve of the population, for any distribution, for all recalls at once.

    Parameters
    ----------
    curve : RocCurve
        A complete curve of unweighted rows, not used in training.
    confidence : float
        In (0, 1).
    positive_rate : float, optional
        The share of positives in the population, if known. Otherwise the rows must be a random sample of it.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0, positive_rate=0.1).sample_scores(5000, random_state=0)
    >>> limits = precision_limits(RocCurve.from_scores(y, scores), confidence=0.95)
    >>> limits.lower([0.5]).round(3), limits.upper([0.5]).round(3)
    (array([0.527]), array([0.88]))
    """
    require_counts(curve, "a band of the precision-recall curve")
    curve.require_complete("a band of the precision-recall curve")
    return PrecisionLimits(PopulationLimits(curve, 1 - confidence, "tail", "two-sided", positive_rate))
