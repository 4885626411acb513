"""DeLong's interval for areas under the ROC curve, whole or partial. Asymptotic: it holds for large samples.

An area is a function of two empirical distributions. To first order each row contributes its *component*, so the
variance of the area is that of the components' means. For the whole area the components are the placements of DeLong,
DeLong & Clarke-Pearson (1988). For a partial one (Wieand et al. 1989; He & Escobar 2008) the cut at an empirical
quantile of the negatives varies as well, which the negatives' components include.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, log1p, sqrt
from typing import Literal

import numpy as np

from headrank._types import Counts, Vector
from headrank.bounds.confidence import Side
from headrank.bounds.interval import INDEPENDENT_ROWS, Interval, require_counts
from headrank.curve import RocCurve, share
from headrank.exceptions import NoVarianceError
from headrank.measures import AUC, Measure, PartialAUC
from headrank.measures.area import AreaMeasure

THEOREM = {
    True: "DeLong, DeLong & Clarke-Pearson 1988",
    False: "first-order variance of a partial area (Wieand et al. 1989, He & Escobar 2008)",
}
Scale = Literal["logit", "plain"]
"""On which the area is taken to be normal."""
ASSUMPTIONS = f"{INDEPENDENT_ROWS}; many of each, also inside the range and among the misplaced"


@dataclass(frozen=True, eq=False)
class Components:
    """The first-order contribution to an area of a row at each level of a curve; rows below a head contribute 0.

    Attributes
    ----------
    pos : array of shape (n_levels,)
        A positive's component: its own mean height in the range. Their mean is the mean TPR over the range.
    neg : array of shape (n_levels,)
        A negative's component, up to a constant that does not affect the variance.
    """

    pos: Vector
    neg: Vector


def components_of(curve: RocCurve, region: PartialAUC) -> Components:
    """Return the components of the mean TPR over a range of false positive rates. O(n_levels).

    With [a, b] the range, f the false positive rate at a positive's score and credit(f) = clip((b - f)/(b - a), 0, 1),
    a positive's component is credit(f), averaged over its level if negatives tie with it. A negative's is the
    derivative of the positives' mean credit in the weight of that negative: for the whole area the TPR at its score,
    ties half; for a partial one the TPR at its score moved into the range, over b - a.

    >>> curve = RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1])
    >>> components_of(curve, PartialAUC()).pos
    array([1.  , 0.75, 0.5 , 0.25])
    """
    left, right = share(region.min_fpr, curve.n_neg), share(region.max_fpr, curve.n_neg)
    width = right - left
    start, end = curve.fp[:-1], curve.fp[1:]
    if left == 0 and right == curve.n_neg:  # a shortcut: the general case gives the same result three times slower
        tpr = curve.tp / curve.n_pos
        return Components((right - (start + end) / 2) / right, (tpr[:-1] + tpr[1:]) / 2)
    inside_start, inside_end = np.clip(start, left, right), np.clip(end, left, right)
    credit_start, credit_end = (right - inside_start) / width, (right - inside_end) / width
    tied = curve.neg > 0
    rows = np.where(tied, curve.neg, 1)
    total = np.minimum(end, left) - np.minimum(start, left)
    total += (inside_end - inside_start) * (credit_start + credit_end) / 2
    pos = np.where(tied, total / rows, credit_start)
    # At a level without negatives the credit depends on those above alone, and falls with their share inside [a, b).
    slope = np.where((start >= left) & (start < right), -1 / width, 0.0)
    by_end = np.where(tied, (credit_end - pos) / rows, slope) * curve.pos
    by_start = np.where(tied, (pos - credit_start) / rows, 0.0) * curve.pos
    neg = (_suffix_sums(by_end)[:-1] + _suffix_sums(by_start)[1:]) * (curve.n_neg / curve.n_pos)
    return Components(pos, neg)


def standard_error(curve: RocCurve, of: Measure | None = None) -> float:
    """Return the standard error of an area, or 0 if it cannot be estimated. O(n_levels).

    >>> round(standard_error(RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1])), 6)
    0.353553
    """
    measure = area_of(AUC() if of is None else of)
    region = measure.as_partial_auc
    curve = curve.head(n_neg=share(region.max_fpr, curve.n_neg))  # rows below contribute 0
    area, components = region.value(curve), components_of(curve, region)
    if min(curve.n_pos, curve.n_neg) < 2:
        return 0.0
    pos = float(curve.pos @ (components.pos - area) ** 2) + (curve.n_pos - float(curve.tp[-1])) * area**2
    mean = float(curve.neg @ components.neg) / curve.n_neg
    neg = float(curve.neg @ (components.neg - mean) ** 2) + (curve.n_neg - float(curve.fp[-1])) * mean**2
    pos, neg = pos / (curve.n_pos * (curve.n_pos - 1)), neg / (curve.n_neg * (curve.n_neg - 1))
    least, greatest = measure.possible_values
    return (greatest - least) * sqrt(pos + neg)


def delong(
    curve: RocCurve,
    measure: Measure | None = None,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
    scale: Scale = "logit",
) -> Interval:
    """Return DeLong's asymptotic interval for the AUC, or its analogue for partial areas. O(n_levels).

    With A the mean TPR over the range and ``s^2 = var(positives' components)/n_pos + var(negatives')/n_neg``, the
    interval is normal on the logit scale, ``logit(A) +- z s/(A (1 - A))``, transformed back; it never leaves [0, 1]. On
    the plain scale it is ``A +- z s``, cut off at 0 and 1, as most software has it; it covers less often near 1: with a
    true AUC of 0.98, 50 positives and 50 negatives, 93.2 % of the logit intervals at 95 % covered, 85.3 % of the
    plain ones.

    It guarantees nothing for small samples: with 10 positives, 990 negatives and the same AUC, 79 % covered. If the
    estimated variance is 0 or cannot be estimated (an area of 0 or 1, a class of one row) it raises an error; use a
    finite-sample method there.

    Parameters
    ----------
    curve : RocCurve
        Unweighted; for a partial area a head that reaches ``max_fpr`` suffices.
    measure : AUC, PartialAUC, StandardizedPartialAUC or FROCArea, default=AUC()
        The area to bound.
    confidence : float, default=0.95
        In (0, 1).
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed.
    scale : {"logit", "plain"}, default="logit"
        Where the area is taken to be normal; in `headrank.interval`, ``method="delong_plain"`` is the plain scale.

    Examples
    --------
    >>> curve = RocCurve.from_scores([1, 1, 0, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> print(delong(curve))
    auc is 0.8125 on 4 positives and 4 negatives; the truth is between 0.3293 and 0.9746 with 95 % confidence
    (delong: asymptotic, for large samples)
    """
    from scipy.special import ndtri

    area_measure = area_of(AUC() if measure is None else measure)
    region = area_measure.as_partial_auc
    require_counts(curve, "delong")
    area = region.value(curve)
    error = standard_error(curve, region)
    if not (error > 0 and 0 < area < 1):
        raise NoVarianceError(
            f"DeLong's method estimates the variance of {area_measure} as 0 on this sample, where it is {area:g}: it "
            "sees no uncertainty here, although there may be some; use a finite-sample method (method='auto')"
        )
    # z from the risk, not from the confidence: 1 - 1e-17 is 1.
    risk = (1 - confidence) / (2 if side == "two-sided" else 1)
    reach = -float(ndtri(risk)) * error
    if scale == "plain":
        low, high = max(area - reach, 0.0), min(area + reach, 1.0)
    else:
        logit, reach = log(area) - log1p(-area), reach / (area * (1 - area))
        low, high = _expit(logit - reach), _expit(logit + reach)
    low = 0.0 if side == "upper" else min(low, area)
    high = 1.0 if side == "lower" else max(high, area)
    least, greatest = area_measure.possible_values
    whole = (region.min_fpr, region.max_fpr) == (0.0, 1.0)
    return Interval(
        area_measure.from_mean_tpr(low),
        area_measure.value(curve),
        area_measure.from_mean_tpr(high),
        confidence,
        area_measure,
        method="delong" if scale == "logit" else "delong_plain",
        theorem=f"{THEOREM[whole]}; normal on the {scale} scale",
        assumptions=ASSUMPTIONS,
        n_pos=int(curve.n_pos),
        n_neg=int(curve.n_neg),
        side=side,
        finite_sample=False,
        standard_error=(greatest - least) * error,
    )


def area_of(measure: Measure) -> AreaMeasure:
    """Return the measure if it is an area over a range of false positive rates, or raise."""
    if isinstance(measure, AreaMeasure):
        return measure
    raise ValueError(
        f"DeLong's method is for areas over a range of FPR (auc, pauc, spauc, froc), not for {measure}; use "
        "method='bootstrap', which is asymptotic as well, or 'auto'"
    )


def _suffix_sums(values: Counts) -> Vector:
    """Return the sum from each position to the end; one longer than the input, with a final 0."""
    result = np.zeros(values.size + 1)
    np.cumsum(values[::-1], out=result[1:])
    return result[::-1]


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
