"""Bounds on the difference of two scorers on the same rows, by each method.

Evidence is a lower and an upper bound, each a function of its risk. Intervals and p-values follow from these two
functions alone (`headrank.bounds.comparison.difference`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, sqrt
from typing import Any, Literal

import numpy as np

from headrank._types import ArrayLike, Vector
from headrank.bounds.asymptotic import bootstrap, delong
from headrank.bounds.asymptotic.resampling import QueryDraws, replicates
from headrank.bounds.comparison.paired_pairs import disagreement, least_difference
from headrank.bounds.confidence import Side
from headrank.bounds.interval import INDEPENDENT_ROWS, require_counts
from headrank.bounds.intervals import interval_of
from headrank.bounds.sample_curves import SampleCurves
from headrank.curve import RocCurve
from headrank.exceptions import NoVarianceError
from headrank.measures import AUC, Measure

Method = Literal["auto", "paired", "separate", "delong", "bootstrap"]
Bounds = tuple[Callable[[float], float], Callable[[float], float]]
"""A lower and an upper bound, each a function of its risk."""
Pair = tuple[int, int]
"""Indices of two scorers; the difference is first minus second."""


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
    search_steps: int = 30
    """Evaluations of a bound in the search for the p-value: 30 give eight digits, 12 give two."""


def evidence_for(
    samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure, method: Method, resampling: Resampling
) -> list[Evidence]:
    """Return the evidence for each pair of scorers; there is one sample per scorer, all with the same rows."""
    if method == "bootstrap":
        return _bootstrap(samples, pairs, measure, resampling)
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
    if method == "paired" or (method == "auto" and isinstance(measure, AUC)):
        return _paired(samples, pairs, measure)
    return _separate(samples, pairs, measure)


def widest(measure: Measure) -> float:
    """Return the largest possible difference of two values of a measure."""
    least, greatest = measure.possible_values
    return greatest - least


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


def _separate(samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure) -> list[Evidence]:
    """Bound both values, each at half the risk: conservative, as it ignores that the rows are the same."""
    curves = [each.whole for each in samples]

    @cache
    def end(scorer: int, risk: float, side: Side) -> float:
        interval = interval_of(curves[scorer], measure, confidence=1 - risk, side=side)
        return interval.low if side == "lower" else interval.high

    def between(i: int, j: int) -> Evidence:
        shown = interval_of(curves[i], measure, confidence=0.95, side="two-sided")
        return Evidence(
            (measure.value(curves[i]), measure.value(curves[j])),
            lambda risk: end(i, risk / 2, "lower") - end(j, risk / 2, "upper"),
            lambda risk: end(i, risk / 2, "upper") - end(j, risk / 2, "lower"),
            "separate",
            f"union of two intervals, each for half the risk; conservative. Each: {shown.method}, {shown.theorem}",
            shown.assumptions,
            shown.finite_sample,
            search_steps=12,  # a band's limits may take half a second for each new risk
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
        theorem = delong.THEOREM[region == type(region)()].split(";")[0]
        found.append(
            Evidence(
                values,
                *_normal(values[0] - values[1], error),
                "delong",
                f"{theorem}; paired, normal",
                delong.ASSUMPTIONS,
                finite_sample=False,
            )
        )
    return found


def _normal(at: float, error: float) -> Bounds:
    from scipy.special import ndtri

    return lambda risk: at + float(ndtri(risk)) * error, lambda risk: at - float(ndtri(risk)) * error


def _bootstrap(
    samples: Sequence[SampleCurves], pairs: Sequence[Pair], measure: Measure, resampling: Resampling
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
    found = []
    for i, j in pairs:
        differences = np.sort(drawn[:, i] - drawn[:, j])
        bootstrap.require_variation(differences, f"the difference in {measure}")
        found.append(
            Evidence(
                (values[i], values[j]),
                *_percentile(differences),
                "bootstrap",
                f"paired {bootstrap.THEOREM}",
                assumptions,
                finite_sample=False,
            )
        )
    return found


def _percentile(ordered: Vector) -> Bounds:
    return lambda risk: _order_statistic(ordered, risk), lambda risk: -_order_statistic(-ordered[::-1], risk)


def _order_statistic(ordered: Vector, risk: float) -> float:
    """Return the lower end of a percentile interval; -inf beyond the lowest replicate."""
    rank = int((ordered.size + 1) * risk * (1 + 1e-12))
    return float(ordered[min(rank, ordered.size) - 1]) if rank > 0 else -inf
