"""interval: the confidence interval of a measure, and the choice of its method."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
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
from headrank.bounds.interval import Interval, about_heads, require_counts, require_only_curve
from headrank.bounds.sample_curves import SampleCurves
from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError
from headrank.labels import with_labels
from headrank.levels import Depth
from headrank.measures import AUC, FPRAtTPR, Measure, PrecisionAt, TPRAtFPR
from headrank.measures import measure as measure_of
from headrank.measures.area import AreaMeasure
from headrank.rows import Blocks
from headrank.score_blocks import ScoreBlocks, gathered, given_blocks, labels_of

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
    y: ArrayLike | Blocks | RocCurve,
    scores: ArrayLike | None = None,
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
    y : array-like of shape (n,), Blocks or RocCurve
        0/1, -1/+1, bool, or any two values with ``pos_label``. `Blocks` have labels and scores, as their only feature:
        a bound of one range or point reads the head only, merged from those of the blocks, and a band the whole curve;
        with queries and for the bootstrap, scores are gathered, 8 bytes per row. A curve may be a head, such as
        `block_curve` makes with ``measure=``, if the bound reads no further.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive. Not with Blocks or a curve.
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
    >>> import headrank as hr
    >>> blocks = hr.Blocks.from_arrays([scores[:3000, None], scores[3000:, None]], [y[:3000], y[3000:]])
    >>> interval(blocks, measure="pauc@0.05").where
    'between 0.3571 and 0.5576'
    """
    what, confidence, side = measure_of(measure), check_confidence(confidence), check_side(side)
    check_method(method)
    if positive_rate is not None:
        inner_rate("positive_rate", positive_rate)
    if clusters is not None and method != "bootstrap":
        raise ValueError(
            f"method={method!r} assumes independent rows, and rows of one cluster are not; use method='bootstrap'"
        )
    by_bootstrap: dict[str, Any] = {
        "confidence": confidence,
        "side": side,
        "n_replicates": n_replicates,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    options: dict[str, Any] = {"confidence": confidence, "side": side, "method": method, "positive_rate": positive_rate}
    if isinstance(y, RocCurve):
        of_rows = {"scores": scores, "sample_weight": sample_weight, "qid": qid, "clusters": clusters}
        require_only_curve("interval", **of_rows, pos_label=pos_label)
        with about_heads():
            return bootstrap(y, what, **by_bootstrap) if method == "bootstrap" else interval_of(y, what, **options)
    blocks = given_blocks(y, scores, what="interval", missing=missing, sample_weight=sample_weight, qid=qid)
    if blocks is not None:
        if method != "bootstrap" and not labels_of(blocks).queried:
            rows = ScoreBlocks.of(blocks, pos_label)
            return _interval_from(rows.curve, rows.n_pos, rows.n_neg, what, options)
        y, scores, sample_weight, qid = gathered(blocks)
    y, scores, sample_weight, qid, clusters = with_labels(missing, y, scores, sample_weight, qid, clusters)
    sample = what.check(y, scores, sample_weight, qid=qid, pos_label=pos_label)
    if method == "bootstrap":
        return bootstrap(sample, what, clusters=present_rows(clusters, sample_weight), **by_bootstrap)
    if sample.weights is None and sample.queries is None:
        sample = sample.require_both_classes()
        return _interval_from(partial(RocCurve.of_sample, sample), int(sample.n_pos), int(sample.n_neg), what, options)
    return interval_of_curves(SampleCurves(sample), what, **options)


def _interval_from(
    curve_to: Callable[[Depth | None], RocCurve], n_pos: int, n_neg: int, measure: Measure, options: dict[str, Any]
) -> Interval:
    """Return the interval from the head that it almost always reads, or else from the whole curve.

    Finding the head takes O(n), and only the head is sorted.
    """
    name = _method_named(options["method"], measure, n_pos, n_neg, options["positive_rate"])
    depth = measure.depth(n_pos, n_neg) if name in OF_A_MEASURE else None
    if depth is not None:
        try:
            return interval_of(curve_to(depth.deeper()), measure, **options)
        except ShallowHeadError:  # the bound reads deeper than expected
            pass
    return interval_of(curve_to(None), measure, **options)


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
    name = _method_named(method, measure, curve.n_pos, curve.n_neg, positive_rate)
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


def _method_named(method: str, measure: Measure, n_pos: float, n_neg: float, positive_rate: float | None) -> str:
    """Return the name of the method itself instead of "auto"."""
    name = tightest(measure, n_pos, n_neg) if method == "auto" else method
    if name != "at_fraction" or positive_rate is None:
        return name
    if method != "auto":
        raise ValueError(
            "method='at_fraction' counts positives among random rows, so it takes no positive_rate; omit it, or use "
            "method='auto'"
        )
    return "tail"
