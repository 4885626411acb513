"""The bootstrap: percentile intervals for any measure, by row, cluster or query. Asymptotic."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import Any

import numpy as np

from headrank._numbers import whole
from headrank._types import ArrayLike, Vector
from headrank.bounds.asymptotic.resampling import ClusterDraws, Draws, QueryDraws, RowDraws, replicates
from headrank.bounds.confidence import Side
from headrank.bounds.interval import INDEPENDENT_ROWS, Interval
from headrank.bounds.sample_curves import SampleCurves
from headrank.curve import RocCurve
from headrank.exceptions import NoVarianceError
from headrank.labels import Sample, check_queries, check_weights
from headrank.measures import Measure

THEOREM = "percentile bootstrap, Efron 1979; no finite-sample theorem"
INDEPENDENT_CLUSTERS = "the clusters are independent draws from one distribution, and many"
INDEPENDENT_QUERIES = "the queries are independent draws from one distribution, and many"
MANY_ROWS = f"{INDEPENDENT_ROWS}; many of each, also inside the range that is measured"


def bootstrap(
    source: RocCurve | Sample,
    measure: Measure,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
    n_replicates: int = 2000,
    stratified: bool = True,
    clusters: ArrayLike | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Interval:
    """Return an asymptotic percentile interval by resampling, for every measure, with weights, clusters or queries.

    The ends are the ``floor((n_replicates + 1) risk)``-th lowest and highest value among the replicates. One
    sort, then O(rows the measure reads) per replicate.

    It guarantees nothing for small samples. If all replicates are equal (an AUC of 1) it raises an error, since the
    interval would have no width. It is too short with few positives or with few negatives inside the range (of 95 %
    intervals on 50 positives and 50 negatives, 90 % covered an AUC of 0.86 and 88 % one of 0.98; `delong`, on the logit
    scale, comes closer), and off target if replicates are biased, as those of `KS` are upwards.

    Parameters
    ----------
    source : RocCurve or Sample
        An unweighted curve, or a checked sample: with weights (a row drawn twice has twice its weight), or with queries
        (whole queries are drawn, and the measure is the mean over them).
    measure : Measure
        The measure to bound.
    confidence : float, default=0.95
        In (0, 1).
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed.
    n_replicates : int, default=2000
        At least 1 / (risk of one end): 40 for 95 %.
    stratified : bool, default=True
        Whether each replicate has as many positives and negatives as the sample, or only as many rows. The interval of
        a measure that depends on the share of positives, such as `AveragePrecision`, then leaves out the uncertainty of
        that share. Ignored for clusters and queries.
    clusters : array-like of shape (n_rows,), optional
        The cluster of each row, such as its patient: whole clusters are drawn. Requires a sample.
    random_state : int, numpy Generator or None
        Seed or source of randomness; the same seed gives the same interval for any ``n_jobs``.
    n_jobs : int, optional
        Threads; -1 for one per core.
    progress : bool, default=False
        Whether to show a progress bar.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> from headrank.measures import PartialAUC
    >>> curve = RocCurve.from_scores(*Binormal(separation=1.5).sample_classes(200, 2000, random_state=0))
    >>> interval = bootstrap(curve, PartialAUC(max_fpr=0.1), random_state=0)
    >>> 0.33 < interval.low < interval.estimate < interval.high < 0.5
    True
    """
    risk = (1 - confidence) / (2 if side == "two-sided" else 1)
    check_replicates(n_replicates, risk)
    draws, assumptions = _draws_from(source, measure, stratified, clusters)
    values = replicates(draws, n_replicates, random_state=random_state, n_jobs=n_jobs, progress=progress)[:, 0]
    require_variation(values, str(measure))
    low, high = percentiles(values, risk)
    least, greatest = measure.possible_values
    n_pos, n_neg = (source.n_pos, source.n_neg) if isinstance(source, RocCurve) else _row_counts(source)
    return Interval(
        least if side == "upper" else low,
        measure.value(source) if isinstance(source, RocCurve) else float(measure.of_sample(source)),
        greatest if side == "lower" else high,
        confidence,
        measure,
        method="bootstrap",
        theorem=THEOREM,
        assumptions=assumptions,
        n_pos=int(n_pos),
        n_neg=int(n_neg),
        side=side,
        finite_sample=False,
        n_queries=draws.values.shape[1] if isinstance(draws, QueryDraws) else None,
        standard_error=float(values.std(ddof=1)),
    )


def draws_for(
    samples: Sequence[SampleCurves], measure: Measure, *, stratified: bool = True, clusters: ArrayLike | None = None
) -> tuple[Draws, str]:
    """Return how to draw from samples with the same rows, one per scorer, and what this assumes."""
    first = samples[0].sample.require_both_classes()
    if first.queries is not None:
        if clusters is not None:
            raise ValueError("expected qid or clusters, got both; omit clusters, since whole queries are drawn")
        return QueryDraws(samples, measure), INDEPENDENT_QUERIES
    if first.grades is not None:
        raise ValueError(
            f"with grades, the bootstrap of {measure} draws whole queries, so it needs qid; rows of a single list are "
            "drawn only with two classes, such as y >= 1"
        )
    scorers = [each.levels for each in samples]
    if clusters is None:
        draws = RowDraws(scorers, first.positive, measure, weights=first.weights, stratified=stratified)
        return draws, MANY_ROWS
    codes = check_queries(clusters, "clusters")
    if codes.size != first.positive.size:
        raise ValueError(f"clusters must have one value per row: {first.positive.size} rows, {codes.size} values")
    return ClusterDraws(scorers, first.positive, codes, measure, weights=first.weights), INDEPENDENT_CLUSTERS


def present_rows(clusters: ArrayLike | None, sample_weight: ArrayLike | None) -> ArrayLike | None:
    """Omit the clusters of rows of weight 0, which `check_binary` drops."""
    if clusters is None or sample_weight is None:
        return clusters
    codes, weights = check_queries(clusters, "clusters"), check_weights(sample_weight)
    if codes.size != weights.size:
        raise ValueError(f"clusters must have one value per row: {weights.size} rows, {codes.size} values")
    return codes[weights > 0]


def check_replicates(n_replicates: int, risk: float) -> None:
    """Raise if there are too few replicates to have one beyond each end of the interval."""
    needed = ceil(1 / risk) - 1
    if whole("n_replicates", n_replicates, at_least=1) < needed:
        raise ValueError(
            f"n_replicates={n_replicates} is too few for an end that fails with probability {risk:.3g}; use at least "
            f"{needed:,}, or a finite-sample method"
        )


def percentiles(values: Vector, risk: float) -> tuple[float, float]:
    """Return both ends of the percentile interval: the order statistics with ``risk`` beyond them on each side."""
    rank = floor((values.size + 1) * risk * (1 + 1e-12))
    rank = min(max(rank, 1), (values.size + 1) // 2)
    ordered = np.sort(values)
    return float(ordered[rank - 1]), float(ordered[-rank])


def require_variation(values: Vector, what: str) -> None:
    """Raise if all replicates are equal."""
    if np.ptp(values) == 0:
        raise NoVarianceError(
            f"all {values.size:,} replicates of {what} are {values[0]:g}: the bootstrap sees no uncertainty here, "
            "although there may be some; use a finite-sample method (method='auto')"
        )


def _draws_from(
    source: RocCurve | Sample, measure: Measure, stratified: bool, clusters: ArrayLike | None
) -> tuple[Draws, str]:
    if isinstance(source, Sample):
        return draws_for([SampleCurves(source)], measure, stratified=stratified, clusters=clusters)
    source.require_both_classes()
    if source.weighted or clusters is not None:
        raise ValueError(
            "a curve does not keep the weight or cluster of each row; pass the sample to the bootstrap instead of its "
            "curve"
        )
    return RowDraws.of_curve(source, measure, stratified=stratified), MANY_ROWS


def _row_counts(sample: Sample) -> tuple[int, int]:
    n_pos = int(np.count_nonzero(sample.positive))
    return n_pos, sample.positive.size - n_pos
