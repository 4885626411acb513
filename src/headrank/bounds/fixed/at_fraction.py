"""Intervals for the precision at a fraction of all rows: how many rows are above the cut, and Clopper-Pearson there.

Legend: u the fraction, pi the share of positives in the best u of the population, n rows that are a random sample of
it, labels included. Rows with equal scores are put into a random order, in the population and in the sample.

*Theorem.* Let C_j be the number of positives among the first j rows of the sample, and d_j numbers in [0, 1] with
``sum_j P(Bin(n, u) = j) d_j <= risk``. The least of the Clopper-Pearson limits from C_j of j, each with the risk d_j,
over all j with d_j < 1, exceeds pi with probability at most ``risk``.

*Proof.* The population has a cut with the share u above it. The number J of rows above it is Bin(n, u). Given J = j,
these are the first j rows of the sample, and independent draws from the best u of the population, so C_j is Bin(j, pi)
and the limit from it exceeds pi with probability at most d_j. The least limit can exceed pi only if that one does, or
if d_j = 1. Sum over j. From above likewise.

The d_j depend on n, u and the risk alone: d_j is proportional to P(J = j)^-0.7, but at most 1. An unlikely j is thus
given a large part of the risk, so that errors of the cut and of the count add nearly like squares. On binormal samples
(20 negatives per positive, u = 0.05) the intervals are 33 to 60 % narrower than those from a band, at 50, 500 and 5,000
positives.
"""

from __future__ import annotations

from math import ceil, floor, sqrt

import numpy as np

from headrank._types import IntVector, Vector
from headrank.bounds.confidence import Side
from headrank.bounds.fixed.fixed_range import interval_from_ends
from headrank.bounds.interval import RANDOM_LABELS, Interval, require_counts
from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError
from headrank.measures import PrecisionAt

_FLATTENING = 0.7
"""Power of P(J = j) by which the risk is larger for unlikely j; from 0.5 to 0.85 the widths hardly differ."""
_FAR = 9.0
"""Standard deviations from the mean beyond which a count is negligible: below 1e-18."""
_HALVINGS = 60


def at_fraction(
    curve: RocCurve, measure: PrecisionAt, *, confidence: float = 0.95, side: Side = "two-sided"
) -> Interval:
    """Return an interval for the share of positives in the best fraction of the population.

    Proved in the module's docstring. A count of rows is taken as a fraction of the sample. Rows tied with the cut are
    put into a random order (a generator with a fixed seed). O(n_levels), and O(sqrt(n)) limits of a binomial rate.

    Parameters
    ----------
    curve : RocCurve
        Unweighted, rows drawn at random from the population; a head suffices if it reaches a little below the cut.
    measure : PrecisionAt
        The fraction.
    confidence : float, default=0.95
        Probability that the interval contains the true value.
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> population = Binormal(separation=2.0, positive_rate=0.05)
    >>> curve = RocCurve.from_scores(*population.sample_scores(10_000, random_state=0))
    >>> interval = at_fraction(curve, PrecisionAt(0.05))  # the truth is 0.5183
    >>> round(interval.low, 3), round(interval.estimate, 3), round(interval.high, 3)
    (0.478, 0.534, 0.599)
    """
    if not isinstance(measure, PrecisionAt):
        raise TypeError(f"at_fraction is for PrecisionAt, got {measure!r}; use method='auto'")
    require_counts(curve, "at_fraction")
    n = int(curve.n)
    rows = measure.n_rows(curve)
    scale = rows / measure.k if measure.is_count else 1.0  # a list shorter than k is divided by k

    def limits(risk: float, *, low: bool) -> float:
        counts, risks = _risks(n, min(rows / n, 1.0), risk)
        return scale * _extreme_limit(counts, _first_positives(curve, counts), risks, low=low)

    return interval_from_ends(
        curve,
        measure,
        lambda risk: limits(risk, low=True),
        lambda risk: limits(risk, low=False),
        "at_fraction",
        "Clopper-Pearson (1934) for the rows above the cut, whose number is binomial; proved in "
        "headrank.bounds.fixed.at_fraction",
        confidence,
        side,
        assumptions=RANDOM_LABELS,
    )


def _risks(n: int, fraction: float, risk: float) -> tuple[IntVector, Vector]:
    """Return the numbers j of rows above the cut with d_j < 1, and these d_j."""
    counts, chances = _binomial(n, fraction)
    weights = (chances / chances.max()) ** -_FLATTENING
    low, high = risk * 1e-6, 1.0
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        spent = float(chances @ np.minimum(middle * weights, 1.0))
        low, high = (low, middle) if spent > risk else (middle, high)
    risks = np.minimum(low * weights, 1.0)
    return counts[risks < 1], risks[risks < 1]


def _binomial(n: int, rate: float) -> tuple[IntVector, Vector]:
    """Return all likely counts and their probabilities, by the ratios of neighbours."""
    if rate >= 1:
        return np.array([n]), np.ones(1)
    reach = _FAR * sqrt(n * rate * (1 - rate)) + 20
    counts = np.arange(max(floor(n * rate - reach), 0), min(ceil(n * rate + reach), n) + 1)
    before = counts[:-1]
    logs = np.cumsum(np.concatenate([[0.0], np.log((n - before) / (before + 1) * (rate / (1 - rate)))]))
    chances = np.exp(logs - logs.max())
    return counts, chances / chances.sum()


def _first_positives(curve: RocCurve, counts: IntVector) -> IntVector:
    """Return the number of positives among the first j rows, for each j; equal scores in a random order."""
    totals = curve.tp + curve.fp
    if counts[-1] > totals[-1]:
        raise ShallowHeadError(
            f"the bound needs the {counts[-1]:,} highest rows, but this head has {int(totals[-1]):,}; use a deeper head"
        )
    first = max(int(np.searchsorted(totals, counts[0], side="right")) - 1, 0)
    last = int(np.searchsorted(totals, counts[-1]))
    pos, neg = (each[first:last].astype(np.intp) for each in (curve.pos, curve.neg))
    positive = np.repeat(np.tile([True, False], pos.size), np.stack([pos, neg], axis=1).ravel())
    level = np.repeat(np.arange(pos.size), pos + neg)
    order = np.lexsort((np.random.default_rng(0).random(level.size), level))
    found = np.concatenate([[0], np.cumsum(positive[order])]) + int(curve.tp[first])
    return np.asarray(found[counts - int(totals[first])])


def _extreme_limit(counts: IntVector, positives: IntVector, risks: Vector, *, low: bool) -> float:
    """Return the least lower or the greatest upper Clopper-Pearson limit."""
    from scipy.special import betainccinv, betaincinv

    if not low:
        if (positives == counts).any():
            return 1.0
        return float(betainccinv(positives + 1, counts - positives, risks).max(initial=0.0))
    if not positives.all():
        return 0.0
    return float(betaincinv(positives, counts - positives + 1, risks).min(initial=1.0))
