"""Ends of the measures of the best fraction of all instances.

Legend, as in `headrank.measures.local`: u = ``top``, p the share of positives; alpha and beta the rates of the top
{s >= Q}; the *mass* M = p beta + (1 - p) alpha of the top is u without ties, and exceeds u by no more than the share of
all instances that score exactly Q.

All curves between the envelopes, all p and all M within their limits are looked at. The limits of p and M are cut into
cells; within a cell every occurrence of p and M takes its own worst value. So the ends are valid, and exact but for the
size of the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import Vector
from headrank.bounds.band.areas import Ends, ends_in_band
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.band.population_limits import PopulationLimits
from headrank.bounds.band.rate_limits import RateLimits
from headrank.measures import (
    LocalAUC,
    LocalRankingError,
    LocalRankingRisk,
    MassConstrainedError,
    TopFPR,
    TopTPR,
    TruncatedAUC,
)
from headrank.measures.local import TopMeasure

_RATE_PIECES = 8
_MASS_PIECES = 16
_LINE_PIECES = 64


@dataclass(frozen=True, eq=False)
class _Operating:
    """Where the curve may end its top: points on the envelopes at the corners of the cells.

    Arrays have the shape (rates, masses); those of cells are one shorter each way.
    """

    lower: Envelope
    upper: Envelope
    rates: Vector
    masses: Vector

    @cached_property
    def on_lower(self) -> tuple[Vector, Vector]:
        """Alpha and beta where the lower envelope meets the control lines."""
        return _meetings(self.lower, self.rates, self.masses)

    @cached_property
    def on_upper(self) -> tuple[Vector, Vector]:
        """Alpha and beta where the upper envelope meets the control lines."""
        return _meetings(self.upper, self.rates, self.masses)

    # Along a curve the meeting point moves one way as p grows, since beta - alpha keeps its sign there, and up as M
    # grows. A higher curve has a higher and more leftward meeting point.

    @property
    def least_beta(self) -> Vector:
        """Least beta in each cell."""
        return _least_of_rates(self.on_lower[1][:, :-1])

    @property
    def greatest_beta(self) -> Vector:
        """Greatest beta in each cell."""
        return _greatest_of_rates(self.on_upper[1][:, 1:])

    @property
    def least_alpha(self) -> Vector:
        """Least alpha in each cell."""
        return _least_of_rates(self.on_upper[0][:, :-1])

    @property
    def greatest_alpha(self) -> Vector:
        """Greatest alpha in each cell."""
        return _greatest_of_rates(self.on_lower[0][:, 1:])

    @property
    def least_local_auc(self) -> Vector:
        """Least area under min(curve, beta), which is the local AUC: it rises with the curve and with beta."""
        return _least_of_rates(_local_auc(self.lower, *self.on_lower)[:, :-1])

    @property
    def greatest_local_auc(self) -> Vector:
        """Greatest area under min(curve, beta)."""
        return _greatest_of_rates(_local_auc(self.upper, *self.on_upper)[:, 1:])

    def transposed(self) -> _Operating:
        """Swap both classes: FPR for TPR, the upper envelope for the lower, 1 - p for p; rates in reverse order."""
        return _Operating(self.upper.transposed(), self.lower.transposed(), 1 - self.rates[::-1], self.masses)


def _operating(measure: TopMeasure, known: PopulationLimits) -> _Operating:
    limits = known.curve_beside(rising=None)
    fewest, most = known.positive_rates
    least, greatest = mass_range(measure.top, limits, known)
    rates = np.linspace(fewest, most, 1 + (_RATE_PIECES if fewest < most else 1))
    return _Operating(limits.lower, limits.upper, rates, np.linspace(least, greatest, 1 + _MASS_PIECES))


def mass_range(top: float, limits: RateLimits, known: PopulationLimits) -> tuple[float, float]:
    """Least and greatest share of all instances in the top, which are ``top`` unless scores tie at Q.

    Q is one of the sample's scores, or lies between two. Wherever the limits allow it to be, the mass above Q is at
    most ``top``, that at or above Q at least ``top``, and the difference no larger than an atom with so many observed
    rows can be.
    """
    curve, rates = known.curve, np.array(known.positive_rates)[:, None]
    least = (rates * limits.lowest_tpr + (1 - rates) * limits.lowest_fpr).min(axis=0)
    greatest = (rates * limits.highest_tpr + (1 - rates) * limits.highest_fpr).max(axis=0)

    at_score = np.flatnonzero((least[:-1] <= top) & (top <= greatest[1:]))
    between = np.flatnonzero((least <= top) & (top <= greatest))
    seen = _atoms(known, curve.pos[at_score], curve.neg[at_score])
    unseen = float(_atoms(known, np.zeros(1, dtype=int), np.zeros(1, dtype=int))[0])
    least_masses = np.concatenate([np.maximum(least[at_score + 1], top), np.full(between.size, top)])
    greatest_masses = np.concatenate(
        [np.minimum(greatest[at_score + 1], top + seen), np.minimum(greatest[between], top + unseen)]
    )
    return float(least_masses.min()), min(float(greatest_masses.max()), 1.0)


def _atoms(known: PopulationLimits, pos: Vector, neg: Vector) -> Vector:
    """Largest share of all instances with one score, given the sample's positives and negatives that have it."""
    pos_atoms, neg_atoms = known.largest_pos_atoms(pos), known.largest_neg_atoms(neg)
    fewest, most = known.positive_rates
    return np.maximum(fewest * pos_atoms + (1 - fewest) * neg_atoms, most * pos_atoms + (1 - most) * neg_atoms)


