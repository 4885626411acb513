"""Bounds on the difference of two scorers on the same rows, by each method.

Evidence is a lower and an upper bound, each a function of its risk. Intervals and p-values follow from these two
functions alone (`headrank.bounds.comparison.difference`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf, sqrt
from typing import Any, Literal

import numpy as np

from headrank._types import ArrayLike, Vector
from headrank.bounds.asymptotic import bootstrap, delong
from headrank.bounds.asymptotic.resampling import QueryDraws, replicates
from headrank.bounds.comparison.paired_betting import least_mean, least_paired_difference
from headrank.bounds.comparison.paired_pairs import disagreement, least_difference
from headrank.bounds.confidence import Side
from headrank.bounds.fixed.range_mean import credits_at, highest_rates, lowest_rates, shares
from headrank.bounds.interval import INDEPENDENT_ROWS, require_counts
from headrank.bounds.intervals import interval_of
from headrank.bounds.sample_curves import SampleCurves
from headrank.curve import RocCurve
from headrank.exceptions import NoVarianceError
from headrank.measures import AUC, Measure
from headrank.measures.area import AreaMeasure

Method = Literal["auto", "betting", "paired", "separate", "delong", "bootstrap", "bootstrap_normal"]
Covariance = tuple[tuple[float, float], tuple[float, float]]
"""Variances of the two values, and their covariance."""
Bounds = tuple[Callable[[float], float], Callable[[float], float]]
"""A lower and an upper bound, each a function of its risk."""
Pair = tuple[int, int]
"""Indices of two scorers; the difference is first minus second."""


_FEWEST_POSITIVES = 50
"""Positives from which betting pays."""
_NEGATIVES_PER_POSITIVE = 4
"""Negatives per positive from which betting pays for the AUC."""


@dataclass(frozen=True)
class Resampling:
    """Options of the bootstrap; see `headrank.bounds.asymptotic.bootstrap.bootstrap`."""

    n_replicates: int = 2000
    clusters: ArrayLike | None = None
    random_state: Any = None
    n_jobs: int | None = None
    progress: bool = False


@dataclass(frozen=True, eq=False)
class Evidence:
    """Bounds for one difference as functions of their risk, with method, theorem and assumptions."""

    values: tuple[float, float]
    lower: Callable[[float], float]
    upper: Callable[[float], float]
    method: str
    theorem: str
    assumptions: str
    finite_sample: bool = True
    search_steps: int = 40
    """Evaluations of a bound in the search for the p-value: 40 give eight digits, 12 give two."""
    smallest_risk: float = 1e-300
    """The risk below which the bounds are not evaluated, as they would lose their digits."""
    monotone: bool = True
    """Whether a larger risk never widens a bound."""
    p_values: tuple[float, float] | None = None
    """The risks at which the lower and the upper bound are 0, if known in closed form."""
    covariance: Covariance | None = None
    """Of the two values, if estimated."""


def evidence_for(
    samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure, method: Method, resampling: Resampling
) -> list[Evidence]:
    """Return the evidence for each pair of scorers; there is one sample per scorer, all with the same rows."""
    if method in ("bootstrap", "bootstrap_normal"):
        return _bootstrap(samples, pairs, measure, resampling, normal=method == "bootstrap_normal")
    if resampling.clusters is not None:
        raise ValueError(
            f"method={method!r} assumes independent rows, and rows of one cluster are not; use method='bootstrap'"
        )
    rows = samples[0].sample
    if rows.weights is not None:
        require_counts(RocCurve.of_sample(rows), f"method={method!r}")
    if rows.queries is not None:
        return _paired_by_query(samples, pairs, measure, method)
    rows.require_both_classes()
    if method == "delong":
        return _delong(samples, pairs, measure)
    if method == "betting" or (method == "auto" and _betting_pays(measure, int(rows.n_pos), int(rows.n_neg))):
        return _betting(samples, pairs, measure)
    if method == "paired" or (method == "auto" and isinstance(measure, AUC)):
        return _paired(samples, pairs, measure)
    return separate(samples, pairs, measure)


def widest(measure: Measure) -> float:
    """Return the largest possible difference of two values of a measure."""
    least, greatest = measure.possible_values
    return greatest - least


def _betting_pays(measure: Measure, n_pos: int, n_neg: int) -> bool:
    """Return whether betting is expected to be narrowest, from the measure and the counts alone (simulation)."""
    few_negatives = isinstance(measure, AUC) and n_neg < _NEGATIVES_PER_POSITIVE * n_pos
    return isinstance(measure, AreaMeasure) and n_pos >= _FEWEST_POSITIVES and not few_negatives


def _betting(samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure) -> list[Evidence]:
    if not isinstance(measure, AreaMeasure):
        raise ValueError(f"method='betting' is for areas, not for {measure}; use method='auto'")
    curves = [each.whole for each in samples]
    whole = measure.fpr_range == (0.0, 1.0)
    values = [measure.value(curve) for curve in curves]
    scale = widest(measure)
    found = []
    for i, j in pairs:
        lower = (_paired_auc if whole else _paired_credits)(samples[i], samples[j], measure)
        upper = (_paired_auc if whole else _paired_credits)(samples[j], samples[i], measure)
        found.append(
            Evidence(
                (values[i], values[j]),
                lambda risk, lower=lower: scale * lower(risk),  # type: ignore[misc]
                lambda risk, upper=upper: -scale * upper(risk),  # type: ignore[misc]
                "betting",
                "betting on the difference of each positive (Waudby-Smith & Ramdas 2024), with "
                + ("Chernoff's bound" if whole else "tail limits")
                + " for the negatives; proved in headrank.bounds.comparison.paired_betting",
                INDEPENDENT_ROWS,
                search_steps=12,
                smallest_risk=1e-13,
                monotone=not whole,  # the limits of eta depend on the risk
            )
        )
    return found


def _paired_auc(a: SampleCurves, b: SampleCurves, _measure: AreaMeasure) -> Callable[[float], float]:
    """Return a lower bound on the difference of the AUCs, as a function of its risk."""
    positive = a.sample.positive
    spread = disagreement(positive, a.sample.scores, b.sample.scores)

    def placements(one: SampleCurves) -> Vector:
        curve = one.whole
        return np.asarray(1 - ((curve.fp[:-1] + curve.neg / 2) / curve.n_neg)[one.levels.of_row[positive]])

    values = placements(a) - placements(b)
    return lambda risk: least_paired_difference(values, spread, int(a.sample.n_neg), risk)


def _paired_credits(a: SampleCurves, b: SampleCurves, measure: AreaMeasure) -> Callable[[float], float]:
    """Return a lower bound on the difference of the partial AUCs: the least credits of a, the greatest of b."""
    span, positive = measure.as_partial_auc, a.sample.positive
    n_pos, n_neg = int(a.sample.n_pos), int(a.sample.n_neg)

    def lower(risk: float) -> float:
        for_neg, for_pos = shares(risk, n_pos, n_neg, span.max_fpr)
        ends = [
            highest_rates(a.whole.fp, n_neg, span.max_fpr, for_neg / 2),
            lowest_rates(b.whole.fp, n_neg, span.max_fpr, for_neg / 2),
        ]
        of_a, of_b = (
            credits_at(rates, span)[one.levels.of_row[positive]] for rates, one in zip(ends, (a, b), strict=True)
        )
        return least_mean(of_a - of_b, for_pos)

    return lower


def _paired(samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure) -> list[Evidence]:
    if not isinstance(measure, AUC):
        raise ValueError(
            f"method='paired' is for the AUC and for means over queries; for {measure} use method='auto', 'delong' "
            "(areas) or 'bootstrap'"
        )
    rows = samples[0].sample
    k = min(int(rows.n_pos), int(rows.n_neg))
    values = [measure.value(each.whole) for each in samples]
    found = []
    for i, j in pairs:
        spread = disagreement(rows.positive, samples[i].sample.scores, samples[j].sample.scores)
        found.append(
            Evidence(
                (values[i], values[j]),
                *_chernoff(values[i] - values[j], spread, k, 1.0),
                "paired",
                "Chernoff bound for the two-sample U-statistic of the paired difference (Hoeffding 1963, section 5), "
                "with the scorers' disagreement bounded likewise for a tenth of the risk; proved in least_difference",
                INDEPENDENT_ROWS,
            )
        )
    return found


def _paired_by_query(
    samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure, method: Method
) -> list[Evidence]:
    scale = widest(measure)
    if method not in ("auto", "paired") or scale == inf:
        raise ValueError(
            f"with qid, method={method!r} is not available for {measure}; use method='bootstrap'"
            + (": the measure is unbounded" if scale == inf else " or 'auto'")
        )
    values = QueryDraws(samples, measure).values
    found = []
    for i, j in pairs:
        differences = values[i] - values[j]
        mean, spread = float(differences.mean()) / scale, float(np.abs(differences).mean()) / scale
        found.append(
            Evidence(
                (float(values[i].mean()), float(values[j].mean())),
                *_chernoff(mean, spread, differences.size, scale),
                "paired",
                "Chernoff bound for the mean of the queries' differences, with their mean absolute value bounded "
                "likewise for a tenth of the risk; proved in least_difference",
                "the queries are independent draws from one distribution",
            )
        )
    return found


def _chernoff(mean: float, spread: float, k: int, scale: float) -> Bounds:
    return (
        lambda risk: scale * least_difference(mean, spread, k, risk),
        lambda risk: -scale * least_difference(-mean, spread, k, risk),
    )


def separate(
    samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure, *, fast: bool = True
) -> list[Evidence]:
    """Bound both values, each at half the risk: conservative if the rows are the same, as it does not use that."""
    curves = [each.whole for each in samples]
    # Up to 100 intervals for one p-value: for areas the fast method.
    method = "fixed_range" if fast and isinstance(measure, AreaMeasure) else "auto"

    @cache
    def end(scorer: int, risk: float, side: Side) -> float:
        interval = interval_of(curves[scorer], measure, confidence=1 - risk, side=side, method=method)
        return interval.low if side == "lower" else interval.high

    def between(i: int, j: int) -> Evidence:
        by_size = {(curve.n_pos, curve.n_neg): curve for curve in (curves[j], curves[i])}.values()
        shown = [interval_of(curve, measure, confidence=0.95, side="two-sided", method=method) for curve in by_size]
        each = "; ".join(dict.fromkeys(f"{one.method}, {one.theorem}" for one in shown))
        return Evidence(
            (measure.value(curves[i]), measure.value(curves[j])),
            lambda risk: end(i, risk / 2, "lower") - end(j, risk / 2, "upper"),
            lambda risk: end(i, risk / 2, "upper") - end(j, risk / 2, "lower"),
            "separate",
            f"union of two intervals, each for half the risk; conservative. Each: {each}",
            "; ".join(dict.fromkeys(one.assumptions for one in shown)),
            all(one.finite_sample for one in shown),
            search_steps=12,  # a band's limits may take half a second for each new risk
            smallest_risk=1e-13,  # the interval takes 1 - risk
            monotone=not isinstance(measure, AreaMeasure),  # the window's ranks depend on the risk
        )

    return [between(i, j) for i, j in pairs]


def _delong(samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure) -> list[Evidence]:
    region, scale = delong.area_of(measure).as_partial_auc, widest(measure)
    positive = samples[0].sample.positive
    curves = [each.whole for each in samples]
    components = [delong.components_of(curve, region) for curve in curves]

    def per_row(i: int) -> tuple[Vector, Vector]:
        of_row = samples[i].levels.of_row
        return components[i].pos[of_row[positive]], components[i].neg[of_row[~positive]]

    found = []
    for i, j in pairs:
        parts = [first - second for first, second in zip(per_row(i), per_row(j), strict=True)]
        error = scale * sqrt(sum(part.var(ddof=1) / part.size if part.size > 1 else 0.0 for part in parts))
        if error == 0 or min(part.size for part in parts) < 2:
            raise NoVarianceError(
                f"DeLong's method estimates the variance of the difference in {measure} as 0 on this sample: it sees "
                "no uncertainty here, although there may be some; use method='auto'"
            )
        values = (measure.value(curves[i]), measure.value(curves[j]))
        covariances = [np.cov(one, two) / one.size for one, two in zip(per_row(i), per_row(j), strict=True)]
        found.append(
            normal_evidence(
                values,
                _plain(scale**2 * sum(covariances)),
                "delong",
                f"{delong.THEOREM[region == type(region)()]}; paired, normal",
                delong.ASSUMPTIONS,
                error=error,
            )
        )
    return found


def normal_evidence(
    values: tuple[float, float],
    covariance: Covariance,
    method: str,
    theorem: str,
    assumptions: str,
    *,
    error: float | None = None,
    degrees: float = inf,
) -> Evidence:
    """Return evidence from the values and their covariance: normal, or Student's t with these degrees of freedom."""
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    at = values[0] - values[1]
    spread = error_of(covariance) if error is None else error
    tail, quantile = (ndtr, ndtri) if degrees == inf else (partial(stdtr, degrees), partial(stdtrit, degrees))
    return Evidence(
        values,
        lambda risk: at + float(quantile(risk)) * spread,
        lambda risk: at - float(quantile(risk)) * spread,
        method,
        theorem,
        assumptions,
        finite_sample=False,
        p_values=(float(tail(-at / spread)), float(tail(at / spread))),
        covariance=covariance,
    )


