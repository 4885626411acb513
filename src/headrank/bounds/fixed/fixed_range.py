"""Intervals for one range or one point of the curve, chosen in advance: narrower than those from a band.

Each splits the risk of an end between a bound on the rate of one class, from its ranks, and a bound from the other
class. The split depends on the counts and the range alone, never on the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from headrank._types import ArrayLike, Counts
from headrank.bounds.confidence import Side
from headrank.bounds.fixed.range_mean import mean_tpr_high, mean_tpr_low, shares
from headrank.bounds.inequalities.binomial import allowed_above, clopper_pearson, needed_at_least
from headrank.bounds.inequalities.bounded_mean import mean_limits
from headrank.bounds.interval import INDEPENDENT_ROWS, Interval, require_counts
from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError
from headrank.measures import FPRAtTPR, FROCArea, Measure, TPRAtFPR
from headrank.measures.area import AreaMeasure

_OF_REGIONS = (
    f"{INDEPENDENT_ROWS}; this includes the regions of one image, so if they resemble each other, use "
    "method='bootstrap' with the images as clusters"
)
End = Callable[[float], float]
"""A bound on the measure as a function of its risk."""


def at_point(
    curve: RocCurve,
    measure: TPRAtFPR | FPRAtTPR,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """Return an interval for the TPR at one FPR, or for the FPR at one TPR, by order statistics and Clopper-Pearson.

    For the TPR at FPR x, with T the (r+1)-th highest negative, P(a negative exceeds T) < x except with the risk
    P(Bin(n_neg, x) <= r), which determines r. So the true value is at least P(a positive exceeds T), and T is fixed for
    the positives: Clopper-Pearson. From above likewise: P(a negative reaches T) > x for the k-th highest negative
    except with the risk P(Bin(n_neg, x) >= k), and the true value is at most P(a positive reaches T). Both inequalities
    are strict, so they hold for curves with ties, where the curve is a slanted segment, and with vertical and level
    pieces. For the FPR at a TPR, positives and negatives swap roles. Proofs of both lemmas:
    `headrank.bounds.inequalities.binomial`. O(n_levels).

    Parameters
    ----------
    curve : RocCurve
        Unweighted; a head suffices if it reaches a little below the point.
    measure : TPRAtFPR or FPRAtTPR
        The point.
    confidence : float, default=0.95
        Probability that the interval contains the true value, for rows independent within each class.
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> population = Binormal(separation=2.0)
    >>> curve = RocCurve.from_scores(*population.sample_classes(500, 5000, random_state=0))
    >>> interval = at_point(curve, TPRAtFPR(0.05))
    >>> round(interval.low, 3), round(interval.estimate, 3), round(interval.high, 3)
    (0.529, 0.608, 0.69)
    >>> population.tpr_at(0.05) in interval
    True
    """
    if not isinstance(measure, TPRAtFPR | FPRAtTPR):
        raise TypeError(f"at_point is for TPRAtFPR and FPRAtTPR, got {measure!r}; for a range use fixed_range")
    require_counts(curve, "at_point")
    lower, upper = _tpr_ends(curve, measure.fpr) if isinstance(measure, TPRAtFPR) else _fpr_ends(curve, measure.tpr)
    theorem = "order statistics (exact binomial), then Clopper & Pearson (1934)"
    return interval_from_ends(curve, measure, lower, upper, "at_point", theorem, confidence, side)


def fixed_range(
    curve: RocCurve,
    measure: AreaMeasure,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """Return an interval for the partial AUC over one range [a, b].

    If the range contains many negatives, the partial AUC lies above the AUC of the positives against the negatives of a
    window of ranks a little above the range, and below that of a window a little below it: exact binomial ranks, then
    a two-sample U-statistic. If there are many positives, it is a mean over positives of terms that `tail_limits` of
    the negatives bound. The choice depends on the counts and the range alone; both are proved in
    `headrank.bounds.fixed.range_mean`, with ties. O(n_levels); the second takes up to 3 seconds more on the first call
    for a number of negatives.

    The classical bound by bounded differences (McDiarmid), used for the AUC, is not offered here. One negative moves
    the sample's value by up to 1 / (n_neg (b - a)), so the bound grows like 1 / (sqrt(n_neg) (b - a)) and is
    uninformative for narrow ranges. It also bounds the distance to the *expected* sample value, which is not the true
    value: the sample's rates err by sqrt(b / n_neg) at b, and cut off where the curve has risen, so the expectation is
    biased by up to about 0.4 sqrt(b / n_neg) / (b - a), which is of the order of the interval computed here.

    Parameters
    ----------
    curve : RocCurve
        Unweighted; a head suffices if it reaches a little below ``max_fpr``.
    measure : PartialAUC, StandardizedPartialAUC, FROCArea or AUC
        The range.
    confidence : float, default=0.95
        Probability that the interval contains the true value, for rows independent within each class.
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> population = Binormal(separation=2.0)
    >>> curve = RocCurve.from_scores(*population.sample_classes(500, 5000, random_state=0))
    >>> from headrank.measures import PartialAUC
    >>> interval = fixed_range(curve, PartialAUC(max_fpr=0.05))
    >>> population.partial_auc(max_fpr=0.05) in interval, interval.width < 0.25
    (True, True)
    """
    if not isinstance(measure, AreaMeasure):
        raise TypeError(
            f"fixed_range is for areas over a range of FPR (auc, pauc, spauc, froc), got {measure!r}; use at_point "
            "for a point, or method='auto'"
        )
    require_counts(curve, "fixed_range")
    span, rescaled = measure.as_partial_auc, measure.from_mean_tpr

    def lower(risk: float) -> float:
        return rescaled(mean_tpr_low(curve, span, risk))

    def upper(risk: float) -> float:
        return rescaled(mean_tpr_high(curve, span, risk))

    theorem = "binomial ranks or tail limits of the negatives, then Bentkus (2004) for a mean"
    return interval_from_ends(curve, measure, lower, upper, "fixed_range", theorem, confidence, side)


def over_queries(
    values: ArrayLike,
    measure: Measure,
    *,
    n_pos: int,
    n_neg: int,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """Return an interval for the mean of a measure over queries, from its value on each query.

    The queries are independent draws; rows within a query need not be. The true value is the mean over all queries
    that have both classes, each measured on a sample of rows like these: a mean of sample values, not of their limits.
    By `mean_limits`, for measures with finite `Measure.possible_values`. O(n).

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        The measure on each query.
    measure : Measure
        What was measured.
    n_pos, n_neg : int
        Positives and negatives in all queries, stored in the result.
    confidence, side
        As for `interval`.

    Examples
    --------
    >>> from headrank.measures import PartialAUC
    >>> interval = over_queries([0.5, 1.0, 0.75] * 20, PartialAUC(max_fpr=0.5), n_pos=100, n_neg=500)
    >>> round(interval.low, 3), interval.estimate, round(interval.high, 3)
    (0.606, 0.75, 0.862)
    """
    observed = np.asarray(values, dtype=np.float64)
    if observed.ndim != 1 or not observed.size:
        raise ValueError(f"values must be one number per query, for at least one query, got shape {observed.shape}")
    least, greatest = measure.possible_values
    width = greatest - least
    if width == inf:
        raise ValueError(
            f"a bound over queries needs a bounded measure, and {measure} is unbounded; use method='bootstrap', which "
            "is asymptotic"
        )
    mean, n_queries = float(observed.mean()), observed.size
    share = min(max((mean - least) / width, 0.0), 1.0)
    return _spent(
        mean,
        lambda risk: least + width * mean_limits(share, n_queries, risk)[0],
        lambda risk: least + width * mean_limits(share, n_queries, risk)[1],
        confidence,
        side,
        (least, greatest),
        measure=measure,
        method="over_queries",
        theorem="Bentkus (2004) for the mean over queries",
        assumptions=f"the {n_queries} queries are independent draws from one distribution",
        n_pos=n_pos,
        n_neg=n_neg,
        n_queries=n_queries,
    )


# -- one point -----------------------------------------------------------------------------------------------------


def _tpr_ends(curve: RocCurve, fpr: float) -> tuple[End, End]:
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)

    def lower(risk: float) -> float:
        if fpr == 1:
            return 1.0
        for_neg, for_pos = shares(risk, n_pos, n_neg, fpr)
        allowed = allowed_above(n_neg, fpr, for_neg)
        return 0.0 if allowed < 0 else clopper_pearson(_above(curve.fp, allowed + 1, curve.tp), n_pos, for_pos)[0]

    def upper(risk: float) -> float:
        for_neg, for_pos = shares(risk, n_pos, n_neg, fpr)
        needed = needed_at_least(n_neg, fpr, for_neg)
        return 1.0 if needed > n_neg else clopper_pearson(_reaching(curve.fp, needed, curve.tp), n_pos, for_pos)[1]

    return lower, upper


def _fpr_ends(curve: RocCurve, tpr: float) -> tuple[End, End]:
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)

    def lower(risk: float) -> float:
        for_pos, for_neg = shares(risk, n_neg, n_pos, 1.0)
        allowed = allowed_above(n_pos, tpr, for_pos)
        return 0.0 if allowed < 0 else clopper_pearson(_above(curve.tp, allowed + 1, curve.fp), n_neg, for_neg)[0]

    def upper(risk: float) -> float:
        if tpr == 0:
            return 0.0
        for_pos, for_neg = shares(risk, n_neg, n_pos, 1.0)
        needed = needed_at_least(n_pos, tpr, for_pos)
        return 1.0 if needed > n_pos else clopper_pearson(_reaching(curve.tp, needed, curve.fp), n_neg, for_neg)[1]

    return lower, upper


def _above(ranked: Counts, rank: int, counted: Counts) -> int:
    """Count the rows of one class that score above the row of that rank in the other; both counts are cumulative."""
    return int(counted[_level(ranked, rank) - 1])


def _reaching(ranked: Counts, rank: int, counted: Counts) -> int:
    """Count the rows of one class that score at least as high as the row of that rank in the other."""
    return int(counted[_level(ranked, rank)])


def _level(ranked: Counts, rank: int) -> int:
    level = int(np.searchsorted(ranked, rank))
    if level == ranked.size:
        raise ShallowHeadError(
            f"the bound needs the row of rank {rank:,} in its class, but this head has {int(ranked[-1]):,}; use a "
            "deeper head"
        )
    return level


# -- both ----------------------------------------------------------------------------------------------------------


def interval_from_ends(
    curve: RocCurve,
    measure: Measure,
    lower: End,
    upper: End,
    method: str,
    theorem: str,
    confidence: float,
    side: Side,
    *,
    assumptions: str = INDEPENDENT_ROWS,
) -> Interval:
    """Return the interval of a measure from its two bounds."""
    return _spent(
        measure.value(curve),
        lower,
        upper,
        confidence,
        side,
        measure.possible_values,
        measure=measure,
        method=method,
        theorem=theorem,
        assumptions=_OF_REGIONS if isinstance(measure, FROCArea) else assumptions,
        n_pos=int(curve.n_pos),
        n_neg=int(curve.n_neg),
    )


def _spent(
    estimate: float,
    lower: End,
    upper: End,
    confidence: float,
    side: Side,
    reach: tuple[float, float] = (0.0, 1.0),
    **fields: Any,
) -> Interval:
    """Spend the risk on the guaranteed ends; the other ends are those of the measure's range."""
    risk = (1 - confidence) / (2 if side == "two-sided" else 1)
    low = reach[0] if side == "upper" else lower(risk)
    high = reach[1] if side == "lower" else upper(risk)
    # At a very low confidence the bounds may cross the estimate; widening the interval up to it is always valid.
    return Interval(min(low, estimate), estimate, max(high, estimate), confidence, side=side, **fields)
