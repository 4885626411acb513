"""Bounds on the mean true positive rate over one range of false positive rates: two methods and their choice.

Legend: [a, b] the range; n negatives, in descending order with ties broken at random; their positions u_(1) < u_(2) <
... on the FPR axis of the true curve are ordered draws of a uniform variable, for any distribution.

**Window.** The mean over [a, b] grows with a and with b, as the curve does. Between two negatives of given ranks i <
j the others are independent draws from the part of the curve between their positions, and the mean there is the AUC of
the positives against them: a two-sample U-statistic. The ranks are such that u_(i) <= a and u_(j) <= b for a lower
bound, >= for an upper one, each except with a binomial risk. The statistic is an average, over matchings, of means of
k = min(n_pos, j - i - 1) independent variables in [0, 1]. `mean_limits` bounds the probability of a high mean by
expectations of convex functions, so by Jensen's inequality it applies (as in Hoeffding 1963, section 5).

A tie of a positive with a negative inside counts half. At both ends the window may contain some of the tied negatives,
that is, part of a slanted segment: its mean height is at least that of the segment's start and at most half way up for
a first part, at least half way up and at most the segment's end for a last part. So ties with negative j count nothing
for a lower bound, and those with negative i count one for an upper bound. Counting so needs no random tie-breaking.

**Tail limits.** The mean is also a mean over positives: of g(v) = clip((b - v) / (b - a), 0, 1), averaged over v from
P(a negative exceeds s) to P(a negative reaches s), s the positive's score, so that a tie covers all positions equally.
Both rates lie within their `tail_limits` simultaneously at all s. g decreases, so its average decreases in both ends.
With limits in place of the rates, each positive's term has a bound that is fixed given the negatives; `mean_limits`
bounds the mean of these over positives. Only rates up to b matter, so few of the order statistics that are certainly
above b have limits: `highest_rates` and `lowest_rates`. Which ones depends on n, b and the risk.

The window does not use all rows of the larger class, which costs little if that is the negatives; the tail limits pay
for all thresholds. The window was narrower when the range held more than a third as many negatives as there were
positives, by 3 to 22 % (binormal scores, AUC 0.9, ranges [0, 0.05] and [0, 0.01], 1e3 to 1e5 negatives, 50 to 1e4
positives). For the whole curve the window is all negatives, its ends cost nothing, and it is always used: the bound is
then `headrank.bounds.fixed.auc.kl` with a sharper inequality.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from headrank._types import Counts, Vector
from headrank.bounds.inequalities.binomial import allowed_above, needed_at_least
from headrank.bounds.inequalities.bounded_mean import mean_limits
from headrank.bounds.inequalities.tail_limits import tail_limits
from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError
from headrank.measures import PartialAUC

_NEGATIVES_PER_POSITIVE = 1 / 3
"""Negatives in the range per positive from which the window is used."""
_TYPICAL_SLOPE = 0.2
"""Change of the TPR per relative change of the FPR."""
_SHARE_OF_RANKS = 0.2
"""Part of the risk spent on the positions of the window's two ends; the width hardly depends on it."""
_BEYOND = 1e-3
"""Local level, relative to the risk, at which the last order statistic with a lower limit exceeds the range."""


def mean_tpr_low(curve: RocCurve, span: PartialAUC, risk: float) -> float:
    """Return a lower bound on the mean TPR over the range that fails with probability at most ``risk``. O(n_levels)."""
    return (_window_low if _has_many_negatives(curve, span) else _limits_low)(curve, span, risk)


def mean_tpr_high(curve: RocCurve, span: PartialAUC, risk: float) -> float:
    """Return an upper bound on the mean TPR over the range, as for `mean_tpr_low`. O(n_levels)."""
    return (_window_high if _has_many_negatives(curve, span) else _limits_high)(curve, span, risk)


def _has_many_negatives(curve: RocCurve, span: PartialAUC) -> bool:
    width = span.max_fpr - span.min_fpr
    return width == 1 or width * curve.n_neg >= _NEGATIVES_PER_POSITIVE * curve.n_pos


def shares(risk: float, n_counted: int, n_ranked: int, rate: float) -> tuple[float, float]:
    """Split a risk between the class whose ranks give the rates and the class that is counted, from the counts alone.

    A bound w1 z(d1) + w2 z(d2), z about sqrt(2 ln(1/d)), is least for d1 : d2 about w1 : w2. The weights are the
    standard errors of the two steps: of a rate near 1/2, and of the relative error of the FPR times the slope of a
    typical curve.
    """
    ranked, counted = _TYPICAL_SLOPE / sqrt(max(rate * n_ranked, 1.0)), 0.5 / sqrt(n_counted)
    first = risk * ranked / (ranked + counted)
    return first, risk - first


# -- window --------------------------------------------------------------------------------------------------------


def _window_low(curve: RocCurve, span: PartialAUC, risk: float) -> float:
    n_neg = int(curve.n_neg)
    for_start, for_end, for_mean = _window_risks(span, risk)
    start = 0 if span.min_fpr == 0 else allowed_above(n_neg, span.min_fpr, for_start) + 1
    end = n_neg + 1 if span.max_fpr == 1 else allowed_above(n_neg, span.max_fpr, for_end) + 1
    size = end - start - 1
    if size < 1:
        return 0.0
    inside = _inside(curve, start, end)
    heights = (curve.tp[:-1] + curve.tp[1:]) / 2
    if end <= n_neg:
        last = int(np.searchsorted(curve.fp, end)) - 1
        heights[last] = curve.tp[last]
    return mean_limits(_mean_height(curve, inside, heights, size), min(int(curve.n_pos), size), for_mean)[0]


