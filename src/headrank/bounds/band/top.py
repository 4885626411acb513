"""Limits for measures of the best fraction of all instances.

Legend, as in `headrank.measures.local`: u = ``top``, p the share of positives; alpha and beta the rates of the top,
where the curve crosses the control line u = p beta + (1 - p) alpha. Scores tied in the population are a straight
segment of the curve and need no special treatment.

The limits cover all curves between the envelopes and all p within its limits. The range of p is cut into pieces; in
each, every occurrence of p takes its own worst value. The limits are valid, and exact up to the size of the pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import Vector
from headrank.bounds.band.areas import Ends, ends_in_band
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.band.population_limits import PopulationLimits
from headrank.measures import (
    LocalAUC,
    LocalRankingError,
    LocalRankingRisk,
    MassConstrainedError,
    TopFPR,
    TopTPR,
    TruncatedAUC,
    WRanking,
)
from headrank.measures.local import TopMeasure

_RATE_PIECES = 8
_LINE_PIECES = 64


@dataclass(frozen=True, eq=False)
class _Operating:
    """Operating points of the best fraction: points on the envelopes at the ends of the pieces of p.

    Arrays have one value per end; arrays over pieces are one shorter.
    """

    lower: Envelope
    upper: Envelope
    top: float
    rates: Vector

    @cached_property
    def on_lower(self) -> tuple[Vector, Vector]:
        """Alpha and beta where the lower envelope crosses the control lines."""
        return _meetings(self.lower, self.rates, self.top)

    @cached_property
    def on_upper(self) -> tuple[Vector, Vector]:
        """Alpha and beta where the upper envelope crosses the control lines."""
        return _meetings(self.upper, self.rates, self.top)

    # As p grows the crossing point moves monotonically along a curve, since beta - alpha keeps its sign there. The
    # crossing point of a higher curve is higher and further left.

    @property
    def least_beta(self) -> Vector:
        """Least beta in each piece."""
        return _least_of_rates(self.on_lower[1])

    @property
    def greatest_beta(self) -> Vector:
        """Greatest beta in each piece."""
        return _greatest_of_rates(self.on_upper[1])

    @property
    def least_alpha(self) -> Vector:
        """Least alpha in each piece."""
        return _least_of_rates(self.on_upper[0])

    @property
    def greatest_alpha(self) -> Vector:
        """Greatest alpha in each piece."""
        return _greatest_of_rates(self.on_lower[0])

    @property
    def least_local_auc(self) -> Vector:
        """Least area under min(curve, beta), which is the local AUC: it rises with the curve and with beta."""
        return _least_of_rates(_local_auc(self.lower, *self.on_lower))

    @property
    def greatest_local_auc(self) -> Vector:
        """Greatest area under min(curve, beta)."""
        return _greatest_of_rates(_local_auc(self.upper, *self.on_upper))

    def transposed(self) -> _Operating:
        """Swap the classes: FPR for TPR, the upper envelope for the lower, 1 - p for p; rates in reverse order."""
        return _Operating(self.upper.transposed(), self.lower.transposed(), self.top, 1 - self.rates[::-1])


def _operating(measure: TopMeasure, known: PopulationLimits) -> _Operating:
    limits = known.curve_beside(rising=None)
    fewest, most = known.positive_rates
    rates = np.linspace(fewest, most, 1 + (_RATE_PIECES if fewest < most else 1))
    return _Operating(limits.lower, limits.upper, measure.top, rates)


def _meetings(envelope: Envelope, rates: Vector, top: float) -> tuple[Vector, Vector]:
    points = [envelope.meets(float(p), top) for p in rates]
    return np.array([alpha for alpha, _ in points]), np.array([beta for _, beta in points])


def _local_auc(envelope: Envelope, alpha: Vector, beta: Vector) -> Vector:
    return envelope.area_to(alpha) + beta * (1 - alpha)


def _least_of_rates(values: Vector) -> Vector:
    return np.minimum(values[:-1], values[1:])


def _greatest_of_rates(values: Vector) -> Vector:
    return np.maximum(values[:-1], values[1:])


def _ends(low: Vector, high: Vector) -> Ends:
    return Ends(float(np.min(low)), float(np.max(high)), needs_rate=True)


@ends_in_band.register
def _(measure: TopTPR, known: PopulationLimits) -> Ends:
    """Beta."""
    points = _operating(measure, known)
    return _ends(points.least_beta, points.greatest_beta)


@ends_in_band.register
def _(measure: TopFPR, known: PopulationLimits) -> Ends:
    """Alpha."""
    points = _operating(measure, known)
    return _ends(points.least_alpha, points.greatest_alpha)


@ends_in_band.register
def _(measure: LocalAUC, known: PopulationLimits) -> Ends:
    """Area from 0 to alpha, plus beta (1 - alpha)."""
    points = _operating(measure, known)
    return _ends(points.least_local_auc, points.greatest_local_auc)


@ends_in_band.register
def _(measure: WRanking, known: PopulationLimits) -> Ends:
    """W = p/2 beta (2 - beta) + (1 - p) LocalAUC, which rises with beta and with the local AUC."""
    points = _operating(measure, known)

    def mixed(beta: Vector, local_auc: Vector, p: Vector) -> Vector:
        return p / 2 * beta * (2 - beta) + (1 - p) * local_auc

    both = points.rates[:-1], points.rates[1:]
    least = np.minimum(*(mixed(points.least_beta, points.least_local_auc, p) for p in both))
    return _ends(least, np.maximum(*(mixed(points.greatest_beta, points.greatest_local_auc, p) for p in both)))


@ends_in_band.register
def _(measure: MassConstrainedError, known: PopulationLimits) -> Ends:
    """Error rate p (1 - beta) + (1 - p) alpha = p + u - 2 p beta, where p beta grows with p along every curve."""
    points = _operating(measure, known)
    least, greatest = points.rates[:-1], points.rates[1:]
    least_tp, greatest_tp = least * points.on_lower[1][:-1], greatest * points.on_upper[1][1:]
    return _ends(least + measure.top - 2 * greatest_tp, greatest + measure.top - 2 * least_tp)


@ends_in_band.register
def _(measure: LocalRankingRisk, known: PopulationLimits) -> Ends:
    """M = R + (1 - p) L = (1 - p) (p + u - 2 p LocalAUC), the identity between the paper's criteria."""
    points = _operating(measure, known)
    both = points.rates[:-1], points.rates[1:]
    least = np.minimum(*(measure.top + p * (1 - 2 * points.greatest_local_auc) for p in both))
    greatest = np.maximum(*(measure.top + p * (1 - 2 * points.least_local_auc) for p in both))
    return _ends((1 - both[1]) * np.maximum(least, 0.0), (1 - both[0]) * greatest)


