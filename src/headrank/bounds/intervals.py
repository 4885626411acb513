"""interval: the confidence interval of a measure, and the choice of its method."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from math import ceil, sqrt
from typing import Any

from headrank._numbers import inner_rate, option
from headrank._types import ArrayLike
from headrank.bounds.asymptotic.bootstrap import bootstrap, present_rows
from headrank.bounds.asymptotic.delong import delong
from headrank.bounds.band.from_band import from_band
from headrank.bounds.confidence import Side, check_confidence, check_side
from headrank.bounds.fixed import auc
from headrank.bounds.fixed.at_fraction import at_fraction
from headrank.bounds.fixed.betting import betting, betting_pays
from headrank.bounds.fixed.fixed_range import at_point, fixed_range, over_queries
from headrank.bounds.interval import Interval, require_counts
from headrank.bounds.sample_curves import SampleCurves
from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError
from headrank.labels import Sample, with_labels
from headrank.levels import Depth
from headrank.measures import AUC, FPRAtTPR, Measure, PrecisionAt, TPRAtFPR
from headrank.measures import measure as measure_of
from headrank.measures.area import AreaMeasure

OF_THE_AUC: dict[str, Callable[..., Interval]] = {
    "mcdiarmid": auc.mcdiarmid,
    "hoeffding": auc.hoeffding,
    "kl": auc.kl,
    "bernstein": auc.bernstein,
}
OF_A_MEASURE: dict[str, Callable[..., Interval]] = {
    "at_point": at_point,
    "at_fraction": at_fraction,
    "fixed_range": fixed_range,
    "betting": betting,
    "delong": delong,
    "delong_plain": partial(delong, scale="plain"),
}
BANDS = ("tail", "dkw")
_MORE = 8.0
"""Standard deviations beyond the end of the range at which a head is cut for an interval."""
METHODS = ("auto", *OF_THE_AUC, *OF_A_MEASURE, *BANDS, "bootstrap")


def check_method(method: Any) -> str:
    """Return the name of a method of `interval`, or raise."""
    return option("method", method, METHODS)


@singledispatch
def tightest(_measure: Measure, n_pos: float, n_neg: float) -> str:  # noqa: ARG001 - for those that register
    """Return the finite-sample method that is expected to be tightest for a measure on this many rows.

    It depends on the measure and the counts alone: choosing after seeing the scores would invalidate the guarantee.

    >>> from headrank.measures import PartialAUC
    >>> tightest(AUC(), 500, 9500), tightest(AUC(), 500, 500), tightest(TPRAtFPR(0.01), 500, 9500)
    ('betting', 'fixed_range', 'at_point')
    """
    return "tail"


@tightest.register
def _(measure: AreaMeasure, n_pos: float, n_neg: float) -> str:
    return "betting" if betting_pays(*measure.fpr_range, int(n_pos), int(n_neg)) else "fixed_range"


@tightest.register(TPRAtFPR)
@tightest.register(FPRAtTPR)
def _(_measure: Any, _n_pos: float, _n_neg: float) -> str:
    return "at_point"


@tightest.register(PrecisionAt)
def _(_measure: Any, _n_pos: float, _n_neg: float) -> str:
    return "at_fraction"


def interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    measure: str | Measure = "auc",
    confidence: float = 0.95,
    method: str = "auto",
    side: Side = "two-sided",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    pos_label: Any = None,
    missing: str = "refuse",
    positive_rate: float | None = None,
    n_replicates: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Interval:
    """Compute a confidence interval for a measure, from rows the scorer was not trained on.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive.
    measure : str or Measure, default="auc"
        Any measure.
    confidence : float, default=0.95
        The probability, in (0, 1), that the interval contains the true value.
    method : str, default="auto"
        ``"auto"`` takes the method expected to be tightest among those that hold for any distribution and sample size:
        ``"betting"`` for the AUC and for partial AUCs from FPR 0 on if there are enough rows, else ``"fixed_range"``;
        ``"at_point"`` for a rate at a rate, ``"at_fraction"`` for the precision of the first rows (unless
        ``positive_rate`` is given), ``"tail"`` (a band for the whole curve) for other measures, and a bound over
        queries if ``qid`` is given. The choice depends on the measure and the counts alone. Others:
        ``"mcdiarmid"``, ``"hoeffding"``, ``"kl"``, ``"bernstein"`` (AUC), ``"dkw"`` (all). Asymptotic, so possibly too
        narrow on small samples: ``"delong"`` (areas; ``"delong_plain"`` is the form ``A +- z s`` of most software,
        which covers less often near 1), ``"bootstrap"`` (all).
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed. A one-sided end is closer, except for measures of the best fraction.
    sample_weight, qid : array-like of shape (n,), optional
        As for a measure. Weights require the bootstrap; with queries, the queries are the independent draws.
    clusters : array-like of shape (n,), optional
        The cluster of each row; requires the bootstrap.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.
    positive_rate : float, optional
        The share of positives in the population, if known, for measures that depend on it. The estimate remains that
        of the sample.
    n_replicates, random_state, n_jobs, progress
        For the bootstrap.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0).sample_classes(500, 5000, random_state=0)
    >>> print(interval(y, scores, measure="pauc@0.05"))  # the truth is 0.4961
    pauc@0.05 is 0.4628 on 500 positives and 5,000 negatives; the truth is between 0.3571 and 0.5576 with 95 %
    confidence (fixed_range: any distribution, any sample size)
    """
    what, confidence, side = measure_of(measure), check_confidence(confidence), check_side(side)
    check_method(method)
    if positive_rate is not None:
        inner_rate("positive_rate", positive_rate)
    if clusters is not None and method != "bootstrap":
        raise ValueError(
            f"method={method!r} assumes independent rows, and rows of one cluster are not; use method='bootstrap'"
        )
    y, scores, sample_weight, qid, clusters = with_labels(missing, y, scores, sample_weight, qid, clusters)
    sample = what.check(y, scores, sample_weight, qid=qid, pos_label=pos_label)
    if method == "bootstrap":
        return bootstrap(
            sample,
            what,
            confidence=confidence,
            side=side,
            clusters=present_rows(clusters, sample_weight),
            n_replicates=n_replicates,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
    options: dict[str, Any] = {"confidence": confidence, "side": side, "method": method, "positive_rate": positive_rate}
    depth = _depth_read(sample, what, method)
    if depth is not None:
        try:
            return interval_of(RocCurve.of_sample(sample.require_both_classes(), depth), what, **options)
        except ShallowHeadError:  # the bound reads deeper than expected
            pass
    return interval_of_curves(SampleCurves(sample), what, **options)


def _depth_read(sample: Sample, measure: Measure, method: str) -> Depth | None:
    """Return the depth of a head that almost always suffices for the interval; None if it reads the whole curve.

    Bounds of one range or point read a few standard deviations beyond its end. Finding the head takes O(n), and only
    the head is sorted.
    """
    name = tightest(measure, sample.n_pos, sample.n_neg) if method == "auto" else method
    if (
        name not in ("betting", "fixed_range", "at_point", "at_fraction")
        or sample.weights is not None
        or sample.queries is not None
    ):
        return None
    needed = measure.depth(int(sample.n_pos), int(sample.n_neg))
    if needed is None:
        return None
    return Depth(*(ceil(k + _MORE * sqrt(k) + 50) if k else 0 for k in (needed.n_neg, needed.n_pos, needed.n_rows)))


def interval_of_curves(
    curves: SampleCurves,
    measure: Measure,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
    method: str = "auto",
    positive_rate: float | None = None,
) -> Interval:
    """Return the interval from the curves of a checked sample; over queries if it has them."""
    sample = curves.sample
    if sample.queries is None:
        return interval_of(
            curves.whole, measure, confidence=confidence, side=side, method=method, positive_rate=positive_rate
        )
    if method != "auto":
        raise ValueError(f"with qid, method must be 'auto' or 'bootstrap' (asymptotic), got {method!r}")
    if sample.weights is not None:
        require_counts(RocCurve.of_sample(sample), "a bound over queries")
    return over_queries(
        curves.values(measure),
        measure,
        n_pos=int(sample.n_pos),
        n_neg=int(sample.n_neg),
        confidence=confidence,
        side=side,
    )


def interval_of(
    curve: RocCurve,
    measure: Measure,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
    method: str = "auto",
    positive_rate: float | None = None,
) -> Interval:
    """Return the interval from a curve; see `interval`. The arguments are not checked again."""
    name = tightest(measure, curve.n_pos, curve.n_neg) if method == "auto" else method
    if name == "at_fraction" and positive_rate is not None:
        if method != "auto":
            raise ValueError(
                "method='at_fraction' counts positives among random rows, so it takes no positive_rate; omit it, or "
                "use method='auto'"
            )
        name = "tail"
    if name in OF_THE_AUC:
        if not isinstance(measure, AUC):
            raise ValueError(f"method={name!r} is a bound for the AUC only, not for {measure}; use method='auto'")
        return OF_THE_AUC[name](curve, confidence=confidence, side=side)
    if name in OF_A_MEASURE:
        return OF_A_MEASURE[name](curve, measure, confidence=confidence, side=side)
    if name == "bootstrap":
        return bootstrap(curve, measure, confidence=confidence, side=side)
    return from_band(
        curve,
        measure,
        confidence=confidence,
        side=side,
        method="dkw" if name == "dkw" else "tail",
        positive_rate=positive_rate,
    )
