"""Is a scorer better on one sample than on another? Two independent samples, such as two hospitals or two years."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any, Literal, get_args

import numpy as np

from headrank._numbers import generator, option
from headrank._types import ArrayLike
from headrank.bounds.asymptotic import bootstrap, delong
from headrank.bounds.asymptotic.bootstrap import check_replicates
from headrank.bounds.asymptotic.resampling import replicates
from headrank.bounds.comparison.difference import Difference, check_names, difference_of, one_end
from headrank.bounds.comparison.evidence import (
    Evidence,
    bootstrap_evidence,
    normal_evidence,
    separate,
    widest,
)
from headrank.bounds.confidence import Side, check_confidence, check_side
from headrank.bounds.sample_curves import SampleCurves
from headrank.exceptions import NoVarianceError
from headrank.labels import check_binary, with_labels
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.measures.area import AreaMeasure

_MOST_ROWS = 20_000
"""Rows of both samples up to which areas are bounded by the narrowest method, and not by the fastest."""
Method = Literal["auto", "separate", "delong", "bootstrap", "bootstrap_normal"]


def compare_samples(
    y1: ArrayLike,
    scores1: ArrayLike,
    y2: ArrayLike,
    scores2: ArrayLike,
    *,
    measure: str | Measure = "auc",
    confidence: float = 0.95,
    method: Method = "auto",
    side: Side = "two-sided",
    names: tuple[str, str] = ("first", "second"),
    pos_label: Any = None,
    missing: str = "refuse",
    n_replicates: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Difference:
    """Compare a measure on two independent samples: bound the difference of the true values and test whether it is 0.

    The scorers may be the same or different; the rows are not. For two scorers on the same rows use `compare`, which is
    far sharper. The methods are:

    - ``"auto"``: ``"separate"``, and for areas with the asymptotic answer of ``"delong"`` beside it.
    - ``"separate"``: holds for any distribution and sample size. One interval per sample, each at half the risk
      (union bound): that of `interval`, or for areas of more than 20,000 rows ``"fixed_range"``, which is faster, since
      a p-value takes up to 100 intervals.
    - ``"delong"``: asymptotic, for areas. The variances of both samples add up; the difference over its standard error
      has Student's t distribution, with the degrees of freedom of Welch (1947) from the rows of each sample. O(n log
      n).
    - ``"bootstrap"``: asymptotic, for every measure. Each sample is resampled by itself, each class by itself, so the
      shares of positives are taken as known; percentiles of the difference.
    - ``"bootstrap_normal"``: the same, with the difference over its bootstrap standard error taken as normal.

    Parameters
    ----------
    y1, scores1 : array-like of shape (n1,)
        Labels and scores of the first sample, of rows that no scorer was trained on.
    y2, scores2 : array-like of shape (n2,)
        Those of the second.
    measure : str or Measure, default="auc"
        The measure to compare.
    confidence : float, default=0.95
        In (0, 1).
    method : {"auto", "separate", "delong", "bootstrap", "bootstrap_normal"}, default="auto"
        See above.
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed; the p-value tests the same side.
    names : pair of str
        The names of the samples.
    pos_label : optional
        The label of the positive class in ``y1`` and ``y2``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.
    n_replicates, random_state, n_jobs
        For the bootstrap.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> here = Binormal(separation=2.0).sample_classes(300, 900, random_state=0)
    >>> there = Binormal(separation=1.2).sample_classes(200, 800, random_state=1)
    >>> print(compare_samples(*here, *there, names=("here", "there")))
    here is better than there by 0.1161 on 300 positives and 900 negatives against 200 positives and 800 negatives (auc
    0.9252 for here, 0.8091 for there); the true difference here - there lies between 0.01332 and 0.2114 with 95 %
    confidence (separate: any distribution, any sample size), so they can be told apart (p = 0.02); asymptotically
    (delong, for large samples) it lies between 0.07922 and 0.1529, so they can be told apart (p = 8.2e-10)
    """
    what, side, confidence = measure_of(measure), check_side(side), check_confidence(confidence)
    option("method", method, get_args(Method))
    names = check_names(names)
    first, second = (
        SampleCurves(check_binary(y, scores, pos_label=pos_label).require_both_classes())
        for y, scores in (with_labels(missing, y1, scores1), with_labels(missing, y2, scores2))
    )
    pair = (first, second)
    if method in ("bootstrap", "bootstrap_normal"):
        check_replicates(n_replicates, one_end(1 - confidence, side))
        evidence = _bootstrap(pair, what, n_replicates, random_state, n_jobs, normal=method == "bootstrap_normal")
    elif method == "delong":
        evidence = _delong(pair, what)
    else:
        n_rows = sum(each.sample.positive.size for each in pair)
        (evidence,) = separate(pair, [(0, 1)], what, fast=n_rows > _MOST_ROWS)
    found = _difference(evidence, what, names, pair, confidence, side)
    if method != "auto" or not isinstance(what, AreaMeasure):
        return found
    try:
        return replace(found, asymptotic=_difference(_delong(pair, what), what, names, pair, confidence, side))
    except NoVarianceError:
        return found


def _difference(
    evidence: Evidence,
    measure: Measure,
    names: tuple[str, str],
    pair: tuple[SampleCurves, SampleCurves],
    confidence: float,
    side: Side,
) -> Difference:
    found = difference_of(evidence, measure, names, pair[0].sample, confidence, side)
    first, second = ((int(each.sample.n_pos), int(each.sample.n_neg)) for each in pair)
    return replace(found, n_pos=first[0] + second[0], n_neg=first[1] + second[1], counts=(first, second))


def _delong(pair: tuple[SampleCurves, SampleCurves], measure: Measure) -> Evidence:
    """Return the evidence of DeLong's variances: Student's t with Welch's degrees of freedom."""
    region, scale = delong.area_of(measure).as_partial_auc, widest(measure)
    curves = [each.whole for each in pair]
    first, second = ((scale * delong.standard_error(curve, region)) ** 2 for curve in curves)
    if first == 0 or second == 0:
        raise NoVarianceError(
            f"DeLong's method estimates the variance of {measure} on one of the samples as 0: it sees no uncertainty "
            "there, although there may be some; use method='auto'"
        )
    degrees = (first + second) ** 2 / (first**2 / (curves[0].n - 1) + second**2 / (curves[1].n - 1))
    return normal_evidence(
        (measure.value(curves[0]), measure.value(curves[1])),
        ((first, 0.0), (0.0, second)),
        "delong",
        f"{delong.THEOREM[region == type(region)()]}; two samples, Student's t with the degrees of Welch 1947",
        delong.ASSUMPTIONS,
        error=sqrt(first + second),
        degrees=degrees,
    )


def _bootstrap(
    pair: tuple[SampleCurves, SampleCurves],
    measure: Measure,
    n_replicates: int,
    random_state: Any,
    n_jobs: int | None,
    *,
    normal: bool,
) -> Evidence:
    streams = generator(random_state).spawn(2)
    drawn = [
        replicates(bootstrap.draws_for([each], measure)[0], n_replicates, random_state=stream, n_jobs=n_jobs)[:, 0]
        for each, stream in zip(pair, streams, strict=True)
    ]
    values = (measure.value(pair[0].whole), measure.value(pair[1].whole))
    theorem = f"two samples, each by itself; {bootstrap.THEOREM}"
    return bootstrap_evidence(values, np.column_stack(drawn), measure, theorem, bootstrap.MANY_ROWS, normal=normal)