def error_of(covariance: Covariance) -> float:
    """Return the standard error of the difference; 0 if rounding would make the variance negative."""
    (first, both), (_, second) = covariance
    return sqrt(max(first + second - 2 * both, 0.0))


def _plain(covariance: Any) -> Covariance:
    (first, both), (_, second) = np.asarray(covariance).tolist()
    return (first, both), (both, second)


def _bootstrap(
    samples: Sequence[SampleCurves],
    pairs: Sequence[Pair],
    measure: Measure,
    resampling: Resampling,
    *,
    normal: bool = False,
) -> list[Evidence]:
    draws, assumptions = bootstrap.draws_for(samples, measure, clusters=resampling.clusters)
    values = [float(each.values(measure).mean()) for each in samples]
    drawn = replicates(
        draws,
        resampling.n_replicates,
        random_state=resampling.random_state,
        n_jobs=resampling.n_jobs,
        progress=resampling.progress,
    )
    return [
        bootstrap_evidence(
            (values[i], values[j]), drawn[:, (i, j)], measure, f"paired {bootstrap.THEOREM}", assumptions, normal=normal
        )
        for i, j in pairs
    ]


def bootstrap_evidence(
    values: tuple[float, float], drawn: Vector, measure: Measure, theorem: str, assumptions: str, *, normal: bool
) -> Evidence:
    """Return evidence from replicates of both values, shape (n_replicates, 2): percentiles or the standard error."""
    differences = np.sort(drawn[:, 0] - drawn[:, 1])
    bootstrap.require_variation(differences, f"the difference in {measure}")
    covariance = _plain(np.cov(drawn.T))
    if normal:
        theorem = theorem.replace("percentile bootstrap", "standard error by the bootstrap")
        error = float(differences.std(ddof=1))
        return normal_evidence(values, covariance, "bootstrap_normal", f"{theorem}; normal", assumptions, error=error)
    return Evidence(
        values,
        *_percentile(differences),
        "bootstrap",
        theorem,
        assumptions,
        finite_sample=False,
        covariance=covariance,
        smallest_risk=1 / (differences.size + 1),
    )


def _percentile(ordered: Vector) -> Bounds:
    return lambda risk: _order_statistic(ordered, risk), lambda risk: -_order_statistic(-ordered[::-1], risk)


def _order_statistic(ordered: Vector, risk: float) -> float:
    """Return the lower end of a percentile interval; -inf beyond the lowest replicate."""
    rank = int((ordered.size + 1) * risk * (1 + 1e-12))
    return float(ordered[min(rank, ordered.size) - 1]) if rank > 0 else -inf