@ends_in_band.register
def _(measure: TruncatedAUC, known: PopulationLimits) -> Ends:
    """Area under the curve from 0 to alpha, which is not monotone in the curve."""
    return _ends(*_truncated_areas(_operating(measure, known)))


@ends_in_band.register
def _(measure: LocalRankingError, known: PopulationLimits) -> Ends:
    """2 p (1 - p) times the area to the left of the curve from 0 to beta: the truncated area, with axes swapped."""
    points = _operating(measure, known)
    low, high = (areas[::-1] for areas in _truncated_areas(points.transposed()))
    pairs = 2 * points.rates * (1 - points.rates)
    most_pairs = np.where((points.rates[:-1] < 0.5) & (points.rates[1:] > 0.5), 0.5, _greatest_of_rates(pairs))
    return _ends(_least_of_rates(pairs) * low, most_pairs * high)


def _truncated_areas(points: _Operating) -> tuple[Vector, Vector]:
    """Least and greatest area from 0 to alpha, for each piece of the limits of p.

    Least: along the lower envelope to the least alpha that the upper envelope allows, then straight up to it. Greatest:
    along the upper envelope, then level with the end point (alpha, beta), which may be anywhere on the control line
    between both envelopes; the line is cut into pieces, with the greatest alpha and beta in each.
    """
    alphas = np.linspace(points.least_alpha, points.greatest_alpha, 1 + _LINE_PIECES, axis=1)
    p = points.rates[:, None]
    on_line = ((points.top - (1 - q) * alphas[:, :-1]) / q for q in (p[:-1], p[1:]))
    betas = np.clip(np.maximum(*on_line), 0.0, 1.0)
    level_from = np.minimum(points.upper.fpr_at(betas), alphas[:, 1:])
    greatest = points.upper.area_to(level_from) + (alphas[:, 1:] - level_from) * betas
    return points.lower.area_to(points.least_alpha), greatest.max(axis=1)
