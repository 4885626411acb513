"""Which surrogate stands for which measure. Register a function to make a new measure learnable."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from headrank._types import Vector
from headrank.curve import shares
from headrank.measures import (
    AUC,
    EnrichmentFactor,
    FROCArea,
    LocalAUC,
    LocalRankingRisk,
    MassConstrainedError,
    Measure,
    PartialAUC,
    PNormPush,
    PrecisionAt,
    RankStatistic,
    RecallAt,
    StandardizedPartialAUC,
    TopTPR,
    TwoWayPartialAUC,
    WRanking,
)
from headrank.surrogates.cut import RowFacts, Surrogate
from headrank.surrogates.logistic import LogisticLoss
from headrank.surrogates.smooth import SmoothPairs, SmoothRisk
from headrank.surrogates.smooth_ranks import Reward, SizeOfTop, SmoothRanks, SmoothTop, differenced, power
from headrank.surrogates.squared_hinge import SquaredHinge
from headrank.surrogates.structural import StructuralHinge
from headrank.surrogates.tight import TightHinge

HINGES = {"structural": StructuralHinge, "tight": TightHinge}
CLASSIFIERS: dict[str, type[LogisticLoss | SquaredHinge]] = {"logistic": LogisticLoss, "svc": SquaredHinge}
"""Sums over rows, whatever the measure; the others are means."""
KINDS = (*HINGES, "smooth", *CLASSIFIERS)


@singledispatch
def fpr_range(measure: Measure) -> tuple[float, float]:
    """Return the range of false positive rates whose hinge is the convex surrogate of the measure, or refuse.

    >>> fpr_range(AUC())
    (0.0, 1.0)
    """
    can_be_smooth = smooth_for.dispatch(type(measure)) is not smooth_for.dispatch(object)
    or_smoothly = "it with surrogate='smooth', or " if can_be_smooth else ""
    raise ValueError(
        f"{measure!r} has no convex surrogate; learn {or_smoothly}"
        "PartialAUC(max_fpr=...) over the range you care about, and measure the result by whatever you like"
    )


@fpr_range.register
def _(_measure: AUC) -> tuple[float, float]:
    return 0.0, 1.0


@fpr_range.register(PartialAUC)
@fpr_range.register(StandardizedPartialAUC)
def _(measure: PartialAUC | StandardizedPartialAUC) -> tuple[float, float]:
    return measure.min_fpr, measure.max_fpr


@fpr_range.register
def _(measure: FROCArea) -> tuple[float, float]:
    return fpr_range(measure.as_partial_auc)


@singledispatch
def smooth_for(measure: Measure, _bandwidth: float, _rows: RowFacts) -> SmoothRisk:
    """Return the smooth surrogate of the measure, or refuse."""
    raise ValueError(
        f"{measure!r} has no smooth surrogate; use 'logistic' or 'svc', which need none, or learn a measure that has: "
        "AUC, a partial AUC, LocalAUC, WRanking, PNormPush, RankStatistic, MassConstrainedError, LocalRankingRisk, "
        "TopTPR, or a measure of the first rows"
    )


@smooth_for.register(AUC)
@smooth_for.register(PartialAUC)
@smooth_for.register(FROCArea)
def _(measure: Any, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothPairs(bandwidth, *fpr_range(measure), rows=rows)


@smooth_for.register
def _(measure: StandardizedPartialAUC, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    # 1/2 (1 + (m - c) / (1 - c)) with chance c = (a + b) / 2 loses 1 / (2 - 2 c) of what the mean m loses.
    low, high = fpr_range(measure)
    return SmoothPairs(bandwidth, low, high, scale=1 / (2 - low - high), rows=rows)


@smooth_for.register
def _(measure: TwoWayPartialAUC, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothPairs(bandwidth, max_fpr=measure.max_fpr, min_tpr=measure.min_tpr, rows=rows)


@smooth_for.register
def _(measure: PNormPush, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothRanks(bandwidth, power(measure.power), rows=rows)


@smooth_for.register
def _(measure: RankStatistic, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothRanks(bandwidth, differenced(measure.phi), rows=rows)


@smooth_for.register
def _(measure: LocalAUC, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(n_pos: Vector, n_neg: Vector, _n_top: Vector) -> Reward:
        return Reward(offset=1, per_neg=1 / (n_pos * n_neg))

    return SmoothTop(bandwidth, _best(measure.top), reward, rows=rows)


@smooth_for.register
def _(measure: WRanking, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def size(n_rows: Vector, weighted: bool) -> Vector:
        exact: Vector = shares(measure.top, n_rows + 1)  # ranks above (N + 1) (1 - top)
        return exact if weighted else np.asarray(np.ceil(exact) - 1)

    def reward(n_pos: Vector, n_neg: Vector, _n_top: Vector) -> Reward:
        per_row = 1 / (n_pos * (n_pos + n_neg + 1))
        return Reward(offset=1, base=per_row / 2, per_neg=per_row, per_pos=per_row)

    return SmoothTop(bandwidth, size, reward, rows=rows)


@smooth_for.register
def _(measure: MassConstrainedError, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothTop(bandwidth, _best(measure.top), _mass_reward, rows=rows)


@smooth_for.register
def _(measure: LocalRankingRisk, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(n_pos: Vector, n_neg: Vector, n_top: Vector) -> Reward:
        n = n_pos + n_neg
        if np.any(n <= 1):
            raise ValueError(
                f"needed a total weight above 1 to count pairs of rows, got {n.min():g}; weights are multiplicities "
                "here: rescale them so that they count rows"
            )
        mass, per_pair = _mass_reward(n_pos, n_neg, n_top), 2 / (n * (n - 1))
        share = n_neg / n
        return Reward(offset=share * mass.offset, base=share * mass.base - per_pair * n_neg, per_neg=per_pair)

    return SmoothTop(bandwidth, _best(measure.top), reward, rows=rows)


@smooth_for.register
def _(measure: TopTPR, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothTop(bandwidth, _best(measure.top), _found_reward, rows=rows)


@smooth_for.register
def _(measure: RecallAt, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothTop(bandwidth, _first(measure), _found_reward, rows=rows)


@smooth_for.register
def _(measure: PrecisionAt, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(_n_pos: Vector, _n_neg: Vector, n_top: Vector) -> Reward:
        # A list shorter than a count is still divided by it: the rows it lacks are no positives.
        return Reward(offset=1, base=1 / (measure.k if measure.is_count else n_top))

    return SmoothTop(bandwidth, _first(measure), reward, rows=rows)


@smooth_for.register
def _(measure: EnrichmentFactor, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(n_pos: Vector, n_neg: Vector, n_top: Vector) -> Reward:
        per_found = (n_pos + n_neg) / (n_pos * n_top)
        # The mean factor exceeds 1, so it is measured by the best that any scorer could reach: one number for all
        # lists, as the factors of two lists must keep their proportion.
        best = np.mean(per_found * np.minimum(n_pos, n_top))
        return Reward(offset=1, base=per_found / best)

    return SmoothTop(bandwidth, _first(measure), reward, rows=rows)


def _first(measure: PrecisionAt | RecallAt | EnrichmentFactor) -> SizeOfTop:
    """Return the size of the top of the measures of the first rows, a row at its border counting in part."""
    return lambda n_rows, _weighted: np.full_like(n_rows, measure.k) if measure.is_count else shares(measure.k, n_rows)


def _best(top: float) -> SizeOfTop:
    """Return the size of the top of the local measures: the rows with at most the share ``top`` of all above them."""
    return lambda n_rows, weighted: shares(top, n_rows) if weighted else np.floor(shares(top, n_rows)) + 1


def _found_reward(n_pos: Vector, _n_neg: Vector, _n_top: Vector) -> Reward:
    return Reward(offset=1, base=1 / n_pos)


def _mass_reward(n_pos: Vector, n_neg: Vector, n_top: Vector) -> Reward:
    # Positives below the border are n_pos - found, negatives above it n_top - found.
    return Reward(offset=(n_pos + n_top) / (n_pos + n_neg), base=2 / (n_pos + n_neg))


def surrogate_for(measure: Measure, kind: str, rows: RowFacts | None = None, *, bandwidth: float = 0.3) -> Surrogate:
    """Make the surrogate of a measure: ``"structural"``, ``"tight"``, ``"smooth"``, ``"logistic"`` or ``"svc"``.

    ``bandwidth`` is that of the smooth one. The last two, the losses of classifiers, are the same for all measures.

    >>> surrogate_for(PartialAUC(max_fpr=0.1), "tight").max_fpr
    0.1
    """
    rows = RowFacts() if rows is None else rows
    if kind == "smooth":
        return smooth_for(measure, bandwidth, rows)
    if kind in CLASSIFIERS:
        return CLASSIFIERS[kind](rows=rows)
    if kind not in HINGES:
        raise ValueError(f"surrogate must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    return HINGES[kind](*fpr_range(measure), rows)