def _meetings(envelope: Envelope, rates: Vector, masses: Vector) -> tuple[Vector, Vector]:
    points = [envelope.meets(float(p), masses) for p in rates]
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
def _(measure: MassConstrainedError, known: PopulationLimits) -> Ends:
    """Error rate p (1 - beta) + (1 - p) alpha = p + M - 2 p beta, where p beta grows with p along every curve."""
    points = _operating(measure, known)
    least, greatest = points.rates[:-1, None], points.rates[1:, None]
    least_tp = least * points.on_lower[1][:-1, :-1]
    greatest_tp = greatest * points.on_upper[1][1:, 1:]
    return _ends(
        least + points.masses[:-1] - 2 * greatest_tp,
        greatest + points.masses[1:] - 2 * least_tp,
    )


@ends_in_band.register
def _(measure: LocalRankingRisk, known: PopulationLimits) -> Ends:
    """M_risk = R + (1 - p) L = (1 - p) (p + M - 2 p LocalAUC), the identity between the paper's criteria."""
    points = _operating(measure, known)
    rates = points.rates[:, None]

    def bracket(local_auc: Vector, masses: Vector, ends: slice) -> Vector:
        return masses + rates[ends] * (1 - 2 * local_auc)

    first, last = slice(None, -1), slice(1, None)
    least = np.minimum(*(bracket(points.greatest_local_auc, points.masses[:-1], ends) for ends in (first, last)))
    greatest = np.maximum(*(bracket(points.least_local_auc, points.masses[1:], ends) for ends in (first, last)))
    return _ends((1 - rates[1:]) * np.maximum(least, 0.0), (1 - rates[:-1]) * greatest)


@ends_in_band.register
def _(measure: TruncatedAUC, known: PopulationLimits) -> Ends:
    """Area under the curve from 0 to alpha: neither rises nor falls with the curve."""
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
    first = points.least_alpha.min(axis=1)
    last = points.greatest_alpha.max(axis=1)
    alphas = np.linspace(first, last, 1 + _LINE_PIECES, axis=1)
    p = points.rates[:, None]
    on_line = ((points.masses[-1] - (1 - q) * alphas[:, :-1]) / q for q in (p[:-1], p[1:]))
    betas = np.clip(np.maximum(*on_line), 0.0, 1.0)
    level_from = np.minimum(points.upper.fpr_at(betas), alphas[:, 1:])
    greatest = points.upper.area_to(level_from) + (alphas[:, 1:] - level_from) * betas
    return points.lower.area_to(first), greatest.max(axis=1)
