"""Limits for measures of ranks and of the first rows, which depend on the curve and on the share of positives p.

Legend: b in (0, 1) numbers the positives from the best; z(b) is the score of the b-th, alpha(b) the FPR there; the
*mass* p b + (1 - p) alpha(b) is the share of all instances above it. For a fixed curve the mass is monotone in p, so
only the two limits of p need to be checked at each point.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, expm1

import numpy as np

from headrank._types import Vector
from headrank.bounds.band.areas import Ends, ends_in_band
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.band.population_limits import PopulationLimits
from headrank.curve import RocCurve
from headrank.measures import BEDROC, RIE, EnrichmentFactor, PNormPush, PrecisionAt, RankStatistic, RecallAt

_GRID = 512
"""Pieces of (0, 1); on each, the rank of a positive among the positives is taken at its worse end."""
_PIECES = 16
"""Pieces of the range of p; on each, every occurrence of p takes its own worst value."""


@ends_in_band.register
def _(measure: PNormPush, known: PopulationLimits) -> Ends:
    """phi(v) = v ** power, with v the relative mid-rank among all instances."""
    return _of_rank_statistic(lambda v: v**measure.power, known)


@ends_in_band.register
def _(measure: RankStatistic, known: PopulationLimits) -> Ends:
    """Any non-decreasing phi that is finite on [0, 1]; checked on a grid."""
    with np.errstate(all="ignore"):
        values = np.asarray(measure.phi(np.linspace(0.0, 1.0, 2 * _GRID + 1)), dtype=np.float64)
    if not np.isfinite(values).all() or (np.diff(values) < -1e-12 * np.abs(values[:-1])).any():
        raise ValueError(
            f"an interval for {measure} needs a phi that is finite on [0, 1] and does not decrease; use another phi, "
            "or method='bootstrap', which is asymptotic"
        )
    return _of_rank_statistic(lambda v: np.asarray(measure.phi(v), dtype=np.float64), known)


def _of_rank_statistic(phi: Callable[[Vector], Vector], known: PopulationLimits) -> Ends:
    """Bound the mean over the positives of phi(1 - mass above, ties counting half), phi non-decreasing.

    An outer bound, valid with ties in the population. Lower end: if b <= Lp_g+1, then z(b) is at least the sample's
    score number g + 1, and no more mass is above z(b) than above that score: of the negatives (Un_g + Un_g+1) / 2, of
    the positives (Up_g + Up_g+1) / 2, and also no more than b plus half of the largest atom of the positives. Upper
    end: if b > Up_g, then z(b) is at most score g + 1, and the rest is analogous.
    """
    limits = known.curve_beside(rising=True)
    atom = known.largest_pos_atom / 2
    grid = np.linspace(0.0, 1.0, _GRID + 1)

    ends = np.union1d(limits.lowest_tpr, grid)
    level = np.searchsorted(limits.lowest_tpr, ends[:-1], side="right") - 1
    pos = np.minimum(ends[1:] + atom, _mid_levels(limits.highest_tpr, 1.0)[level])
    neg = _mid_levels(limits.highest_fpr, 1.0)[level]
    low = float(phi(_rank_below(np.maximum, known, pos, neg)) @ np.diff(ends))

    ends = np.union1d(limits.highest_tpr, grid)
    level = np.searchsorted(limits.highest_tpr, ends[:-1], side="right")
    pos = np.maximum(ends[:-1] - atom, _mid_levels(limits.lowest_tpr, 0.0, before=True)[level])
    neg = _mid_levels(limits.lowest_fpr, 0.0, before=True)[level]
    high = float(phi(_rank_below(np.minimum, known, pos, neg)) @ np.diff(ends))

    least, greatest = phi(np.array([0.0, 1.0]))
    return Ends(low, high, float(least), float(greatest), needs_rate=True)


def _mid_levels(limits: Vector, frame: float, *, before: bool = False) -> Vector:
    """Mean of the limits before and after each level; the frame lies beyond the last (before the first) one."""
    framed = np.concatenate([[frame], limits] if before else [limits, [frame]])
    return np.asarray((framed[1:] + framed[:-1]) / 2)


def _rank_below(worse: np.ufunc, known: PopulationLimits, pos: Vector, neg: Vector) -> Vector:
    fewest, most = known.positive_rates
    mass = worse(fewest * pos + (1 - fewest) * neg, most * pos + (1 - most) * neg)
    return np.clip(1.0 - np.asarray(mass), 0.0, 1.0)


@ends_in_band.register
def _(measure: BEDROC, known: PopulationLimits) -> Ends:
    """BEDROC of the population: (I - worst) / (best - worst), with I the mean over the positives of exp(-alpha mass).

    Ties are averaged over their order; best and worst are the I of the perfect and of the inverted order at this p. The
    value increases in I and decreases in best and worst; as p increases, best decreases and worst increases.
    """
    limits = known.curve_beside(rising=True)
    rates = np.linspace(*known.positive_rates, _PIECES + 1) if _rate_is_unknown(known) else known.positive_rates
    lows, highs = [], []
    for fewest, most in pairwise(rates):
        low = _mean_exponential(limits.lower, measure.alpha, fewest, most, np.maximum)
        high = _mean_exponential(limits.upper, measure.alpha, fewest, most, np.minimum)
        (best, worst), (best_of_most, worst_of_most) = (_extremes(measure.alpha, p) for p in (fewest, most))
        lows.append((low - worst_of_most) / (best - worst_of_most))
        highs.append((high - worst) / (best_of_most - worst))
    return Ends(float(min(lows)), float(max(highs)), needs_rate=True)


@ends_in_band.register
def _(measure: RIE, known: PopulationLimits) -> Ends:
    """RIE of the population: the mean over the positives of exp(-alpha mass), over that of all rows."""
    limits = known.curve_beside(rising=True)
    fewest, most = known.positive_rates
    low = _mean_exponential(limits.lower, measure.alpha, fewest, most, np.maximum)
    high = _mean_exponential(limits.upper, measure.alpha, fewest, most, np.minimum)
    least, greatest = measure.possible_values
    return Ends(greatest * low, greatest * high, least, greatest, needs_rate=True)


def _rate_is_unknown(known: PopulationLimits) -> bool:
    return known.positive_rates[0] < known.positive_rates[1]


def _mean_exponential(envelope: Envelope, alpha: float, fewest: float, most: float, worse: np.ufunc) -> float:
    """Integral of exp(-alpha mass) over b, with the worse p at every point.

    Between two points of the polyline the mass is straight for each p, so the greater of two masses is below the
    straight line between the greater ends, and the lesser above that between the lesser ends.
    """
    one, other = (p * envelope.tpr + (1 - p) * envelope.fpr for p in (fewest, most))
    exponents = alpha * worse(one, other)
    rises = np.diff(exponents)
    # (1 - exp(-x)) / x, the mean of exp(-t) over a segment of length x, and its limit as x goes to 0.
    small = rises < 1e-9
    means = np.where(small, 1 - rises / 2, -np.expm1(-rises) / np.where(small, 1.0, rises))
    return float((np.exp(-exponents[:-1]) * means) @ np.diff(envelope.tpr))


def _extremes(alpha: float, p: float) -> tuple[float, float]:
    """Mean of exp(-alpha mass) over the positives in the perfect and in the inverted order."""
    best = -expm1(-alpha * p) / (alpha * p)
    return best, best * exp(-alpha * (1 - p))


@ends_in_band.register
def _(measure: RecallAt, known: PopulationLimits) -> Ends:
    """TPR where the curve crosses the control line of the first rows; monotone in p for every curve."""
    return Ends(*_recall(known, _fraction(measure, known.curve)), needs_rate=True)


@ends_in_band.register
def _(measure: EnrichmentFactor, known: PopulationLimits) -> Ends:
    """TPR over the fraction of rows."""
    fraction = _fraction(measure, known.curve)
    low, high = _recall(known, fraction)
    return Ends(low / fraction, high / fraction, greatest=1 / fraction, needs_rate=True)


@ends_in_band.register
def _(measure: PrecisionAt, known: PopulationLimits) -> Ends:
    """Share of positives, p TPR, over the fraction of rows; a count is a fraction of the sample.

    p TPR grows with p for every curve, at a rate between FPR and TPR.
    """
    limits = known.curve_beside(rising=True)
    fewest, most = known.positive_rates
    fraction = _fraction(measure, known.curve)
    rows = measure.k / known.curve.n if measure.is_count else fraction
    low = fewest * float(limits.lower.meets(fewest, fraction)[1])
    high = most * float(limits.upper.meets(most, fraction)[1])
    return Ends(low / rows, min(high, fraction) / rows, needs_rate=True)


def _recall(known: PopulationLimits, fraction: float) -> tuple[float, float]:
    limits = known.curve_beside(rising=True)
    rates = known.positive_rates
    low = min(float(limits.lower.meets(p, fraction)[1]) for p in rates)
    return low, max(float(limits.upper.meets(p, fraction)[1]) for p in rates)


def _fraction(measure: PrecisionAt | RecallAt | EnrichmentFactor, curve: RocCurve) -> float:
    return float(min(measure.n_rows(curve) / curve.n, 1.0))