def _window_high(curve: RocCurve, span: PartialAUC, risk: float) -> float:
    n_neg = int(curve.n_neg)
    for_start, for_end, for_mean = _window_risks(span, risk)
    start = 0 if span.min_fpr == 0 else needed_at_least(n_neg, span.min_fpr, for_start)
    end = n_neg + 1 if span.max_fpr == 1 else needed_at_least(n_neg, span.max_fpr, for_end)
    size = end - start - 1
    if size < 1:
        return 1.0
    inside = _inside(curve, start, end)
    heights = (curve.tp[:-1] + curve.tp[1:]) / 2
    if start > 0:
        first = int(np.searchsorted(curve.fp, start)) - 1
        heights[first] = curve.tp[first + 1]
    return mean_limits(_mean_height(curve, inside, heights, size), min(int(curve.n_pos), size), for_mean)[1]


def _window_risks(span: PartialAUC, risk: float) -> tuple[float, float, float]:
    """Split a risk between both ends of the window and the mean inside; an end of the curve costs nothing."""
    ends = np.array([span.min_fpr > 0, span.max_fpr < 1])
    spent = _SHARE_OF_RANKS * risk if ends.any() else 0.0
    start, end = ends * spent / max(ends.sum(), 1)
    return float(start), float(end), risk - spent


def _inside(curve: RocCurve, start: int, end: int) -> Counts:
    """Count the negatives at each level that rank after ``start`` and before ``end``."""
    needed, reached = min(end, int(curve.n_neg)), int(curve.fp[-1])
    if reached < needed:
        raise ShallowHeadError(
            f"the bound needs the {needed:,} highest negatives, but this head has {reached:,}; use a deeper head"
        )
    return np.asarray(np.diff(np.clip(curve.fp, start, end - 1)))


def _mean_height(curve: RocCurve, inside: Counts, heights: Vector, size: int) -> float:
    return min(float(heights @ inside) / (int(curve.n_pos) * size), 1.0)


# -- tail limits ---------------------------------------------------------------------------------------------------


def _limits_low(curve: RocCurve, span: PartialAUC, risk: float) -> float:
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)
    for_neg, for_pos = shares(risk, n_pos, n_neg, span.max_fpr)
    limits = highest_rates(curve.fp, n_neg, span.max_fpr, for_neg)
    # Positives below a head are counted as 0.
    return mean_limits(mean_credit(curve, limits, span), n_pos, for_pos)[0]


def _limits_high(curve: RocCurve, span: PartialAUC, risk: float) -> float:
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)
    for_neg, for_pos = shares(risk, n_pos, n_neg, span.max_fpr)
    limits = lowest_rates(curve.fp, n_neg, span.max_fpr, for_neg)
    if not curve.complete and limits[-1] < span.max_fpr:
        raise ShallowHeadError(
            f"at the end of this head the FPR may be as low as {limits[-1]:.4g}, below max_fpr={span.max_fpr:g}; use a "
            "deeper head"
        )
    return mean_limits(mean_credit(curve, limits, span), n_pos, for_pos)[1]


def highest_rates(counts: Counts, n_neg: int, max_fpr: float, risk: float) -> Vector:
    """Return upper limits of the FPR given the negatives above each score, wide beyond ``max_fpr`` of the sample."""
    head = max(min(ceil(max_fpr * n_neg), n_neg), 1)
    return tail_limits(n_neg, risk=risk, side="upper", method="tail", head=head).upper(counts)


def lowest_rates(counts: Counts, n_neg: int, max_fpr: float, risk: float) -> Vector:
    """Return lower limits of the FPR given the negatives above each score, wide once they exceed ``max_fpr``."""
    head = min(needed_at_least(n_neg, max_fpr, risk * _BEYOND), n_neg) if max_fpr < 1 else n_neg
    return tail_limits(n_neg, risk=risk, side="lower", method="tail", head=head).lower(counts)


def mean_credit(curve: RocCurve, rates: Vector, span: PartialAUC) -> float:
    """Mean over the positives of their `credits_at`; positives below a head count 0."""
    return min(float(credits_at(rates, span) @ curve.pos) / int(curve.n_pos), 1.0)


def credits_at(rates: Vector, span: PartialAUC) -> Vector:
    """Return g for a positive at each score, averaged between the rates before and at that score, in [0, 1]."""
    start, end = rates[:-1], rates[1:]
    width = end - start
    credit = np.clip((span.max_fpr - start) / (span.max_fpr - span.min_fpr), 0.0, 1.0)
    tied = width > 0
    credit[tied] = (_area_from(start[tied], span) - _area_from(end[tied], span)) / width[tied]
    return np.asarray(np.clip(credit, 0.0, 1.0))


def _area_from(rates: Vector, span: PartialAUC) -> Vector:
    """Integral of g from each rate to 1."""
    sloping = np.clip(span.max_fpr - rates, 0.0, span.max_fpr - span.min_fpr)
    level = np.clip(span.min_fpr - rates, 0.0, None)
    return np.asarray(sloping**2 / (2 * (span.max_fpr - span.min_fpr)) + level)
